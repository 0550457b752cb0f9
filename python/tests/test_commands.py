"""The other commands: as on the command line, and with the same words."""

import re
import sys
from pathlib import Path

import numpy as np
import pytest
from conftest import example

import dovetail


def test_check_and_inspect_answer_what_the_program_prints() -> None:
    assert dovetail.check(example("car"))
    assert "predictive" in dovetail.inspect(example("car"))["methods"]


def test_compare_measures_each_method() -> None:
    runs = dovetail.compare(example("lotka-volterra"), method=["jacobi", "predictive"], step=[0.1, 0.05])
    assert [(run["method"], run["step"]) for run in runs] == [("jacobi", 0.1), ("jacobi", 0.05), ("predictive", 0.1), ("predictive", 0.05)]
    assert runs[0]["error"]["prey.p"]["max"] > 100 * runs[2]["error"]["prey.p"]["max"]


def test_enclose_proves_bounds() -> None:
    proved = dovetail.enclose(example("spring"), stop_time=1.0)
    assert proved["reached"] == 1.0
    assert set(proved["width"]) == {"one.x", "one.v", "two.x", "two.v"}


def test_a_sweep_is_a_table(tmp_path: Path) -> None:
    table = dovetail.sweep(example("car"), vary={"car.m": [900, 1000, 1100]}, keep=["max(car.v)"])
    assert len(table["car.m"]) == 3
    file = tmp_path / "rows.csv"
    dovetail.sweep(example("car"), vary={"car.m": "900:1100:3"}, keep="max(car.v)", output=file)
    assert len(file.read_text().splitlines()) == 4


def test_a_sweep_without_a_file_has_no_trajectories_and_one_that_is_ended_says_so() -> None:
    with pytest.raises(dovetail.ModelError, match="output="):
        dovetail.sweep(example("car"), vary={"car.m": [900, 1000]}, keep="trajectories")
    whole = dovetail.sweep(example("car"), vary={"car.m": [900, 1000]}, keep="max(car.v)")
    assert whole.attrs["complete"]
    with pytest.warns(UserWarning, match="ended early"):
        part = dovetail.sweep(example("car"), vary={"car.m": "900:1100:50"}, keep="max(car.v)", time_limit=1e-6)
    assert not part.attrs["complete"]


def test_without_pandas_a_table_has_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    table = dovetail.sweep(example("car"), vary={"car.m": [900, 1000]}, keep="max(car.v)")
    assert table["car.m"].dtype == float and table.attrs["complete"]


def test_what_the_program_refuses_is_said_in_arguments() -> None:
    with pytest.raises(dovetail.ModelError) as caught:
        dovetail.compare(example("car"), set={"car.mass": 1})
    assert not re.search("--[a-z]", str(caught.value))
    assert (caught.value.system, caught.value.variable) == ("car", "car.mass")
    with pytest.raises(dovetail.ModelError) as caught:
        dovetail.enclose(example("spring"), method="nosuch")
    assert not re.search("--[a-z]|Usage|more information", str(caught.value))


def test_models_are_linearized_fitted_and_exported(tmp_path: Path) -> None:
    model = dovetail.Model("decay", stop_time=2.0)
    model.add_equations("a", states={"x": 1.0}, inputs=["u"], parameters={"k": 1.0}, equations="der(x) = -k*x + u", outputs={"y": "x"})
    model.connect(0.0, "a.u")
    assert dovetail.linearize(model)["A"] == [[-1.0]]
    times = np.linspace(0.0, 2.0, 21)
    found = dovetail.fit(model, data={"time": times, "a.y": np.exp(-0.5 * times)}, vary={"a.k": (0.1, 2.0)})
    assert found["parameters"]["a.k"]["value"] == pytest.approx(0.5, rel=1e-3)
    fmu = dovetail.export(model, tmp_path / "decay.fmu", step=0.01)
    assert dovetail.run(fmu, stop_time=2.0).last("a.y") == pytest.approx(np.exp(-2.0), rel=1e-2)


def test_models_of_python_are_compared_too() -> None:
    model = dovetail.Model(stop_time=1.0)
    model.add_equations("a", states={"x": 1.0}, inputs=["u"], equations="der(x) = -x + u", outputs={"y": "x"})
    model.connect(1.0, "a.u")
    assert dovetail.compare(model, method="jacobi")[0]["method"] == "jacobi"


def test_systems_in_python_are_refused_by_name_where_another_process_reads_the_model() -> None:
    model = dovetail.Model(stop_time=1.0).add_system("plant", type("S", (), {"output_names": ["y"], "step": lambda self, t, h, u: [t]}))
    with pytest.raises(dovetail.ModelError, match="`plant` is written in Python") as caught:
        dovetail.sweep(model, vary={"plant.k": [1, 2]})
    assert caught.value.system == "plant"
