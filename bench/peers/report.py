"""Writes a page of results: the machine, the versions, and tables from the CSV files of a run."""

import csv
import math
import os
import platform
import subprocess
from importlib.metadata import version
from pathlib import Path

PACKAGES = ("fmpy", "ecospy", "libcosimpy", "scipy", "numpy")
TARGETS = (1e-2, 1e-4, 1e-6)
NAMES = {
    "bare loop": "bare C loop",
    "dovetail": "Dovetail, Jacobi",
    "fmpy loop": "FMPy, loop in Python",
    "fmpy container": "FMPy, container FMU",
    "ecos": "Ecos",
    "libcosim": "libcosim",
}

OVERHEAD_TEXT = """\
CPU time of a macro-step per FMU in nanoseconds, on rings of n FMUs that do next to nothing; in parentheses, times that of the
bare loop."""
ACCURACY_TEXT = """\
FMU steps and CPU milliseconds that a run with this error costs, read off between the two runs next to it. "over": no run of the
series is that good, and the longest had so many steps. "at most": even the coarsest is better, and this is its cost."""


def write(machine: Path, overhead: Path, points: Path, to: Path) -> None:
    rows, runs = read(overhead), read(points)
    parts = [
        f"# Beside other masters, {to.stem}",
        machine.read_text().strip(),
        "## Overhead",
        OVERHEAD_TEXT,
        overhead_table(rows),
        "## Error against cost",
        f"![Error against cost]({to.stem}.svg)",
        ACCURACY_TEXT,
        *(target_table(target, runs) for target in TARGETS),
        failures(rows, runs),
    ]
    to.write_text("\n\n".join(part for part in parts if part) + "\n")


def read(path: Path) -> list[dict]:
    with path.open() as file:
        return list(csv.DictReader(file))


def machine() -> str:
    """What a run was measured on, in lines of Markdown."""
    commit = output("git", "rev-parse", "--short=10", "HEAD")
    compiler = output("rustc", "--version")
    versions = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    return "\n".join(
        [
            f"- machine: {cpu()}, {os.cpu_count()} cores, {platform.system()}",
            f"- Dovetail: commit {commit}, release build, {compiler}",
            f"- others: {versions}, Python {platform.python_version()}",
        ]
    )


def output(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parent, check=True).stdout.strip()


def cpu() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()


def table(heads: list[str], rows: list[list[str]]) -> str:
    lines = [heads, ["---"] + ["---:"] * (len(heads) - 1), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def overhead_table(rows: list[dict]) -> str:
    sizes = list(dict.fromkeys(row["size"] for row in rows))
    time = {(r["master"], r["fmu"], r["size"]): r["nanoseconds"] for r in rows}
    lines = []
    for master, fmu in dict.fromkeys((r["master"], r["fmu"]) for r in rows):
        cells = []
        for size in sizes:
            spent, bare = time[master, fmu, size], time["bare loop", fmu, size]
            cells.append(f"{digits(float(spent))} ({digits(float(spent) / float(bare))})" if spent else "cannot")
        lines.append((fmu, [NAMES[master], describe(fmu), *cells]))
    lines.sort(key=lambda line: line[0])  # stable: masters keep their order
    return table(["master", "FMUs", *(f"n = {size}" for size in sizes)], [cells for _, cells in lines])


def describe(fmu: str) -> str:
    number, kind = fmu.removeprefix("fmi").split("-")
    return f"FMI {number}, " + ("every capability" if kind == "rich" else "can only step")


def digits(number: float) -> str:
    """Three significant ones, without an exponent."""
    if number >= 100:
        return f"{number:.0f}"
    return f"{number:.3g}"


def target_table(target: float, runs: list[dict]) -> str:
    """A row for each method, a column for each pair."""
    pairs = list(dict.fromkeys(run["pair"] for run in runs))
    lines = []
    for master, method in dict.fromkeys((run["master"], run["method"]) for run in runs):
        series = [run for run in runs if (run["master"], run["method"]) == (master, method)]
        cells = [cost_at([run for run in series if run["pair"] == pair], target) for pair in pairs]
        lines.append([f"{master}: {method}", *cells])
    return f"### An error of {100 * target:g} %\n\n" + table(["master and method", *pairs], lines)


def cost_at(runs: list[dict], target: float) -> str:
    """Between two runs, error and cost are taken to follow a power law."""
    good = [run for run in runs if run["error"]]
    points = sorted((float(r["error"]), float(r["fmu_steps"]), 1e3 * float(r["cpu_seconds"])) for r in good)
    if not points:
        return "-"
    better = [point for point in points if point[0] <= target]
    worse = [point for point in points if point[0] > target]
    if not better:
        return f"over {max(point[1] for point in points):.0f}"
    upper = better[-1]
    if not worse:
        cheapest = min(better, key=lambda point: point[1])
        return f"at most {cheapest[1]:.0f}, {digits(cheapest[2])} ms"
    lower = worse[0]
    share = math.log(lower[0] / target) / math.log(lower[0] / upper[0])
    steps, milliseconds = (lower[k] * (upper[k] / lower[k]) ** share for k in (1, 2))
    return f"{steps:.0f}, {digits(milliseconds)} ms"


def failures(rows: list[dict], runs: list[dict]) -> str:
    """Runs without a result, with the last line of what was said."""
    lines = [
        f"- {NAMES[r['master']]}, ring of {r['size']}, {r['fmu']}: {last_line(r['note'])}" for r in rows if r["note"]
    ]
    lines += [
        f"- {r['pair']}, {r['master']}: {r['method']}, {r['setting']}: {last_line(r['note'])}"
        for r in runs
        if r["note"]
    ]
    return "\n".join(["## Runs without a result", "", *lines]) if lines else ""


def last_line(note: str) -> str:
    return note.strip().splitlines()[-1]
