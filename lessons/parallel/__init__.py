"""Training with several processes: each computes the gradients of a slice of every batch, and all take the same step.

processes   who takes part, sums over all, and errors that all learn of
trainer     ParallelTrainer: lessons.training.Trainer, with the batch divided among processes and in time
by_hand     the same in a few lines, for lesson 18; processes that a notebook starts

`python -m lessons.train` is the way in.
"""

from lessons.parallel.processes import ALONE, Processes, ProcessLost, joined
from lessons.parallel.trainer import ParallelTrainer, choose_device

__all__ = ["ALONE", "ParallelTrainer", "ProcessLost", "Processes", "choose_device", "joined"]
