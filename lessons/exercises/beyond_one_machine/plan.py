"""Lesson 18, my_plan: parts and learning rate for a larger batch."""

import math

import numpy as np
import torch

from lessons.checking.edits import edited
from lessons.checking.engine import Case, Exercise, Mistake
from lessons.wording import worded


def plan(batch: int, fits: int, processes: int, tuned_batch: int, tuned_rate: float, adam: bool) -> tuple[int, float]:
    """Parts that each process accumulates, with at most `fits` pairs in memory; and the learning rate.

    The rate grows with the batch: linearly for SGD (arXiv 1706.02677, section 2.1), as its square root for Adam (arXiv
    2205.10287).
    """
    accumulate = math.ceil(batch / (processes * fits))
    larger = batch / tuned_batch
    return accumulate, tuned_rate * (math.sqrt(larger) if adam else larger)


def _numbers(candidate, *inputs):
    found = candidate(*inputs)
    found = found.tolist() if isinstance(found, torch.Tensor | np.ndarray) and found.ndim == 1 else found
    if not isinstance(found, tuple | list) or len(found) != 2:
        return found
    accumulate, rate = found
    if isinstance(accumulate, bool | str) or accumulate != int(accumulate):
        raise TypeError(worded("expected a whole number of parts, got {found!r}", found=accumulate))
    return torch.tensor(int(accumulate)), torch.tensor(float(rate))


def _cases(generator) -> list[Case]:
    def case(batch, fits, processes, tuned_batch, tuned_rate, adam, about=""):
        sizes = {"batch": batch, "fits": fits, "processes": processes}
        return Case({**sizes, "tuned_batch": tuned_batch, "tuned_rate": tuned_rate, "adam": adam}, about)

    return [
        case(256, 16, 4, 64, 0.003, True),
        case(256, 16, 4, 64, 0.1, False),
        case(100, 7, 3, 25, 0.004, True),
        case(2048, 8, 8, 128, 0.1, False),
        case(64, 64, 1, 64, 0.003, True, "the batch that the rate was tuned for"),
        case(10, 8, 4, 40, 0.01, True, "a smaller batch, which fits at once"),
    ]


PARTS, ROOT_OR_NOT = "math.ceil(batch / (processes * fits))", "(math.sqrt(larger) if adam else larger)"

planning = Exercise(
    lesson="18",
    name="my_plan",
    reference=plan,
    call=_numbers,
    cases=_cases,
    outputs=("parts", "rate"),
    mistakes=[
        Mistake(
            edited(plan, PARTS, "math.ceil(batch / fits)"),
            "That is the number of parts of all processes together. They work at the same time, each with its own "
            "memory: processes · fits pairs are done at once.",
        ),
        Mistake(
            edited(plan, PARTS, "math.ceil(batch / processes)"),
            "That is the number of pairs for each process. It computes `fits` of them at a time: fewer parts.",
        ),
        Mistake(
            edited(plan, PARTS, "batch // (processes * fits)"),
            "You round down, so a part would have more pairs than fit into memory. Round up.",
        ),
        Mistake(
            edited(plan, PARTS, "round(batch / (processes * fits))"),
            "You round to the nearest number, so a part may have more pairs than fit into memory. Round up.",
        ),
        Mistake(
            edited(plan, PARTS, "math.ceil(batch * processes / fits)"),
            "You multiply by the processes, as if each had a batch of its own. `batch` is that of all together.",
        ),
        Mistake(
            edited(plan, PARTS, "batch // (processes * fits) + 1"),
            "One part too many where the division comes out even: 256 pairs, 64 at once, are 4 parts.",
        ),
        Mistake(
            edited(plan, ROOT_OR_NOT, "larger"),
            "The rate grows linearly for Adam, too, in your code. Adam divides by the size of the gradients, so its "
            "rate grows as the square root.",
        ),
        Mistake(
            edited(plan, ROOT_OR_NOT, "math.sqrt(larger)"),
            "The rate grows as the square root for SGD, too, in your code. There it grows linearly.",
        ),
        Mistake(
            edited(plan, ROOT_OR_NOT, "(larger if adam else math.sqrt(larger))"),
            "The two rules are swapped: the square root is Adam's.",
        ),
        Mistake(
            edited(
                plan, f"tuned_rate * {ROOT_OR_NOT}", "math.sqrt(tuned_rate * larger) if adam else tuned_rate * larger"
            ),
            "For Adam you take the root of the rate, too. Only batch / tuned_batch goes under it.",
        ),
        Mistake(
            edited(plan, "larger = batch / tuned_batch", "larger = batch // tuned_batch"),
            "// rounds down, but a batch may be one and a half times as large, or smaller. Use /.",
            seen_in="a smaller batch, which fits at once",
        ),
        Mistake(
            edited(plan, "larger = batch / tuned_batch", "larger = batch * processes / tuned_batch"),
            "Your rate is that of a batch for each process. `batch` is that of all together.",
        ),
        Mistake(
            edited(plan, "larger = batch / tuned_batch", "larger = batch / processes / tuned_batch"),
            "You compare the pairs of one process with the old batch. All processes take the same step together: the "
            "rate depends on `batch`.",
        ),
        Mistake(
            edited(plan, "larger = batch / tuned_batch", "larger = accumulate * processes * fits / tuned_batch"),
            "You compute the rate from parts · processes · fits, where the last part may be shorter. The batch of a "
            "step has `batch` pairs.",
        ),
        Mistake(
            edited(plan, "larger = batch / tuned_batch", "larger = tuned_batch / batch"),
            "Your rate falls as the batch grows. A larger batch has a less noisy gradient, and takes longer steps.",
        ),
        Mistake(
            edited(plan, "larger = batch / tuned_batch", "larger = processes"),
            "Your rate grows with the number of processes. What counts is the batch of a step: with the same batch, "
            "more processes take the same steps, only faster.",
        ),
        Mistake(
            edited(plan, "larger = batch / tuned_batch", "larger = fits * processes / tuned_batch"),
            "You compare what is in memory at once with the old batch. The rate depends on the batch of a step, with "
            "all of its parts.",
        ),
        Mistake(
            edited(plan, "larger = batch / tuned_batch", "larger = batch / tuned_batch * accumulate"),
            "You count the parts twice: `batch` already is the batch of a step, with all parts.",
        ),
        Mistake(
            edited(plan, "larger = batch / tuned_batch", "larger = 1"),
            "Your rate is the one of the old batch. The batch has changed, so the rate changes.",
        ),
    ],
    hints=[
        "Of one step: batch pairs, shared by all processes, each with room for `fits` pairs at a time.",
        "4 processes with room for 16 do 64 pairs at once, so 256 pairs are 4 parts. 100 pairs with 21 at once: 5.",
        "How much larger is the batch? SGD's rate is multiplied by that, Adam's by its square root.",
    ],
    solution="""
        def my_plan(batch, fits, processes, tuned_batch, tuned_rate, adam):
            parts = -(-batch // (processes * fits))  # rounded up
            larger = batch / tuned_batch
            return parts, tuned_rate * (larger**0.5 if adam else larger)
    """,
)
