"""Systems written in Python: every method that they permit, and what they may do wrong."""

import gc
import traceback
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import example

import dovetail

METHODS = ["jacobi", "gauss-seidel", "f3ornits", "ifosmondi", "missiles", "predictive"]


class Prey:
    inputs = {"predators": 1.0}
    states = {"p": 1.0}
    parameters = {"alpha": 2 / 3, "beta": 4 / 3}
    output_names = ["population"]
    alpha = beta = 0.0

    def derivatives(self, t: float, x: np.ndarray, u: np.ndarray) -> Any:
        return x * (self.alpha - self.beta * u)

    def outputs(self, t: float, x: np.ndarray, u: np.ndarray) -> Any:
        return x


class PreyWithJacobians(Prey):
    def jacobians(self, t: float, x: np.ndarray, u: np.ndarray) -> Any:
        return [[self.alpha - self.beta * u[0]]], [[-self.beta * x[0]]], [[1.0]], [[0.0]]


PREY = "der(p) = p * (2/3 - 4/3 * predators)"
PREDATOR = "der(p) = p * (prey - 1)"


def coupled(prey: Any) -> dovetail.Model:
    model = dovetail.Model(stop_time=10.0)
    if prey is None:
        model.add_equations("prey", inputs={"predators": 1.0}, states={"p": 1.0}, equations=PREY, outputs={"population": "p"})
    else:
        model.add_system("prey", prey)
    model.add_equations("predator", inputs={"prey": 1.0}, states={"p": 1.0}, equations=PREDATOR, outputs={"population": "p"})
    return model.connect("prey.population", "predator.prey").connect("predator.population", "prey.predators")


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("prey", [Prey, PreyWithJacobians])
def test_a_system_in_python_gives_what_equations_give(method: str, prey: type) -> None:
    ours = dovetail.run(coupled(prey), method=method, step=0.02)
    theirs = dovetail.run(coupled(None), method=method, step=0.02)
    assert ours.last("prey.p") == pytest.approx(theirs.last("prey.p"), rel=2e-6)
    assert ours.last("predator.p") == pytest.approx(theirs.last("predator.p"), rel=2e-6)


def test_threads_give_the_same_digits() -> None:
    alone = dovetail.run(coupled(Prey), method="ifosmondi", step=0.05)
    spread = dovetail.run(coupled(Prey), method="ifosmondi", step=0.05, workers="threads")
    assert np.array_equal(alone["prey.p"], spread["prey.p"])


def test_processes_and_ranks_refuse_systems_in_python_by_name() -> None:
    with pytest.raises(dovetail.ModelError, match="`prey`"):
        dovetail.run(coupled(Prey), workers="processes")
    with pytest.raises(dovetail.ModelError, match="mpirun"):
        dovetail.run(coupled(Prey), workers="mpi")


def test_parameters_and_start_values_are_set_by_name() -> None:
    slow = dovetail.run(coupled(Prey), set={"prey.alpha": 0.1, "prey.p": 2.0}, step=0.02)
    assert slow["prey.p"][0] == 2.0
    assert slow.last("prey.p") != dovetail.run(coupled(Prey), step=0.02).last("prey.p")
    with pytest.raises(dovetail.ModelError, match="did you mean `alpha`") as caught:
        dovetail.run(coupled(Prey), set={"prey.alpa": 0.1})
    assert caught.value.variable == "prey.alpa"


class Controller:
    inputs = ["y"]
    output_names = ["u"]
    integral = 0.0

    def step(self, t: float, h: float, u: np.ndarray) -> Any:
        self.integral += h * (1.0 - u[0])
        return 2.0 * (1.0 - u[0]) + self.integral

    def save(self) -> float:
        return self.integral

    def restore(self, state: float) -> None:
        self.integral = state


def controlled(controller: Any) -> dovetail.Model:
    model = dovetail.Model(stop_time=20.0)
    model.add_equations("plant", inputs=["u"], states={"y": 0.0}, equations="der(y) = u - y", outputs={"y": "y"})
    return model.add_system("controller", controller).connect("plant.y", "controller.y").connect("controller.u", "plant.u")


@pytest.mark.parametrize("method", ["jacobi", "gauss-seidel", "f3ornits", "ifosmondi"])
def test_a_system_that_steps_by_itself_controls_a_plant(method: str) -> None:
    result = dovetail.run(controlled(Controller), method=method, step=0.05)
    assert result.last("plant.y") == pytest.approx(1.0, abs=1e-3)


def test_a_system_that_cannot_go_back_is_refused_where_a_method_needs_that() -> None:
    class Plain:
        inputs, output_names = ["y"], ["u"]

        def step(self, t: float, h: float, u: np.ndarray) -> Any:
            return 1.0 - u[0]

    with pytest.raises(dovetail.ModelError, match="`controller`"):
        dovetail.run(controlled(Plain), method="ifosmondi", options={"rollback-free": False}, step=0.05)


class Car:
    inputs = {"force": 0.0}
    states = {"x": 0.0, "v": 0.0}
    output_names = ["position"]

    def derivatives(self, t: float, x: np.ndarray, u: np.ndarray) -> Any:
        wind = 60 * np.sin(0.9 * t) + 40 * np.sin(2.3 * t + 1)
        return [x[1], (u[0] + wind) / 1000.0]

    def outputs(self, t: float, x: np.ndarray, u: np.ndarray) -> Any:
        return x[0]


def test_a_plant_in_python_under_predictive_with_a_controller_that_is_an_fmu(fmus: Path) -> None:
    def controlled_car(car: Any) -> dovetail.Result:
        model = dovetail.Model(stop_time=40.0).add_fmu("controller", fmus / "Controller-fmi2.fmu")
        if car is not None:
            model.add_system("car", car)
        else:
            wind = "60 * sin(0.9 * time) + 40 * sin(2.3 * time + 1)"
            equations = f"der(x) = v\nder(v) = (force + {wind}) / 1000"
            model.add_equations("car", inputs=["force"], states={"x": 0.0, "v": 0.0}, equations=equations, outputs={"position": "x"})
        model.connect("car.position", "controller.position").connect("controller.force", "car.force")
        return dovetail.run(model, method="predictive", step=0.05)

    ours, theirs = controlled_car(Car), controlled_car(None)
    assert ours.last("car.v") == pytest.approx(theirs.last("car.v"), rel=1e-5)
    assert ours.last("car.x") == pytest.approx(theirs.last("car.x"), rel=1e-5)


@pytest.mark.parametrize("method", METHODS)
def test_a_system_in_python_is_coupled_with_an_fmu(method: str, fmus: Path) -> None:
    model = dovetail.Model(stop_time=10.0).add_system("prey", Prey).add_fmu("predator", fmus / "Predator-fmi3.fmu")
    model.connect("prey.population", "predator.prey").connect("predator.population", "prey.predators")
    ours = dovetail.run(model, method=method, step=0.02)
    theirs = dovetail.run(coupled(None), method=method, step=0.02)
    assert ours.last("prey.p") == pytest.approx(theirs.last("prey.p"), rel=2e-3)


def plant(derivatives: Any = None, outputs: Any = None) -> dovetail.Model:
    class Plant:
        states = {"x": 1.0, "v": 0.0}
        output_names = ["y"]

        def derivatives(self, t: float, x: np.ndarray, u: np.ndarray) -> Any:
            return derivatives(t) if derivatives else [x[1], -x[0]]

        def outputs(self, t: float, x: np.ndarray, u: np.ndarray) -> Any:
            return outputs(t) if outputs else x[0]

    return dovetail.Model(stop_time=1.0).add_system("plant", Plant)


def fails_late(t: float) -> list[float]:
    if t > 0.5:
        raise ZeroDivisionError("the valve is shut")
    return [1.0, 1.0]


def test_an_exception_keeps_its_traceback() -> None:
    with pytest.raises(dovetail.RunError, match="the valve is shut") as caught:
        dovetail.run(plant(fails_late), method="jacobi", step=0.1)
    error = caught.value
    assert (error.system, error.time) == ("plant", pytest.approx(0.5, abs=0.15))
    assert isinstance(error.__cause__, ZeroDivisionError)
    assert "fails_late" in "".join(traceback.format_exception(error))
    assert error.result is not None and len(error.result) > 2


@pytest.mark.parametrize(
    "answer, words",
    [
        ([1.0], "1 numbers, where 2 numbers are expected"),
        (np.zeros((2, 2)), "an array of shape [2, 2]"),
        ("fast", "the string 'fast'"),
        (None, "None, where 2 numbers are expected"),
        ([1.0, "x"], "where 2 numbers are expected"),
        ([1.0, float("nan")], "`plant.der(v)` is NaN"),
    ],
)
def test_a_wrong_answer_of_derivatives_is_named(answer: Any, words: str) -> None:
    with pytest.raises(dovetail.Error) as caught:
        dovetail.run(plant(lambda t: answer), method="jacobi", step=0.1)
    assert words in str(caught.value)
    assert caught.value.system == "plant"


@pytest.mark.parametrize("answer, words", [(float("nan"), "plant.y"), ("fast", "the string 'fast'"), ([1.0, 2.0], "2 numbers")])
def test_a_wrong_answer_of_outputs_is_named(answer: Any, words: str) -> None:
    with pytest.raises(dovetail.Error) as caught:
        dovetail.run(plant(None, lambda t: answer), method="jacobi", step=0.1)
    assert words in str(caught.value)


def test_a_class_that_lacks_something_is_refused_when_it_is_added() -> None:
    model = dovetail.Model(stop_time=1.0)
    with pytest.raises(dovetail.ModelError, match="either derivatives"):
        model.add_system("nothing", object())
    with pytest.raises(dovetail.ModelError, match="lacks outputs"):
        model.add_system("half", type("Half", (), {"derivatives": lambda *_: 0})())
    with pytest.raises(dovetail.ModelError, match="names of its outputs"):
        model.add_system("mute", type("Mute", (), {"step": lambda *_: 0})())


def test_feedthrough_is_found_by_asking() -> None:
    class Mixed:
        inputs = ["a", "b"]
        states = {"x": 1.0}
        output_names = ["held", "direct"]

        def derivatives(self, t: float, x: np.ndarray, u: np.ndarray) -> Any:
            return -x

        def outputs(self, t: float, x: np.ndarray, u: np.ndarray) -> Any:
            return [x[0], 2 * u[1]]

    from dovetail._describe import describe

    assert describe("mixed", Mixed, None, None, None, None)["feedthrough"] == [[], [1]]


def test_a_model_is_saved_and_runs_as_a_file(tmp_path: Path) -> None:
    model = coupled(None).set_method("ifosmondi", tolerance=1e-7)
    model.save(tmp_path / "model.toml")
    ours = dovetail.run(model)
    theirs = dovetail.run(tmp_path / "model.toml")
    assert np.array_equal(ours["prey.p"], theirs["prey.p"])
    with pytest.raises(dovetail.ModelError, match="`prey` is written in Python"):
        coupled(Prey).save(tmp_path / "other.toml")


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def test_a_thousand_runs_take_no_more_memory_than_a_hundred() -> None:
    model = controlled(Controller)

    def many(runs: int) -> int:
        for _ in range(runs):
            dovetail.run(model, method="jacobi", step=0.5)
        gc.collect()
        return resident()

    many(100)
    before = many(100)
    after = many(800)
    assert after - before < 4 << 20
