"""Error against cost on coupled pairs: FMU steps that the FMUs count themselves, and CPU seconds."""

import tempfile
from dataclasses import dataclass
from pathlib import Path

import dovetail
import numpy as np
from coupled import Coupled, pairs
from process import Failed, counted, run_task
from references import error, solution

ROWS = 500  # of a recorded run with more steps than that


@dataclass
class Point:
    """A row of the results: one run. Without an error where it failed, and then `note` says how."""

    pair: str
    master: str
    method: str
    setting: str
    fmu_steps: int | None = None
    cpu_seconds: float | None = None
    error: float | None = None
    note: str = ""


FIXED = (500, 2000, 8000, 32000, 128000)
# As steps shrink, what iterations leave open must shrink too.
SMOOTH = ((50, "1e-6"), (100, "1e-6"), (200, "1e-9"), (400, "1e-9"), (800, "1e-12"), (1600, "1e-12"))
ECCO_TOLERANCES = (1.0, 1e-1, 1e-2, 1e-3)
F3ORNITS_TOLERANCES = ("1e-2", "1e-3", "1e-4", "1e-5", "1e-6", "1e-7", "1e-8")
PREDICTIVE_TOLERANCES = ("1e-2", "1e-5", "1e-8", "1e-11")
PEERS = (
    ("FMPy loop", "Jacobi", "fmpy loop", {"order": "jacobi"}),
    ("FMPy loop", "Gauss-Seidel", "fmpy loop", {"order": "gauss-seidel"}),
    ("FMPy loop", "Jacobi with slopes", "fmpy loop", {"order": "slopes"}),
    ("FMPy container", "fixed step", "fmpy container", {}),
    ("Ecos", "fixed step", "ecos", {}),
    ("libcosim", "fixed step", "libcosim", {}),
)


def measure(folder: Path, repeats: int, quick: bool) -> list[Point]:
    points = []
    for coupled in pairs(folder):
        for point in [*peer_points(coupled, repeats, quick), *dovetail_points(coupled, repeats, quick)]:
            print_point(point)
            points.append(point)
    return points


def peer_points(coupled: Coupled, repeats: int, quick: bool):
    for master, method, worker, settings in PEERS:
        for steps in FIXED[:2] if quick else FIXED:
            point = Point(coupled.name, master, method, f"{steps} steps")
            yield of_peer(coupled, point, worker, settings, steps, repeats)
    if coupled.power_bond:
        for tolerance in ECCO_TOLERANCES[:1] if quick else ECCO_TOLERANCES:
            point = Point(coupled.name, "libcosim", "ECCO", f"tolerance {tolerance:g}")
            yield of_peer(coupled, point, "libcosim", {"ecco_tolerance": tolerance}, None, repeats)


def of_peer(coupled: Coupled, point: Point, worker: str, settings: dict, steps: int | None, repeats: int) -> Point:
    """`steps` is none where the master chooses them; a first step is then a thousandth of the run."""
    step = coupled.stop_time / (steps or 1000)
    every = max(1, steps // ROWS) if steps else 1
    try:
        with tempfile.TemporaryDirectory() as scratch:
            counts = Path(scratch) / "counts"
            result = run_task(coupled, worker, settings, step, record_every=every, counts=counts)
            point.fmu_steps = counted(counts)
        start = [0.0, *solution(coupled.name)(np.zeros(1))[:, 0]]
        rows = np.array([start, *result["rows"]])
        taken = steps or len(result["rows"])
        timed = run_task(coupled, worker, settings, step, steps=taken, repeats=repeats)
        point.cpu_seconds = timed["cpu_seconds"]
        judge(coupled, point, rows)
    except Failed as reason:
        point.note = str(reason)
    return point


def dovetail_settings(stop_time: float, quick: bool):
    """Method, setting and options of each run."""
    fixed, smooth = (FIXED[:2], SMOOTH[:2]) if quick else (FIXED, SMOOTH)
    f3ornits, predictive = F3ORNITS_TOLERANCES, PREDICTIVE_TOLERANCES
    for method in ("jacobi", "gauss-seidel"):
        for steps in fixed:
            yield method, f"{steps} steps", {"method": method, "step": repr(stop_time / steps)}
    for method in ("ifosmondi", "missiles", "predictive"):
        for steps, tolerance in smooth:
            options = {"method": method, "step": repr(stop_time / steps), "tolerance": tolerance}
            yield method, f"{steps} steps, tolerance {tolerance}", options
    for tolerance in f3ornits[:1] if quick else f3ornits:
        yield "f3ornits", f"tolerance {tolerance}", {"method": "f3ornits", "tolerance": tolerance}
    for tolerance in predictive[:1] if quick else predictive:
        options = {"method": "predictive", "tolerance": tolerance}
        yield "predictive, own steps", f"tolerance {tolerance}", options


def dovetail_points(coupled: Coupled, repeats: int, quick: bool):
    for method, setting, options in dovetail_settings(coupled.stop_time, quick):
        point = Point(coupled.name, "Dovetail", method, setting)
        try:
            with tempfile.TemporaryDirectory() as scratch:
                counts = Path(scratch) / "counts"
                rows = dovetail.rows(coupled, options, counts)
                point.fmu_steps = counted(counts)
            point.cpu_seconds = dovetail.cpu_seconds(coupled, options, repeats)
            judge(coupled, point, rows)
        except Failed as reason:
            point.note = str(reason)
        yield point


def judge(coupled: Coupled, point: Point, rows: np.ndarray) -> None:
    with np.errstate(over="ignore", invalid="ignore"):
        found = error(solution(coupled.name), coupled.stop_time, rows[:, 0], rows[:, 1:].T)
    if np.isfinite(found):
        point.error = found
    else:
        point.note = "diverged"


def print_point(point: Point) -> None:
    found = point.note[:60] if point.error is None else f"error {point.error:.2e}"
    cost = "" if point.fmu_steps is None else f"{point.fmu_steps:8} FMU steps"
    cpu = "" if point.cpu_seconds is None else f"{point.cpu_seconds:.2e} s"
    print(
        f"{point.pair:17} {point.master:15} {point.method:21} {point.setting:28} {cost:18} {cpu:10} {found}", flush=True
    )
