"""Each notebook from top to bottom in a fresh kernel, as a share of the 40 seconds that it may take."""

import importlib.util
import os
import time
from pathlib import Path
from types import ModuleType

import nbformat

from benchmarks import report

ROOT = Path(__file__).resolve().parents[1]
ALLOWED = 40  # seconds


def load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main() -> None:
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # the kernels inherit it
    tool = load(ROOT / "tools" / "notebooks.py")
    for path in sorted(tool.FOLDER.glob("*.ipynb")):
        notebook = nbformat.read(path, as_version=4)
        start = time.perf_counter()
        tool.run(notebook)
        taken = time.perf_counter() - start
        report(f"{path.name}: {taken:.1f} s of {ALLOWED} s", taken / ALLOWED, "", 1)
