"""What a run leaves behind."""

from __future__ import annotations

import csv
import html
import json
import os
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

    def __init__(
        self, names: Sequence[str], time: Array, columns: Sequence[Array], summary: str, text: str, interrupted: bool, held: Sequence[str] = ()
    ) -> None:
        self._columns = dict(zip(names, columns))
        self._held = frozenset(held)
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
        return name in self._columns

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
        is the value after it. Truth values, integers and what a controller sets are held between rows. With rows at steps of h that is accurate to about h⁴; ``run(…, output_interval=…)`` makes rows denser,
        by the method's own curves.
        """
        times = np.asarray(time, dtype=float)
        outside = (times < self.time[0]) | (times > self.time[-1]) | np.isnan(times)
        if outside.any():
            wrong = float(times[outside].ravel()[0])
            raise Error(f"t = {wrong} s is not in the run, which goes from {self.time[0]} to {self.time[-1]} s", time=wrong)
        rows = _Neighbors(self.time, times.ravel())
        names = self.names if name is None else [self._known(name)]
        found: dict[str, Any] = {key: rows.values(self._columns[key], key in self._held).reshape(times.shape) for key in names}
        if not times.ndim:
            found = {key: float(value) for key, value in found.items()}
        return found if name is None else found[names[0]]

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

        return pandas.DataFrame(self._columns, index=pandas.Index(self.time, name="time"))

    @staticmethod
    def read_csv(path: str | os.PathLike[str]) -> Result:
        """A result file, as ``dovetail run --output`` or :meth:`to_csv` writes it, to be looked at or compared with."""
        with open(path, newline="", encoding="utf-8") as lines:
            heads = next(csv.reader(lines), [])
            rows = np.loadtxt(lines, delimiter=",", ndmin=2)
        if not heads or heads[0] != "time" or not len(rows):
            raise Error(f"{os.fspath(path)} is no result file: it has no column `time` with numbers")
        columns = [np.ascontiguousarray(column) for column in rows.T]
        return Result(heads[1:], columns[0], columns[1:], json.dumps({"message": None, "quality": {"verdict": "unknown", "warnings": []}}), "", False)

    def to_csv(self, path: str | os.PathLike[str]) -> None:
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


class _Neighbors:
    """For each wanted time the nearest rows of the same stretch between events, and the weights of their cubic."""

    def __init__(self, time: Array, wanted: Array) -> None:
        self._row = np.searchsorted(time, wanted, side="right") - 1
        last = len(time) - 1
        begins = np.concatenate([[0], np.flatnonzero(time[1:] == time[:-1]) + 1])
        ends = np.concatenate([begins[1:] - 1, [last]])
        stretch = np.searchsorted(begins, self._row, side="right") - 1
        begin, end = begins[stretch], ends[stretch]

        left, right = self._row.copy(), np.minimum(self._row + 1, end)
        for _ in range(NEIGHBORS - 2):
            before, after = left > begin, right < end
            nearer = wanted - time[np.maximum(left - 1, 0)] <= time[np.minimum(right + 1, last)] - wanted
            goes_left = before & (~after | nearer)
            right = right + (after & ~goes_left)
            left = left - goes_left
        self._rows = [np.minimum(left + k, right) for k in range(NEIGHBORS)]
        used = [left + k <= right for k in range(NEIGHBORS)]
        self._weights = []
        for k in range(NEIGHBORS):
            weight = used[k].astype(float)
            for other in range(NEIGHBORS):
                if other != k:
                    near, far = time[self._rows[k]], time[self._rows[other]]
                    apart = np.where(used[k] & used[other], near - far, 1.0)
                    weight = weight * np.where(used[k] & used[other], (wanted - far) / apart, 1.0)
            self._weights.append(weight)
        self._exact = time[self._row] == wanted

    def values(self, column: Array, held: bool) -> Array:
        """The values of a variable there."""
        present: Array = column[self._row]
        if held:
            return present
        cubic = sum(weight * column[rows] for weight, rows in zip(self._weights, self._rows))
        return np.where(self._exact, present, cubic)
