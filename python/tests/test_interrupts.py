"""Runs that come to no end: Ctrl-C, time limits, and what is left of the interpreter after them."""

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import dovetail

PLANT = """
import os, signal, threading, time
import dovetail

class Plant:
    states, output_names = {"x": 1.0}, ["y"]
    def derivatives(self, t, x, u):
        if t > 0.5:
            stick()
        return -x
    def outputs(self, t, x, u):
        return x

def press(*after):
    for seconds in after:
        timer = threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT))
        timer.daemon = True
        timer.start()

model = dovetail.Model(stop_time=1.0).add_system("plant", Plant)
"""


def script(code: str, *arguments: object) -> str:
    """What a program in a process of its own prints; it ends with an exception where it does not end in time."""
    whole = PLANT + textwrap.dedent(code)
    done = subprocess.run([sys.executable, "-c", whole, *map(str, arguments)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_ctrl_c_ends_a_system_in_python_that_never_returns() -> None:
    said = script("""
        def stick():
            while True:
                pass
        press(0.5)
        r = dovetail.run(model, method="jacobi", step=0.1)
        print(r.interrupted, 0.3 < r.time[-1] < 0.7)
        press(0.5)
        with dovetail.Session(model, method="jacobi", step=0.1) as s:
            try:
                s.step_until(1.0)
            except KeyboardInterrupt:
                print("interrupted")
    """)
    assert said.split() == ["True", "True", "interrupted"]


def test_a_second_ctrl_c_leaves_a_call_behind_that_nothing_ends() -> None:
    said = script("""
        def stick():
            time.sleep(1000)
        press(0.5, 1.5)
        try:
            dovetail.run(model, method="jacobi", step=0.1)
        except dovetail.RunError as error:
            print("left behind" in str(error))
        stick = lambda: None
        print(dovetail.run(model, method="jacobi", step=0.1).interrupted)
    """)
    assert said.split() == ["True", "False"]


def test_an_fmu_that_never_returns_is_left_behind_at_the_second_ctrl_c(fmus: Path) -> None:
    said = script(
        """
        import sys
        press(2.0, 3.0)
        try:
            dovetail.run(sys.argv[1], step=0.1, stop_time=1.0, method="jacobi")
        except dovetail.RunError as error:
            print("left behind in fmi2DoStep" in str(error), error.system is not None)
        print(dovetail.run(model, method="jacobi", step=0.1, stop_time=0.3).interrupted)
        sys.stdout.flush()
        os._exit(0)
        """,
        fmus / "bad" / "fmi2-hang.fmu",
    )
    assert said.split() == ["True", "True", "False"]


def test_a_step_may_take_so_long(fmus: Path) -> None:
    said = script(
        """
        import sys
        def stick():
            while True:
                pass
        try:
            dovetail.run(model, method="jacobi", step=0.1, step_timeout=0.5)
        except dovetail.RunError as error:
            print(error.system, isinstance(error.__cause__, TimeoutError))
        try:
            dovetail.run(sys.argv[1], step=0.1, stop_time=1.0, method="jacobi", step_timeout=3.0)
        except dovetail.RunError as error:
            print("left behind" in str(error))
        sys.stdout.flush()
        os._exit(0)
        """,
        fmus / "bad" / "fmi2-hang.fmu",
    )
    assert said.split() == ["plant", "True", "True"]


def test_limits_that_would_hold_for_the_interpreter_are_refused() -> None:
    model = dovetail.Model(stop_time=1.0)
    model.add_equations("a", states={"x": 1.0}, equations="der(x) = -x", outputs={"y": "x"})
    with pytest.raises(dovetail.ModelError, match="memory_limit"):
        dovetail.run(model, memory_limit=10**9)
    for interval in [0.0, -1.0, float("nan"), float("inf"), 1e-12]:
        with pytest.raises(dovetail.ModelError, match="output_interval"):
            dovetail.run(model, output_interval=interval)


def test_a_forked_child_calls_fmus_too(fmus: Path) -> None:
    said = script(
        """
        import sys
        def last():
            return dovetail.run(sys.argv[1], stop_time=1.0, step=0.1, method="jacobi").last("population")
        here = last()
        reading, writing = os.pipe()
        if os.fork() == 0:
            os.write(writing, repr(last()).encode())
            os._exit(0)
        os.close(writing)
        print(os.read(reading, 100).decode() == repr(here))
        """,
        fmus / "Prey-fmi2.fmu",
    )
    assert said.split() == ["True"]


def test_what_the_host_changes_between_stretches_stays(fmus: Path, tmp_path: Path) -> None:
    said = script(
        """
        import locale, sys
        seen = []
        with dovetail.Session(sys.argv[1], stop_time=5.0, step=0.1, method="jacobi") as s:
            s.step_until(1.0)
            os.chdir(sys.argv[2])
            os.umask(0o027)
            signal.signal(signal.SIGTERM, lambda *_: seen.append("TERM"))
            s.step_until(2.0)
            print(os.getcwd() == os.path.realpath(sys.argv[2]), os.umask(0o022) == 0o027)
            os.chdir("/")
        print(os.getcwd() == "/")
        os.kill(os.getpid(), signal.SIGTERM)
        print(seen)
        r = dovetail.run(sys.argv[1], stop_time=1.0, step=0.1, method="jacobi")
        print(any("working directory" in warning for warning in r.warnings))
        """,
        fmus / "Prey-fmi2.fmu",
        tmp_path,
    )
    assert said.split() == ["True", "True", "True", "['TERM']", "False"]


def test_an_fmu_that_crashes_is_survived_where_the_host_has_handlers_of_its_own(fmus: Path) -> None:
    said = script(
        """
        import faulthandler, sys
        dovetail.run(sys.argv[1], stop_time=1.0, step=0.1, method="jacobi")
        faulthandler.enable()
        try:
            dovetail.run(sys.argv[2], stop_time=1.0, step=0.1)
        except dovetail.RunError as error:
            print("segmentation" in str(error))
        """,
        fmus / "Prey-fmi2.fmu",
        fmus / "bad" / "fmi2-segfault.fmu",
    )
    assert said.split() == ["True"]
