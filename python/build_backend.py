"""Builds the wheel: first the program `dovetail`, which the package carries, and beside it the library of exported FMUs; then the extension
module with maturin.

The program is what FMUs are tried out in, so that one that crashes takes no interpreter with it; it is also the console script.
`DOVETAIL_PROFILE` names another profile of Cargo than `release`.
"""

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import maturin
from maturin import get_requires_for_build_editable, get_requires_for_build_sdist, get_requires_for_build_wheel
from maturin import build_sdist, prepare_metadata_for_build_editable, prepare_metadata_for_build_wheel

HERE = Path(__file__).resolve().parent
PROFILE = os.environ.get("DOVETAIL_PROFILE", "release")

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
    "prepare_metadata_for_build_editable",
    "prepare_metadata_for_build_wheel",
]


def _target() -> Path:
    """Where Cargo builds: one folder for the program and the module, which share nearly all they are made of."""
    return Path(os.environ.get("CARGO_TARGET_DIR") or HERE.parent / "target").resolve()


def _build_program() -> None:
    packages = ["--package", "dovetail-cli", "--package", "dovetail-fmi-export"]
    command = ["cargo", "build", "--locked", *packages, "--profile", PROFILE]
    subprocess.run(command, cwd=HERE.parent, env={**os.environ, "CARGO_TARGET_DIR": str(_target())}, check=True)
    folder = "debug" if PROFILE == "dev" else PROFILE
    (HERE / "dovetail" / "bin").mkdir(exist_ok=True)
    for file in ("dovetail", "libdovetail_fmu.so"):
        shutil.copy2(_target() / folder / file, HERE / "dovetail" / "bin" / file)


def _prepare(settings: dict[str, Any] | None) -> dict[str, Any]:
    os.environ["CARGO_TARGET_DIR"] = str(_target())
    _build_program()
    settings = dict(settings or {})
    settings.setdefault("build-args", f"--profile {PROFILE}")
    return settings


def build_wheel(wheel_directory: str, config_settings: dict[str, Any] | None = None, metadata_directory: str | None = None) -> str:
    name: str = maturin.build_wheel(wheel_directory, _prepare(config_settings), metadata_directory)
    return name


def build_editable(wheel_directory: str, config_settings: dict[str, Any] | None = None, metadata_directory: str | None = None) -> str:
    name: str = maturin.build_editable(wheel_directory, _prepare(config_settings), metadata_directory)
    return name
