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


class KeyErrorWithFields(ModelError, KeyError):
    """A name that is not there: also a KeyError."""

    __str__ = Exception.__str__
