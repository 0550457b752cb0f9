"""One file for each master that runs in this process; each gives a class with the methods of `Simulation`."""

from typing import Protocol


class Simulation(Protocol):
    """FMUs that a master has coupled, ready for their first step."""

    def advance(self, steps: int) -> None:
        """Takes so many macro-steps, in one call of the master where it has one."""

    def time(self) -> float: ...

    def values(self) -> list[float]:
        """What the coupled systems have observed, in its order."""

    def close(self) -> None:
        """Frees the FMUs."""
