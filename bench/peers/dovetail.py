"""Dovetail on the same FMUs, through its library (`bench/src/bin/peer_dovetail.rs`)."""

import csv
import json
import os
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from coupled import Coupled, split
from process import Failed, one_core

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "target" / "release" / "peer_dovetail"


def model_file(coupled: Coupled) -> str:
    lines = ["[model]", f"stop-time = {coupled.stop_time!r}"]
    for system, path in coupled.fmus.items():
        lines += [f"[systems.{system}]", f"fmu = {json.dumps(path)}"]
        values = {split(name)[1]: value for name, value in coupled.parameters.items() if split(name)[0] == system}
        if values:
            lines.append("parameters = { " + ", ".join(f"{name} = {value!r}" for name, value in values.items()) + " }")
    for source, sink in coupled.connections:
        lines += ["[[connections]]", f'from = "{source}"', f'to = "{sink}"']
    return "\n".join(lines) + "\n"


def call(command: str, coupled: Coupled, argument: str, options: dict[str, str], counts: Path | None = None) -> dict:
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "model.toml"
        model.write_text(model_file(coupled))
        choices = [f"{key}={value}" for key, value in options.items()]
        environment = dict(os.environ)
        if counts is not None:
            environment["DOVETAIL_COUNT_INTEGRATIONS"] = str(counts)
        done = subprocess.run(
            [PROGRAM, command, model, argument, *choices],
            check=False,
            capture_output=True,
            text=True,
            env=environment,
            preexec_fn=one_core,
        )
    if done.returncode != 0:
        raise Failed(done.stderr.strip()[-300:])
    return json.loads(done.stdout)


def rows(coupled: Coupled, options: dict[str, str], counts: Path) -> np.ndarray:
    """Times, and what is observed at them, a column each, at the communication times."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.csv"
        call("rows", coupled, str(path), options, counts)
        with path.open() as file:
            table = csv.reader(file)
            names = next(table)
            columns = [0, *(names.index(name) for name in coupled.observed)]
            return np.array([[float(row[column]) for column in columns] for row in table])


def cpu_seconds(coupled: Coupled, options: dict[str, str], repeats: int) -> float:
    """Of the time loop alone, the least of the repeats."""
    return call("time", coupled, str(repeats), options)["cpu_seconds"]
