"""Names that are not there, and the nearest that are."""

from __future__ import annotations

import difflib
from typing import Iterable

from .errors import ModelError


def unknown(name: str, known: Iterable[str], sentence: str) -> KeyErrorWithFields:
    """The error to raise, with the nearest name."""
    near = difflib.get_close_matches(name, list(known), n=1)
    hint = f"; did you mean `{near[0]}`?" if near else ""
    system, dot, _ = name.partition(".")
    return KeyErrorWithFields(sentence.format(name) + hint, system=system if dot else None, variable=name)


def refuse_unknown(given: Iterable[str], known: Iterable[str], function: str) -> None:
    """Refuses arguments that a function does not take, with the nearest that it does."""
    known = list(known)
    for name in given:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"; did you mean {near[0]}=?" if near else ""
            raise UnknownArgument(f"{function} takes no argument {name}={hint}")


class UnknownArgument(ModelError, TypeError):
    """An argument that a function does not take: also a TypeError."""


class KeyErrorWithFields(ModelError, KeyError):
    """A name that is not there: also a KeyError."""

    __str__ = Exception.__str__
