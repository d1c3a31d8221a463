"""What the model modules add to the time of `import torch`.

Each import runs in a fresh process that takes its own time; the two kinds take turns.
"""

import os
import statistics
import subprocess
import sys

from benchmarks import report

TORCH = "import torch"
LESSONS = "import torch, lessons.vocabulary, lessons.transformer, lessons.parity"
ROUNDS = 15  # after a first one, which fills the disk cache
GOAL = 3  # percent


def milliseconds(statement: str) -> float:
    code = f"import time; start = time.process_time(); {statement}; print(time.process_time() - start)"
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    return 1000 * float(result.stdout)


def main(*, smoke: bool = False) -> None:
    rounds = range(1) if smoke else range(1, 1 + ROUNDS)
    times: dict[str, list[float]] = {TORCH: [], LESSONS: []}
    for i in range(rounds.stop):
        for statement in times if i % 2 else reversed(times):
            times[statement].append(milliseconds(statement))
    torch_alone, with_lessons = (statistics.median(taken[rounds.start :]) for taken in times.values())
    print(f"import torch: {torch_alone:.0f} ms; with the lessons: {with_lessons:.0f} ms")
    more = 100 * (with_lessons / torch_alone - 1)
    report("import lessons after torch", more, "%", GOAL, peer="import torch")
