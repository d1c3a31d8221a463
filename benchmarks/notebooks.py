"""Each lesson from top to bottom in a fresh kernel.

CPU time, which doesn't count waiting for other programs.
"""

import importlib.util
import os
from pathlib import Path
from types import ModuleType

import nbformat

from benchmarks import report

ROOT = Path(__file__).resolve().parents[1]
GOAL_EACH, GOAL_ALL = 60, 240  # seconds, of one core


def load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def seconds_of_children() -> float:
    """What the processes that this one started and saw end have used. Windows does not count it, and says 0."""
    times = os.times()
    return times.children_user + times.children_system


def main(*, smoke: bool = False) -> None:
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # the kernels inherit it
    tool = load(ROOT / "tools" / "notebooks.py")
    if smoke:
        notebooks = {"one cell": nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("sum(range(10**6))")])}
    else:
        notebooks = {path.name: nbformat.read(path, as_version=4) for path in sorted(tool.FOLDER.glob("*.ipynb"))}
    start = seconds_of_children()
    for name, notebook in notebooks.items():
        before = seconds_of_children()
        tool.run(notebook)
        report(name, seconds_of_children() - before, "s", GOAL_EACH)
    report("all lessons together", seconds_of_children() - start, "s", GOAL_ALL)
