"""Lesson 03, my_masked_weights: the softmax over the keys that a query may look at."""

import torch

from lessons import masks
from lessons.attention import masked_softmax
from lessons.checking.edits import edited
from lessons.checking.engine import Case, Exercise, Mistake, numbers


def _mask_cases(generator) -> list[Case]:
    empty_row = torch.tensor([[True, False, True], [False, False, False]])
    empty_in_one = torch.ones(2, 3, 4, dtype=torch.bool)
    empty_in_one[1, 2] = False
    batch = masks.combine(masks.causal(5), masks.padding_from_lengths([5, 2])[:, 0])
    return [
        Case({"scores": numbers(generator, 2, 3), "allowed": torch.tensor([[True, False, True], [True, True, False]])}),
        Case({"scores": numbers(generator, 4, 4), "allowed": masks.causal(4)}),
        Case({"scores": numbers(generator, 2, 5, 5), "allowed": batch}, about="a batch axis in front"),
        Case(
            {"scores": torch.tensor([[0.5, 1.0, 200.0]]), "allowed": torch.tensor([[True, True, False]])},
            about="a blocked key with a very large score",
        ),
        Case(
            {"scores": torch.tensor([[0.0, 1.0, 2.0]]), "allowed": torch.tensor([[True, True, False]])},
            about="a score of exactly 0 that is allowed",
        ),
        Case(
            {
                "scores": torch.tensor([[1000.0, 999.0, 3.0], [-1000.0, -1001.0, 5.0]]),
                "allowed": torch.tensor([[True, True, False], [True, True, False]]),
            },
            about="allowed scores around 1000 and around -1000",
        ),
        Case(
            {"scores": torch.tensor([[-2e20, -3e20, 0.0]]), "allowed": torch.tensor([[True, True, False]])},
            about="allowed scores so low that most large negative numbers lie above them",
        ),
        Case({"scores": numbers(generator, 2, 3), "allowed": empty_row}, about="a query that may look at nothing"),
        Case(
            {"scores": numbers(generator, 2, 3, 4), "allowed": empty_in_one},
            about="a batch in which one query of one sentence may look at nothing",
        ),
        Case({"scores": numbers(generator, 3, 3), "allowed": masks.causal(3)}, about="gradients", gradients=True),
    ]


def _blocked_get_nothing(case: Case, results: tuple) -> str | None:
    allowed, (weights,) = case.inputs["allowed"], results
    leaked = (weights.detach() != 0) & ~allowed
    if not leaked.any():
        return None
    place = leaked.nonzero()[0].tolist()
    return f"Blocked: {place} may not be looked at, and has weight {weights[tuple(place)].item():.4g}; expected 0."


def _with_nan_to_num(scores, allowed):
    return scores.masked_fill(~allowed, -torch.inf).softmax(dim=-1).nan_to_num(0.0)


def _with_empty_rows(scores, allowed):
    weights = scores.masked_fill(~allowed, -torch.inf).softmax(dim=-1)
    return weights.masked_fill(~allowed.any(dim=-1, keepdim=True), 0.0)


def _fill(value: float):
    return lambda scores, allowed: scores.masked_fill(~allowed, value).softmax(dim=-1)


def _fill_and_multiply(value: float):
    return lambda scores, allowed: scores.masked_fill(~allowed, value).softmax(dim=-1) * allowed


def _by_powers(scores, allowed, least=0.0):
    powers = scores.exp().masked_fill(~allowed, 0.0)
    return powers / powers.sum(dim=-1, keepdim=True).clamp(min=least)


_by_powers_times_mask = edited(_by_powers, ".masked_fill(~allowed, 0.0)", " * allowed")


def _one_greatest_for_all(scores, allowed):
    hidden = scores.masked_fill(~allowed, -torch.inf)
    powers = (hidden - hidden.max()).exp()
    return powers / powers.sum(dim=-1, keepdim=True)


def _all_empty(scores, allowed):
    if allowed.any(dim=-1).all():
        return masked_softmax(scores, allowed)
    return torch.zeros_like(scores)


masked_weights = Exercise(
    lesson="03",
    name="my_masked_weights",
    reference=masked_softmax,
    cases=_mask_cases,
    outputs=("weights",),
    laws=[_blocked_get_nothing],
    mistakes=[
        Mistake(
            _fill(0.0),
            "You put 0 in the place of the blocked scores. 0 is a score like any other: e to the 0 is 1, so a "
            "blocked key still takes its share of the row. Which score gives e^s = 0?",
            also=(_fill_and_multiply(0.0),),
        ),
        Mistake(
            lambda s, a: s.softmax(dim=-1) * a,
            "You masked after the softmax. The blocked keys were in the sum by which each row is divided, so the rows "
            "no longer sum to 1. Mask the scores, before the softmax.",
        ),
        Mistake(
            lambda s, a: s.softmax(dim=-1) * a / (s.softmax(dim=-1) * a).sum(dim=-1, keepdim=True),
            "A blocked score that is much larger than the others still takes part: it leaves them weights of 0, and "
            "then there is nothing left to share out. (So it goes when you mask after the softmax and divide once "
            "more, which is right on paper.) Take it out before the softmax.",
            seen_in="a blocked key with a very large score",
            also=(lambda s, a: (s.softmax(-1) * a / (s.softmax(-1) * a).sum(-1, keepdim=True)).nan_to_num(0.0),),
        ),
        Mistake(
            edited(_with_nan_to_num, ".nan_to_num(0.0)", ""),
            "Right, except for a query that may look at nothing: its row is all -inf, and the softmax makes NaN of "
            "it. Such a row must become 0.",
        ),
        Mistake(
            _fill(-1e9),
            "A large negative number such as -1e9, instead of -inf, hides the row that may look at nothing: all its "
            "scores are equal, so it attends evenly to what is blocked. Its weights must be 0.",
            seen_in="a query that may look at nothing",
            also=(_fill(-30.0), _fill(-1e4)),
        ),
        Mistake(
            _fill_and_multiply(-1e9),
            "A large negative number is not -inf: where the allowed scores are lower still, the blocked key takes the "
            "whole row, and setting it to 0 afterwards leaves an empty row. -inf lies below every number.",
            seen_in="allowed scores so low that most large negative numbers lie above them",
            also=(_fill_and_multiply(-30.0),),
        ),
        Mistake(
            _by_powers,
            "The formula is right, but e^1000 is too large for a float, and e^-1000 too small. Take the greatest "
            "allowed score of the row away first, as in lesson 02, or let softmax do it.",
            seen_in="allowed scores around 1000 and around -1000",
            also=(
                lambda s, a: _by_powers(s, a).nan_to_num(0.0),
                lambda s, a: _by_powers(s, a).masked_fill(~a, 0.0),
                lambda s, a: _by_powers(s, a, least=1e-9),
                _by_powers_times_mask,
                lambda s, a: _by_powers_times_mask(s, a).nan_to_num(0.0),
                lambda s, a: _by_powers_times_mask(s, a, least=1e-9),
            ),
        ),
        Mistake(
            _one_greatest_for_all,
            "You took away the greatest score of the whole table. A row whose scores lie far below it then becomes "
            "0 / 0. Take away each row's own greatest score: dim=-1.",
            seen_in="allowed scores around 1000 and around -1000",
            also=(lambda s, a: _one_greatest_for_all(s, a).nan_to_num(0.0),),
        ),
        Mistake(
            _all_empty,
            "One query that may look at nothing empties your whole table. Only its own row must become 0.",
            seen_in="a query that may look at nothing",
        ),
        Mistake(
            edited(_with_empty_rows, ", keepdim=True", ""),
            "allowed.any(dim=-1) has one entry a query, (Q,), and lies along the keys when it meets the weights, "
            "(Q, K). keepdim=True makes it a column, (Q, 1).",
        ),
        Mistake(
            edited(_with_empty_rows, "any", "all"),
            "Every row in which anything is blocked comes out 0. Only a row in which *nothing* is allowed should: "
            "any, not all.",
        ),
        Mistake(
            edited(_with_nan_to_num, "~allowed", "allowed"),
            "You blocked what is allowed, and allowed what is blocked: True means may look.",
            also=(
                edited(_with_nan_to_num, ("~allowed", "allowed"), (".nan_to_num(0.0)", "")),
                lambda s, a: s.masked_fill(a, -1e9).softmax(-1),
            ),
        ),
        Mistake(
            edited(_with_nan_to_num, "dim=-1", "dim=1"),
            "Right for a table, where axis 1 holds the keys. With a batch in front it holds the queries: dim=-1.",
            also=(edited(_with_nan_to_num, "dim=-1).nan_to_num(0.0)", "dim=1)"),),
        ),
        Mistake(
            edited(_with_empty_rows, "any(dim=-1", "any(dim=1"),
            "Which queries may look at nothing? You asked along axis 1, which holds the keys of a table, but the "
            "queries of a batch. Ask along the last axis: allowed.any(dim=-1).",
        ),
        Mistake(
            lambda s, a: (s + (~a).float() * -torch.inf).softmax(dim=-1),
            "0 times -inf is NaN, not 0: so multiplying a mask of 0 and 1 by -inf spoils the allowed places as well. "
            "Use masked_fill, or torch.where.",
        ),
        Mistake(
            edited(_with_nan_to_num, "dim=-1", "dim=-2"),
            "Your columns sum to 1: the softmax runs over the queries. The keys are on the last axis.",
        ),
        Mistake(
            lambda s, a: s.softmax(dim=-1),
            "The mask is not used: these are the weights without one.",
        ),
        Mistake(
            lambda s, a: (s + a).softmax(dim=-1),
            "You added the mask to the scores: True counts as 1, and False as 0, so nothing is blocked, only "
            "nudged. An additive mask holds 0 and -inf.",
        ),
        Mistake(
            lambda s, a: (s * a).masked_fill(s * a == 0, -torch.inf).softmax(dim=-1).nan_to_num(0.0),
            "You took a score of 0 for a blocked one. A real score may be 0, too: ask the mask.",
            seen_in="a score of exactly 0 that is allowed",
        ),
        Mistake(
            edited(_with_nan_to_num, "scores.masked_fill(", "scores.detach().masked_fill_("),
            "Your function changed the scores that it was given: scores[~allowed] = … and masked_fill_ with a trailing "
            "underscore work in place. Whoever called it still needs them.",
        ),
    ],
    hints=[
        "Where allowed is False, the score must become one whose power of e is 0: scores.masked_fill(~allowed, …).",
        "Only after that, the softmax, over the keys.",
        "A row that is -inf throughout gives NaN. Which rows are these? allowed.any(dim=-1) knows.",
    ],
)
