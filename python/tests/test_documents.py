"""The notebooks and the examples of the chapter in the manual run."""

import importlib.util
import json
import re
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT

NOTEBOOKS = sorted((ROOT / "python" / "notebooks").glob("*.ipynb"))
CHAPTER = ROOT / "book" / "src" / "python.md"
BLOCKS = re.findall(r"```python\n(.*?)```", CHAPTER.read_text(encoding="utf-8"), re.DOTALL)


def runs(blocks: list[str], where: str) -> dict[str, Any]:
    """Runs pieces of code one after the other, as a notebook does."""
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    pytest.importorskip("pandas")
    names: dict[str, Any] = {"__name__": "__main__"}
    for number, block in enumerate(blocks, 1):
        exec(compile(block, f"{where}, piece {number}", "exec"), names)
    return names


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_run(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(path.parent)
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    runs(["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"], path.name)


def test_the_first_example_beside_that_of_fmpy_runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, fmus: Path) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plant.fmu").symlink_to(fmus / "Prey-fmi2.fmu")
    blocks = [block for block in BLOCKS if '"plant.fmu"' in block]
    theirs, ours = blocks
    assert "fmpy" in theirs and len(ours.splitlines()) <= len(theirs.splitlines())
    assert runs([ours], "python.md")["result"].verdict
    if importlib.util.find_spec("fmpy") is not None:
        assert len(runs([theirs], "python.md")["result"])


def test_the_examples_of_the_manual_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    assert len(BLOCKS) > 5
    runs([block for block in BLOCKS if "import fmpy" not in block and "plant.fmu" not in block], "python.md")
