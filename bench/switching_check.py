"""The monolithic reference of the program beside SciPy, on models that switch.

Usage: switching_check.py DOVETAIL MODEL.toml...

Both solve the same model file; nothing is shared but the file. States at equidistant times may differ by so
little of their ranges. Models with delays, which that reference does not solve, are run by `predictive`. Models
that slide or whose events pile up are left out.
"""

import csv
import subprocess
import sys
import tempfile
from pathlib import Path

from scipy import integrate

from switching_model import Model
from switching_reference import solve

POINTS = 201
ALLOWED = 1e-8


def states(model):
    """The columns that are states, discrete ones included, as `system.name`."""
    names = []
    for system, table in model["systems"].items():
        for kind in ("states", "discrete"):
            names += [f"{system}.{name}" for name in table.get(kind, {})]
    return names


def program(executable, path, span):
    """The rows of the program's monolithic run, by time; of two rows at one time the second."""
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder) / "result.csv"
        step = repr(span / (POINTS - 1))
        method = ["--method", "monolithic", "--step", step]
        if "delay(" in Path(path).read_text():
            method = ["--method", "predictive", "--tolerance", "1e-10", "--output-interval", step]
        command = [executable, "run", path, *method, "-o", result]
        subprocess.run(command, check=True, capture_output=True)
        with open(result) as file:
            head, *rows = csv.reader(file)
    return head, [[float(value) for value in row] for row in rows]


def nearest(rows, time, near):
    """The last row at a time."""
    found = [row for row in rows if abs(row[0] - time) <= near]
    return found[-1] if found else None


def difference(executable, path):
    """The largest difference of a state, as a part of its range, and its name."""
    import tomllib

    table = tomllib.loads(Path(path).read_text())
    start = table["model"].get("start-time", 0.0)
    span = table["model"]["stop-time"] - start
    theirs = solve(Model(path), POINTS, 1e-12, integrate.DOP853)
    columns = [".".join(column) for column in theirs.model.columns]
    head, rows = program(executable, path, span)
    events = [time for time, _ in theirs.events]
    worst = (0.0, "")
    for name in states(table):
        values = [row[columns.index(name)] for row in theirs.rows]
        extent = max(values) - min(values)
        if extent == 0.0:
            continue
        for time, value in zip(theirs.times, values):
            # Right at an event either side is right.
            if any(abs(event - time) <= 1e-9 * span for event in events):
                continue
            row = nearest(rows, time, 1e-9 * span)
            if row is not None:
                worst = max(worst, (abs(row[head.index(name)] - value) / extent, name))
    return worst


def main():
    executable, *paths = sys.argv[1:]
    failed = 0
    for path in paths:
        if Path(path).name.startswith(("sliding", "zeno")):
            continue
        worst, name = difference(executable, path)
        failed += worst > ALLOWED
        print(f"{Path(path).stem:28} {worst:.1e} {name}{'  TOO MUCH' if worst > ALLOWED else ''}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
