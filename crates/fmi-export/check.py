"""Exported FMUs under FMPy, beside runs of the program itself: the same numbers, and honest capabilities.

    check.py PROGRAM EXAMPLES

Writes FMUs of the examples, of a model with an open input and of FMUs within FMUs into a folder of its own.
"""

import csv
import ctypes
import json
import os
import resource
import subprocess
import sys
import tempfile

import numpy as np
from fmpy import extract, read_model_description, simulate_fmu
from fmpy.fmi2 import FMU2Slave
from fmpy.fmi3 import FMU3Slave
from fmpy.validation import validate_fmu

PROGRAM, EXAMPLES = (os.path.abspath(path) for path in sys.argv[1:3])

LAG = """
[model]
name = "a lag with an open input"
stop-time = 2.0

[systems.lag]
inputs     = { u = 0.5, v = 0.0 }
parameters = { T = 0.3 }
states     = { x = 0.0 }
equations  = "der(x) = (u + v - x) / T"
outputs    = { y = "x", z = "2*x + u" }
units      = { u = "m", y = "m" }

[systems.gain]
inputs  = { y = 0.0 }
outputs = { w = "-0.5*y" }

[[connections]]
from = "lag.y"
to   = "gain.y"

[[connections]]
from = "gain.w"
to   = "lag.v"
"""

OUTER = """
[model]
name = "an exported FMU in a model"
stop-time = 2.0

[systems.plant]
fmu = "lag.fmu"

[systems.source]
outputs = { u = "sin(3*time)" }

[[connections]]
from = "source.u"
to   = "plant.lag.u"

[method]
name = "jacobi"
step = 0.01
"""


def dovetail(*arguments):
    done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == 0, f"{arguments}: {done.stdout}{done.stderr}"
    return done.stdout


def export(model, out, *flags):
    dovetail("export", model, "-o", out, "-q", *flags)
    problems = validate_fmu(out)
    assert not problems, f"{out}: {problems}"
    return out


def own_run(model, *flags):
    dovetail("run", model, "-o", "own.csv", "-q", *flags)
    with open("own.csv") as file:
        rows = list(csv.reader(file))
    return {name: np.array([float(row[k]) for row in rows[1:]]) for k, name in enumerate(rows[0])}


def distance(ours, theirs, names):
    """The largest distance at common times, as a share of the range."""
    worst = 0.0
    for name in names:
        there = np.interp(ours["time"], theirs["time"], theirs[name])
        extent = np.ptp(theirs[name]) or 1.0
        worst = max(worst, float(np.max(np.abs(ours[name] - there)) / extent))
    return worst


def fixed_steps_give_the_numbers_of_our_own_runs():
    for example in ["mechanical", "lotka-volterra", "rooms", "pump-and-tank"]:
        model = f"{EXAMPLES}/{example}/model.toml"
        for method in ["jacobi", "gauss-seidel", "ifosmondi"]:
            stop = json.loads(dovetail("check", model, "--json"))["stop_time"]
            step = stop / 2000
            flags = ["--method", method, "--step", repr(step)]
            own = own_run(model, *flags)
            for fmi in "23":
                fmu = export(model, f"{example}-{method}-{fmi}.fmu", "--fmi", fmi, *flags)
                theirs = simulate_fmu(fmu, output_interval=step, stop_time=stop)
                # A row of ours that repeats a time is an event, of which FMPy sees the later side.
                last = {name: theirs[name][-1] for name in theirs.dtype.names[1:]}
                for name, value in last.items():
                    extent = np.ptp(own[name]) or 1.0
                    assert abs(value - own[name][-1]) <= 1e-9 * extent, (example, method, fmi, name, value, own[name][-1])
        print(f"  {example}: the same with jacobi, gauss-seidel and ifosmondi, FMI 2 and 3")


def chosen_steps_keep_to_the_monolithic_solution():
    for example in ["mechanical", "lotka-volterra"]:
        model = f"{EXAMPLES}/{example}/model.toml"
        truth = own_run(model, "--method", "monolithic")
        for fmi in "23":
            fmu = export(model, f"{example}-chosen-{fmi}.fmu", "--fmi", fmi, "--method", "predictive", "--tolerance", "1e-6")
            theirs = simulate_fmu(fmu, output_interval=(truth["time"][-1]) / 1000)
            names = theirs.dtype.names[1:]
            errors = [abs(theirs[n][-1] - truth[n][-1]) / np.ptp(truth[n]) for n in names]
            assert max(errors) < 1e-5, (example, errors)
        print(f"  {example}: error {max(errors):.1e} of the range at the end")


def exact_lag(times, u, gain=1.5, lag=0.3):
    """The closed form under held inputs."""
    x, values = 0.0, [0.0]
    for k in range(len(times) - 1):
        rest = u[k] / gain
        x = rest + (x - rest) * np.exp(-gain * (times[k + 1] - times[k]) / lag)
        values.append(x)
    return np.array(values)


def inputs_and_parameters_that_change_are_followed():
    open("lag.toml", "w").write(LAG)
    for fmi in "23":
        fmu = export("lag.toml", f"lag-{fmi}.fmu", "--fmi", fmi)
        # FMPy holds a discrete jump from the row that repeats its time.
        table = np.array([(0.0, 0.2), (1.0, 0.2), (1.0, -0.7), (2.0, -0.7)], dtype=[("time", float), ("lag.u", float)])
        theirs = simulate_fmu(fmu, output_interval=0.05, stop_time=2.0, input=table, start_values={"lag.T": 0.2})
        times = theirs["time"]
        held = np.where(times < 1.0 - 1e-9, 0.2, -0.7)
        exact = exact_lag(times, held, lag=0.2)
        assert np.max(np.abs(theirs["lag.y"] - exact)) < 1e-6, np.max(np.abs(theirs["lag.y"] - exact))
    print("  an input that jumps and a parameter that is set: the closed form to 1e-6")


def slave(fmu, stop=2.0):
    description = read_model_description(fmu)
    folder = extract(fmu)
    kind = FMU2Slave if description.fmiVersion.startswith("2") else FMU3Slave
    made = kind(guid=description.guid, unzipDirectory=folder, instanceName="one",
                modelIdentifier=description.coSimulation.modelIdentifier)
    made.instantiate()
    if kind is FMU2Slave:
        made.setupExperiment(startTime=0.0, stopTime=stop)
        made.enterInitializationMode()
    else:
        made.enterInitializationMode(startTime=0.0, stopTime=stop)
    made.exitInitializationMode()
    return made, {v.name: v.valueReference for v in description.modelVariables}


def values_of(made, references):
    get = made.getReal if isinstance(made, FMU2Slave) else made.getFloat64
    return list(get(references))


def a_state_that_is_restored_repeats_to_the_last_bit():
    for fmi in "23":
        for fmu in [f"lag-{fmi}.fmu", f"mechanical-chosen-{fmi}.fmu"]:
            made, names = slave(fmu)
            outputs = [reference for name, reference in names.items() if name != "time"]
            read = lambda: values_of(made, outputs)
            for k in range(10):
                made.doStep(0.02 * k, 0.02)
            state = made.getFMUState()
            written = made.serializeFMUState(state)
            made.doStep(0.2, 0.02)
            first = read()
            made.doStep(0.22, 0.05)
            second = read()
            made.setFMUState(state)
            made.doStep(0.2, 0.02)
            made.doStep(0.22, 0.05)
            assert read() == second, (fmu, "after going back")
            read_back = getattr(made, "deserializeFMUState", None) or made.deSerializeFMUstate
            other = read_back(written)
            made.setFMUState(other)
            made.doStep(0.2, 0.02)
            assert read() == first, (fmu, "from bytes")
            made.freeFMUState(state)
            made.terminate()
            made.freeInstance()
    print("  states: restored and from bytes, the same to the last bit")


def derivatives_of_inputs_are_followed_exactly():
    made, names = slave("lag-2.fmu")
    y, u = names["lag.y"], names["lag.u"]
    reference = (ctypes.c_uint32 * 1)(u)
    order, slope = (ctypes.c_int * 1)(1), (ctypes.c_double * 1)(2.0)
    for k in range(10):
        t = 0.1 * k
        made.setReal([u], [2.0 * t])
        made.fmi2SetRealInputDerivatives(made.component, reference, 1, order, slope)
        made.doStep(t, 0.1)
    # T y' = u - 1.5 y with u = 2 t, from rest.
    a = 1.5 / 0.3
    exact = 2.0 / 0.3 * (1.0 / a - (1.0 - np.exp(-a)) / a**2)
    got = values_of(made, [y])[0]
    assert abs(got - exact) < 1e-6, (got, exact)
    made.terminate()
    made.freeInstance()
    print("  a ramp by input derivatives: the closed form to 1e-6")


def an_fmu_within_a_model_within_an_fmu_has_the_same_numbers():
    export("lag.toml", "lag.fmu", "--method", "jacobi", "--step", "0.01")
    open("outer.toml", "w").write(OUTER)
    own = own_run("outer.toml")
    again = export("outer.toml", "outer.fmu")
    theirs = simulate_fmu(again, output_interval=0.01, stop_time=2.0)
    for name in theirs.dtype.names[1:]:
        if name in own:
            assert abs(theirs[name][-1] - own[name][-1]) <= 1e-9 * (np.ptp(own[name]) or 1.0), name
    alone = own_run("outer.fmu", "--method", "jacobi", "--step", "0.01", "--stop-time", "2")
    last = {name.split(".", 1)[1]: values[-1] for name, values in alone.items() if "." in name}
    assert abs(last["plant.lag.y"] - theirs["plant.lag.y"][-1]) <= 1e-9
    print("  an FMU within a model within an FMU: the same numbers")


def our_own_probe_finds_what_is_declared():
    found = dovetail("inspect", "lag-2.fmu") + dovetail("inspect", "mechanical-chosen-2.fmu")
    assert "declared, but" not in found, found
    print("  our own probe confirms what is declared")


def bad_calls_are_answered_by_a_status():
    made, names = slave("lag-2.fmu")
    lib, c = ctypes.CDLL(made.dll._name), made.component  # without the types that FMPy declares
    one, value = (ctypes.c_uint32 * 1)(10_000), (ctypes.c_double * 1)()
    null = ctypes.c_void_p(None)
    address, number = ctypes.c_void_p, ctypes.c_double
    calls = [
        lib.fmi2GetReal(address(c), one, ctypes.c_size_t(1), value),
        lib.fmi2GetReal(address(c), null, ctypes.c_size_t(1), value),
        lib.fmi2GetReal(null, one, ctypes.c_size_t(1), value),
        lib.fmi2GetReal(address(0xdead0), one, ctypes.c_size_t(1), value),
        lib.fmi2DoStep(address(c), number(0.0), number(-1.0), 1),
        lib.fmi2DoStep(address(c), number(7.0), number(0.1), 1),
        lib.fmi2DoStep(address(c), number(float("nan")), number(0.1), 1),
        lib.fmi2SetReal(address(c), (ctypes.c_uint32 * 1)(names["lag.y"]), ctypes.c_size_t(1), value),
        lib.fmi2SetReal(address(c), (ctypes.c_uint32 * 1)(names["lag.T"]), ctypes.c_size_t(1), value),
        lib.fmi2EnterInitializationMode(address(c)),
        lib.fmi2SetFMUstate(address(c), address(0x1234)),
        lib.fmi2GetFMUstate(address(c), null),
        lib.fmi2DeSerializeFMUstate(address(c), b"nonsense", ctypes.c_size_t(8), ctypes.byref(ctypes.c_void_p())),
    ]
    assert all(status == 3 for status in calls), calls
    lib.fmi2FreeInstance(null)
    lib.fmi2FreeInstance(address(0xdead0))
    made.doStep(0.0, 0.1)
    made.freeInstance()
    assert lib.fmi2DoStep(address(c), number(0.1), number(0.1), 1) == 3, "a freed instance"
    print(f"  {len(calls) + 1} bad calls: a status each")


def instances_come_and_go_without_growth():
    description = read_model_description("lag-2.fmu")
    folder = extract("lag-2.fmu")

    def live(count):
        for _ in range(count):
            made = FMU2Slave(guid=description.guid, unzipDirectory=folder, instanceName="one",
                             modelIdentifier=description.coSimulation.modelIdentifier)
            made.instantiate()
            made.setupExperiment(startTime=0.0, stopTime=2.0)
            made.enterInitializationMode()
            made.exitInitializationMode()
            made.doStep(0.0, 0.1)
            made.terminate()
            made.fmi2FreeInstance(made.component)

    def memory():
        return int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize()

    threads, files = len(os.listdir("/proc/self/task")), len(os.listdir("/proc/self/fd"))
    live(200)
    before = memory()
    live(1000)
    grown = memory() - before
    assert grown < 4 << 20, f"{grown} bytes more after 1000 instances"
    assert len(os.listdir("/proc/self/task")) == threads, "a thread was left"
    assert len(os.listdir("/proc/self/fd")) == files, "a file was left open"
    print(f"  1000 instances: {grown // 1024} kB more, no thread and no file left")


def an_importer_keeps_its_folder_and_its_handlers():
    def handled():
        return next(line for line in open("/proc/self/status") if line.startswith("SigCgt"))

    before, files, here = handled(), len(os.listdir("/proc/self/fd")), os.getcwd()
    made, _ = slave("outer.fmu")
    made.doStep(0.0, 0.1)
    os.chdir("/")
    made.doStep(0.1, 0.1)
    assert os.getcwd() == "/", "the folder of the importer was changed back"
    made.terminate()
    made.freeInstance()
    assert os.getcwd() == "/"
    os.chdir(here)
    assert handled() == before, "a handler of a signal was left"
    assert len(os.listdir("/proc/self/fd")) == files, "a file was left open"
    print("  an importer keeps its folder, and no handler of a signal is left")


CLAIMS = [
    fixed_steps_give_the_numbers_of_our_own_runs,
    chosen_steps_keep_to_the_monolithic_solution,
    inputs_and_parameters_that_change_are_followed,
    a_state_that_is_restored_repeats_to_the_last_bit,
    derivatives_of_inputs_are_followed_exactly,
    an_fmu_within_a_model_within_an_fmu_has_the_same_numbers,
    our_own_probe_finds_what_is_declared,
    bad_calls_are_answered_by_a_status,
    instances_come_and_go_without_growth,
    an_importer_keeps_its_folder_and_its_handlers,
]

if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        failed = 0
        for claim in CLAIMS:
            try:
                claim()
            except Exception as error:
                if "--all" not in sys.argv:
                    raise
                failed += 1
                print(f"  {claim.__name__}: {type(error).__name__}: {error}")
        sys.exit(1 if failed else 0)
