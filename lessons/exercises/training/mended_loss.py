"""Lesson 11, mended_loss: the loss that torch computes, called as it should be."""

import torch.nn.functional as F
from torch import Tensor

from lessons.checking.edits import edited
from lessons.checking.engine import Exercise, Mistake
from lessons.exercises.training.shared import UNFLATTENED, loss_cases


def mended_loss(logits: Tensor, targets: Tensor, pad_id: int) -> Tensor:
    """logits (B, T, V), targets (B, T) -> the loss, without padding"""
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=pad_id)


softmax_hunt = Exercise(
    lesson="11",
    name="mended_loss",
    reference=mended_loss,
    cases=loss_cases,
    outputs=("the loss",),
    mistakes=[
        Mistake(
            edited(mended_loss, "logits.flatten", "logits.softmax(-1).flatten"),
            "A model may be as sure and as right as it likes: by this loss it never comes near 0. And if it is sure "
            "and wrong, it pays hardly more, at most 1.",
        ),
        Mistake(
            edited(mended_loss, ("cross_entropy", "nll_loss"), ("logits.flatten", "logits.softmax(-1).flatten")),
            "nll_loss wants logs of probabilities: with the probabilities themselves the loss is below 0.",
        ),
        Mistake(
            edited(mended_loss, "logits.flatten", "logits.sigmoid().flatten"),
            "A sigmoid squeezes the logits before the softmax. cross_entropy wants them as they are.",
        ),
        Mistake(
            edited(mended_loss, ", ignore_index=pad_id", ""),
            "That was one mistake; now there is another. Padding is counted as if it were words: where is "
            "ignore_index?",
        ),
        UNFLATTENED,
    ],
    hints=[
        "Try it: logits of 100 at the right word and 0 elsewhere. Which loss should that be, and which is it?",
        "What does F.cross_entropy do to its first argument before it takes the log?",
        "It takes logits, and has a softmax of its own: leave the first line out. With two softmaxes the smallest "
        "possible loss is log(V - 1 + e) - 1.",
    ],
)
