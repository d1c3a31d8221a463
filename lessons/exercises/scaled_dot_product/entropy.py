"""Lesson 02, my_entropy: how spread out the weights of each query are."""

import math

import torch
from torch import Tensor

from lessons.checking.edits import edited
from lessons.checking.engine import Case, Exercise, Mistake, numbers


def entropy(weights: Tensor) -> Tensor:
    """How spread out each row is, in nats: (..., Q, K) -> (..., Q). 0 for one key alone, ln K for equal weights."""
    return torch.special.entr(weights).sum(dim=-1)


def _weights(generator, *shape: int) -> Tensor:
    return (2 * numbers(generator, *shape)).softmax(dim=-1)


spread = Exercise(
    lesson="02",
    name="my_entropy",
    reference=entropy,
    cases=lambda generator: [
        Case({"weights": _weights(generator, 4, 3)}),
        Case({"weights": _weights(generator, 5, 4)}),
        Case({"weights": _weights(generator, 2, 5, 4)}, about="a batch axis in front"),
        Case({"weights": _weights(generator, 2, 1, 3, 4)}, about="two axes in front, batch and heads"),
        Case(
            {"weights": torch.tensor([[1.0, 0.0, 0.0], [0.5, 0.5, 0.0]])},
            about="weights that are exactly 0, where ln 0 is -inf",
        ),
    ],
    mistakes=[
        Mistake(
            lambda w: -(w * w.log()).sum(dim=-1),
            "Right, except for weights of exactly 0: 0 · ln 0 gives NaN, and it must count as 0. torch.xlogy(w, w) "
            "does that; or replace such a weight by 1 before the logarithm, with torch.where.",
        ),
        Mistake(
            edited(entropy, "return ", "return -"),
            "The sign is missing: logarithms of weights below 1 are negative, and the entropy never is.",
        ),
        Mistake(
            lambda w: entropy(w) / math.log(2),
            "You used the logarithm to base 2, which measures in bits. Use the natural logarithm here.",
        ),
        Mistake(
            edited(entropy, "dim=-1", "dim=-2"),
            "You summed down the columns. Each query, that is each row, has its own entropy.",
        ),
        Mistake(
            edited(entropy, "dim=-1", "dim=1"),
            "Right for a table, where axis 1 is the keys. With a batch in front it is the queries: use dim=-1.",
        ),
        Mistake(
            edited(entropy, ".sum", ".mean"),
            "You took the mean over the keys. The entropy is the sum.",
        ),
        Mistake(
            lambda w: -w.log().sum(dim=-1),
            "You summed the logarithms. Multiply each by its weight first.",
        ),
        Mistake(
            lambda w: -(w * (w + 1e-3).log()).sum(dim=-1),
            also=tuple(lambda w, eps=eps: -(w * (w + eps).log()).sum(dim=-1) for eps in (1e-2, 1e-4, 1e-5)),
            hint="You added a small number inside the logarithm to keep it from 0. That changes the other terms a "
            "little, too: treat only the zeros.",
        ),
        Mistake(
            lambda w: entropy(w) / math.log(w.size(-1)),
            "You divided by ln K, so that equal weights give 1. Here they give ln K: leave it out.",
        ),
        Mistake(
            lambda w: entropy(w).sum(),
            "That is one number for all. Each row has its own: sum over the last axis alone.",
        ),
        Mistake(
            lambda w: entropy(w.softmax(dim=-1)),
            "These are weights already, and their rows sum to 1. Another softmax evens them out.",
        ),
        Mistake(
            lambda w: -(w * w.log()).sum(dim=-1).nan_to_num(0.0),
            "You replaced NaN after the sum, so a whole row counts as 0 if one of its weights is 0. Treat the terms: "
            "each w · ln w by itself.",
        ),
        Mistake(
            edited(entropy, "dim=-1", "dim=-1, keepdim=True"),
            "The last axis is still there, with size 1, as keepdim=True leaves it. Expected: (…, Q), one number for "
            "each row.",
        ),
        Mistake(
            lambda w: entropy(w) / math.log(10),
            "You used the logarithm to base 10. Use the natural logarithm here: torch.log.",
        ),
        Mistake(
            lambda w: entropy(w).exp(),
            "This is e to the power of the entropy, the perplexity. Leave out the last step.",
        ),
        Mistake(
            lambda w: torch.special.entr(w),
            "These are the terms, −w · ln w. Add them up along each row.",
        ),
        Mistake(
            lambda w: -(w * math.log(w)).sum(dim=-1),
            "math.log takes one number. For a whole tensor there is torch.log, or weights.log().",
        ),
        Mistake(
            lambda w: 0 if w == 0 else entropy(w),
            "`if` needs one truth value, and weights == 0 has one for each weight. masked_fill and torch.where choose "
            "weight by weight.",
        ),
    ],
    hints=[
        "For one row: minus the sum of w · ln w.",
        "A weight of 0 must count as 0. torch.xlogy(w, w) is w · ln w with that rule.",
    ],
    solution="""
        def my_entropy(weights):
            return -torch.xlogy(weights, weights).sum(dim=-1)
    """,
)
