"""Stepping by hand: what is set holds from the present on, and going back is exact."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import example

import dovetail


def tank() -> dovetail.Model:
    model = dovetail.Model("tank", stop_time=10.0)
    model.add_equations(
        "tank", inputs={"flow": 1.0}, states={"level": 0.0}, equations="der(level) = flow - level", outputs={"height": "level", "now": "2*flow"}
    )
    return model


METHODS = ["jacobi", "gauss-seidel", "f3ornits", "ifosmondi", "missiles", "predictive"]


@pytest.mark.parametrize("method", METHODS)
def test_what_is_set_holds_from_the_present_on(method: str) -> None:
    with dovetail.Session(tank(), method=method) as s:
        assert s.controls == ["tank.flow"]
        assert s.step_until(1.0)
        assert s.time == 1.0
        first = 1 - np.exp(-1.0)
        assert s["tank.level"] == pytest.approx(first, abs=1e-8)
        s["tank.flow"] = 3.0
        assert s["tank.now"] == 6.0
        assert s["tank.level"] == pytest.approx(first, abs=1e-8)
        s.step_until(2.5)
        assert s["tank.level"] == pytest.approx(3 + (first - 3) * np.exp(-1.5), abs=1e-8)


@pytest.mark.parametrize("method", METHODS)
def test_going_back_gives_the_same_digits_again(method: str) -> None:
    with dovetail.Session(tank(), method=method, rewind=True) as s:
        s.step_until(1.0)
        saved = s.save()
        s["tank.flow"] = 2.0
        s.step_until(2.0)
        there = s.values()
        s.restore(saved)
        assert (s.time, s["tank.flow"]) == (1.0, 1.0)
        s["tank.flow"] = 2.0
        s.step_until(2.0)
        assert s.values() == there
    with dovetail.Session(tank(), method=method, rewind=True) as other:
        other.restore(saved)
        other["tank.flow"] = 2.0
        other.step_until(2.0)
        assert other.values() == there


def test_stretches_agree_with_a_run_in_one_go() -> None:
    whole = dovetail.run(example("lotka-volterra"), stop_time=4.0, tolerance=1e-8)
    with dovetail.Session(example("lotka-volterra"), tolerance=1e-8) as s:
        for time in np.linspace(0.0, 4.0, 9)[1:]:
            s.step_until(time)
        assert s["prey.p"] == pytest.approx(whole.last("prey.p"), rel=1e-6)


def test_systems_in_python_can_be_stepped_and_go_back() -> None:
    class Oscillator:
        inputs = {"force": 0.0}
        states = {"x": 1.0, "v": 0.0}
        output_names = ["place"]

        def derivatives(self, t: float, x: np.ndarray, u: np.ndarray) -> Any:
            return [x[1], u[0] - x[0]]

        def outputs(self, t: float, x: np.ndarray, u: np.ndarray) -> Any:
            return x[:1]

    model = dovetail.Model(stop_time=10.0).add_system("mass", Oscillator)
    with dovetail.Session(model, rewind=True) as s:
        saved = s.save()
        s.step_until(1.0)
        assert s["mass.x"] == pytest.approx(np.cos(1.0), abs=1e-8)
        s.restore(saved)
        assert (s.time, s["mass.x"]) == (0.0, 1.0)


def test_inputs_of_a_model_file_are_named(tmp_path: Path) -> None:
    file = tmp_path / "model.toml"
    file.write_text('[model]\nstop-time = 1.0\n[systems.a]\ninputs = { u = 0.0 }\nstates = { x = 0.0 }\nequations = "der(x) = u"\noutputs = { y = "x" }\n')
    with dovetail.Session(file, controls={"a.u": 2.0}) as s:
        s.step_until(0.5)
        assert s["a.x"] == pytest.approx(1.0, abs=1e-9)


def test_misuse_is_answered_in_a_sentence() -> None:
    with dovetail.Session(tank()) as s:
        s.step_until(1.0)
        with pytest.raises(dovetail.Error, match="does not lie ahead"):
            s.step_until(0.5)
        with pytest.raises(dovetail.Error, match="rewind=True"):
            s.restore(s.save())
        with pytest.raises(dovetail.ModelError, match="cannot be set"):
            s["tank.level"] = 1.0
        with pytest.raises(KeyError, match="did you mean `tank.level`"):
            s["tank.levels"]
    with pytest.raises(dovetail.Error, match="over"):
        s.step_until(2.0)
    with pytest.raises(dovetail.Error, match="damaged|another run"):
        with dovetail.Session(tank(), rewind=True) as s:
            s.restore(b"nonsense")


def test_several_inputs_are_set_at_once_and_unknown_arguments_refused() -> None:
    with dovetail.Session(tank()) as s:
        s.set({"tank.flow": 2.0})
        assert s["tank.now"] == 4.0
        assert s.values()["tank.now"] == 4.0
    with pytest.raises(TypeError, match="did you mean stop_time="):
        dovetail.Session(tank(), stop_tim=3)  # type: ignore[call-arg]


def test_a_table_of_inputs_is_there_for_as_long_as_a_session() -> None:
    model = tank()
    with dovetail.Session(model, rewind=True, inputs={"time": np.linspace(0, 10, 2001), "tank.flow": np.linspace(0, 10, 2001)}, controls=[]) as s:
        saved = s.save()
        s.step_until(9.0)
        there = s["tank.level"]
        s.restore(saved)
        s.step_until(9.0)
        assert s["tank.level"] == pytest.approx(there, rel=1e-12)


def test_an_fmu_that_is_misled_by_rewind_is_refused_with_the_reason(fmus: Path) -> None:
    model = dovetail.Model(stop_time=10.0).add_fmu("prey", fmus / "habits" / "fmi2-literal-flag.fmu")
    with pytest.raises(dovetail.ModelError, match="noSetFMUStatePriorToCurrentPoint") as caught:
        dovetail.Session(model, rewind=True)
    assert caught.value.system == "prey"
    with dovetail.Session(model) as s:
        s.step_until(1.0)


def test_a_system_that_cannot_go_back_is_refused_by_name() -> None:
    class Forward:
        inputs, output_names = ["u"], ["y"]

        def step(self, t: float, h: float, u: np.ndarray) -> Any:
            return t + h

    model = dovetail.Model(stop_time=1.0).add_system("forward", Forward)
    with pytest.raises(dovetail.ModelError, match="`forward`"):
        dovetail.Session(model, rewind=True)
