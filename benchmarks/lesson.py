"""Lesson 03 in a real JupyterLab: from Run All to the last cell.

Everything runs as a learner has it, and on as many cores; the page is asked five times a second.
"""

import statistics
import time

from benchmarks import not_measured, report
from benchmarks.lab import open_lab
from tests.browser.lab import Lab

LESSON, ROUNDS, GOAL = "03_masked_attention.ipynb", 3, 5  # seconds
NAME = "lesson 03 in JupyterLab, Run All to the last cell"


def seconds(lab: Lab, lesson: str) -> float:
    """In a fresh page, with a kernel that has run nothing."""
    lab.open(lesson)
    start = time.perf_counter()
    lab.run_all()
    taken = time.perf_counter() - start
    lab.server.stop_kernels()
    return taken


def main(*, smoke: bool = False) -> None:
    with open_lab() as lab:
        if lab:
            taken = [seconds(lab, LESSON) for _ in range(1 if smoke else ROUNDS)]
            report(NAME, statistics.median(taken), "s", GOAL, peer="")
        else:
            not_measured(NAME, "no Chromium")
