"""`mechanical` as one FMU beside FMPy's container of its two systems: the error that one importer sees with the same steps.

    export_container.py PROGRAM EXAMPLES

The container couples the two systems, each exported as an FMU of its own, by steps of a millisecond. The exported model has
`predictive` inside, at a tolerance of 1e-6. FMPy drives both by the same steps; the error is the largest distance from the closed
form of the coupled model over the run, as a part of the range of each variable.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from fmpy import simulate_fmu

sys.path.insert(0, str(Path(__file__).resolve().parent / "peers"))
from coupled import Coupled
from masters.fmpy_container import FmpyContainer
from references import two_masses

STEP = 1e-3
STOP = 2.0
TOLERANCE = "1e-6"
LEAST_RATIO = 1e4

LEFT = """
[model]
name = "the left body"
stop-time = 2.0

[systems.left]
inputs     = { force = 20000.0 }
parameters = { m = 5.0, c = 10000.0, d = 10.0 }
states     = { x = 1.0, v = 0.0 }
equations  = "der(x) = v; der(v) = (force - c * x - d * v) / m"
outputs    = { position = "x", velocity = "v" }
"""

RIGHT = """
[model]
name = "the right body"
stop-time = 2.0

[systems.right]
inputs     = { position = 1.0, velocity = 0.0 }
parameters = { m = 80.0, c = 100000.0, d = 40.0, coupling_c = 10000.0, coupling_d = 10.0 }
states     = { x = 3.0, v = 0.0 }
equations  = "pull = coupling_c * (x - position) + coupling_d * (v - velocity); der(x) = v; der(v) = (-pull - c * x - d * v) / m"
outputs    = { force = "pull", x = "x" }
"""

OBSERVED = ["left.left.position", "left.left.velocity"]


def export(program, model, out, *flags):
    subprocess.run([program, "export", model, "-o", out, "-q", *flags], check=True)
    return os.path.abspath(out)


def container_rows(program):
    """Position and velocity of the left body at the end of each step."""
    Path("left.toml").write_text(LEFT)
    Path("right.toml").write_text(RIGHT)
    coupled = Coupled(
        name="two bodies",
        fmus={name: export(program, f"{name}.toml", f"{name}.fmu") for name in ["left", "right"]},
        connections=[
            ("right.right.force", "left.left.force"),
            ("left.left.position", "right.right.position"),
            ("left.left.velocity", "right.right.velocity"),
        ],
        stop_time=STOP,
        observed=OBSERVED,
    )
    container = FmpyContainer(coupled, STEP)
    rows = []
    for _ in range(round(STOP / STEP)):
        container.advance(1)
        rows.append(list(container.values()))
    container.close()
    return np.array(rows)


def exported_rows(program, examples):
    model = f"{examples}/mechanical/model.toml"
    fmu = export(program, model, "mechanical.fmu", "--method", "predictive", "--tolerance", TOLERANCE)
    result = simulate_fmu(fmu, output_interval=STEP, stop_time=STOP)
    return np.array([result["left.position"], result["left.velocity"]]).T[1:]


def error(rows):
    times = STEP * np.arange(1, len(rows) + 1)
    exact = two_masses()(times)[:2].T
    return float(np.max(np.abs(rows - exact) / np.ptp(exact, axis=0)))


def main():
    program, examples = (os.path.abspath(path) for path in sys.argv[1:3])
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        container, exported = error(container_rows(program)), error(exported_rows(program, examples))
        os.chdir("/")
    print(f"error with steps of {STEP:g} s, as a part of the range")
    print(f"  container of FMPy:           {container:.1e}")
    print(f"  exported, predictive inside: {exported:.1e}")
    print(f"  ratio:                       {container / exported:.1e}")
    assert container / exported >= LEAST_RATIO, "the exported model is not so much better"


if __name__ == "__main__":
    main()
