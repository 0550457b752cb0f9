"""Models some of whose inputs are set by hand."""

from __future__ import annotations

import copy
import os
import re
from pathlib import Path
from typing import Iterable, Mapping

from ._commands import inspect
from ._describe import starts
from ._model import Model, PythonSystem, _table
from ._run import ModelLike
from .errors import ModelError

HAND = "by_hand"
"""The system whose outputs are what is set by hand."""


class _ModelFile(Model):
    """A model file with one more system."""

    def __init__(self, path: Path) -> None:
        super().__init__(os.fspath(path))
        self._text = path.read_text(encoding="utf-8")

    def to_toml(self, folder: Path | None = None) -> str:
        added = [_table(f"[systems.{name}]", table) for name, table in self._systems.items()]
        added += [_table("[[connections]]", connection) for connection in self._connections]
        return "\n".join([self._text, *added])


def with_hand(model: ModelLike, controls: Mapping[str, float] | Iterable[str] | None) -> tuple[ModelLike, list[str]]:
    """The model with a system that feeds what can be set by hand, and the names of these inputs."""
    whole = _as_model(model, controls)
    if whole is None:
        return model, []
    free = _free_inputs(whole) if controls is None else dict(starts("controls", "controls", controls))
    if not free:
        return whole, []

    _refuse_fed(whole, free)
    outputs = [f"u{number}" for number in range(len(free))]
    description = {
        **{"kind": "hand", "inputs": [], "states": [], "outputs": outputs, "parameters": list(zip(outputs, free.values()))},
        **{"feedthrough": [[] for _ in outputs], "imposed_step": None, "jacobians": False, "rollback": False, "make": None},
    }
    known = PythonSystem(description)
    whole._add(HAND, {"python": known.number})
    whole._python[HAND] = known
    for output, name in zip(outputs, free):
        whole.connect(f"{HAND}.{output}", name)
    return whole, list(free)


def _as_model(model: ModelLike, controls: Mapping[str, float] | Iterable[str] | None) -> Model | None:
    """A copy that can be added to; None where the model is used as it is."""
    if isinstance(model, Model):
        whole = copy.copy(model)
        whole._systems, whole._python = dict(model._systems), dict(model._python)
        whole._connections = list(model._connections)
        return whole
    path = Path(model)
    if path.suffix.lower() == ".fmu":
        name = re.sub(r"\W", "_", path.stem, flags=re.ASCII)
        name = name if name[:1].isalpha() else f"fmu_{name}"
        return Model(path.stem).add_fmu(name, path)
    if controls is None:
        return None
    if path.suffix.lower() == ".toml":
        return _ModelFile(path)
    raise ModelError(f"{os.fspath(model)}: controls= goes with model files, FMUs and models of Python")


def _free_inputs(model: Model) -> dict[str, float]:
    """All inputs that nothing feeds, with their start values."""
    fed = {connection["to"] for connection in model._connections}
    free: dict[str, float] = {}
    for name, table in model._systems.items():
        own = model._starts.get(name)
        if own is None:
            own = _inputs_of_fmu(model._files[name])
        free |= {f"{name}.{key}": start for key, start in own if f"{name}.{key}" not in fed}
    return free


def _inputs_of_fmu(path: Path) -> list[tuple[str, float]]:
    """The inputs of an FMU that are numbers."""
    unit = inspect(path, static=True)["units"][0]
    return [(entry["name"], _number(entry.get("start"))) for entry in unit["inputs"] if entry.get("nature") != "text"]


def _number(start: object) -> float:
    try:
        return float(start)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return 0.0


def _refuse_fed(model: Model, free: Mapping[str, float]) -> None:
    for connection in model._connections:
        if connection["to"] in free:
            name = connection["to"]
            raise ModelError(f"`{name}` is fed by a connection, and cannot be set by hand as well", system=name.partition(".")[0], variable=name)
