"""Ends what is written in Python and takes too long: an exception is raised in the thread that it runs in."""

from __future__ import annotations

import ctypes
from typing import Sequence


class StepTimeout(TimeoutError):
    """A call took longer than ``step_timeout`` allows."""

    def __str__(self) -> str:
        return "it took longer than step_timeout allows"


CLASSES: dict[str, type[BaseException]] = {"KeyboardInterrupt": KeyboardInterrupt, "StepTimeout": StepTimeout}


def raise_in(threads: Sequence[int], name: str) -> None:
    """Raises an exception of this class in these threads, as soon as they run Python again."""
    for thread in threads:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(CLASSES[name]))
