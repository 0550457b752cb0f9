"""Models that are put together in Python."""

from __future__ import annotations

import os
import re
import weakref
from pathlib import Path
from typing import Any, Iterable, Mapping

from . import _native
from ._describe import describe, starts
from .errors import ModelError

Number = float | int
_BARE = re.compile(r"[A-Za-z0-9_-]+")


def _key(text: str) -> str:
    return text if _BARE.fullmatch(text) else _quoted(text)


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(c if c >= " " else f"\\u{ord(c):04x}" for c in escaped) + '"'


def plain(value: Any) -> Any:
    """Numbers, truth values and arrays of NumPy, or of whatever has `tolist`, as Python's own."""
    return value.tolist() if hasattr(value, "tolist") else value


class PythonSystem:
    """A system in Python that the engine knows by a number, for as long as some model has it."""

    def __init__(self, description: dict[str, Any]) -> None:
        self.number = _native.add_system(description)
        weakref.finalize(self, _native.remove_system, self.number)

    def __deepcopy__(self, memo: Any) -> PythonSystem:
        return self  # what it describes never changes; every run makes a system of its own

    def __reduce__(self) -> Any:
        raise TypeError("a model with systems that are written in Python cannot be pickled")


def _value(value: Any) -> str:
    """A value as TOML has it."""
    value = plain(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        if "\n" in value and "'''" not in value:
            return f"'''\n{value.strip(chr(10))}\n'''"
        return _quoted(value)
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(str(key))} = {_value(entry)}" for key, entry in value.items()) + " }" if value else "{}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_value(entry) for entry in value) + "]"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, os.PathLike):
        return _quoted(os.fspath(value))
    return repr(float(value))


class Model:
    """Systems, coupled by the names of their inputs and outputs.

    >>> model = Model(stop_time=20.0)
    >>> model.add_equations("tank", states={"level": 1.0}, inputs={"flow": 0.0},
    ...                     equations="der(level) = flow", outputs={"height": "level"})
    >>> model.connect(0.1, "tank.flow")
    """

    def __init__(self, name: str = "model", *, start_time: Number | None = None, stop_time: Number | None = None) -> None:
        self.name = name
        self.start_time = start_time
        self.stop_time = stop_time
        self._systems: dict[str, dict[str, Any]] = {}
        self._files: dict[str, Path] = {}
        self._python: dict[str, PythonSystem] = {}
        self._starts: dict[str, list[tuple[str, float]]] = {}
        self._connections: list[dict[str, Any]] = []
        self._events: list[dict[str, Any]] = []
        self._method: dict[str, Any] = {}

    def add_equations(
        self,
        name: str,
        *,
        equations: str = "",
        states: Mapping[str, Any] | None = None,
        inputs: Mapping[str, Number] | Iterable[str] | None = None,
        outputs: Mapping[str, str] | None = None,
        parameters: Mapping[str, Any] | None = None,
        discrete: Mapping[str, Number] | None = None,
        units: Mapping[str, str] | None = None,
    ) -> Model:
        """Adds a system given by equations, as in a model file: ``equations="der(x) = -k*x + u"``."""
        self._starts[name] = starts(name, "inputs", inputs or {})
        table: dict[str, Any] = {"inputs": dict(self._starts[name]), "parameters": parameters, "states": states, "discrete": discrete}
        table |= {"equations": equations, "outputs": outputs, "units": units}
        return self._add(name, {key: value for key, value in table.items() if value or key == "equations"})

    def add_fmu(self, name: str, fmu: str | os.PathLike[str], *, parameters: Mapping[str, Any] | None = None, **options: Any) -> Model:
        """Adds an FMU. ``options`` are the other keys that its table may have, such as ``interface="model-exchange"``."""
        path = Path(fmu).resolve()
        if not path.exists():
            raise ModelError(f"`{name}`: there is no file {os.fspath(fmu)}", system=name)
        table = {"parameters": parameters} if parameters else {}
        self._add(name, {"fmu": path, **table, **{key.replace("_", "-"): value for key, value in options.items()}})
        self._files[name] = path
        return self

    def add_system(
        self,
        name: str,
        system: Any,
        *,
        inputs: Mapping[str, float] | Iterable[str] | None = None,
        states: Mapping[str, float] | Iterable[str] | None = None,
        outputs: Iterable[str] | None = None,
        parameters: Mapping[str, float] | None = None,
    ) -> Model:
        """Adds a system that is written in Python: a class or an object with either

        - ``derivatives(t, x, u)`` and ``outputs(t, x, u)``, of which the state is kept for it (``jacobians(t, x, u)``, which
          returns A, B, C and D, is optional), or
        - ``step(t, h, u)``, which moves it from ``t`` to ``t + h`` under constant inputs and returns its outputs there. ``h`` may
          be 0, a question about the present. With ``save()`` and ``restore(state)`` steps can be tried.

        The names and start values of ``inputs``, ``states`` and ``parameters``, and the names of ``outputs``, are given here or
        are attributes of the class (``inputs``, ``states``, ``parameters``, ``output_names``). Parameters are attributes of the
        system when it runs. Every run has a system of its own: a new one of a class, a deep copy of an object.

        Outputs are taken to depend at once on all inputs, unless the method never looks at ``u``. ``feedthrough`` of the class says it
        more precisely, and spares the method loops that are none: ``feedthrough = {"y": ["u"]}``, or ``False`` for no output at all.
        """
        description = describe(name, system, inputs, states, outputs, parameters)
        known = PythonSystem(description)
        self._add(name, {"python": known.number})
        self._starts[name] = description["inputs"]
        self._python[name] = known
        return self

    def connect(self, source: str | Number, to: str) -> Model:
        """Leads an output to an input: ``connect("a.y", "b.u")``. A number feeds an input with a constant, and a text that names
        no output is an expression of time: ``connect("1 + sin(time)", "b.u")``."""
        if isinstance(source, str) and _is_output(source):
            self._connections.append({"from": source, "to": to})
        else:
            self._connections.append({"value": source, "to": to})
        return self

    def add_event(self, *, at: Number | None = None, when: str | None = None, **rest: Any) -> Model:
        """Something that happens in the course of a run: ``add_event(at=5.0, set={"controller.kp": 3.0})``."""
        event = {"at": None if at is None else float(at), "when": when, **rest}
        self._events.append({key: value for key, value in event.items() if value is not None})
        return self

    def set_method(self, name: str = "auto", **options: Any) -> Model:
        """The coupling method and its options: ``set_method("ifosmondi", tolerance=1e-8)``."""
        self._method = {"name": name, **{key.replace("_", "-"): value for key, value in options.items()}}
        return self

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the model file, which the program ``dovetail`` runs too."""
        for name in self._python:
            raise ModelError(f"`{name}` is written in Python, which a model file cannot hold", system=name)
        Path(path).write_text(self.to_toml(Path(path).resolve().parent), encoding="utf-8")

    def to_toml(self, folder: Path | None = None) -> str:
        """The text of the model file. FMUs are named as seen from ``folder``."""
        header: dict[str, Any] = {"name": self.name}
        for key, time in [("start-time", self.start_time), ("stop-time", self.stop_time)]:
            if time is not None:
                header[key] = float(time)
        parts = [_table("[model]", header)]
        for name, table in self._systems.items():
            if folder is not None and name in self._files:
                table = {**table, "fmu": os.path.relpath(self._files[name], folder)}
            parts.append(_table(f"[systems.{_key(name)}]", table))
        parts += [_table("[[connections]]", connection) for connection in self._connections]
        parts += [_table("[[events]]", event) for event in self._events]
        if self._method:
            parts.append(_table("[method]", self._method))
        return "\n".join(parts)

    def _add(self, name: str, table: dict[str, Any]) -> Model:
        if name in self._systems:
            raise ModelError(f"there are two systems with the name `{name}`", system=name)
        self._systems[name] = table
        return self

    def __repr__(self) -> str:
        return f"<dovetail.Model {self.name!r}: {', '.join(self._systems) or 'no systems yet'}>"


def _is_output(text: str) -> bool:
    """Whether it is `system.variable`, rather than an expression or a number."""
    return re.fullmatch(r"[^\s.+*/^()]+(\.[^\s+*/^()]+)+", text) is not None and not _is_number(text) and re.match(r"time\s*-", text) is None


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _table(head: str, table: Mapping[str, Any]) -> str:
    return head + "\n" + "".join(f"{_key(key)} = {_value(value)}\n" for key, value in table.items())
