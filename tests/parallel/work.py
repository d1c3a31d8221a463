"""What two processes do in test_two_processes.py: `torchrun -m tests.parallel.work FOLDER`."""

import sys
from dataclasses import replace
from pathlib import Path

import torch

from lessons.config import TransformerConfig
from lessons.parallel import ALONE, ParallelTrainer, joined
from lessons.parallel.processes import leave
from lessons.tasks import Reversal
from lessons.tasks.stream import PairStream
from lessons.training import Recipe
from lessons.transformer import Transformer

NUMBERS = Reversal(3, 9)
RECIPE = Recipe(steps=20, batch_size=7, warmup=5, clip=0.5, smoothing=0.1)
BIG_EPS = replace(RECIPE, batch_size=4, eps=1e-4)  # in float32; rounding decides a gradient that should be 0
HALF = 10


def make(task, recipe, dtype=torch.float32, processes=ALONE, accumulate=1, seed=0):
    torch.manual_seed(seed)
    sizes = {"d_model": 16, "num_heads": 2, "num_layers": 1, "d_ff": 24, "dropout": 0.0}
    model = Transformer(TransformerConfig(len(task.src_vocab), len(task.tgt_vocab), **sizes)).to(dtype)
    return ParallelTrainer(model, task, recipe, processes=processes, accumulate=accumulate)


def run(trainer, until=None):
    """Train, up to a step; return loss, norm and tokens of each step, and all weights."""
    numbers = []
    for progress in trainer.fit():
        numbers.append((progress.loss, progress.grad_norm, progress.tokens))
        if progress.step == until:
            break
    return numbers, torch.cat([x.detach().flatten() for x in trainer.model.parameters()])


class Broken(Reversal):
    """A task that the second process can't read."""

    def step_batch(self, size, *, step, seed, share=(0, 1)):
        if step == 2 and share[0] == 1:
            raise ValueError("pairs.tsv, line 7: no tab")
        return super().step_batch(size, step=step, seed=seed, share=share)


def said_by(action):
    try:
        action()
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def work(folder, processes):
    def start(task, recipe, **options):
        return make(task, recipe, processes=processes, seed=processes.rank, **options)

    found = {"whole": run(start(NUMBERS, RECIPE, dtype=torch.float64, accumulate=2))}
    halved = start(PairStream(folder / "data", window=9), BIG_EPS)
    found["half"] = run(halved, until=HALF)
    halved.save(folder / "half.pt")
    found["other half"] = run(halved)
    resumed = start(PairStream(folder / "data", window=9), BIG_EPS)
    resumed.load(folder / "alone.pt")
    found["resumed"] = run(resumed)
    found["read"] = said_by(lambda: run(start(Broken(3, 9), RECIPE)))
    found["saved"] = said_by(lambda: halved.save(folder / "nowhere" / "half.pt"))
    found["loaded"] = said_by(lambda: halved.load(folder / f"of {processes.rank}.pt"))
    torch.save(found, folder / f"found {processes.rank}.pt")


if __name__ == "__main__":
    torch.set_num_threads(1)
    with joined() as processes:
        work(Path(sys.argv[1]), processes)
    leave()
