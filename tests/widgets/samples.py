"""One of each widget, as the tests that hold them all make them: without arguments, each is already a lesson."""

import math
from typing import NamedTuple

import torch

from lessons import widgets


class Report(NamedTuple):
    """What a training loop says after a step."""

    step: int
    loss: float
    learning_rate: float = 0.001


def a_run(steps, start=0):
    """Reports of a training that goes well."""
    for step in range(start + 1, start + steps + 1):
        yield Report(step, 2.6 * math.exp(-step / 12) + 0.2 + 0.08 * math.sin(7.3 * step), 0.001 / math.sqrt(step))


def recorded_monitor():
    """TrainingMonitor shows a run; alone, it waits for one."""
    monitor = widgets.TrainingMonitor(total=40)
    for report in monitor.watch(a_run(40)):
        if report.step % 8 == 0:
            monitor.measure(held_out=report.step / 43, whole_sentences=(report.step / 40) ** 3)
            scores = report.step / 8 * torch.eye(4)[[0, 2, 1, 3]]
            monitor.show_weights(
                scores.softmax(dim=-1), rows=["le", "chat", "noir", "dort"], columns=["the", "black", "cat", "sleeps"]
            )
    return monitor


WIDGETS = {name: widget for name, widget in vars(widgets).items() if isinstance(widget, type)}
SAMPLES = WIDGETS | {"TrainingMonitor": recorded_monitor}
