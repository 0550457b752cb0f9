"""Models that the tests run."""

import signal
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# What is started in the background of a shell ignores Ctrl-C, and Python then leaves it so: the tests are about it.
signal.signal(signal.SIGINT, signal.default_int_handler)
EXAMPLES = sorted((ROOT / "examples").glob("*/model.toml"))


def example(name: str) -> Path:
    return ROOT / "examples" / name / "model.toml"


@pytest.fixture
def fmus() -> Path:
    """The test FMUs that `./test` has written."""
    folder = ROOT / "target" / "test-fmus"
    if not folder.is_dir():
        pytest.skip("no test FMUs: target/release/fixtures target/test-fmus writes them")
    return folder
