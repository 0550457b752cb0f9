"""Runs: the digits of the program, results as NumPy arrays, and what happens when something is wrong."""

import csv
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from conftest import EXAMPLES, example

import dovetail
from dovetail._program import PROGRAM


def program(*arguments: str) -> str:
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, check=True).stdout


def rows_of(path: Path) -> tuple[list[str], np.ndarray]:
    with path.open(newline="") as lines:
        names, *rows = csv.reader(lines)
    return names, np.array(rows, dtype=float)


def whatever_is_left(model: Path, method: str) -> dovetail.Result:
    try:
        return dovetail.run(model, method=method)
    except dovetail.RunError as error:
        assert error.result is not None
        return error.result


@pytest.mark.parametrize("model", EXAMPLES, ids=lambda path: path.parent.name)
def test_all_methods_give_the_digits_of_the_program(model: Path, tmp_path: Path) -> None:
    methods = dovetail.inspect(model)["methods"]
    assert methods
    for method in methods:
        file = tmp_path / f"{method}.csv"
        ended = subprocess.run([PROGRAM, "run", model, "--method", method, "--quiet", "-o", file], capture_output=True)
        assert ended.returncode in (0, 1)  # a method that diverges does so in both
        names, rows = rows_of(file)
        result = whatever_is_left(model, method)
        assert names == ["time", *result.names]
        ours = np.column_stack([result.time, *(result[name] for name in result)])
        assert np.array_equal(ours, rows, equal_nan=True), method


def test_a_summary_has_the_keys_of_the_program() -> None:
    import json

    model = example("lotka-volterra")
    theirs = json.loads(program("run", model, "--json"))
    ours = dovetail.run(model).summary
    assert list(ours) == list(theirs)
    assert ours["final"] == theirs["final"]
    assert ours["steps"] == theirs["steps"]


def test_columns_are_not_copied_and_cannot_be_written_to() -> None:
    result = dovetail.run(example("car"))
    assert result["car.x"] is result["car.x"]
    assert not result["car.x"].flags.writeable
    with pytest.raises(ValueError):
        result["car.x"][0] = 1.0


def test_values_between_rows_follow_the_solution() -> None:
    result = dovetail.run(example("lotka-volterra"), step=0.02)
    finer = dovetail.run(example("lotka-volterra"), step=0.02, output_interval=0.005)
    between = result.at(finer.time, "prey.p")
    assert np.max(np.abs(between - finer["prey.p"])) < 1e-6
    assert result.at(result.time[7])["prey.p"] == result["prey.p"][7]
    with pytest.raises(dovetail.Error, match="not in the run"):
        result.at(21.0)


def test_what_an_event_sets_is_held_between_rows() -> None:
    model = dovetail.Model(stop_time=2.0)
    model.add_equations(
        "clock", states={"x": 0.0}, discrete={"on": 0.0}, equations="der(x) = 1", outputs={"on": "on"}
    ).add_event(at=0.55, set={"clock.on": 1.0})
    r = dovetail.run(model, method="jacobi", step=0.1)
    times = np.linspace(0.0, 2.0, 997)
    values = r.at(times, "events.clock_on")
    assert set(np.unique(values)) == {0.0, 1.0}
    assert (values == (times >= 0.55)).all()


def test_values_at_many_times_are_those_at_each() -> None:
    r = dovetail.run(example("mechanical"), stop_time=3.0)
    times = np.linspace(r.time[0], r.time[-1], 101)
    for name in r.names:
        assert r.at(times, name) == pytest.approx([r.at(time, name) for time in times], abs=0.0)


def test_a_page_is_written_and_a_run_paced(tmp_path: Path) -> None:
    r = dovetail.run(example("car"), stop_time=0.2, real_time=1.0, report=tmp_path / "page.html")
    assert r.summary["real_time"]["factor"] == 1.0
    assert "car.v" in (tmp_path / "page.html").read_text()
    with pytest.raises(dovetail.ModelError, match="real_time"):
        dovetail.run(example("car"), real_time=0.0)


def test_values_and_options_are_those_of_the_command_line() -> None:
    result = dovetail.run(example("car"), set={"car.m": 900.0}, stop_time=5.0, record="car.*", method="jacobi", step=0.01)
    assert all(name.startswith("car.") for name in result)
    assert result.summary["stop_time"] == 5.0
    assert result.summary["method"] == "jacobi"
    assert result.summary["step"] == 0.01


def test_a_table_of_inputs_may_be_a_dictionary_a_frame_or_a_file(tmp_path: Path) -> None:
    model = dovetail.Model(stop_time=2.0)
    model.add_equations("tank", inputs=["flow"], states={"level": 0.0}, equations="der(level) = flow", outputs={"height": "level"})
    table = {"time": [0.0, 1.0, 2.0], "tank.flow": [0.0, 1.0, 0.0]}
    by_dictionary = dovetail.run(model, inputs=table)
    file = tmp_path / "u.csv"
    file.write_text("time,tank.flow\n0,0\n1,1\n2,0\n")
    by_file = dovetail.run(model, inputs=file)
    pandas = pytest.importorskip("pandas")
    by_frame = dovetail.run(model, inputs=pandas.DataFrame(table))
    assert by_dictionary.last("tank.level") == pytest.approx(1.0, abs=1e-9)
    assert by_dictionary.last("tank.level") == by_file.last("tank.level") == by_frame.last("tank.level")
    with pytest.raises(dovetail.ModelError, match="column `time`"):
        dovetail.run(model, inputs={"tank.flow": [1.0]})


def test_pandas_and_pictures_are_made_where_they_are_there() -> None:
    pytest.importorskip("pandas")
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    result = dovetail.run(example("car"))
    frame = result.to_pandas()
    assert list(frame.columns) == result.names
    assert np.array_equal(frame["car.x"].to_numpy(), result["car.x"])
    assert len(result.plot("car.x").lines) == 1
    assert "verdict" in result._repr_html_()


def test_a_model_that_is_not_sound_names_system_variable_and_remedy() -> None:
    with pytest.raises(dovetail.ModelError) as caught:
        dovetail.run(example("car"), set={"car.mass": 900.0})
    assert caught.value.system == "car"
    assert caught.value.variable == "car.mass"
    assert "set={" in str(caught.value)
    assert "--set" not in str(caught.value)
    with pytest.raises(dovetail.ModelError, match="nosuch.toml"):
        dovetail.run("nosuch.toml")
    with pytest.raises(dovetail.ModelError, match="newton"):
        dovetail.run(example("car"), solver="nosuch", method="ifosmondi")
    with pytest.raises(dovetail.ModelError, match="did you mean"):
        dovetail.run(example("car"))["car.positon"]


def test_a_run_that_fails_keeps_its_rows_and_says_when() -> None:
    model = dovetail.Model(stop_time=2.0)
    model.add_equations("pole", states={"x": 1.0}, equations="der(x) = x^2", outputs={"y": "x"})
    with pytest.raises(dovetail.RunError) as caught:
        dovetail.run(model, method="jacobi", step=0.01)
    error = caught.value
    assert error.system == "pole"
    assert error.time == pytest.approx(1.0, abs=0.02)
    assert error.result is not None
    assert error.result["pole.x"][-1] > 10.0


def test_ctrl_c_returns_what_there_is() -> None:
    timer = threading.Timer(1.0, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    result = dovetail.run(example("lotka-volterra"), method="jacobi", stop_time=1e7, step=0.001, record="prey.p")
    assert result.interrupted
    assert 0.0 < result.time[-1] < 1e7
    assert "interrupted" in result.summary["message"]
    assert not dovetail.run(example("car")).interrupted


def test_others_run_while_a_model_runs() -> None:
    counted = 0
    done = threading.Event()

    def count() -> None:
        nonlocal counted
        while not done.is_set():
            counted += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    dovetail.run(example("lotka-volterra"), method="ifosmondi", stop_time=200.0)
    done.set()
    thread.join()
    assert counted > 10


def test_the_module_needs_numpy_alone_and_loads_quickly() -> None:
    code = "import sys, dovetail; assert not {'pandas', 'matplotlib', 'IPython'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_module_loads_within_a_third_of_a_second_of_cpu() -> None:
    code = "import numpy, time; begun = time.process_time(); import dovetail; print(time.process_time() - begun)"
    least = min(float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout) for _ in range(5))
    assert least < 0.3


def test_a_large_result_is_there_once() -> None:
    code = """
import dovetail
model = dovetail.Model(stop_time=1.0)
model.add_equations("a", states={"x": 1.0}, equations="der(x) = -x", outputs={"y": "2*x"})
r = dovetail.run(model, method="jacobi", step=0.1, output_interval=2.5e-7, progress=False)
def memory(key):
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith(key)) << 10
columns = sum(r[name].nbytes for name in r.names) + r.time.nbytes
before = memory("VmRSS")
kept = [r[name] for name in r.names] + [r.time]
assert memory("VmRSS") - before < 1 << 20
print(columns, before)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    columns, resident = map(int, done.stdout.split())
    assert columns > 90 << 20
    assert resident < 1.5 * columns + (100 << 20)


def test_the_console_script_is_the_program() -> None:
    script = Path(sys.executable).parent / "dovetail"
    if not script.exists():
        pytest.skip("the package is not installed")
    version = subprocess.run([script, "--version"], capture_output=True, text=True, check=True).stdout
    assert version == program("--version")


@pytest.mark.parametrize("name", ["fmi2-abort-in-constructor", "fmi2-exit-in-instantiate", "fmi3-rollback-crashes"])
def test_an_fmu_that_crashes_while_it_is_tried_out_takes_nobody_with_it(name: str, fmus: Path) -> None:
    try:
        result = dovetail.run(fmus / "bad" / f"{name}.fmu", stop_time=1.0)
        assert result.warnings
    except dovetail.Error as error:
        assert str(error)
    assert dovetail.run(example("car"), stop_time=1.0).last("car.v") > 0.0


def test_an_fmu_that_crashes_in_a_run_is_an_exception(fmus: Path) -> None:
    with pytest.raises(dovetail.RunError) as caught:
        dovetail.run(fmus / "bad" / "fmi2-segfault.fmu", stop_time=1.0, step=0.1)
    assert caught.value.time == pytest.approx(0.5, abs=0.11)
    assert "segmentation fault" in str(caught.value)


def test_an_fmu_alone_is_run_by_its_path(fmus: Path) -> None:
    result = dovetail.run(fmus / "Prey-fmi2.fmu", stop_time=2.0, set={"birth": 0.5}, record="population")
    assert len(result["population"]) == len(result.time)
