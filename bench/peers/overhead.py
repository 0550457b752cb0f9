"""CPU time of a macro-step per FMU on rings of the lightest FMU there is: a long run less a short one."""

from dataclasses import dataclass
from pathlib import Path

import dovetail
from coupled import ring
from process import Failed, run_task

SIZES = (2, 10, 100)
STEP = 1e-5
SHORT = 5  # a long run has so many times the steps of a short one


@dataclass
class Overhead:
    """A row of the results; no time where the master cannot run the FMUs, and then `note` says why."""

    master: str
    fmu: str
    size: int
    nanoseconds: float | None
    note: str = ""


@dataclass(frozen=True)
class Subject:
    """A master, the FMUs it is given, and FMU-steps of a long run, so that each works about equally long."""

    master: str
    kinds: tuple[str, ...]
    work: int


RICH = ("fmi2-rich", "fmi3-rich")
EVERY = (*RICH, "fmi2-poor", "fmi3-poor")
# Only Dovetail treats FMUs of many capabilities differently from those that can only step.
SUBJECTS = (
    Subject("bare loop", EVERY, 5_000_000),
    Subject("dovetail", EVERY, 1_000_000),
    Subject("fmpy loop", RICH, 100_000),
    Subject("fmpy container", RICH, 1_000_000),
    Subject("ecos", RICH, 500_000),
    Subject("libcosim", RICH, 100_000),
)


def measure(folder: Path, repeats: int, shrink: int) -> list[Overhead]:
    """All masters on all rings. `shrink` divides the work, for a quick look."""
    rows = []
    for size in SIZES:
        for subject in SUBJECTS:
            for kind in subject.kinds:
                steps = max(subject.work // shrink // size, SHORT)
                rows.append(measured(folder, subject.master, kind, size, steps, repeats))
                print_row(rows[-1])
    return rows


def measured(folder: Path, master: str, kind: str, size: int, steps: int, repeats: int) -> Overhead:
    def seconds(steps: int) -> float:
        coupled = ring(folder, kind, size, steps * STEP)
        if master == "dovetail":
            return dovetail.cpu_seconds(coupled, {"method": "jacobi", "step": repr(STEP)}, repeats)
        return run_task(coupled, master, {}, STEP, steps=steps, repeats=repeats)["cpu_seconds"]

    row = Overhead(master, kind, size, None)
    try:
        check_sum(folder, master, kind, size)
        spent = seconds(steps) - seconds(steps // SHORT)
        row.nanoseconds = 1e9 * spent / ((steps - steps // SHORT) * size)
    except Failed as reason:
        row.note = str(reason)
    return row


def check_sum(folder: Path, master: str, kind: str, size: int) -> None:
    """A master that loses values on the way would be quick for the wrong reason: the sum of all x stays 1."""
    if master == "dovetail":
        return  # the benchmark `fmu_ring` checks it
    coupled = ring(folder, kind, size, 100 * STEP)
    last = run_task(coupled, master, {}, STEP, record_every=100)["rows"][-1]
    total = sum(last[1:])
    if abs(total - 1) > 1e-9:
        raise Failed(f"the sum of all states is {total}")


def print_row(row: Overhead) -> None:
    time = "cannot" if row.nanoseconds is None else f"{row.nanoseconds:.1f} ns"
    print(f"ring of {row.size:3}  {row.fmu:9}  {row.master:14}  {time}", flush=True)
