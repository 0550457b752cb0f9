"""Runs of the other masters, each in a process of its own that stays on one core."""

import json
import os
import subprocess
import sys
from pathlib import Path

from coupled import Coupled

WORKER = Path(__file__).with_name("worker.py")
TIME_LIMIT = 120  # seconds


class Failed(Exception):
    """A master that did not come to its end; the text says how."""


def one_core() -> None:
    """Keeps a process on one core: thread pools cost more than they save on FMUs this light, and that much by chance."""
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def run_task(
    coupled: Coupled,
    master: str,
    settings: dict,
    step: float,
    *,
    steps: int = 0,
    repeats: int = 1,
    record_every: int | None = None,
    counts: Path | None = None,
) -> dict:
    """Timed over so many steps, the least of the repeats, or recorded up to the stop time."""
    task = {
        "coupled": coupled.as_json(),
        "master": master,
        "settings": settings,
        "step": step,
        "steps": steps,
        "repeats": repeats,
        "record_every": record_every,
    }
    environment = dict(os.environ)
    if counts is not None:
        environment["DOVETAIL_COUNT_INTEGRATIONS"] = str(counts)
    try:
        done = subprocess.run(
            [sys.executable, WORKER],
            input=json.dumps(task),
            check=False,
            capture_output=True,
            text=True,
            env=environment,
            preexec_fn=one_core,
            timeout=TIME_LIMIT,
        )
    except subprocess.TimeoutExpired as error:
        raise Failed(f"no end within {TIME_LIMIT} s") from error
    if done.returncode < 0:
        raise Failed(f"ended by signal {-done.returncode}")
    if done.returncode > 0:
        raise Failed((done.stderr.strip() or done.stdout.strip())[-300:])
    return json.loads(done.stdout.strip().splitlines()[-1])


def counted(counts: Path) -> int:
    """Integrations that the FMUs of a run have counted themselves; those of trying FMUs out are not of the run."""
    lines = [line.split(",") for line in counts.read_text().splitlines()]
    return sum(int(number) for _, name, number in lines if name != "probe")
