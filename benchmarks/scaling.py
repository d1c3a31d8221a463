"""Sentence pairs from a file of any size, and two processes beside one: pairs and tokens a second, and memory.

Reading: a file of two million lines, prepared, then one epoch in batches of 64 without a model. It is done by a process
of its own; its memory counts from what it has after its imports. Training: 3 + 3 layers of 256 features, 64 pairs of 32
tokens, each process with one thread; one process and two take turns, and each number is a median. It runs on CPUs only:
what NCCL gives between GPUs is not measured.
"""

import os
import random
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks import report

LINES, WORDS = 2_000_000, 5
GOAL_RATE, GOAL_MEMORY, GOAL_SPEEDUP = 200_000, 200, 1.6  # pairs a second, MB, times the tokens a second of one
ROUNDS, STEPS, WIDTH = 3, 12, 256
READ = """
import resource, sys, time
from lessons.tasks.stream import PairStream, prepare
import numpy

def megabytes():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6

folder, before = sys.argv[1], megabytes()
prepare(folder + "/data", folder + "/pairs.tsv", vocab_size=1000)
prepared, stream = time.process_time(), PairStream(folder + "/data")
start = time.process_time()
pairs = sum(len(stream.step_batch(64, step=step, seed=0).src) for step in range(1, stream.steps_per_epoch(64) + 1))
assert pairs == stream.count()
print(pairs / (time.process_time() - start), megabytes() - before)
"""
TRAIN = """
import sys
import torch
from lessons.config import TransformerConfig
from lessons.parallel import ParallelTrainer, joined
from lessons.tasks import Reversal
from lessons.training import Recipe
from lessons.transformer import Transformer

torch.set_num_threads(1)
steps, width = map(int, sys.argv[1:])
task = Reversal(31, 31)
sizes = {"d_model": width, "num_heads": 4, "num_layers": 3, "d_ff": 4 * width}
with joined() as processes:
    config = TransformerConfig(len(task.src_vocab), len(task.tgt_vocab), **sizes)
    done = list(ParallelTrainer(Transformer(config), task, Recipe(steps=steps), processes=processes).fit())
    first, last = done[steps // 4], done[-1]
    if processes.is_first:
        print((last.tokens - first.tokens) / (last.seconds - first.seconds))
"""


def write_pairs(path: Path, lines: int) -> None:
    rng = random.Random(0)
    with path.open("w", encoding="utf-8") as file:
        for _ in range(lines):
            count = 1 + int(rng.random() * WORDS)
            for end in "\t\n":
                file.write(" ".join(f"w{int(rng.random() * 500)}" for _ in range(count)) + end)


def measure_reading(lines: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        write_pairs(Path(folder, "pairs.tsv"), lines)
        rate, memory = map(float, run([sys.executable, "-c", READ, folder]).split())
    print(f"{lines:,} lines: {rate:,.0f} pairs a second, {memory:.0f} MB", flush=True)
    report("sentence pairs read in a second", rate, "", GOAL_RATE, at_least=True)
    report("memory of preparing and reading them", memory, "MB", GOAL_MEMORY)


def measure_training(steps: int, width: int, rounds: int) -> None:
    torchrun = Path(sys.executable).with_name("torchrun")
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder, "program.py")
        program.write_text(TRAIN, encoding="utf-8")
        ways = [sys.executable, "-c", TRAIN], [str(torchrun), "--standalone", "--nproc-per-node", "2", str(program)]
        rates = [[float(run([*way, str(steps), str(width)])) for way in ways] for _ in range(rounds)]
    one, two = (statistics.median(found) for found in zip(*rates))
    print(f"tokens a second: {one:,.0f} with one process, {two:,.0f} with two: {two / one:.2f} ×", flush=True)
    report("two processes: tokens a second, × those of one", two / one, "×", GOAL_SPEEDUP, at_least=True)


def run(command: list[str]) -> str:
    root = str(Path(__file__).resolve().parents[1])
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": root}
    return subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout


def main(*, smoke: bool = False) -> None:
    if sys.platform == "win32":
        print("  Windows doesn't say how much memory a process has had")
        return
    measure_reading(2_000 if smoke else LINES)
    measure_training(*((4, 16, 1) if smoke else (STEPS, WIDTH, ROUNDS)))
