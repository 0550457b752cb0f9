"""Models written as system structures: valid by FMPy's schemas, run by FMPy, and the same numbers when they are read back.

    check_ssp.py PROGRAM EXAMPLES
"""

import csv
import os
import subprocess
import sys
import tempfile
import zipfile

import fmpy.ssp
import numpy as np
from fmpy.ssp.simulation import simulate_ssp
from lxml import etree

PROGRAM, EXAMPLES = (os.path.abspath(path) for path in sys.argv[1:3])
SCHEMAS = os.path.join(os.path.dirname(fmpy.ssp.__file__), "schema")

# Examples with a method and a fixed step.
RUNS = [
    ("mechanical", "jacobi", "0.001"),
    ("lotka-volterra", "gauss-seidel", "0.01"),
    ("car", "jacobi", "0.02"),
    ("pump-and-tank", "gauss-seidel", "0.1"),
]


def dovetail(*arguments):
    done = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True)
    assert done.returncode == 0, (arguments, done.stderr)
    return done.stdout


def rows(model, *arguments):
    dovetail("run", model, *arguments, "-o", "rows.csv", "--quiet")
    with open("rows.csv") as file:
        table = list(csv.DictReader(file))
    return {name: np.array([float(row[name]) for row in table]) for name in table[0]}


def validate(package):
    """Every file of a package by its schema, which FMPy has of SSP 1.0."""
    kinds = {"ssd": "SystemStructureDescription.xsd", "ssv": "SystemStructureParameterValues.xsd"}
    with zipfile.ZipFile(package) as archive:
        for name in archive.namelist():
            kind = kinds.get(name.rsplit(".")[-1])
            if kind is None:
                continue
            schema = etree.XMLSchema(etree.parse(os.path.join(SCHEMAS, kind)))
            schema.assertValid(etree.fromstring(archive.read(name)))


def deviation(found, expected):
    """The largest difference in parts of the range of each variable, of those that both have, at the times that both have.

    Equations show both sides of their events; of an FMU only its steps are known.
    """
    sides = [{time: k for k, time in enumerate(table["time"])} for table in (found, expected)]
    times = sorted(sides[0].keys() & sides[1].keys())
    assert len(times) > 0.99 * len(sides[1]), (len(times), len(sides[1]))
    here, there = ([side[time] for time in times] for side in sides)
    worst = 0.0
    common = [name for name in expected if name in found and name != "time"]
    assert common, (list(found), list(expected))
    for name in common:
        spread = np.ptp(expected[name]) or 1.0
        worst = max(worst, np.max(np.abs(found[name][here] - expected[name][there])) / spread)
    return worst


def examples():
    for name, method, step in RUNS:
        model = os.path.join(EXAMPLES, name, "model.toml")
        given = ["--method", method, "--step", step]
        expected = rows(model, *given)
        for version in ["1", "2"]:
            package = f"{name}-{version}.ssp"
            dovetail("ssp", model, *given, "--ssp", version, "-o", package)
            if version == "1":
                validate(package)
            worst = deviation(rows(package), expected)
            assert worst < 1e-9, (name, method, version, worst)
            print(f"{name}, {method}, SSP {version}.0: {worst:.1e} of the range")


def by_fmpy():
    """FMPy holds inputs over its steps, as jacobi does, so that its error is of first order."""
    model = os.path.join(EXAMPLES, "lotka-volterra", "model.toml")
    expected = rows(model, "--method", "predictive", "--step", "0.01", "--stop-time", "2")
    result = simulate_ssp("lotka-volterra-1.ssp", stop_time=2.0, step_size=0.01)
    found = result["prey.population"]
    right = np.interp(result["time"], expected["time"], expected["prey.population"])
    worst = np.max(np.abs(found - right)) / np.ptp(expected["prey.population"])
    assert worst < 0.03, worst
    print(f"lotka-volterra by FMPy with steps of 0.01 s: {worst:.1e} of the range from the solution")


def shared():
    """Systems with the same equations and values share an FMU."""
    system = """
[systems.{0}]
inputs     = {{ u = 0.0 }}
parameters = {{ T = 0.5 }}
states     = {{ x = 1.0 }}
equations  = "der(x) = (u - x) / T"
outputs    = {{ y = "x" }}
"""
    link = '\n[[connections]]\nfrom = "{}.y"\nto   = "{}.u"\n'
    text = '[model]\nname = "a ring"\nstop-time = 1.0\n'
    text += "".join(system.format(name) for name in "abc")
    text += "".join(link.format(*pair) for pair in ["ab", "bc", "ca"])
    with open("ring.toml", "w") as file:
        file.write(text)
    dovetail("ssp", "ring.toml", "-o", "ring.ssp", "--method", "jacobi", "--step", "0.01")
    with zipfile.ZipFile("ring.ssp") as archive:
        fmus = [name for name in archive.namelist() if name.endswith(".fmu")]
    assert fmus == ["resources/a.fmu"], fmus
    # A value of the package is that of a parameter.
    changed = rows("ring.ssp", "--set", "b.T=0.25")
    expected = rows("ring.toml", "--method", "jacobi", "--step", "0.01", "--set", "b.T=0.25")
    assert deviation(changed, expected) < 1e-9


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    examples()
    by_fmpy()
    shared()
