"""Lesson 11, my_rate: what learners write."""

import math

import torch

from tests.answers import edit, right

with right:

    def my_rate(step, d_model, warmup):
        return d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)


with right:

    def my_rate(step, d_model, warmup):
        if step < warmup:
            return step / (math.sqrt(d_model) * warmup * math.sqrt(warmup))
        return 1 / math.sqrt(d_model * step)


with right:

    def my_rate(step, d_model, warmup):
        step = torch.tensor(float(step))
        return torch.minimum(step.rsqrt(), step / warmup**1.5) / d_model**0.5


with right:

    def my_rate(step, d_model, warmup):
        return (d_model * warmup) ** -0.5 * min(step / warmup, (warmup / step) ** 0.5)


edit("min(step**-0.5, step * warmup**-1.5)", "step**-0.5", "There is no warm-up")

edit("min", "max", "You took the larger of the two")

edit("return d_model", "return 512", "d_model isn't used")

edit("step**-0.5, step", "(step + 1) ** -0.5, (step + 1)", "the step after")

edit("0.5 * min(step**-0.5, step * warmup**-1.5", "1 / 2 * min(step**-1 / 2, step * warmup**-3 / 2", "powers first")

edit("d_model, warmup", "warmup, d_model", "are swapped")

edit(
    "return d_model**-0.5 * min(step**-0.5, step * warmup**-1.5",
    "print(d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)",
    "does your function end with `return`",
)

edit(
    "d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)",
    "min(step**-0.5, step * warmup**-1.5) / d_model",
    "Values: the rates differs",
)
