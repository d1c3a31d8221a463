"""Lesson 03 in a real JupyterLab: from Run All to the last cell.

Everything runs as a learner has it, and on as many cores; the page is asked five times a second. For comparison: the
same cells with their imports alone.
"""

import ast
import json
import statistics
import time

from benchmarks import not_measured, report
from benchmarks.lab import open_lab
from tests.browser.lab import Lab

LESSON, ROUNDS, GOAL = "03_masked_attention.ipynb", 3, 5  # seconds
NAME = "lesson 03 in JupyterLab, Run All to the last cell"
IMPORTS = "imports.ipynb"


def seconds(lab: Lab, lesson: str) -> float:
    """In a fresh page, with a kernel that has run nothing."""
    lab.open(lesson)
    start = time.perf_counter()
    lab.run_all()
    taken = time.perf_counter() - start
    lab.server.stop_kernels()
    return taken


def only_imports(source: str) -> str:
    """The imports of a cell; "pass" where it has none."""
    found = [each for each in ast.parse(source).body if isinstance(each, ast.Import | ast.ImportFrom)]
    return "\n".join(map(ast.unparse, found)) or "pass"


def write_imports(lab: Lab) -> None:
    folder = lab.server.folder / "notebooks"
    notebook = json.loads((folder / LESSON).read_text(encoding="utf-8"))
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            cell["source"] = only_imports("".join(cell["source"]))
    (folder / IMPORTS).write_text(json.dumps(notebook), encoding="utf-8")


def main(*, smoke: bool = False) -> None:
    with open_lab() as lab:
        if lab:
            write_imports(lab)
            rounds = [[seconds(lab, name) for name in (LESSON, IMPORTS)] for _ in range(1 if smoke else ROUNDS)]
            taken, imports = map(statistics.median, zip(*rounds))
            report(NAME, taken, "s", GOAL, peer=f"its imports alone: {imports:.1f} s")
        else:
            not_measured(NAME, "no Chromium")
