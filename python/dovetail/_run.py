"""Runs, and the other commands, with the words of the command line as arguments."""

from __future__ import annotations

import os
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Iterable, Iterator, Mapping, Sequence

from . import _native, _program, _show
from ._model import Model
from .errors import ModelError, RunError
from .result import Result

ModelLike = str | os.PathLike[str] | Model
Inputs = Any
"""A table of inputs: the path of a CSV file, a DataFrame or a dictionary with a column `time`, or several of them."""


def run(
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
    parameters: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] = (),
    inputs: Inputs = None,
    record: str | Iterable[str] = (),
    output_interval: float | None = None,
    interface: str | None = None,
    strict: bool = False,
    initialize: str | None = None,
    workers: str | None = None,
    worker_threads: int | None = None,
    step_timeout: float | None = None,
    memory_limit: int | None = None,
    verify: bool = False,
    log_fmi_calls: str | os.PathLike[str] | None = None,
    progress: bool | None = None,
) -> Result:
    """Runs a model: a TOML file, an FMU, a system structure (SSP), or a :class:`Model`.

    The arguments are the options of ``dovetail run``, with underscores. ``options`` are those of the method. ``set`` gives
    parameters and start values: ``set={"tank.area": 2.0}``. ``inputs`` is a table whose columns feed the inputs that they are named
    after: a file, a DataFrame, or a dictionary with ``time``. ``progress`` is by default a bar in terminals and notebooks.

    Ctrl-C ends the run after the step under way and returns what there is. A run that fails raises :class:`RunError`, whose
    ``result`` has the rows so far; a model or a choice that is not sound raises :class:`ModelError`.
    """
    given = locals()
    with request(given) as (asked, systems):
        look = _show.bar(progress)
        try:
            outcome = _native.run(asked, systems, look)
        finally:
            if isinstance(look, _show._Bar):
                look.close()
    return _result(outcome)


def _result(outcome: dict[str, Any]) -> Result:
    result = Result(*(outcome[key] for key in ["names", "time", "columns", "summary", "text", "interrupted"]))
    message = result.summary["message"]
    if outcome["error"] is not None:
        error = RunError(message, **outcome["error"])
        error.result = result
        raise error from outcome["cause"]
    return result


OPTION_KEYS = ["method", "step", "tolerance", "integrator_tolerance", "solver"]


@contextmanager
def request(given: Mapping[str, Any], rewind: bool = False) -> Iterator[tuple[dict[str, Any], list[int]]]:
    """What the extension module wants to know, for as long as the files in it live."""
    model = given["model"]
    with tempfile.TemporaryDirectory(prefix="dovetail-") as folder:
        options = {key: given[key] for key in OPTION_KEYS if given[key] is not None}
        options |= given["options"] or {}
        initialize = given["initialize"]
        if initialize not in (None, "steady"):
            raise ModelError(f'initialize="{initialize}": a run starts at the start values, or with "steady" at rest')
        log = given["log_fmi_calls"]
        if log is not None:
            Path(log).write_text("", encoding="utf-8")
        yield (
            {
                **_model_file(model),
                "program": _program.PROGRAM,
                "set": [(key, text(value)) for key, value in (given["set"] or {}).items()],
                "parameters": [Path(path) for path in _listed(given["parameters"])],
                "inputs": _tables(given["inputs"], Path(folder)),
                "options": [(key.replace("_", "-"), text(value)) for key, value in options.items()],
                "record": [str(pattern) for pattern in _listed(given["record"])],
                "steady": initialize == "steady",
                "log_fmi_calls": None if log is None else Path(log).resolve(),
                "rewind": rewind,
                **{key: given[key] for key in PLAIN_KEYS},
            },
            list(model._python.values()) if isinstance(model, Model) else [],
        )


PLAIN_KEYS = ["start_time", "stop_time", "interface", "strict", "output_interval", "workers", "worker_threads"]
PLAIN_KEYS += ["step_timeout", "memory_limit", "verify"]


def _model_file(model: ModelLike) -> dict[str, Any]:
    if isinstance(model, Model):
        return {"path": Path(f"{model.name}"), "text": model.to_toml()}
    return {"path": Path(model), "text": None}


def _listed(given: Any) -> list[Any]:
    return [given] if isinstance(given, (str, os.PathLike)) else list(given or ())


def text(value: Any) -> str:
    """A value as the command line has it, with every digit."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (str, int)):
        return str(value)
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(text(entry) for entry in value) + "]"
    return repr(float(value))


def _tables(inputs: Inputs, folder: Path) -> list[Path]:
    if inputs is None:
        return []
    tables = list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]
    return [_table(table, folder / f"inputs-{number}.csv") for number, table in enumerate(tables)]


def _table(table: Any, file: Path) -> Path:
    """A table as a file; what is none is written to `file`."""
    if isinstance(table, (str, os.PathLike)):
        return Path(table)
    columns = {str(key): list(table[key]) for key in table.keys()}
    if "time" not in columns and hasattr(table, "index"):
        columns = {"time": list(table.index), **columns}
    if "time" not in columns:
        raise ModelError("inputs= needs a column `time`" + (f"; there are {', '.join(columns)}" if columns else ""))
    lengths = {key: len(column) for key, column in columns.items()}
    if len({*lengths.values()}) > 1:
        raise ModelError(f"the columns of inputs= differ in length: {lengths}")
    names = ["time", *(key for key in columns if key != "time")]
    try:
        rows = zip(*([repr(float(value)) for value in columns[name]] for name in names))
    except (TypeError, ValueError) as error:
        raise ModelError(f"inputs= has what is no number: {error}") from error
    with file.open("w", encoding="utf-8") as lines:
        lines.write(",".join(_quoted(name) for name in names) + "\n")
        lines.writelines(",".join(row) + "\n" for row in rows)
    return file


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"' if "," in name or '"' in name else name


def check(model: ModelLike, **arguments: Any) -> dict[str, Any]:
    """Everything that can be known of a model without running it, as ``dovetail check --json``."""
    answer: dict[str, Any] = _command("check", model, ["--json"], arguments)
    return answer


def inspect(file: ModelLike, **arguments: Any) -> dict[str, Any]:
    """An FMU, a system structure or a model: interface, declared and found capabilities, the methods that it permits; as
    ``dovetail inspect --json``."""
    answer: dict[str, Any] = _command("inspect", file, ["--json"], arguments)
    return answer


def compare(model: ModelLike, **arguments: Any) -> list[dict[str, Any]]:
    """Runs a model by several methods, steps or tolerances and measures the error of each, as ``dovetail compare --json``:
    ``compare("model.toml", method=["jacobi", "predictive"], step=[0.1, 0.05])``."""
    runs: list[dict[str, Any]] = _command("compare", model, ["--json", "--quiet"], arguments)
    return runs


def enclose(model: ModelLike, **arguments: Any) -> dict[str, Any]:
    """Bounds that are proved to hold every trajectory of a model given as equations, as ``dovetail enclose --json``."""
    answer: dict[str, Any] = _command("enclose", model, ["--json", "--quiet"], arguments)
    return answer


def sweep(model: ModelLike, *, vary: Mapping[str, Any], **arguments: Any) -> Any:
    """Runs a model many times with other values each, as ``dovetail sweep``: ``vary={"tank.area": "1:3:20", "pump.p": [1, 2]}``.

    What is kept of each run is a row of a table: a DataFrame where pandas is installed, else a dictionary of columns.
    """
    ranges = [f"{name}={values if isinstance(values, str) else ','.join(text(value) for value in values)}" for name, values in vary.items()]
    with tempfile.TemporaryDirectory(prefix="dovetail-") as folder:
        wanted = arguments.pop("output", None)
        output = Path(wanted) if wanted is not None else Path(folder) / "sweep.csv"
        _command("sweep", model, ["--json", "--quiet", *(part for entry in ranges for part in ("--vary", entry))], {**arguments, "output": output})
        return _read_table(output)


def _read_table(path: Path) -> Any:
    try:
        import pandas

        return pandas.read_csv(path)
    except ImportError:
        import csv

        with path.open(newline="", encoding="utf-8") as lines:
            rows = list(csv.DictReader(lines))
        return {key: [row[key] for row in rows] for key in (rows[0] if rows else {})}


def _command(command: str, model: ModelLike, flags: Sequence[str], arguments: Mapping[str, Any]) -> Any:
    with tempfile.TemporaryDirectory(prefix="dovetail-") as folder:
        if isinstance(model, Model):
            path = Path(folder) / "model.toml"
            for name in model._python:
                raise ModelError(
                    f"`{name}` is written in Python, and {command} reads the model in a process of its own: dovetail.run(…) runs it",
                    system=name,
                )
            path.write_text(model.to_toml(), encoding="utf-8")
        else:
            path = Path(model)
        inputs = _tables(arguments.get("inputs"), Path(folder))
        rest = {key: value for key, value in arguments.items() if key != "inputs"}
        return _program.call([command, os.fspath(path), *flags, *_flags(rest), *(part for table in inputs for part in ("--input", os.fspath(table)))])


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
        elif key in {"method", "step", "tolerance"} and isinstance(value, (list, tuple)):
            yield f"{flag}=" + ",".join(text(entry) for entry in value)
        elif isinstance(value, (list, tuple)):
            for entry in value:
                yield f"{flag}={text(entry)}"
        else:
            yield f"{flag}={os.fspath(value) if isinstance(value, os.PathLike) else text(value)}"
