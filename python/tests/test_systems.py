"""Systems written in Python: every method that they permit, and what they may do wrong."""

import copy
import gc
import math
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


def test_outputs_depend_at_once_on_inputs_unless_that_is_ruled_out() -> None:
    class Mixed:
        inputs = ["a", "b"]
        states = {"x": 1.0}
        output_names = ["held", "direct"]

        def derivatives(self, t: float, x: np.ndarray, u: np.ndarray) -> Any:
            return -x

        def outputs(self, t: float, x: np.ndarray, u: np.ndarray) -> Any:
            return [x[0], 2 * u[1]]

    from dovetail._describe import describe

    def of(system: Any) -> Any:
        return describe("mixed", system, None, None, None, None)["feedthrough"]

    class Blind(Mixed):
        def outputs(self, t: float, x: np.ndarray, u: np.ndarray) -> Any:
            return [x[0], t]

    class Declared(Mixed):
        feedthrough = {"direct": ["b"]}

    assert of(Mixed) == [[0, 1], [0, 1]]
    assert of(Blind) == [[], []]
    assert of(Declared) == [[], [1]]


@pytest.mark.parametrize("answer", [lambda u: max(0.0, u), lambda u: 1.0 if u > 0 else 0.0, lambda u: 0.5 * u])
@pytest.mark.parametrize("method", ["jacobi", "predictive"])
def test_start_values_follow_outputs_that_compare(answer: Any, method: str) -> None:
    class Limiter:
        inputs, output_names = ["u"], ["y"]

        def derivatives(self, t: float, x: np.ndarray, u: np.ndarray) -> Any:
            return []

        def outputs(self, t: float, x: np.ndarray, u: np.ndarray) -> Any:
            return answer(u[0])

    model = dovetail.Model(stop_time=1.0).add_system("limiter", Limiter)
    model.add_equations("source", states={"x": 3.0}, equations="der(x) = 0", outputs={"y": "x"}).connect("source.y", "limiter.u")
    assert dovetail.run(model, method=method, step=0.1)["limiter.y"][0] == answer(3.0)


def test_a_controller_that_steps_sees_the_plant_at_the_start() -> None:
    class Proportional:
        inputs, output_names = ["y"], ["u"]

        def step(self, t: float, h: float, u: np.ndarray) -> Any:
            return -2.0 * u[0]

    model = dovetail.Model(stop_time=1.0)
    model.add_equations("plant", inputs=["u"], states={"y": 3.0}, equations="der(y) = u - y", outputs={"y": "y"})
    model.add_system("controller", Proportional).connect("plant.y", "controller.y").connect("controller.u", "plant.u")
    assert dovetail.run(model, method="jacobi", step=0.1)["controller.u"][0] == -6.0


def test_differences_are_one_sided_at_the_edge_of_where_a_model_is_defined() -> None:
    class Filling:
        states = {"x": 0.0}
        inputs, output_names = ["u"], ["y"]

        def derivatives(self, t: float, x: np.ndarray, u: np.ndarray) -> Any:
            return [1.0 + math.sqrt(t) - u[0]]

        def outputs(self, t: float, x: np.ndarray, u: np.ndarray) -> Any:
            return math.sqrt(1.0 + t) + x[0]

    model = dovetail.Model(stop_time=1.0).add_system("tank", Filling)
    model.add_equations("other", inputs=["u"], states={"z": 0.0}, equations="der(z) = u - z", outputs={"z": "z"})
    model.connect("tank.y", "other.u").connect("other.z", "tank.u")
    for method in METHODS:
        assert dovetail.run(model, method=method, step=0.05).last("tank.x") > 0.5


def test_an_exception_while_an_answer_is_read_is_kept() -> None:
    def numbers() -> Any:
        yield 1 / 0

    with pytest.raises(dovetail.Error) as caught:
        dovetail.run(plant(lambda t: numbers()), method="jacobi", step=0.1)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


def test_copies_of_a_model_keep_its_systems() -> None:
    def made() -> dovetail.Model:
        original = coupled(Prey)
        return copy.deepcopy(original)

    model = made()
    gc.collect()
    assert dovetail.run(model, method="jacobi", step=0.1, stop_time=1.0).last("prey.p") > 0.0


def test_numbers_of_numpy_are_numbers() -> None:
    model = dovetail.Model(stop_time=np.float64(1.0))
    model.add_equations("a", states={"x": np.int64(3)}, parameters={"k": np.float32(0.5)}, equations="der(x) = -k*x", outputs={"y": "x"})
    text = model.to_toml()
    assert "x = 3 " in text and "k = 0.5 " in text
    from dovetail._run import text as as_text

    assert (as_text(np.int64(3)), as_text(np.bool_(True)), as_text(np.array([1, 2]))) == ("3", "true", "[1, 2]")
    model.connect("time-1.5", "a.u")
    assert 'value = "time-1.5"' in model.to_toml()


def test_systems_in_python_are_checked_inspected_and_compared() -> None:
    model = coupled(Prey)
    checked = dovetail.check(model)
    assert checked["systems"]["prey"]["states"] == 1 and "predictive" in checked["methods"]
    assert dovetail.inspect(model)["systems"]["prey"]["source"] == "python"
    with pytest.raises(dovetail.ModelError, match="no reference"):
        dovetail.compare(model)
    exact = dovetail.run(model, method="predictive", tolerance=1e-10)
    coarse, fine = dovetail.compare(model, method="jacobi", step=[0.1, 0.05], reference=exact)
    assert coarse["error"]["prey.p"]["nrmse"] > 1.5 * fine["error"]["prey.p"]["nrmse"]
    with pytest.raises(dovetail.RunError, match="not within"):
        dovetail.compare(model, method="jacobi", step=0.1, reference=exact, within=1e-9)


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


def raises(t: float) -> list[float]:
    raise ValueError("no")


def run_of(kind: str, fmus: Path) -> None:
    if kind == "session":
        with dovetail.Session(controlled(Controller), method="jacobi", step=0.5, rewind=True) as s:
            s.step_until(1.0)
            s.restore(s.save())
        return
    models = {
        "fine": lambda: controlled(Controller),
        "raises": lambda: plant(raises),
        "nan": lambda: plant(lambda t: [float("nan")]),
        "fmu": lambda: fmus / "Prey-fmi2.fmu",
    }
    try:
        dovetail.run(models[kind](), method="jacobi", step=0.5, stop_time=2.0)
    except dovetail.Error:
        assert kind in ("raises", "nan")


@pytest.mark.parametrize("kind, runs", [("fine", 1000), ("raises", 1000), ("nan", 1000), ("session", 1000), ("fmu", 100)])
def test_many_runs_take_no_more_memory_than_a_few(kind: str, runs: int, fmus: Path) -> None:
    def many(runs: int) -> int:
        for _ in range(runs):
            run_of(kind, fmus)
        gc.collect()
        return resident()

    many(runs // 10)
    before = many(runs // 10)
    after = many(runs - runs // 5)
    assert after - before < 4 << 20
