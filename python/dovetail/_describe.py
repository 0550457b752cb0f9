"""Systems written in Python, as the engine wants them described."""

from __future__ import annotations

import copy
import dis
import inspect
from typing import Any, Callable, Iterable, Mapping

from .errors import ModelError

Names = Mapping[str, float] | Iterable[str]


def describe(
    name: str,
    system: Any,
    inputs: Names | None,
    states: Names | None,
    outputs: Iterable[str] | None,
    parameters: Mapping[str, float] | None,
) -> dict[str, Any]:
    """All that the engine asks of a system: what is not given is looked up in the object."""
    sample = _sample(name, system)
    stepping = hasattr(sample, "step")
    derived = hasattr(sample, "derivatives")
    if stepping == derived:
        raise ModelError(
            f"`{name}`: a system in Python has either derivatives(t, x, u) and outputs(t, x, u), or step(t, h, u)", system=name
        )
    for method in ["outputs"] if derived else []:
        if not callable(getattr(sample, method, None)):
            raise ModelError(f"`{name}` has derivatives(t, x, u) and lacks {method}(t, x, u)", system=name)

    names = {
        "inputs": starts(name, "inputs", _given(inputs, sample, "inputs")),
        "states": starts(name, "states", _given(states, sample, "states")),
        "parameters": starts(name, "parameters", _given(parameters, sample, "parameters")),
    }
    output_names = _output_names(name, outputs, sample)
    if stepping and names["states"]:
        raise ModelError(f"`{name}` has step(t, h, u): its states are its own, and cannot be named", system=name)
    _refuse_twice(name, [*(key for key, _ in names["inputs"]), *output_names])

    return {
        "kind": "step" if stepping else "derivatives",
        **names,
        "outputs": output_names,
        "feedthrough": _feedthrough(name, sample, names, output_names, derived),
        "imposed_step": _imposed_step(name, sample),
        "jacobians": derived and hasattr(sample, "jacobians"),
        "rollback": stepping and hasattr(sample, "save") and hasattr(sample, "restore"),
        "make": _maker(system),
    }


def _maker(system: Any) -> Callable[[dict[str, float]], Any]:
    """Makes a system for one run: of a class or a function a new one, of an object a copy. Parameters become attributes."""

    def make(parameters: dict[str, float]) -> Any:
        made = system() if callable(system) else copy.deepcopy(system)
        for key, value in parameters.items():
            setattr(made, key, value)
        return made

    return make


def _sample(name: str, system: Any) -> Any:
    try:
        return system() if callable(system) else system
    except Exception as error:
        raise ModelError(
            f"`{name}` could not be made: calling {system!r} raised {error!r}; give an object, or a function without arguments", system=name
        ) from error


def _given(given: Any, sample: Any, attribute: str) -> Any:
    if given is not None:
        return given
    found = getattr(sample, attribute, ())
    return () if callable(found) else found


def starts(name: str, what: str, given: Any) -> list[tuple[str, float]]:
    """Names with their start values, which are zero where only names are given."""
    if isinstance(given, str):
        raise ModelError(f'`{name}`: {what} are names with start values, such as {{"{given}": 0.0}}', system=name)
    pairs = given.items() if isinstance(given, Mapping) else [(key, 0.0) for key in given]
    try:
        found = [(str(key), float(value)) for key, value in pairs]
    except (TypeError, ValueError) as error:
        raise ModelError(f"`{name}`: the values of its {what} are numbers ({error})", system=name) from error
    _refuse_twice(name, [key for key, _ in found])
    return found


def _output_names(name: str, given: Iterable[str] | None, sample: Any) -> list[str]:
    found = given if given is not None else getattr(sample, "output_names", None)
    if found is None or isinstance(found, str):
        raise ModelError(f'`{name}`: give the names of its outputs: outputs=["y"], or output_names = ["y"] in the class', system=name)
    return [str(key) for key in found]


def _refuse_twice(name: str, names: list[str]) -> None:
    for position, key in enumerate(names):
        if key in names[:position]:
            raise ModelError(f"`{name}` has two variables with the name `{key}`", system=name, variable=f"{name}.{key}")


def _imposed_step(name: str, sample: Any) -> float | None:
    step = getattr(sample, "imposed_step", None)
    if step is None:
        return None
    if not (isinstance(step, (int, float)) and step > 0):
        raise ModelError(f"`{name}`: imposed_step is a number of seconds above zero, not {step!r}", system=name)
    return float(step)


def _feedthrough(name: str, sample: Any, names: dict[str, list[tuple[str, float]]], outputs: list[str], derived: bool) -> list[list[int]]:
    """For each output the inputs on which it depends at once: as declared, else on all, unless the method never looks at them.

    To ask for outputs and see whether they change would not do: they may depend on an input elsewhere, as `max(0, u[0])` does.
    """
    count = len(names["inputs"])
    declared = getattr(sample, "feedthrough", None)
    if isinstance(declared, Mapping):
        positions = {key: position for position, (key, _) in enumerate(names["inputs"])}
        for key in declared:
            if key not in outputs:
                raise ModelError(f"`{name}`: feedthrough names `{key}`, which is none of its outputs", system=name)
        try:
            return [[positions[key] for key in declared.get(output, ())] for output in outputs]
        except KeyError as error:
            raise ModelError(f"`{name}`: feedthrough names {error}, which is none of its inputs", system=name) from error
    if declared is None:
        declared = _looks_at_inputs(sample.outputs if derived else sample.step)
    return [list(range(count)) if declared else [] for _ in outputs]


def _looks_at_inputs(method: Any) -> bool:
    """Whether `outputs(t, x, u)` or `step(t, h, u)` may look at `u`: false only where its code does not have the name."""
    code = getattr(getattr(method, "__func__", None), "__code__", None)
    if code is None or code.co_argcount != 4 or code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS):
        return True
    inputs = code.co_varnames[3]
    names = (instruction.argval for instruction in dis.get_instructions(code))
    return any(inputs == name or (isinstance(name, tuple) and inputs in name) for name in names)
