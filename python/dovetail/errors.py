"""What can go wrong: exceptions that say to whom, when, and what to try."""

from __future__ import annotations

from typing import TYPE_CHECKING, Sequence

if TYPE_CHECKING:
    from .result import Result

__all__ = ["Error", "ModelError", "RunError"]


class Error(Exception):
    """Whatever the engine refuses or fails at.

    The text says it all; the fields say the same for programs.
    """

    system: str | None
    """The system that is to blame, where it is one."""
    variable: str | None
    """The variable that shows it, ``system.name``."""
    time: float | None
    """When it happened, in seconds of the model."""
    remedies: list[str]
    """What to try, most promising first."""

    def __init__(
        self,
        message: str,
        *,
        system: str | None = None,
        variable: str | None = None,
        time: float | None = None,
        remedies: Sequence[str] = (),
    ) -> None:
        super().__init__(message)
        self.system = system
        self.variable = variable
        self.time = time
        self.remedies = list(remedies)

    @property
    def remedy(self) -> str | None:
        """What to try, in a sentence; None where nothing is known."""
        return f"try {' or '.join(self.remedies)}" if self.remedies else None


class ModelError(Error, ValueError):
    """A model that is not sound, or choices that do not fit it: nothing was run."""


class RunError(Error, RuntimeError):
    """A run ended before its stop time. What it computed until then is in ``result``."""

    result: Result | None = None
