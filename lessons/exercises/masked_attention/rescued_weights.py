"""Lesson 03, my_rescued_weights: mask after the softmax, and make it right."""

import torch
from torch import Tensor

from lessons import masks
from lessons.checking.edits import edited
from lessons.checking.engine import Case, Exercise, Mistake, numbers


def rescued_weights(weights: Tensor, allowed: Tensor) -> Tensor:
    """weights (..., Q, K), made without a mask -> weights over the allowed keys; 0 where a row has nothing left."""
    kept = weights.masked_fill(~allowed, 0.0)
    total = kept.sum(dim=-1, keepdim=True)
    return kept / total.masked_fill(total == 0, 1.0)


BATCH = "a batch in front"
TINY = "a row whose visible weights are tiny"
EMPTY = "a query with nothing to attend to"
EMPTY_GRADIENTS = "gradients, with a query that has nothing to attend to"


def _cases(generator) -> list[Case]:
    def drawn(*shape):
        return numbers(generator, *shape).softmax(dim=-1)

    empty = torch.tensor([[True, False, True], [False, False, False]])
    padded = masks.padding_from_lengths([4, 2])[:, 0].expand(2, 5, 4)
    tiny = {"weights": torch.tensor([[1e-12, 3e-12, 1.0]]), "allowed": torch.tensor([[True, True, False]])}
    return [
        Case({"weights": drawn(2, 3), "allowed": torch.tensor([[True, False, True], [True, True, False]])}),
        Case({"weights": drawn(4, 4), "allowed": masks.causal(4)}),
        Case({"weights": drawn(2, 5, 4), "allowed": padded}, about=BATCH),
        Case(tiny, about=TINY),
        Case({"weights": drawn(2, 3), "allowed": empty}, about=EMPTY),
        Case({"weights": drawn(3, 3), "allowed": masks.causal(3)}, about="gradients", gradients=True),
        Case({"weights": drawn(2, 3), "allowed": empty}, about=EMPTY_GRADIENTS, gradients=True),
    ]


def _divided_by(least: float):
    def divided(weights, allowed):
        kept = weights * allowed
        return kept / (kept.sum(dim=-1, keepdim=True) + least)

    return divided


def _lost_weight_shared(weights, allowed):
    kept = weights.masked_fill(~allowed, 0.0)
    lost = 1 - kept.sum(dim=-1, keepdim=True)
    return kept + allowed * lost / allowed.sum(dim=-1, keepdim=True).clamp(min=1)


rescue = Exercise(
    lesson="03",
    name="my_rescued_weights",
    reference=rescued_weights,
    cases=_cases,
    outputs=("weights",),
    mistakes=[
        Mistake(
            lambda weights, allowed: weights * allowed,
            "The blocked weights are 0, but their rows no longer sum to 1. Divide each row by what is left of it.",
        ),
        Mistake(
            lambda weights, allowed: weights.masked_fill(~allowed, -torch.inf).softmax(dim=-1),
            "You took a softmax of the weights, which are results of a softmax already: that evens them out. Set the "
            "blocked ones to 0, and divide each row by its sum.",
            also=(
                lambda weights, allowed: weights.masked_fill(~allowed, 0.0).softmax(dim=-1),
                lambda weights, allowed: (weights * allowed).softmax(dim=-1) * allowed,
                lambda weights, allowed: weights.masked_fill(~allowed, -torch.inf).softmax(dim=-1).nan_to_num(0.0),
            ),
        ),
        Mistake(
            _divided_by(0.0),
            "A row in which everything is blocked became 0 / 0, which is NaN. Such a row must be 0.",
            seen_in=EMPTY,
            also=(edited(rescued_weights, ".masked_fill(total == 0, 1.0)", ""),),
        ),
        Mistake(
            _divided_by(1e-9),
            "You keep the sum from 0 with a small number. But a real sum can be that small, too: treat only sums of "
            "exactly 0.",
            seen_in=TINY,
            also=(
                _divided_by(1e-3),
                _divided_by(1e-5),
                _divided_by(1e-8),
                _divided_by(1e-6),
                _divided_by(1e-12),
                lambda w, a: w * a / (w * a).sum(dim=-1, keepdim=True).clamp(min=1e-9),
                lambda w, a: w * a / (w * a).sum(dim=-1, keepdim=True).clamp(min=1e-6),
            ),
        ),
        Mistake(
            lambda weights, allowed: _divided_by(0.0)(weights, allowed).nan_to_num(0.0),
            "The weights are right, but not their gradients: where nothing is left, 0 / 0 was computed before NaN was "
            "replaced, and its gradient is NaN, too. Replace the sum of 0 by 1, before you divide.",
            seen_in=EMPTY_GRADIENTS,
        ),
        Mistake(
            edited(rescued_weights, "dim=-1", "dim=-2"),
            "You divided by the sums of the columns. Each row has its own sum.",
        ),
        Mistake(
            edited(rescued_weights, "kept.sum(dim=-1, keepdim=True)", "kept.sum()"),
            "You divided by the sum of the whole table. Each row has its own sum.",
        ),
        Mistake(
            edited(rescued_weights, "kept.sum(dim=-1, keepdim=True)", "kept.norm(dim=-1, keepdim=True)"),
            "You divided by the root of the sum of squares: then the squares sum to 1. Divide by the sum itself.",
        ),
        Mistake(
            edited(rescued_weights, "kept.sum(", "kept.mean("),
            "You divided by the mean of each row, so it sums to the number of keys. Divide by the sum.",
        ),
        Mistake(
            edited(rescued_weights, "kept.sum(", "kept.amax("),
            "You divided by the largest weight of each row, which becomes 1. Divide by the sum.",
        ),
        Mistake(
            edited(rescued_weights, ", keepdim=True", ""),
            "The sums have one number per row, (…, Q), and are aligned with the keys. keepdim=True makes them a "
            "column, (…, Q, 1).",
        ),
        Mistake(
            edited(rescued_weights, "kept.sum(", "allowed.sum("),
            "You divided by the number of visible keys. Divide by the sum of their weights.",
        ),
        Mistake(
            _lost_weight_shared,
            "You gave each visible key an equal part of what was blocked. They keep their proportions: divide by the "
            "sum.",
        ),
        Mistake(
            lambda weights, allowed: torch.where(
                (weights * allowed).any(dim=-1, keepdim=True),
                rescued_weights(weights, allowed),
                torch.ones_like(weights) / weights.size(-1),
            ),
            "A row of which nothing is left got even weights: it attends to exactly what is blocked. Such a row must "
            "be 0.",
            seen_in=EMPTY,
        ),
        Mistake(
            edited(rescued_weights, "return kept / total", "return kept / total.detach()"),
            "The weights are right, but not their gradients: the sum was cut off from them. It depends on the weights, "
            "too, so leave .detach(), .data and no_grad away.",
            seen_in="gradients",
        ),
        Mistake(
            edited(rescued_weights, "~allowed", "allowed"),
            "The mask is inverted: you kept the weights of the blocked keys. True means may attend.",
            also=[edited(rescued_weights, ("~allowed", "allowed"), (".masked_fill(total == 0, 1.0)", ""))],
        ),
        Mistake(
            edited(rescued_weights, ("0.0)", "-torch.inf)"), ("kept / total.masked_fill(total == 0, 1.0)", "kept")),
            "-inf is for scores, before the softmax. These are weights already: a blocked one must become 0.",
            also=[edited(rescued_weights, "0.0)", "-torch.inf)")],
        ),
        Mistake(
            edited(rescued_weights, "kept / total.masked_fill(total == 0, 1.0)", "kept + (1 - total)"),
            "You added what was lost to each weight, so a row can get it several times. Divide by what is left.",
            also=(
                edited(rescued_weights, "kept / total.masked_fill(total == 0, 1.0)", "kept + (1 - total) * allowed"),
            ),
        ),
        Mistake(
            lambda weights, allowed: weights * allowed / (weights * ~allowed).sum(dim=-1, keepdim=True),
            "You divided by the sum of the blocked weights. Divide by the sum of those that are left.",
        ),
        Mistake(
            edited(rescued_weights, ".masked_fill(~allowed", ".masked_fill_(~allowed"),
            "Your function changed the weights that it was given: weights[~allowed] = … and masked_fill_ with a "
            "trailing underscore work in place. The caller still needs them: weights.masked_fill(~allowed, 0.0).",
        ),
        Mistake(
            edited(rescued_weights, "dim=-1", "dim=1"),
            "Right for a table, where axis 1 is the keys. With a batch in front, it is the queries: dim=-1.",
            seen_in=BATCH,
            also=(edited(rescued_weights, ("dim=-1", "dim=1"), (".masked_fill(total == 0, 1.0)", "")),),
        ),
        Mistake(
            edited(rescued_weights, "    return", "    if total == 0:\n        return kept\n    return"),
            "`if` needs one truth value, and there is one sum for each row. masked_fill and torch.where choose row by "
            "row.",
        ),
        Mistake(
            lambda weights, allowed: weights[allowed] / weights[allowed].sum(dim=-1, keepdim=True),
            "weights[allowed] is one long row of all allowed weights: the table is lost. weights.masked_fill(~allowed, "
            "0.0) keeps it.",
        ),
    ],
    hints=[
        "First set the blocked weights to 0. What does each row sum to now?",
        "Divide each row by its own sum: sum(dim=-1, keepdim=True).",
        "A sum of exactly 0 belongs to a row with nothing left. Replace that sum by 1: 0 / 1 is 0.",
    ],
    solution="""
        def my_rescued_weights(weights, allowed):
            kept = weights.masked_fill(~allowed, 0.0)
            total = kept.sum(dim=-1, keepdim=True)  # (…, Q, 1)
            return kept / total.masked_fill(total == 0, 1.0)  # 0 / 1 where nothing is left
    """,
)
