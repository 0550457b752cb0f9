"""A bar that shows how far a run has come: in terminals and in notebooks, and nowhere else."""

from __future__ import annotations

import sys
import time
from typing import Any, Callable

WIDTH = 40
LATEST = 0.5
"""Runs that are shorter than this, in seconds, show no bar."""


def bar(wanted: bool | None) -> Callable[[float], None] | None:
    """What is called with the share that is done; None where nobody looks."""
    if wanted is False:
        return None
    display = _notebook_display()
    if display is not None:
        return _Bar(display)
    if wanted or sys.stderr.isatty():
        return _Bar(None)
    return None


def _notebook_display() -> Any | None:
    """The display of a notebook, if this is one."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if shell is None or not hasattr(shell, "kernel"):
        return None
    import IPython.display as notebook

    show: Any = notebook.display
    return show({"text/plain": ""}, raw=True, display_id=True)


class _Bar:
    def __init__(self, display: Any | None) -> None:
        self._display = display
        self._begun = time.monotonic()
        self._shown = False

    def __call__(self, share: float) -> None:
        if share != share:  # a run without a length has no share
            return
        elapsed = time.monotonic() - self._begun
        if elapsed < LATEST:
            return
        full = int(WIDTH * share)
        left = f"{elapsed / share * (1 - share):.0f} s left" if share > 0 else ""
        text = f"[{'=' * full}{' ' * (WIDTH - full)}] {100 * share:.0f}% {left}"
        self._shown = True
        if self._display is not None:
            self._display.update({"text/plain": text}, raw=True)
        else:
            sys.stderr.write(f"\r{text}\x1b[K")
            sys.stderr.flush()

    def close(self) -> None:
        """Takes the bar away."""
        if self._display is not None:
            self._display.update({"text/plain": ""}, raw=True)
        elif self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
