"""The program ``dovetail``, which the package carries: the console script, the process in which FMUs are tried out, and what
commands with many runs are carried out by."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NoReturn, Sequence

from .errors import ModelError, RunError

PROGRAM = Path(__file__).resolve().parent / "bin" / "dovetail"


def main() -> NoReturn:
    """The console script: this process becomes the program."""
    os.execv(PROGRAM, ["dovetail", *sys.argv[1:]])


def call(arguments: Sequence[str], *, quiet_bar: bool = True) -> Any:
    """Carries a command out and reads the JSON that it prints. FMUs live and die in that process.

    Ctrl-C reaches the program too, which then ends with what there is.
    """
    errors = subprocess.PIPE if quiet_bar else None
    with subprocess.Popen([PROGRAM, *arguments], stdout=subprocess.PIPE, stderr=errors, text=True) as process:
        interrupted = False
        while True:
            try:
                output, complaint = process.communicate()
                break
            except KeyboardInterrupt:
                if interrupted:
                    process.kill()
                    raise
                interrupted = True
    if interrupted and not output.strip():
        raise KeyboardInterrupt
    return _read(output, complaint or "", process.returncode)


def _read(output: str, complaint: str, code: int) -> Any:
    if output.strip():
        # A run that ended early, or too far from its reference, is in the answer.
        return json.loads(output)
    message = _sentence(complaint)
    if code == 0:
        return None
    if code in (1, 2):
        raise (ModelError if code == 2 else RunError)(_in_arguments(message))
    raise RunError(f"the process that carried the command out ended with code {code}. {message}".strip())


def _sentence(complaint: str) -> str:
    """What the program says is wrong, without what only helps at a terminal."""
    lines = complaint.strip().removeprefix("error: ").splitlines()
    kept = [line for line in lines if not line.startswith(("For more information", "Usage:"))]
    return "\n".join(kept).strip()


def _in_arguments(message: str) -> str:
    """Flags as the arguments that they are here: ``--stop-time`` is ``stop_time=``."""
    words = message.split(" ")
    return " ".join(_argument(word) for word in words)


def _argument(word: str) -> str:
    start = word.find("--")
    if start < 0 or (start > 0 and word[start - 1].isalnum()) or len(word) < start + 4 or not word[start + 2].isalpha():
        return word
    end = start + 2
    while end < len(word) and (word[end].isalnum() or word[end] == "-"):
        end += 1
    rest = word[end:]
    name = word[start + 2 : end].replace("-", "_")
    return f"{word[:start]}{name}={rest.removeprefix('=')}"
