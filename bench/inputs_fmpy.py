"""Drives the Reference FMU Feedthrough by a table with FMPy and with Dovetail, and prints how far the outputs are apart; exits with
code 1 where they should not be.

    python3 bench/inputs_fmpy.py target/release/dovetail Feedthrough.fmu...

Needs FMPy and NumPy. Under Co-Simulation FMPy holds each continuous input at its value at the start of a step, and Dovetail
at its mean over the step: the outputs differ by half a step times the slope, and by nothing else.
"""

import csv
import subprocess
import sys
import tempfile

import numpy as np
from fmpy import read_model_description, simulate_fmu

STEP = 0.01
COLUMNS = [
    ("Float64_continuous_input", float),
    ("Float64_tunable_parameter", float),
    ("Int32_input", np.int32),
    ("Boolean_input", np.bool_),
]
ROWS = [
    (0, 0, 1, 1, 0),
    (0.5, 1, 1, 1, 0),
    (1, 1, 1, 2, 1),
    (1, 3, 2.5, 3, 1),
    (1.5, 2, 2.5, 3, 0),
    (2, 0, 2.5, 4, 0),
]
STEEPEST = 4.0
CONTINUOUS = "Float64_continuous_output"
OUTPUTS = [CONTINUOUS, "Int32_output", "Boolean_output", "Float64_tunable_parameter"]
ROUNDING = 1e-12


def table_of(path):
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["time"] + [name for name, _ in COLUMNS])
        writer.writerows(ROWS)


def dovetail(program, fmu, table, interface, output):
    command = [program, "run", fmu, "--input", table, "--step", str(STEP), "--stop-time", "2"]
    subprocess.run(command + ["--interface", interface, "--output", output, "--quiet"], check=True)
    rows = np.genfromtxt(output, delimiter=",", names=True, deletechars="")
    # The last row at a time is the one on the right side of an event.
    return {round(row["time"], 9): row for row in rows}


def allowed(kind, name):
    """How far an output may be apart: but for rounding only where FMPy holds what is not held."""
    holds = kind == "CoSimulation" and name == CONTINUOUS
    return ROUNDING + (0.5 * STEP * STEEPEST if holds else 0.0)


def compare(program, fmu, folder):
    """Whether all outputs are as near as they should be."""
    good = True
    version = read_model_description(fmu).fmiVersion
    signals = np.array(ROWS, dtype=[("time", float)] + COLUMNS)
    table = f"{folder}/table.csv"
    table_of(table)
    for kind, interface in [("CoSimulation", "co-simulation"), ("ModelExchange", "model-exchange")]:
        step = {"step_size": STEP} if kind == "CoSimulation" else {}
        theirs = simulate_fmu(
            fmu, fmi_type=kind, input=signals, output=OUTPUTS, output_interval=STEP, stop_time=2, **step
        )
        ours = dovetail(program, fmu, table, interface, f"{folder}/rows.csv")
        for name in OUTPUTS:
            # At events FMPy has the row of one side only, which need not be the right one.
            events = {row[0] for row in ROWS}
            apart = [
                abs(float(row[name]) - float(ours[round(row["time"], 9)][f"Feedthrough.{name}"]))
                for row in theirs
                if round(row["time"], 9) not in events
            ]
            near = max(apart) <= allowed(kind, name)
            good &= near
            print(f"FMI {version} {kind:14} {name:26} {max(apart):.3e}{'' if near else '  TOO FAR'}")
    print(f"half a step times the steepest slope: {0.5 * STEP * STEEPEST:.3e}")
    return good


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        near = [compare(sys.argv[1], fmu, folder) for fmu in sys.argv[2:]]
    sys.exit(0 if all(near) else 1)
