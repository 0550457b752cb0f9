"""Models exported for Model Exchange under FMPy, and under the program itself, beside the monolithic solution.

    check_exchange.py PROGRAM EXAMPLES
"""

import ctypes
import os
import sys
import tempfile

import numpy as np
from check import EXAMPLES, LAG, distance, dovetail, exact_lag, export, own_run, refused
from fmpy import extract, read_model_description, simulate_fmu
from fmpy.fmi2 import FMU2Model
from fmpy.fmi3 import FMU3Model

SWITCHING = f"{EXAMPLES}/../crates/cases/models/switching"
EXCHANGE = ["--interface", "model-exchange"]

# Model, and how far FMPy's integrator with a tolerance of 1e-10 may be from the monolithic solution, as a part of the range.
# Loops, time events, `when` clauses that set states anew, clocks, hysteresis, jumps of `floor`.
MODELS = [
    (f"{EXAMPLES}/mechanical/model.toml", 1e-6),
    (f"{EXAMPLES}/lotka-volterra/model.toml", 1e-6),
    (f"{EXAMPLES}/pump-and-tank/model.toml", 1e-6),
    (f"{EXAMPLES}/behaviour-change/model.toml", 1e-6),
    (f"{EXAMPLES}/rooms/model.toml", 1e-6),
    (f"{SWITCHING}/bounce-ball.toml", 1e-5),
    (f"{SWITCHING}/sampled-heater.toml", 1e-5),
    (f"{SWITCHING}/hysteresis-room.toml", 1e-5),
    (f"{SWITCHING}/quantizer-gauge.toml", 1e-5),
    (f"{SWITCHING}/saturation-oscillator.toml", 1e-5),
]


def name_of(model):
    parts = model.split("/")
    return parts[-2] if parts[-1] == "model.toml" else parts[-1].removesuffix(".toml")


def fmpy_integrates_what_the_monolithic_solution_is():
    for model, allowed in MODELS:
        name = name_of(model)
        truth = own_run(model, "--method", "monolithic")
        errors = []
        for fmi in "23":
            fmu = export(model, f"{name}-exchange-{fmi}.fmu", "--fmi", fmi, *EXCHANGE)
            stop = truth["time"][-1]
            theirs = simulate_fmu(fmu, fmi_type="ModelExchange", stop_time=stop, output_interval=stop / 500, relative_tolerance=1e-10)
            for variable in theirs.dtype.names[1:]:
                if variable in truth:
                    extent = np.ptp(truth[variable]) or 1.0
                    errors.append(abs(theirs[variable][-1] - truth[variable][-1]) / extent)
        assert errors and max(errors) < allowed, (name, errors)
        print(f"  {name}: {max(errors):.0e} of the range at the end")


def the_program_runs_what_it_has_exported():
    for model, _ in MODELS:
        name = name_of(model)
        truth = own_run(model, "--method", "monolithic")
        for fmi in "23":
            stop = repr(float(truth["time"][-1]))
            alone = own_run(f"{name}-exchange-{fmi}.fmu", *EXCHANGE, "--method", "jacobi", "--stop-time", stop)
            # The system of a single FMU comes before the names of its variables.
            for variable, values in alone.items():
                inner = variable.split(".", 1)[-1]
                if inner in truth:
                    extent = np.ptp(truth[inner]) or 1.0
                    assert abs(values[-1] - truth[inner][-1]) < 1e-6 * extent, (name, fmi, inner, values[-1], truth[inner][-1])
    print("  run by the program itself: the monolithic solution to 1e-6")


def inputs_parameters_and_start_values_are_followed():
    open("lag.toml", "w").write(LAG)
    for fmi in "23":
        fmu = export("lag.toml", f"lag-exchange-{fmi}.fmu", "--fmi", fmi, *EXCHANGE)
        table = np.array([(0.0, 0.2), (1.0, 0.2), (1.0, -0.7), (2.0, -0.7)], dtype=[("time", float), ("lag.u", float)])
        theirs = simulate_fmu(fmu, fmi_type="ModelExchange", output_interval=0.05, stop_time=2.0, input=table,
                              relative_tolerance=1e-10, start_values={"lag.T": 0.2, "lag.x": 0.1})
        times = theirs["time"]
        held = np.where(times < 1.0 - 1e-9, 0.2, -0.7)
        from_rest = exact_lag(times, held, lag=0.2)
        exact = from_rest + 0.1 * np.exp(-1.5 * times / 0.2)
        worst = np.max(np.abs(theirs["lag.y"] - exact))
        assert worst < 1e-6, worst
    print("  an input that jumps, a parameter and a start value that are set: the closed form to 1e-6")


def instance(fmu):
    description = read_model_description(fmu)
    kind = FMU2Model if description.fmiVersion.startswith("2") else FMU3Model
    made = kind(guid=description.guid, unzipDirectory=extract(fmu), instanceName="one",
                modelIdentifier=description.modelExchange.modelIdentifier)
    made.instantiate()
    if kind is FMU2Model:
        made.setupExperiment(startTime=0.0)
        made.enterInitializationMode()
    else:
        made.enterInitializationMode(startTime=0.0)
    made.exitInitializationMode()
    (made.newDiscreteStates if kind is FMU2Model else made.updateDiscreteStates)()
    made.enterContinuousTimeMode()
    return made, description


def directional_derivatives_are_what_differences_are():
    for fmu in ["lag-exchange-2.fmu", "lag-exchange-3.fmu", "pump-and-tank-exchange-2.fmu"]:
        made, description = instance(fmu)
        fmi2 = isinstance(made, FMU2Model)
        get = made.getReal if fmi2 else made.getFloat64
        derivative = made.getDirectionalDerivative
        unknowns = [u.variable.valueReference for u in [*description.outputs, *description.derivatives]]
        states = [u.variable.derivative.valueReference for u in description.derivatives]
        count = len(states)
        room = (ctypes.c_double * count)()
        made.getContinuousStates(room, count)
        start = list(room)
        for k, reference in enumerate(states):
            args = (unknowns, [reference], [1.0])
            exact = np.array(derivative(*args))
            sides = []
            for offset in [1e-6, -1e-6]:
                moved = (ctypes.c_double * count)(*[x + offset * (i == k) for i, x in enumerate(start)])
                made.setContinuousStates(moved, count)
                sides.append(np.array(get(unknowns)))
            made.setContinuousStates((ctypes.c_double * count)(*start), count)
            difference = (sides[0] - sides[1]) / 2e-6
            assert np.max(np.abs(exact - difference)) < 1e-6 * (1 + np.max(np.abs(difference))), (fmu, exact, difference)
        made.freeInstance()
    print("  directional derivatives: those of differences")


def a_state_that_is_restored_repeats_to_the_last_bit():
    for fmi in "23":
        made, description = instance(f"bounce-ball-exchange-{fmi}.fmu")
        count = len(description.derivatives)
        room = (ctypes.c_double * count)()

        def rates():
            made.getContinuousStateDerivatives(room, count) if fmi == "3" else made.getDerivatives(room, count)
            return list(room)

        made.setTime(0.1)
        before = rates()
        state = made.getFMUState()
        written = made.serializeFMUState(state)
        made.setTime(0.3)
        made.getContinuousStates(room, count)
        made.setContinuousStates((ctypes.c_double * count)(*[x + 1 for x in room]), count)
        made.enterEventMode()
        made.setFMUState(state)
        assert rates() == before
        made.setTime(0.2)
        made.setFMUState((getattr(made, "deserializeFMUState", None) or made.deSerializeFMUstate)(written))
        assert rates() == before
        made.freeInstance()
    print("  states: restored and from bytes, in continuous-time mode again")


def what_cannot_be_done_is_refused_by_name():
    open("delay.toml", "w").write("""
[model]
stop-time = 1.0
[systems.late]
inputs = { u = 0.0 }
outputs = { y = "delay(u, 0.1)" }
""")
    text = refused("export", "delay.toml", "-o", "delay.fmu", *EXCHANGE)
    assert "late" in text and "delay" in text and "Model Exchange" in text, text
    open("slope.toml", "w").write("""
[model]
stop-time = 1.0
[systems.fast]
inputs = { u = 0.0 }
outputs = { y = "der(u)" }
""")
    text = refused("export", "slope.toml", "-o", "slope.fmu", *EXCHANGE)
    assert "`fast`" in text and "derivative of its input `u`" in text, text
    text = refused("export", "lag-exchange-2.fmu", "-o", "again.fmu", *EXCHANGE)
    assert "is an FMU" in text, text
    assert not [file for file in os.listdir(".") if file.endswith(".part")]
    print("  delays, derivatives of open inputs and FMUs: refused by name")


def bad_calls_are_answered_by_a_status():
    made, description = instance("lag-exchange-2.fmu")
    lib, c = ctypes.CDLL(made.dll._name), ctypes.c_void_p(made.component)
    null, room, size = ctypes.c_void_p(None), (ctypes.c_double * 8)(), ctypes.c_size_t
    one = (ctypes.c_uint32 * 1)(10_000)
    calls = [
        lib.fmi2SetTime(c, ctypes.c_double(float("nan"))),
        lib.fmi2SetContinuousStates(c, room, size(7)),
        lib.fmi2SetContinuousStates(c, null, size(1)),
        lib.fmi2GetDerivatives(c, room, size(0)),
        lib.fmi2GetEventIndicators(c, room, size(3)),
        lib.fmi2GetDirectionalDerivative(c, one, size(1), one, size(1), room, room),
        lib.fmi2NewDiscreteStates(c, null),
        lib.fmi2EnterContinuousTimeMode(c),
        lib.fmi2CompletedIntegratorStep(c, 1, null, null),
        lib.fmi2DoStep(c, ctypes.c_double(0.0), ctypes.c_double(0.1), 1),
    ]
    assert all(status == 3 for status in calls), calls
    made.freeInstance()

    made, description = instance("lag-exchange-3.fmu")
    lib, c = ctypes.CDLL(made.dll._name), ctypes.c_void_p(made.component)
    calls = [
        lib.fmi3SetTime(c, ctypes.c_double(float("inf"))),
        lib.fmi3SetContinuousStates(c, room, size(7)),
        lib.fmi3GetContinuousStateDerivatives(c, null, size(1)),
        lib.fmi3GetEventIndicators(c, room, size(3)),
        lib.fmi3GetDirectionalDerivative(c, one, size(1), one, size(1), room, size(1), room, size(1)),
        lib.fmi3GetDirectionalDerivative(c, one, size(1), one, size(1), room, size(2), room, size(1)),
        lib.fmi3UpdateDiscreteStates(c, null, null, null, null, null, null),
        lib.fmi3GetNumberOfContinuousStates(c, null),
        lib.fmi3EnterContinuousTimeMode(c),
    ]
    assert all(status == 3 for status in calls), calls
    made.freeInstance()
    print("  bad calls: a status each")


CLAIMS = [
    fmpy_integrates_what_the_monolithic_solution_is,
    the_program_runs_what_it_has_exported,
    inputs_parameters_and_start_values_are_followed,
    directional_derivatives_are_what_differences_are,
    a_state_that_is_restored_repeats_to_the_last_bit,
    what_cannot_be_done_is_refused_by_name,
    bad_calls_are_answered_by_a_status,
]

if __name__ == "__main__":
    from check import carry_out

    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        sys.exit(carry_out(CLAIMS))
