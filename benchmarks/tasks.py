"""What the data costs: a batch of each task, and a file of 500,000 sentence pairs.

Times that have a goal are of the processor, whatever else the machine does. The file is written here, from the grammar
with rarer words among them; it is loaded in a process of its own, whose greatest memory is compared with that of the
import alone.
"""

import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import torch

from benchmarks import report
from lessons.tasks import Dates, Numerals, Reversal, Task, Translation
from lessons.tasks.sentence_pairs import SentencePairs

LINES, ROUNDS, SIZE = 500_000, 50, 64
GOAL_BATCH, GOAL_LOAD, GOAL_MEMORY = 2, 10, 500  # milliseconds, seconds, MB
LOAD = """
import resource, sys, time
from lessons.tasks.sentence_pairs import SentencePairs
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
start, clock = time.process_time(), time.perf_counter()
pairs = SentencePairs(sys.argv[1])
taken, waited = time.process_time() - start, time.perf_counter() - clock
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(taken, waited, (after - before) / 1024, pairs.count("train"), pairs.count("held_out"))
"""
SYLLABLES = [consonant + vowel for consonant in "bcdfghklmnprst" for vowel in "aeiou"]


def milliseconds(task: Task, rounds: int) -> float:
    generator, taken = torch.Generator().manual_seed(0), []
    for _ in range(rounds):
        start = time.process_time()
        task.batch(SIZE, generator)
        taken.append(time.process_time() - start)
    return 1000 * statistics.median(taken)


def write(path: Path, lines: int) -> None:
    """Sentences of the grammar, half of them with a made-up name, so that the words are as many as in a real file."""
    rng, generator = random.Random(0), torch.Generator().manual_seed(0)
    drawn = Translation().examples(lines // 25, generator)
    with path.open("w", encoding="utf-8") as file:
        for _ in range(lines):
            (src, _), (_, tgt) = rng.choice(drawn), rng.choice(drawn)
            name = "".join(rng.choices(SYLLABLES, k=3)).title() if rng.random() < 0.5 else "And"
            file.write(f"{name}, {src}\t{chr(rng.randrange(0x4E00, 0x5E00))}，{tgt}\tline of a benchmark\n")


def load(lines: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "pairs.tsv"
        write(path, lines)
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        command = [sys.executable, "-c", LOAD, str(path)]
        result = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    seconds, waited, megabytes, train, held_out = result.stdout.split()
    print(f"{int(train):,} pairs to learn from, {int(held_out):,} held out; {float(waited):.1f} s by the clock")
    report(f"load {lines:,} lines", float(seconds), "s", GOAL_LOAD)
    report("memory that loading takes", float(megabytes), "MB", GOAL_MEMORY)


def main(*, smoke: bool = False) -> None:
    lines, rounds = (2_000, 1) if smoke else (LINES, ROUNDS)
    for task in (Reversal(), Dates(), Numerals(), Translation(), SentencePairs(vocab_size=500)):
        report(f"a batch of {SIZE}, {task.name}", milliseconds(task, rounds), "ms", GOAL_BATCH)
    load(lines)
