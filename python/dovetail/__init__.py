"""Couples simulators so that their interfaces really meet: FMUs, system structures, equations, and systems written in Python.

>>> import dovetail
>>> r = dovetail.run("plant.ssp", stop_time=10.0)        # doctest: +SKIP
>>> r["tank.level"], r.verdict                            # doctest: +SKIP
"""

from ._commands import check, compare, enclose, export, fit, inspect, linearize, sweep
from ._model import Model
from ._native import __version__
from ._run import run
from .errors import Error, ModelError, RunError
from .result import Result
from .session import Session

__all__ = [
    "Error",
    "Model",
    "ModelError",
    "Result",
    "RunError",
    "Session",
    "__version__",
    "check",
    "compare",
    "enclose",
    "export",
    "fit",
    "inspect",
    "linearize",
    "run",
    "sweep",
]
