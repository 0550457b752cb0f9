"""The commands beside ``run``, with the words of the command line as arguments.

``check`` and ``inspect`` are carried out here. What makes many runs is carried out by the program, in a process of its own; a comparison of a
model with systems in Python is made of runs here.
"""

from __future__ import annotations

import json
import os
import tempfile
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, Iterable, Iterator, Mapping, Sequence

import numpy as np

from . import _native, _program
from ._model import Model
from ._run import DEFAULTS, Inputs, ModelLike, listed, request, run, tables, text
from .errors import Error, ModelError, RunError
from .result import Result

if TYPE_CHECKING:
    import pandas

File = str | os.PathLike[str]
Numbers = float | str | Sequence[float | str]


def check(
    model: ModelLike,
    *,
    method: str | None = None,
    step: float | None = None,
    start_time: float | None = None,
    stop_time: float | None = None,
    tolerance: float | None = None,
    integrator_tolerance: float | None = None,
    solver: str | None = None,
    options: Mapping[str, Any] | None = None,
    set: Mapping[str, Any] | None = None,
    parameters: File | Sequence[File] = (),
    inputs: Inputs = None,
    initialize: str | None = None,
    interface: str | None = None,
    strict: bool = False,
) -> dict[str, Any]:
    """Everything that can be known of a model without running it, as ``dovetail check --json`` prints it."""
    with request({**DEFAULTS, **_given(locals(), check)}) as (asked, systems):
        answer: dict[str, Any] = json.loads(_native.check(asked, systems))
    return answer


def inspect(file: ModelLike, *, all: bool = False, static: bool = False, interface: str | None = None, strict: bool = False) -> dict[str, Any]:
    """An FMU, a system structure or a model: its interface, what FMUs declare and what was found to hold, the methods that it permits; as
    ``dovetail inspect --json`` prints it. With ``all`` FMUs have all their variables; with ``static`` they are not tried out."""
    with request({**DEFAULTS, "model": file, "interface": interface, "strict": strict}) as (asked, systems):
        answer: dict[str, Any] = json.loads(_native.inspect(asked, systems, all, static))
    return answer


def compare(
    model: ModelLike,
    *,
    method: str | Sequence[str] = (),
    step: Numbers = (),
    reference: File | Result | None = None,
    within: float | None = None,
    start_time: float | None = None,
    stop_time: float | None = None,
    tolerance: Numbers = (),
    integrator_tolerance: float | None = None,
    solver: str | None = None,
    options: Mapping[str, Any] | None = None,
    set: Mapping[str, Any] | None = None,
    parameters: File | Sequence[File] = (),
    inputs: Inputs = None,
    record: str | Iterable[str] = (),
    initialize: str | None = None,
    interface: str | None = None,
    strict: bool = False,
    workers: str | None = None,
    worker_threads: int | None = None,
    step_timeout: float | None = None,
    memory_limit: int | None = None,
    verify: bool = False,
    report: File | None = None,
    output: File | None = None,
    output_interval: float | None = None,
    log_fmi_calls: File | None = None,
) -> list[dict[str, Any]]:
    """Runs a model by several methods, steps or tolerances and measures the error of each, as ``dovetail compare --json`` prints it:
    ``compare("model.toml", method=["jacobi", "predictive"], step=[0.1, 0.05])``.

    Errors are those against all equations solved as one system, or against ``reference``: a result file, or the :class:`Result` of a
    run. A model with systems in Python has no equations, and needs one. With ``within`` it raises :class:`RunError` unless all errors are
    that small, as a share of the range.
    """
    given = _given(locals(), compare)
    if _has_python(model):
        runs = _compare_here(model, given)
    else:
        runs = _compare_by_program(model, given)
    _refuse_too_far(runs, within)
    return runs


def _compare_by_program(model: ModelLike, given: dict[str, Any]) -> list[dict[str, Any]]:
    rest = {key: value for key, value in given.items() if key not in ("reference", "within", "model")}
    with tempfile.TemporaryDirectory(prefix="dovetail-") as folder:
        reference = given["reference"]
        if isinstance(reference, Result):
            reference.to_csv(os.path.join(folder, "reference.csv"))
            reference = os.path.join(folder, "reference.csv")
        runs: list[dict[str, Any]] = _by_program("compare", model, ["--json", "--quiet"], {**rest, "reference": reference})
    return runs


def _compare_here(model: ModelLike, given: dict[str, Any]) -> list[dict[str, Any]]:
    """The same, run by run, for models that this process alone can run."""
    reference = given["reference"]
    if reference is None:
        raise ModelError(
            "there is no reference: systems that are written in Python are not given as equations; give the result of a run that is accurate enough",
            remedies=["reference=dovetail.run(model, tolerance=1e-10)"],
        )
    for key in ("report", "output"):
        if given[key] is not None:
            raise ModelError(f"{key}= is written by the program, which cannot run systems that are written in Python")
    truth = reference if isinstance(reference, Result) else Result.read_csv(reference)
    once = {key: value for key, value in given.items() if key in RUN_KEYS}
    methods = listed(given["method"]) or [name for name in check(model)["methods"] if name != "monolithic"]
    runs = []
    for method in methods:
        for tolerance in listed(given["tolerance"]) or [None]:
            for step in listed(given["step"]) or [None]:
                runs.append(_measured(model, truth, {**once, "method": method, "step": step, "tolerance": tolerance}))
    return runs


def _measured(model: ModelLike, truth: Result, given: dict[str, Any]) -> dict[str, Any]:
    """The summary of a run, with its errors."""
    try:
        result = run(model, progress=False, **given)
    except RunError as error:
        if error.result is None:
            raise
        result = error.result
    times = result.time.copy()
    before = np.flatnonzero(times[:-1] == times[1:])
    times[before] = np.nextafter(times[before], -np.inf)  # of two rows of one time the first is that before the event
    times = np.clip(times, truth.time[0], truth.time[-1])
    errors = {}
    for name in result.names:
        if name in truth.names:
            exact = np.ascontiguousarray(truth.at(times, name))
            measures = _native.measured(result.time, np.ascontiguousarray(result[name]), exact)
            errors[name] = dict(zip(["nrmse", "l2", "max"], measures))
    return {**result.summary, "error": errors}


def _refuse_too_far(runs: list[dict[str, Any]], within: float | None) -> None:
    if within is None:
        return
    for summary in runs:
        for name, error in summary.get("error", {}).items():
            percent = error["nrmse"] if error["nrmse"] is not None else error["l2"]
            share = error["max"] if percent is None else percent / 100
            if not share <= within:
                text = f"{summary['method']}: `{name}` is not within {within} of its reference, but at {share:.2e}"
                raise RunError(text, system=name.partition(".")[0], variable=name)


def enclose(
    model: ModelLike,
    *,
    method: str | None = None,
    integrator: str | None = None,
    extrapolation: str | None = None,
    step: float | None = None,
    start_time: float | None = None,
    stop_time: float | None = None,
    set: Mapping[str, Any] | None = None,
    record: str | Iterable[str] = (),
    require: str | Iterable[str] = (),
    reach: str | Iterable[str] = (),
    output: File | None = None,
    output_interval: float | None = None,
    report: File | None = None,
    samples: int | None = None,
) -> dict[str, Any]:
    """Bounds that are proved to hold every trajectory of a model given as equations, as ``dovetail enclose --json`` prints them."""
    answer: dict[str, Any] = _by_program("enclose", model, ["--json", "--quiet"], _given(locals(), enclose))
    return answer


class Table(dict[str, Any]):
    """The table of a sweep where pandas is not installed: columns by name, those of numbers as arrays. ``attrs`` is what a DataFrame has."""

    def __init__(self, columns: Mapping[str, Any]) -> None:
        super().__init__(columns)
        self.attrs: dict[str, Any] = {}


def sweep(
    model: ModelLike,
    *,
    vary: Mapping[str, Any],
    sample: int | None = None,
    design: str | None = None,
    seed: int | None = None,
    keep: str | Iterable[str] = (),
    record: str | Iterable[str] = (),
    jobs: int | None = None,
    resume: bool = False,
    output: File | None = None,
    report: File | None = None,
    time_limit: float | None = None,
    method: str | None = None,
    step: float | None = None,
    start_time: float | None = None,
    stop_time: float | None = None,
    tolerance: float | None = None,
    integrator_tolerance: float | None = None,
    solver: str | None = None,
    options: Mapping[str, Any] | None = None,
    set: Mapping[str, Any] | None = None,
    parameters: File | Sequence[File] = (),
    inputs: Inputs = None,
    initialize: str | None = None,
    interface: str | None = None,
    strict: bool = False,
) -> pandas.DataFrame | Table:
    """Runs a model many times with other values each, as ``dovetail sweep``: ``vary={"tank.area": "1:3:20", "pump.p": [1, 2]}``.

    What is kept of each run is a row of a table: a DataFrame, or a :class:`Table` where pandas is not installed. ``attrs["complete"]`` is
    false where Ctrl-C or ``time_limit`` has ended the sweep, of which a warning is given too; ``attrs["summary"]`` is what
    ``dovetail sweep --json`` prints.
    """
    given = _given(locals(), sweep)
    ranges = [f"{name}={_range(values)}" for name, values in given.pop("vary").items()]
    flags = ["--json", "--quiet", *(part for entry in ranges for part in ("--vary", entry))]
    if "trajectories" in listed(keep) and output is None:
        raise ModelError('keep="trajectories" writes a file for each run, beside the table: say where, with output=', remedies=["output="])
    with tempfile.TemporaryDirectory(prefix="dovetail-") as folder:
        file = Path(output) if output is not None else Path(folder) / "sweep.csv"
        summary = _by_program("sweep", model, flags, {**given, "output": file})
        table = _read_table(file)
    table.attrs |= {"complete": summary["complete"], "summary": summary}
    if not summary["complete"]:
        warnings.warn(f"the sweep ended early: its table has {summary['runs']} runs", stacklevel=2)
    return table


def _range(values: Any) -> str:
    return values if isinstance(values, str) else ",".join(text(value) for value in values)


def _read_table(path: Path) -> Any:
    try:
        import pandas
    except ImportError:
        pandas = None
    if path.suffix.lower() == ".parquet":
        try:
            return pandas.read_parquet(path)
        except (ImportError, AttributeError):
            warnings.warn(f"{path} is there; to read it here takes pandas and pyarrow", stacklevel=3)
            return Table({})
    if pandas is not None:
        return pandas.read_csv(path)

    import csv

    with path.open(newline="", encoding="utf-8") as lines:
        rows = list(csv.reader(lines))
    return Table({head: _column([row[place] for row in rows[1:]]) for place, head in enumerate(rows[0])})


def _column(entries: list[str]) -> Any:
    """Numbers as an array; what is missing is no number."""
    try:
        return np.array([float(entry) if entry else np.nan for entry in entries])
    except ValueError:
        return entries


def fit(
    model: ModelLike,
    *,
    data: Inputs,
    vary: Mapping[str, str | Sequence[float]],
    sample: int | None = None,
    seed: int | None = None,
    jobs: int | None = None,
    method: str | None = None,
    step: float | None = None,
    start_time: float | None = None,
    stop_time: float | None = None,
    tolerance: float | None = None,
    integrator_tolerance: float | None = None,
    options: Mapping[str, Any] | None = None,
    set: Mapping[str, Any] | None = None,
    parameters: File | Sequence[File] = (),
    inputs: Inputs = None,
    report: File | None = None,
) -> dict[str, Any]:
    """Finds the parameters with which a model comes nearest to what was measured, as ``dovetail fit --json`` prints it:
    ``fit("tank.toml", data=frame, vary={"tank.area": (0.5, 3.0)})``. ``data`` is a table like ``inputs``."""
    given = _given(locals(), fit)
    bounds = {name: value if isinstance(value, str) else ":".join(text(bound) for bound in value) for name, value in given.pop("vary").items()}
    flags = ["--json", "--quiet", *(part for name, value in bounds.items() for part in ("--vary", f"{name}={value}"))]
    with tempfile.TemporaryDirectory(prefix="dovetail-") as folder:
        (measured,) = tables([given.pop("data")] if not isinstance(data, (list, tuple)) else given.pop("data"), Path(folder))
        answer: dict[str, Any] = _by_program("fit", model, flags, {**given, "data": measured})
    return answer


def linearize(
    model: ModelLike,
    *,
    at: float | None = None,
    method: str | None = None,
    step: float | None = None,
    start_time: float | None = None,
    stop_time: float | None = None,
    tolerance: float | None = None,
    integrator_tolerance: float | None = None,
    options: Mapping[str, Any] | None = None,
    set: Mapping[str, Any] | None = None,
    parameters: File | Sequence[File] = (),
    inputs: Inputs = None,
    initialize: str | None = None,
    output: File | None = None,
) -> dict[str, Any]:
    """The matrices A, B, C, D and the eigenvalues of a coupled model at a time, as ``dovetail linearize --json`` prints them."""
    answer: dict[str, Any] = _by_program("linearize", model, ["--json"], _given(locals(), linearize))
    return answer


def export(
    model: ModelLike,
    output: File,
    *,
    fmi: int | None = None,
    expose: str | Iterable[str] = (),
    method: str | None = None,
    step: float | None = None,
    start_time: float | None = None,
    stop_time: float | None = None,
    tolerance: float | None = None,
    integrator_tolerance: float | None = None,
    options: Mapping[str, Any] | None = None,
    set: Mapping[str, Any] | None = None,
    parameters: File | Sequence[File] = (),
) -> Path:
    """Writes a coupled model as one FMU of version 2 or 3, as ``dovetail export``; its path."""
    _by_program("export", model, ["--quiet"], _given(locals(), export))
    return Path(output)


RUN_KEYS = ["start_time", "stop_time", "integrator_tolerance", "solver", "options", "set", "parameters", "inputs", "record", "initialize", "interface"]
RUN_KEYS += ["strict", "workers", "worker_threads", "step_timeout", "memory_limit", "verify", "log_fmi_calls"]


def _given(values: Mapping[str, Any], function: Any) -> dict[str, Any]:
    """The arguments of a function."""
    return {name: values[name] for name in (*function.__annotations__,) if name in values}


def _has_python(model: ModelLike) -> bool:
    return isinstance(model, Model) and bool(model._python)


def _by_program(command: str, model: ModelLike, flags: Sequence[str], given: Mapping[str, Any]) -> Any:
    with tempfile.TemporaryDirectory(prefix="dovetail-") as folder:
        if isinstance(model, Model):
            for name in model._python:
                raise ModelError(
                    f"`{name}` is written in Python, and {command} reads the model in a process of its own: dovetail.run(…) runs it",
                    system=name,
                )
            path = Path(folder) / "model.toml"
            path.write_text(model.to_toml(), encoding="utf-8")
        else:
            path = Path(model)
        inputs = tables(given.get("inputs"), Path(folder))
        rest = {key: value for key, value in given.items() if key not in ("inputs", "model", "file")}
        arguments = [*_flags(rest), *(part for table in inputs for part in ("--input", os.fspath(table)))]
        try:
            return _program.call([command, os.fspath(path), *flags, *arguments])
        except ModelError as error:
            _blame_the_model(model, given)
            raise error


def _blame_the_model(model: ModelLike, given: Mapping[str, Any]) -> None:
    """Raises what is wrong with the model and the values that are set, with its fields, where that is what was refused."""
    keys = ("start_time", "stop_time", "set", "parameters", "inputs", "interface", "strict")
    with request({**DEFAULTS, **{key: given[key] for key in keys if key in given}, "model": model}) as (asked, systems):
        _native.inspect(asked, systems, False, True)


def _flags(arguments: Mapping[str, Any]) -> Iterator[str]:
    """Arguments as flags of the program."""
    for key, value in arguments.items():
        flag = "--" + key.replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            yield flag
        elif isinstance(value, Mapping):
            for name, entry in value.items():
                name = name if key == "set" else name.replace("_", "-")
                yield from ("--set" if key == "set" else "--option", f"{name}={text(entry)}")
        elif isinstance(value, os.PathLike):
            yield f"{flag}={os.fspath(value)}"
        elif isinstance(value, str) or not isinstance(value, Iterable):
            yield f"{flag}={text(value)}"
        elif key in {"method", "step", "tolerance"}:
            entries = ",".join(text(entry) for entry in value)
            if entries:
                yield f"{flag}={entries}"
        else:
            for entry in value:
                yield f"{flag}={os.fspath(entry) if isinstance(entry, os.PathLike) else text(entry)}"
