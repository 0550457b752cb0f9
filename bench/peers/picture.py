"""Draws error against cost, a column for each pair: FMU steps above, CPU seconds below."""

import csv
import re
from pathlib import Path

import matplotlib.pyplot as plt

# Dovetail in warm colors and solid lines, others in cool or gray ones and dashed lines. What comes later lies on top.
STYLES = {
    ("Dovetail", "jacobi"): ("#ffc98a", "v", "-"),
    ("Dovetail", "gauss-seidel"): ("#f09a37", "^", "-"),
    ("Dovetail", "f3ornits"): ("#8a6d00", "o", "-"),
    ("Dovetail", "ifosmondi"): ("#f06bb0", "o", "-"),
    ("Dovetail", "missiles"): ("#e8401c", "o", "-"),
    ("Dovetail", "predictive"): ("#6a0018", "o", "-"),
    ("Dovetail", "predictive, own steps"): ("#6a0018", "*", ""),
    ("FMPy loop", "Jacobi"): ("#9a9a9a", "v", "--"),
    ("FMPy loop", "Gauss-Seidel"): ("#5f5f5f", "^", "--"),
    ("FMPy loop", "Jacobi with slopes"): ("#111111", "D", "--"),
    ("FMPy container", "fixed step"): ("#2a9d8f", "s", "--"),
    ("Ecos", "fixed step"): ("#3a86ff", "P", "--"),
    ("libcosim", "fixed step"): ("#7b4fd0", "X", "--"),
    ("libcosim", "ECCO"): ("#b08cf0", "x", "--"),
}
COSTS = (("fmu_steps", "FMU steps"), ("cpu_seconds", "CPU time of the run, s"))
LARGEST_ERROR = 1.0  # above, a run has not followed the solution at all


def draw(points: Path, to: Path) -> None:
    with points.open() as file:
        rows = list(csv.DictReader(file))
    pairs = list(dict.fromkeys(row["pair"] for row in rows))
    plt.rcParams.update({"font.size": 9, "svg.fonttype": "none", "svg.hashsalt": "peers", "font.family": "sans-serif"})
    figure, axes = plt.subplots(len(COSTS), len(pairs), figsize=(3.3 * len(pairs), 7.4), squeeze=False, sharey="row")
    for column, pair in enumerate(pairs):
        axes[0][column].set_title(pair)
        for row, (cost, label) in enumerate(COSTS):
            panel(axes[row][column], [r for r in rows if r["pair"] == pair], cost)
            axes[row][column].set_xlabel(label)
    for row in axes:
        row[0].set_ylabel("error, relative to the range")
    handles, labels = axes[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="lower center", ncol=5, frameon=False)
    figure.tight_layout(rect=(0, 0.1, 1, 1))
    is_svg = to.suffix == ".svg"
    figure.savefig(to, dpi=110, metadata={"Date": None} if is_svg else None)
    plt.close(figure)
    if is_svg:
        to.write_text(re.sub(r"(\.\d\d)\d+", r"\1", to.read_text()))  # hundredths of a point are enough


def panel(axis, rows: list[dict], cost: str) -> None:
    for (master, method), (color, marker, line) in STYLES.items():
        of_method = [r for r in rows if (r["master"], r["method"]) == (master, method) and r["error"]]
        pairs = [(float(r[cost]), float(r["error"])) for r in of_method]
        drawn = [(x, y) for x, y in pairs if y <= LARGEST_ERROR]
        axis.plot(
            [x for x, _ in drawn],
            [y for _, y in drawn],
            color=color,
            marker=marker,
            markersize=9 if marker == "*" else 4.5,
            linestyle=line or "none",
            linewidth=2.4 if method in ("jacobi", "gauss-seidel") else 1.2,
            label=f"{master}: {method}",
        )
    axis.set_xscale("log")
    axis.set_yscale("log")
    axis.minorticks_off()
    axis.grid(which="major", color="#dddddd", linewidth=0.6)
