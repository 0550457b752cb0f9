"""Runs, with the words of the command line as arguments."""

from __future__ import annotations

import os
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Iterable, Iterator, Mapping, Sequence

from . import _native, _program, _show
from ._model import Model, plain
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
    report: str | os.PathLike[str] | None = None,
    real_time: float | None = None,
    progress: bool | None = None,
) -> Result:
    """Runs a model: a TOML file, an FMU, a system structure (SSP), or a :class:`Model`.

    The arguments are the options of ``dovetail run``, with underscores. ``options`` are those of the method. ``set`` gives
    parameters and start values: ``set={"tank.area": 2.0}``. ``inputs`` is a table whose columns feed the inputs that they are named
    after: a file, a DataFrame, or a dictionary with ``time``. ``report`` is where a page of the run is written, as HTML.
    ``real_time=2.0`` paces the run by the clock: two seconds of the model for each. ``progress`` is by default a bar in terminals and notebooks.

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
    result = Result(*(outcome[key] for key in ["names", "time", "columns", "summary", "text", "interrupted", "held"]))
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
    systems = [known.number for known in model._python.values()] if isinstance(model, Model) else []
    with tempfile.TemporaryDirectory(prefix="dovetail-") as folder:
        options = {key: given[key] for key in OPTION_KEYS if given[key] is not None}
        options |= given["options"] or {}
        initialize = given["initialize"]
        if initialize not in (None, "steady"):
            raise ModelError(f'initialize="{initialize}": a run starts at the start values, or with "steady" at rest')
        log = _log_file(given["log_fmi_calls"])
        yield (
            {
                **_model_file(model),
                "program": _program.PROGRAM,
                "set": [(key, text(value)) for key, value in (given["set"] or {}).items()],
                "parameters": [Path(path) for path in listed(given["parameters"])],
                "inputs": tables(given["inputs"], Path(folder)),
                "options": [(key.replace("_", "-"), text(value)) for key, value in options.items()],
                "record": [str(pattern) for pattern in listed(given["record"])],
                "steady": initialize == "steady",
                "log_fmi_calls": log,
                "report": None if given["report"] is None else Path(given["report"]).resolve(),
                "python": bool(systems),
                "rewind": rewind,
                **{key: given[key] for key in PLAIN_KEYS},
            },
            systems,
        )


def _log_file(path: str | os.PathLike[str] | None) -> Path | None:
    """The file for calls of FMUs, emptied; a model or another file is not."""
    if path is None:
        return None
    file = Path(path).resolve()
    if file.suffix.lower() in {".toml", ".fmu", ".ssp", ".ssd", ".csv", ".parquet", ".py", ".ipynb"}:
        raise ModelError(f"log_fmi_calls={os.fspath(path)!r}: a log would replace this file; name a file such as calls.log")
    try:
        file.write_text("", encoding="utf-8")
    except OSError as error:
        raise ModelError(f"log_fmi_calls={os.fspath(path)!r} cannot be written: {error.strerror}") from error
    return file


PLAIN_KEYS = ["start_time", "stop_time", "interface", "strict", "output_interval", "workers", "worker_threads"]
PLAIN_KEYS += ["step_timeout", "memory_limit", "verify", "real_time"]


def _model_file(model: ModelLike) -> dict[str, Any]:
    if isinstance(model, Model):
        return {"path": Path(f"{model.name}"), "text": model.to_toml()}
    return {"path": Path(model), "text": None}


def listed(given: Any) -> list[Any]:
    """One thing or several as a list."""
    given = plain(given)
    if given is None:
        return []
    return [given] if isinstance(given, (str, os.PathLike, int, float)) else list(given)


def text(value: Any) -> str:
    """A value as the command line has it, with every digit."""
    value = plain(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (str, int)):
        return str(value)
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(text(entry) for entry in value) + "]"
    return repr(float(value))


def tables(inputs: Inputs, folder: Path) -> list[Path]:
    """Tables as files; those that are none are written into `folder`."""
    if inputs is None:
        return []
    tables = list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]
    return [_table(table, folder / f"inputs-{number}.csv") for number, table in enumerate(tables)]


def _table(table: Any, file: Path) -> Path:
    """A table as a file; what is none is written to `file`."""
    if isinstance(table, (str, os.PathLike)):
        return Path(table)
    columns = {str(key): list(plain(table[key])) for key in table.keys()}
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


DEFAULTS: dict[str, Any] = {
    "method": None,
    "step": None,
    "start_time": None,
    "stop_time": None,
    "tolerance": None,
    "options": None,
    "set": None,
    "integrator_tolerance": None,
    "solver": None,
    "parameters": (),
    "inputs": None,
    "record": (),
    "output_interval": None,
    "interface": None,
    "strict": False,
    "initialize": None,
    "workers": None,
    "worker_threads": None,
    "step_timeout": None,
    "memory_limit": None,
    "verify": False,
    "log_fmi_calls": None,
    "report": None,
    "real_time": None,
}
"""What is not given."""
