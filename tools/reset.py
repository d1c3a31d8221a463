"""Puts the exercises of a lesson back to where they were before anybody wrote an answer.

python tools/reset.py 03

Everything else in the notebook stays as it is: notes, cells of your own, the answers of other lessons.
"""

import os
import sys
import tempfile
from pathlib import Path

import nbformat

from lessons import progress

FOLDER = Path(__file__).resolve().parent.parent / "notebooks"


def reset(notebook: nbformat.NotebookNode) -> int:
    """Each exercise gets its stub back; its output, and that of its check, goes. Returns how many were changed."""
    changed, stubs = 0, [cell for cell in notebook.cells if "stub" in cell.metadata]
    for cell in stubs:
        changed += cell.source != cell.metadata.stub
        cell.source = cell.metadata.stub
    checks = [cell for cell in notebook.cells if cell.cell_type == "code" and ".check(" in cell.source]
    for cell in [*stubs, *checks]:
        cell.outputs, cell.execution_count = [], None
    return changed


def write(notebook: nbformat.NotebookNode, path: Path) -> None:
    """The whole file, or nothing."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".tmp")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            nbformat.write(notebook, file)
        os.chmod(temporary, path.stat().st_mode)
        os.replace(temporary, path)
    finally:
        Path(temporary).unlink(missing_ok=True)


def main(arguments: list[str], folder: Path = FOLDER) -> int:
    number = arguments[0] if len(arguments) == 1 else ""
    found = sorted(folder.glob(f"{number}_*.ipynb")) if len(number) == 2 and number.isdigit() else []
    if len(found) != 1:
        lessons = ", ".join(path.name[:2] for path in sorted(folder.glob("[0-9][0-9]_*.ipynb")))
        print(f"LESSON is {number!r}; expected one of {lessons}: make reset LESSON=03", file=sys.stderr)
        return 1
    (path,) = found
    notebook = nbformat.read(path, as_version=4)
    changed = reset(notebook)
    write(notebook, path)
    progress.forget(number)
    print(f"{path.name}: {changed} exercises are as they were at first. If it is open in JupyterLab, load it again.")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
