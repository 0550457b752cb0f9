"""Exported FMUs under FMPy, beside runs of the program itself: the same numbers, and honest capabilities.

    check.py PROGRAM EXAMPLES [FIXTURES]

Writes FMUs of the examples, of a model with an open input and of FMUs within FMUs into a folder of its own. FIXTURES are the test
FMUs: with them a system that ends the simulation and values of every type are tried.
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

PATHS = [os.path.abspath(path) for path in sys.argv[1:] if not path.startswith("--")]
PROGRAM, EXAMPLES = PATHS[:2]
FIXTURES = PATHS[2] if len(PATHS) > 2 else None

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


def refused(*arguments):
    """What the program says where it refuses."""
    done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == 2, f"{arguments}: {done.returncode} {done.stdout}{done.stderr}"
    return done.stderr


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
                later = np.append(own["time"][1:] != own["time"][:-1], True)
                assert len(theirs) == np.count_nonzero(later), (example, method, fmi, len(theirs))
                for name in theirs.dtype.names[1:]:
                    extent = np.ptp(own[name]) or 1.0
                    worst = np.max(np.abs(theirs[name] - own[name][later])) / extent
                    assert worst <= 1e-9, (example, method, fmi, name, worst)
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


def inputs_as_functions_of_time_are_asked_for():
    """FMI 3: the importer gives a cubic by intermediate update; the closed form of T y' = u - 1.5 y is followed."""
    description = read_model_description("lag-3.fmu")
    names = {v.name: v.valueReference for v in description.modelVariables}
    made = FMU3Slave(guid=description.guid, unzipDirectory=extract("lag-3.fmu"), instanceName="one",
                     modelIdentifier=description.coSimulation.modelIdentifier)
    u, asked, refused = names["lag.u"], [], []

    def update(environment, time, set_requested, *rest):
        asked.append(time)
        made.setFloat64([u], [2.0 * time])
        lib, reference = ctypes.CDLL(made.dll._name), (ctypes.c_uint32 * 1)(names["lag.T"])
        one, value = ctypes.c_size_t(1), (ctypes.c_double * 1)(1.0)
        refused.append(lib.fmi3SetFloat64(ctypes.c_void_p(made.component), reference, one, value, one))

    made.instantiate(intermediateUpdate=update, requiredIntermediateVariables=[u])
    made.enterInitializationMode(startTime=0.0, stopTime=2.0)
    made.setFloat64([u], [0.0])
    made.exitInitializationMode()
    for k in range(10):
        made.doStep(0.1 * k, 0.1)
    a = 1.5 / 0.3
    exact = 2.0 / 0.3 * (1.0 / a - (1.0 - np.exp(-a)) / a**2)
    got = values_of(made, [names["lag.y"], u])
    assert abs(got[0] - exact) < 1e-6, (got, exact)
    assert abs(got[1] - 2.0) < 1e-12, "the input stays what it was at the end"
    assert min(asked) == 0.0 and max(asked) <= 1.0 + 1e-12 and len(asked) >= 10, asked
    assert set(refused) == {3}, "only inputs are set within a step"
    made.freeInstance()
    print("  a ramp by intermediate update: the closed form to 1e-6")


def an_fmu_within_a_model_within_an_fmu_has_the_same_numbers():
    export("lag.toml", "lag.fmu", "--method", "jacobi", "--step", "0.01")
    open("outer.toml", "w").write(OUTER)
    for method in ["gauss-seidel", "ifosmondi", "missiles", "jacobi"]:
        flags = ["--method", method, "--step", "0.01"]
        own = own_run("outer.toml", *flags)
        again = export("outer.toml", "outer.fmu", *flags)
        theirs = simulate_fmu(again, output_interval=0.01, stop_time=2.0)
        for name in theirs.dtype.names[1:]:
            if name in own:
                assert abs(theirs[name][-1] - own[name][-1]) <= 1e-9 * (np.ptp(own[name]) or 1.0), (method, name)
    alone = own_run("outer.fmu", "--method", "jacobi", "--step", "0.01", "--stop-time", "2")
    last = {name.split(".", 1)[1]: values[-1] for name, values in alone.items() if "." in name}
    assert abs(last["plant.lag.y"] - theirs["plant.lag.y"][-1]) <= 1e-9
    print("  an FMU within a model within an FMU: the same numbers under four methods")


def our_own_probe_finds_what_is_declared():
    for name in ["lag-2.fmu", "lag-3.fmu", "mechanical-chosen-2.fmu", "mechanical-chosen-3.fmu"]:
        found = json.loads(dovetail("inspect", name, "--json"))["units"][0]
        assert found["probed"] == found["declared"], (name, found["declared"], found["probed"], found["findings"])
        assert found["probed"]["rollback"] and found["probed"]["linearization"], (name, found)
        assert found["findings"], (name, "nothing was tried")
        for finding in found["findings"]:
            assert finding["holds"], (name, finding)
            # Without inputs there is nothing to move, and derivatives by states can only be believed.
            assert finding["confirmed"] or "mechanical" in name, (name, finding)
    print("  our own probe confirms all that is declared, FMI 2 and 3")


def directional_derivatives_are_what_differences_are():
    for fmi in "23":
        made, names = slave(f"lag-{fmi}.fmu")
        x, u, y, z, rate = (names[f"{name}"] for name in ["lag.x", "lag.u", "lag.y", "lag.z", "der(lag.x)"])
        made.doStep(0.0, 0.1)
        by_state = list(made.getDirectionalDerivative([rate, y, z], [x], [1.0]))
        by_input = list(made.getDirectionalDerivative([rate, y, z], [u], [1.0]))
        assert np.allclose(by_state, [-1.5 / 0.3, 1.0, 2.0], rtol=1e-12), by_state
        assert np.allclose(by_input, [1 / 0.3, 0.0, 1.0], rtol=1e-12), by_input
        before = values_of(made, [x, rate])
        assert abs(before[1] - (0.5 - 1.5 * before[0]) / 0.3) < 1e-12, before
        # An input that is set counts at once.
        (made.setReal if fmi == "2" else made.setFloat64)([u], [1.5])
        after = values_of(made, [x, rate])
        assert after[0] == before[0] and abs(after[1] - before[1] - 1 / 0.3) < 1e-9, (before, after)
        made.freeInstance()
    print("  directional derivatives through the loop: those of the closed form")


def an_outer_run_uses_them():
    truth = own_run("outer.toml", "--method", "jacobi", "--step", "0.0001")
    for method in ["missiles", "predictive"]:
        own = own_run("outer.toml", "--method", method, "--step", "0.01")
        error = abs(own["plant.lag.y"][-1] - truth["plant.lag.y"][-1]) / np.ptp(truth["plant.lag.y"])
        assert error < 1e-3, (method, error)
    print("  an outer run couples an exported FMU by missiles and predictive")


def the_end_that_a_system_asks_for_is_where_it_asks():
    """Stair of the Reference FMUs ends at 9 s, and a fixture at 0.5 s, within a step of the importer."""
    cases = [(f"{os.environ.get('DOVETAIL_FMUS')}/reference/3.0/Stair.fmu", 9.0, 0.2, 0.2, 12.0)]
    if FIXTURES:
        for fmi in "23":
            cases.append((f"{FIXTURES}/habits/fmi{fmi}-asks-to-terminate.fmu", 0.5, 0.1, 0.4, 2.0))
    tried = 0
    for fmu, end, step, communication, stop in cases:
        if not os.path.exists(fmu):
            continue
        tried += 1
        for fmi in "23":
            export(fmu, "ends.fmu", "--fmi", fmi, "--method", "jacobi", "--step", step, "--stop-time", stop)
            made, names = slave("ends.fmu", stop)
            time, k = 0.0, 0
            while time < stop:
                if fmi == "2":
                    status = raw_step(made, time, communication)
                    ended, reached = status == 2, None
                    if ended:
                        value, flag = ctypes.c_double(), ctypes.c_int()
                        lib, c = ctypes.CDLL(made.dll._name), ctypes.c_void_p(made.component)
                        assert lib.fmi2GetRealStatus(c, 2, ctypes.byref(value)) == 0
                        assert lib.fmi2GetBooleanStatus(c, 3, ctypes.byref(flag)) == 0
                        assert flag.value == 1
                        reached = value.value
                else:
                    _, ended, _, reached = made.doStep(time, communication)
                if ended:
                    break
                k += 1
                time = k * communication
            assert ended, (fmu, fmi, "it did not end")
            assert abs(reached - end) < 1e-9, (fmu, fmi, reached)
            made.freeInstance()
    if tried:
        print(f"  a system that ends the simulation: reported where it does, in {tried} FMUs")
    else:
        print("  no FMU that ends the simulation was there to be tried")


def raw_step(made, time, size):
    lib = ctypes.CDLL(made.dll._name)
    return lib.fmi2DoStep(ctypes.c_void_p(made.component), ctypes.c_double(time), ctypes.c_double(size), 1)


def values_of_every_type_are_carried_over():
    if not FIXTURES:
        return
    for inner in "23":
        for fmi in "23":
            fmu = export(f"{FIXTURES}/Types-fmi{inner}.fmu", f"types-{inner}-{fmi}.fmu", "--fmi", fmi, "--stop-time", "1")
            description = read_model_description(fmu)
            found = {variable.type for variable in description.modelVariables}
            wanted = {"Real", "Integer", "Boolean"} if fmi == "2" else {"Float64", "Boolean", "Int32"}
            if inner == fmi == "3":
                wanted |= {"Float32", "Int8", "UInt8", "Int16", "UInt16", "UInt32", "Int64", "UInt64"}
            assert wanted <= found, (fmu, found)
            simulate_fmu(fmu, stop_time=0.1)
    print("  values of every type, FMI 2 and 3 within FMI 2 and 3")


def bad_calls_are_answered_by_a_status():
    made, names = slave("lag-2.fmu")
    lib, c = ctypes.CDLL(made.dll._name), made.component  # without the types that FMPy declares
    one, value = (ctypes.c_uint32 * 1)(10_000), (ctypes.c_double * 1)()
    null = ctypes.c_void_p(None)
    address, number, size = ctypes.c_void_p, ctypes.c_double, ctypes.c_size_t
    output, parameter = (ctypes.c_uint32 * 1)(names["lag.y"]), (ctypes.c_uint32 * 1)(names["lag.T"])
    calls = [
        lib.fmi2GetReal(address(c), one, size(1), value),
        lib.fmi2GetReal(address(c), null, size(1), value),
        lib.fmi2GetReal(address(c), output, size(1), null),
        lib.fmi2GetReal(address(c), output, size(2**61), value),
        lib.fmi2GetReal(null, one, size(1), value),
        lib.fmi2GetReal(address(0xdead0), one, size(1), value),
        lib.fmi2GetInteger(address(c), output, size(1), value),
        lib.fmi2GetString(address(c), output, size(1), value),
        lib.fmi2SetString(address(c), output, size(1), (ctypes.c_char_p * 1)(None)),
        lib.fmi2DoStep(address(c), number(0.0), number(-1.0), 1),
        lib.fmi2DoStep(address(c), number(7.0), number(0.1), 1),
        lib.fmi2DoStep(address(c), number(float("nan")), number(0.1), 1),
        lib.fmi2DoStep(address(c), number(0.0), number(1e300), 1),
        lib.fmi2SetReal(address(c), output, size(1), value),
        lib.fmi2SetReal(address(c), parameter, size(1), value),
        lib.fmi2SetReal(address(c), (ctypes.c_uint32 * 1)(names["lag.u"]), size(1), (number * 1)(float("inf"))),
        lib.fmi2SetupExperiment(address(c), 0, number(0), number(0), 0, number(0)),
        lib.fmi2EnterInitializationMode(address(c)),
        lib.fmi2ExitInitializationMode(address(c)),
        lib.fmi2GetDirectionalDerivative(address(c), one, size(1), one, size(1), value, value),
        lib.fmi2GetDirectionalDerivative(address(c), null, size(1), null, size(1), null, null),
        lib.fmi2SetRealInputDerivatives(address(c), output, size(1), (ctypes.c_int * 1)(1), value),
        lib.fmi2GetRealOutputDerivatives(address(c), output, size(1), (ctypes.c_int * 1)(7), value),
        lib.fmi2SetFMUstate(address(c), address(0x1234)),
        lib.fmi2GetFMUstate(address(c), null),
        lib.fmi2SerializedFMUstateSize(address(c), address(0x1234), null),
        lib.fmi2DeSerializeFMUstate(address(c), b"nonsense", size(8), ctypes.byref(address())),
        lib.fmi2DeSerializeFMUstate(address(c), null, size(8), null),
        lib.fmi2SetDebugLogging(address(c), 1, size(1), null),
        lib.fmi2EnterEventMode(address(c)),
        lib.fmi2SetTime(address(c), number(1.0)),
        lib.fmi2GetDerivatives(address(c), value, size(1)),
        lib.fmi2CancelStep(address(c)),
    ]
    assert all(status == 3 for status in calls), calls
    lib.fmi2FreeInstance(null)
    lib.fmi2FreeInstance(address(0xdead0))
    assert lib.fmi2Instantiate(null, 1, null, null, null, 0, 0) == 0
    assert lib.fmi2Instantiate(b"one", 1, b"another token", null, null, 0, 0) == 0
    assert lib.fmi2Instantiate(b"one", 7, b"another token", b"file:///nowhere", null, 0, 0) == 0
    made.doStep(0.0, 0.1)
    made.freeInstance()
    assert lib.fmi2DoStep(address(c), number(0.1), number(0.1), 1) == 3, "a freed instance"
    print(f"  {len(calls) + 1} bad calls of FMI 2: a status each")


def bad_calls_of_fmi_3_are_answered_by_a_status():
    made, names = slave("lag-3.fmu")
    lib, c = ctypes.CDLL(made.dll._name), ctypes.c_void_p(made.component)
    address, number, size = ctypes.c_void_p, ctypes.c_double, ctypes.c_size_t
    one, value, null = (ctypes.c_uint32 * 1)(10_000), (number * 1)(), address(None)
    output, parameter = (ctypes.c_uint32 * 1)(names["lag.y"]), (ctypes.c_uint32 * 1)(names["lag.T"])
    flags = [ctypes.byref(ctypes.c_uint8()) for _ in range(3)]
    places = [*flags, ctypes.byref(number())]
    true, false = ctypes.c_bool(True), ctypes.c_bool(False)
    calls = [
        lib.fmi3GetFloat64(c, one, size(1), value, size(1)),
        lib.fmi3GetFloat64(c, output, size(1), value, size(2)),
        lib.fmi3GetFloat64(c, null, size(1), value, size(1)),
        lib.fmi3GetFloat64(c, output, size(1), null, size(1)),
        lib.fmi3GetFloat64(c, output, size(2**61), value, size(2**61)),
        lib.fmi3GetFloat64(null, one, size(1), value, size(1)),
        lib.fmi3GetFloat64(address(0xdead0), one, size(1), value, size(1)),
        *[getattr(lib, f"fmi3Get{kind}")(c, output, size(1), value, size(1))
          for kind in ["Float32", "Int8", "UInt8", "Int16", "UInt16", "Int32", "UInt32", "Int64", "UInt64", "Boolean", "String"]],
        *[getattr(lib, f"fmi3Set{kind}")(c, output, size(1), value, size(1))
          for kind in ["Float32", "Int8", "UInt8", "Int16", "UInt16", "Int32", "UInt32", "Int64", "UInt64", "Boolean"]],
        lib.fmi3GetBinary(c, output, size(1), null, null, size(1)),
        lib.fmi3GetClock(c, output, size(1), null),
        lib.fmi3SetFloat64(c, output, size(1), value, size(1)),
        lib.fmi3SetFloat64(c, parameter, size(1), value, size(1)),
        lib.fmi3DoStep(c, number(0.0), number(-1.0), true, *places),
        lib.fmi3DoStep(c, number(7.0), number(0.1), true, *places),
        lib.fmi3DoStep(c, number(float("nan")), number(0.1), true, *places),
        lib.fmi3DoStep(c, number(0.0), number(0.1), true, null, null, null, null),
        lib.fmi3EnterInitializationMode(c, false, number(0), number(0), false, number(0)),
        lib.fmi3ExitInitializationMode(c),
        lib.fmi3EnterEventMode(c),
        lib.fmi3EnterStepMode(c),
        lib.fmi3EnterConfigurationMode(c),
        lib.fmi3UpdateDiscreteStates(c, null, null, null, null, null, null),
        lib.fmi3GetDirectionalDerivative(c, one, size(1), one, size(1), value, size(1), value, size(1)),
        lib.fmi3GetDirectionalDerivative(c, output, size(1), output, size(1), null, size(1), null, size(1)),
        lib.fmi3GetAdjointDerivative(c, one, size(1), one, size(1), value, size(1), value, size(1)),
        lib.fmi3GetOutputDerivatives(c, output, size(1), (ctypes.c_int32 * 1)(7), value, size(1)),
        lib.fmi3SetFMUState(c, address(0x1234)),
        lib.fmi3GetFMUState(c, null),
        lib.fmi3DeserializeFMUState(c, b"nonsense", size(8), ctypes.byref(address())),
        lib.fmi3SerializedFMUStateSize(c, address(0x1234), null),
        lib.fmi3SetDebugLogging(c, true, size(1), null),
        lib.fmi3SetTime(c, number(1.0)),
        lib.fmi3GetContinuousStateDerivatives(c, value, size(1)),
        lib.fmi3ActivateModelPartition(c, 0, number(0)),
    ]
    assert all(status == 3 for status in calls), calls
    lib.fmi3FreeInstance(null)
    lib.fmi3FreeInstance(address(0xdead0))
    made.doStep(0.0, 0.1)
    made.freeInstance()
    assert lib.fmi3DoStep(c, number(0.1), number(0.1), true, *places) == 3, "a freed instance"
    print(f"  {len(calls) + 1} bad calls of FMI 3: a status each")


def instances_come_and_go_without_growth():
    """Of equations, and of FMUs within."""
    for fmu in ["lag-2.fmu", "outer.fmu"]:
        description = read_model_description(fmu)
        folder = extract(fmu)

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
        # Libraries of FMUs within stay loaded.
        opened = len(os.listdir("/proc/self/fd"))
        before = memory()
        live(1000)
        grown = memory() - before
        assert grown < 4 << 20, f"{fmu}: {grown} bytes more after 1000 instances"
        assert len(os.listdir("/proc/self/task")) == threads, f"{fmu}: a thread was left"
        assert len(os.listdir("/proc/self/fd")) == opened, f"{fmu}: a file was left open"
        assert fmu != "lag-2.fmu" or opened == files, "a file was left open"
        print(f"  1000 instances of {fmu}: {grown // 1024} kB more, no thread and no file left")


IMPORTER = """
import sys
sys.path.insert(0, sys.argv[1])
sys.argv[1:] = sys.argv[2:4]
from check import slave
made, names = slave("outer.fmu", 1e6)
print("running", flush=True)
k = 0
while True:
    made.doStep(0.01 * k, 0.01)
    k += 1
"""


def a_killed_importer_leaves_nothing_behind():
    os.mkdir("killed")
    folders = {name: os.path.abspath(f"killed/{name}") for name in ["tmp", "cache", "home"]}
    for folder in folders.values():
        os.mkdir(folder)
    environment = {**os.environ, "TMPDIR": folders["tmp"], "XDG_CACHE_HOME": folders["cache"], "HOME": folders["home"]}
    environment.pop("DOVETAIL_CACHE", None)
    importer = subprocess.Popen([sys.executable, "-c", IMPORTER, os.path.dirname(os.path.abspath(__file__)), PROGRAM, EXAMPLES],
                                stdout=subprocess.PIPE, text=True, env=environment, start_new_session=True)
    assert importer.stdout.readline() == "running\n"
    unpacked = set(os.listdir(folders["tmp"]))
    assert len(unpacked) <= 1, f"FMPy unpacks the FMU, and nothing else is written: {unpacked}"
    others = [process for process in session_of(importer.pid) if process != importer.pid]
    assert not others, f"processes were started: {others}"
    importer.kill()
    importer.wait()
    assert not session_of(importer.pid), "a process was left"
    assert set(os.listdir(folders["tmp"])) == unpacked, "a file was left"
    for place in ["cache", "home"]:
        assert not os.listdir(folders[place]), f"{place}: {os.listdir(folders[place])}"
    print("  an importer that is killed: no process and no file is left, and the cache is not written to")


def session_of(leader):
    """The processes of a session."""
    found = []
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            fields = open(f"/proc/{process}/stat").read().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == leader and fields[0] != "Z":
            found.append(int(process))
    return found


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
    inputs_as_functions_of_time_are_asked_for,
    an_fmu_within_a_model_within_an_fmu_has_the_same_numbers,
    our_own_probe_finds_what_is_declared,
    directional_derivatives_are_what_differences_are,
    an_outer_run_uses_them,
    the_end_that_a_system_asks_for_is_where_it_asks,
    values_of_every_type_are_carried_over,
    bad_calls_are_answered_by_a_status,
    bad_calls_of_fmi_3_are_answered_by_a_status,
    a_killed_importer_leaves_nothing_behind,
    instances_come_and_go_without_growth,
    an_importer_keeps_its_folder_and_its_handlers,
]

def carry_out(claims):
    """The exit code; with `--all` it goes on after a claim that does not hold."""
    failed = 0
    for claim in claims:
        try:
            claim()
        except Exception as error:
            if "--all" not in sys.argv:
                raise
            failed += 1
            print(f"  {claim.__name__}: {type(error).__name__}: {error}")
    return 1 if failed else 0


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        sys.exit(carry_out(CLAIMS))
