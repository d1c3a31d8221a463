"""The memory of each lesson's kernel, run from top to bottom: the most it had, and what each further learner costs.

The first number contains the libraries, which are in memory once, however many kernels use them; the second doesn't.
"""

import os
import sys

import nbformat

from benchmarks import report
from benchmarks.notebooks import ROOT, load

GOAL_PEAK, GOAL_LARGEST, GOAL_OWN = 350, 600, 600  # MB
LARGEST = "14_"  # with its pretrained model
LEARNING = "torch, a figure and an optimizer"
LEARN = """
import matplotlib.pyplot as plt
import torch

x = torch.ones(2, requires_grad=True)
x.sum().backward()
torch.optim.AdamW([x]).step()
plt.plot([1, 2])
plt.show()
"""
ASK = """
import pathlib

lines = "".join(pathlib.Path("/proc/self", file).read_text() for file in ("status", "smaps_rollup")).splitlines()
kilobytes = {line.split()[0]: line.split()[1] for line in lines if line.endswith(" kB")}
print(kilobytes["VmHWM:"], kilobytes["Private_Dirty:"])
"""


def peak_and_own(notebook: nbformat.NotebookNode) -> tuple[float, float]:
    """MB (of 1,000,000 bytes) of the notebook's kernel: its peak, and what it has to itself at the end."""
    notebook.cells.append(nbformat.v4.new_code_cell(ASK))
    load(ROOT / "tools" / "notebooks.py").run(notebook)
    said = notebook.cells[-1].outputs[0].text.split()
    return int(said[0]) * 1024 / 1e6, int(said[1]) * 1024 / 1e6


def main(*, smoke: bool = False) -> None:
    if sys.platform != "linux":
        print("  only Linux tells how much memory a program has to itself")
        return
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ["LESSONS_PROGRESS"] = ""
    learning = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(LEARN)])
    empty = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("import lessons.plots")])
    torch_alone = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("import torch")])
    notebooks = {"import torch": torch_alone, LEARNING: learning, "import lessons.plots": empty}
    if not smoke:
        paths = sorted((ROOT / "notebooks").glob("[0-9][0-9]_*.ipynb"))
        notebooks |= {path.name: nbformat.read(path, as_version=4) for path in paths}
    peaks = {}
    for name, notebook in notebooks.items():
        peaks[name], own = peak_and_own(notebook)
        report(name, peaks[name], "MB", GOAL_LARGEST if name.startswith(LARGEST) else GOAL_PEAK)
        report(f"{name}, to itself", own, "MB", GOAL_OWN)
    peer = f"torch alone: {peaks['import torch']:.0f} MB; with a figure and an optimizer: {peaks[LEARNING]:.0f} MB"
    largest = max((name for name in peaks if not name.startswith(LARGEST)), key=peaks.__getitem__)
    report(f"memory of a kernel, the most: {largest[:2]}", peaks[largest], "MB", GOAL_PEAK, peer=peer)
    for name in peaks:
        if name.startswith(LARGEST):
            report("memory of a kernel, lesson 14", peaks[name], "MB", GOAL_LARGEST, peer=peer)
