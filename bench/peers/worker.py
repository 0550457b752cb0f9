"""One run of one master in a process of its own: a task as JSON on standard input, the result as JSON on standard output.

A task is either timed (CPU seconds of all threads around the steps, nothing recorded) or recorded (rows, not timed).
"""

import json
import math
import sys
import time
from collections.abc import Callable

from coupled import Coupled
from masters import Simulation


def class_of(master: str) -> type:
    # Each is imported only where it is used: their libraries start threads and change the process.
    if master == "fmpy loop":
        from masters.fmpy_loop import FmpyLoop as Master
    elif master == "fmpy container":
        from masters.fmpy_container import FmpyContainer as Master
    elif master == "ecos":
        from masters.ecos import Ecos as Master
    elif master == "libcosim":
        from masters.libcosim import Libcosim as Master
    elif master == "bare loop":
        from masters.bare_loop import BareLoop as Master
    else:
        raise ValueError(f"no master is called {master}")
    return Master


def timed(fresh: Callable[[], Simulation], steps: int, repeats: int) -> dict:
    """The least of the repeats: machines are noisy."""
    least = math.inf
    for _ in range(repeats):
        simulation = fresh()
        before = time.process_time()
        simulation.advance(steps)
        least = min(least, time.process_time() - before)
        simulation.close()
    return {"cpu_seconds": least}


def recorded(simulation: Simulation, stop_time: float, every: int) -> dict:
    """A row after every so many macro-steps."""
    if hasattr(simulation, "observe"):
        simulation.observe()
    rows = []
    while simulation.time() < stop_time * (1 - 1e-9):
        simulation.advance(every)
        rows.append([simulation.time(), *simulation.values()])
    simulation.close()
    return {"rows": rows}


def main() -> None:
    task = json.load(sys.stdin)
    coupled = Coupled.from_json(task["coupled"])
    master = class_of(task["master"])

    def fresh() -> Simulation:
        return master(coupled, task["step"], **task["settings"])

    if task["record_every"] is None:
        result = timed(fresh, task["steps"], task["repeats"])
    else:
        result = recorded(fresh(), coupled.stop_time, task["record_every"])
    print("\n" + json.dumps(result))


if __name__ == "__main__":
    main()
