"""What a run leaves behind."""

from __future__ import annotations

import html
import json
from typing import TYPE_CHECKING, Any, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from ._nearest import unknown
from .errors import Error

if TYPE_CHECKING:
    import matplotlib.axes
    import pandas

__all__ = ["Result"]

Array = npt.NDArray[np.float64]
NEIGHBORS = 4
"""Rows that a value between two of them is interpolated through."""


class Result:
    """The rows of a run as columns, and what is known of it.

    ``r.time`` and ``r["tank.level"]`` are NumPy arrays, which are the engine's own memory and cannot be written to. At an event
    there are two rows of one time: before it and after it.
    """

    def __init__(self, names: Sequence[str], time: Array, columns: Sequence[Array], summary: str, text: str, interrupted: bool) -> None:
        self._columns = dict(zip(names, columns))
        self._text = text
        self.time: Array = time
        """The times of all rows, in seconds."""
        self.summary: dict[str, Any] = json.loads(summary)
        """What the run cost and how it ended, with the keys of ``dovetail run --json``."""
        self.interrupted = interrupted
        """Whether Ctrl-C ended it; what was computed until then is here."""

    @property
    def names(self) -> list[str]:
        """The names of all columns, ``system.variable``."""
        return list(self._columns)

    @property
    def quality(self) -> dict[str, Any]:
        """How far the result can be trusted: ``verdict``, ``verdict_reason``, ``estimated_error`` and more."""
        quality: dict[str, Any] = self.summary["quality"]
        return quality

    @property
    def verdict(self) -> str:
        """``good``, ``doubtful``, ``unusable`` or ``unknown``."""
        return str(self.quality["verdict"])

    @property
    def warnings(self) -> list[str]:
        """What you should know, each with what to try."""
        return list(self.quality["warnings"])

    def __getitem__(self, name: str) -> Array:
        return self._columns[self._known(name)]

    def __contains__(self, name: object) -> bool:
        return name in self._columns or name == "time"

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self.time)

    def keys(self) -> list[str]:
        """The names of all columns: with it ``dict(result)`` works."""
        return self.names

    def last(self, name: str) -> float:
        """The value of a variable where the run ended."""
        return float(self[name][-1])

    def at(self, time: float | npt.ArrayLike, name: str | None = None) -> Any:
        """The values at any time of the run: of one variable, or of all as a dictionary.

        Between rows it is a cubic through the nearest four of them, none of which lies beyond an event; at the time of an event it
        is the value after it. With rows at steps of h that is accurate to about h⁴; ``run(…, output_interval=…)`` makes rows denser,
        by the method's own curves.
        """
        times = np.asarray(time, dtype=float)
        outside = (times < self.time[0]) | (times > self.time[-1]) | np.isnan(times)
        if outside.any():
            wrong = float(times[outside].ravel()[0])
            raise Error(f"t = {wrong} s is not in the run, which goes from {self.time[0]} to {self.time[-1]} s", time=wrong)
        if name is not None:
            return self._interpolated(self[name], times)
        return {key: self._interpolated(column, times) for key, column in self._columns.items()}

    def _interpolated(self, column: Array, times: Array) -> Any:
        values = np.array([_interpolate(self.time, column, time) for time in times.ravel()]).reshape(times.shape)
        return values if times.ndim else float(values)

    def _known(self, name: str) -> str:
        if name in self._columns:
            return name
        alone = [key for key in self._columns if key.split(".", 1)[-1] == name]
        if len(alone) == 1:
            return alone[0]
        raise unknown(name, self._columns, "no variable `{}` was recorded")

    def to_pandas(self) -> pandas.DataFrame:
        """A DataFrame with the times as index; needs pandas."""
        import pandas

        return pandas.DataFrame(self._columns, index=pandas.Index(self.time, name="time"), copy=False)

    def to_csv(self, path: str) -> None:
        """Writes the rows, with every digit."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(",".join(["time", *(_csv(name) for name in self._columns)]) + "\n")
            for row in zip(self.time, *self._columns.values()):
                file.write(",".join(repr(float(value)) for value in row) + "\n")

    def plot(self, *names: str, ax: matplotlib.axes.Axes | None = None) -> matplotlib.axes.Axes:
        """Draws variables over time; without names all that are recorded. Needs matplotlib."""
        import matplotlib.pyplot as plt

        axes = plt.subplots()[1] if ax is None else ax
        for name in names or self._columns:
            axes.plot(self.time, self[name], label=self._known(name))
        axes.set_xlabel("time [s]")
        axes.grid(alpha=0.3)
        axes.legend()
        return axes

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        method, verdict = self.summary["method"], self.verdict
        return f"<dovetail.Result: {len(self)} rows of {len(self._columns)} variables to t = {self.summary['reached']} s by {method}, {verdict}>"

    def _repr_html_(self) -> str:
        summary = self.summary
        rows = [
            ("method", summary["method"] + (f": {summary['reason']}" if summary["reason"] else "")),
            ("verdict", f"{self.verdict}: {self.quality['verdict_reason']}"),
            ("reached", f"{summary['reached']} s of {summary['stop_time']} s"),
            ("steps", f"{summary['steps']} ({summary['rejected']} rejected), {summary['integrations']} integrations"),
            *[("warning", warning) for warning in self.warnings],
        ]
        if summary["message"]:
            rows.insert(0, ("ended early", summary["message"]))
        last = [f"<tr><td><code>{html.escape(name)}</code></td><td>{column[-1]:.6g}</td></tr>" for name, column in self._columns.items() if len(column)]
        head = "".join(f"<tr><th style='text-align:left'>{key}</th><td>{html.escape(str(value))}</td></tr>" for key, value in rows)
        return f"<table>{head}</table><details><summary>final values</summary><table>{''.join(last)}</table></details>"


def _csv(name: str) -> str:
    return f'"{name}"' if "," in name else name


def _interpolate(time: Array, column: Array, wanted: float) -> float:
    """The value on the cubic through the nearest rows of the same stretch between events."""
    right = int(np.searchsorted(time, wanted, side="right"))
    if time[right - 1] == wanted:
        return float(column[right - 1])
    first, last = right - 1, right
    while last - first + 1 < NEIGHBORS:
        before = first > 0 and time[first - 1] < time[first]
        after = last + 1 < len(time) and time[last + 1] > time[last]
        if not before and not after:
            break
        if before and (not after or wanted - time[first - 1] <= time[last + 1] - wanted):
            first -= 1
        else:
            last += 1
    knots = time[first : last + 1]
    value = 0.0
    for k, knot in enumerate(knots):
        others = np.delete(knots, k)
        value += float(column[first + k]) * float(np.prod((wanted - others) / (knot - others)))
    return value
