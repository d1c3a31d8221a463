"""Lesson 11, fixed_loss: the loss that torch computes, called correctly."""

import torch.nn.functional as F
from torch import Tensor

from lessons.checking.edits import edited
from lessons.checking.engine import Exercise, Mistake
from lessons.exercises.training.shared import LOG_OF_SOFTMAX, MIXED, UNFLATTENED, loss_cases


def fixed_loss(logits: Tensor, targets: Tensor, pad_id: int) -> Tensor:
    """logits (B, T, V), targets (B, T) -> the loss, without padding"""
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=pad_id)


softmax_hunt = Exercise(
    lesson="11",
    name="fixed_loss",
    reference=fixed_loss,
    cases=loss_cases,
    outputs=("the loss",),
    mistakes=[
        Mistake(
            edited(fixed_loss, "logits.flatten", "logits.softmax(-1).flatten"),
            "However certain and correct a model is, this loss never gets near 0. And a model that is certain and "
            "wrong pays only a little more, 1 at most.",
        ),
        Mistake(
            edited(fixed_loss, "logits.flatten", "logits.softmax(1).flatten"),
            "There are two softmaxes: yours, over the positions, and that of cross_entropy, over the vocabulary. "
            "cross_entropy expects the logits themselves.",
        ),
        Mistake(
            edited(fixed_loss, ("cross_entropy", "nll_loss"), ("logits.flatten", "logits.softmax(-1).flatten")),
            "nll_loss expects log-probabilities: with the probabilities themselves the loss is below 0.",
        ),
        Mistake(
            edited(fixed_loss, "cross_entropy", "nll_loss"),
            "nll_loss expects log-probabilities, and these are logits: no softmax is taken, and no log. The loss can "
            "fall without end.",
        ),
        Mistake(
            edited(fixed_loss, "logits.flatten", "logits.log().flatten"),
            "The log of a negative logit is NaN. cross_entropy expects the logits: it takes softmax and log itself.",
            also=[edited(fixed_loss, ("cross_entropy", "nll_loss"), ("logits.flatten", "logits.log().flatten"))],
        ),
        Mistake(
            edited(fixed_loss, ("cross_entropy", "nll_loss"), ("logits.flatten", "logits.log_softmax(1).flatten")),
            "Your softmax runs over the positions. It should run over the vocabulary, the last axis.",
        ),
        Mistake(
            edited(fixed_loss, "ignore_index=pad_id)", 'ignore_index=pad_id, reduction="sum") / targets.numel()'),
            "The padding adds nothing to the sum, but it is counted in the number that you divide by.",
        ),
        Mistake(
            edited(fixed_loss, "ignore_index=pad_id", 'ignore_index=pad_id, reduction="sum"'),
            "The softmax is right now. But this is the sum over the tokens, which grows with the batch: take the mean.",
        ),
        Mistake(
            edited(fixed_loss, "logits.flatten", "logits.sigmoid().flatten"),
            "A sigmoid squeezes the logits before the softmax. cross_entropy expects the logits themselves.",
        ),
        Mistake(
            edited(fixed_loss, ", ignore_index=pad_id", ""),
            "You fixed one bug; now there is another. Padding is counted as if it were tokens: where is ignore_index?",
        ),
        Mistake(
            edited(fixed_loss, "ignore_index=pad_id", "ignore_index=0"),
            "The softmax is right now. But pad_id isn't used any more: you took 0 for the padding, whatever pad_id is.",
            seen_in="another pad_id than 0",
        ),
        Mistake(
            edited(fixed_loss, "ignore_index=pad_id", "ignore_index=pad_id, label_smoothing=0.1"),
            "The softmax is right now. But you added label smoothing, which the loss didn't have.",
        ),
        UNFLATTENED,
        MIXED,
        LOG_OF_SOFTMAX,
    ],
    hints=[
        "Try it: logits of 100 at the correct token and 0 elsewhere. What should the loss be, and what is it?",
        "What does F.cross_entropy do to its first argument before it takes the log?",
        "It expects logits and applies a softmax itself: drop the first line. With two softmaxes the smallest possible "
        "loss is log(V - 1 + e) - 1.",
    ],
    solution="""
        def fixed_loss(logits, targets, pad_id):
            # F.cross_entropy applies the softmax itself.
            return F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=pad_id)
    """,
    in_package="lessons.training.token_loss",
)
