"""What no master can be quicker than: set, step and get on a ring of one FMU, in a plain C loop."""

import ctypes
import shutil
import subprocess
import tempfile
from pathlib import Path

import fmpy
from coupled import Coupled

SOURCE = Path(__file__).resolve().parents[2] / "c" / "bare_ring.c"


class BareLoop:
    """Rings only. Each `advance` runs the ring anew, from its instantiation on."""

    def __init__(self, coupled: Coupled, step: float) -> None:
        self.step = step
        self.steps = 0
        self.size = len(coupled.fmus)
        self.sum = ctypes.c_double()
        self.folder = Path(tempfile.mkdtemp())
        path = next(iter(coupled.fmus.values()))
        description = fmpy.read_model_description(path, validate=False)
        is_fmi2 = description.fmiMajorVersion == 2
        unpacked = Path(fmpy.extract(path, unzipdir=str(self.folder / "fmu")))
        binaries = unpacked / "binaries" / ("linux64" if is_fmi2 else "x86_64-linux")
        self.library = str(binaries / "Ring.so").encode()
        self.token = description.guid.encode()
        self.function = self._compile("bench_bare_ring2" if is_fmi2 else "bench_bare_ring3")

    def _compile(self, function: str):
        compiled = self.folder / "bare_ring.so"
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", compiled, SOURCE, "-ldl"], check=True)
        loop = getattr(ctypes.CDLL(str(compiled)), function)
        text, count, number = ctypes.c_char_p, ctypes.c_size_t, ctypes.c_double
        loop.argtypes = [text, text, count, count, number, ctypes.POINTER(number)]
        loop.restype = number
        return loop

    def advance(self, steps: int) -> None:
        spent = self.function(self.library, self.token, self.size, steps, self.step, ctypes.byref(self.sum))
        if spent < 0:
            raise RuntimeError(f"the bare loop failed with {spent}")
        self.steps = steps

    def time(self) -> float:
        return self.steps * self.step

    def values(self) -> list[float]:
        return [self.sum.value]

    def close(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
