"""Lesson 03, my_masked_weights: the softmax over the keys that a query may attend to."""

import torch

from lessons import masks
from lessons.attention import masked_softmax
from lessons.checking.edits import edited
from lessons.checking.engine import Case, Exercise, Mistake, numbers
from lessons.wording import worded

LOW = "allowed scores of minus a million and lower"
EMPTY_GRADIENTS = "gradients, with a query that has nothing to attend to"


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
            {"scores": numbers(generator, 2, 2, 3, 3), "allowed": masks.causal(3).expand(2, 2, 3, 3)},
            about="two axes in front, batch and heads",
        ),
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
            {"scores": torch.tensor([[-2e6, -3e6, 0.0]]), "allowed": torch.tensor([[True, True, False]])},
            about=LOW,
        ),
        Case({"scores": numbers(generator, 2, 3), "allowed": empty_row}, about="a query with nothing to attend to"),
        Case(
            {"scores": numbers(generator, 2, 3, 4), "allowed": empty_in_one},
            about="a batch in which one query of one sentence has nothing to attend to",
        ),
        Case({"scores": numbers(generator, 3, 3), "allowed": masks.causal(3)}, about="gradients", gradients=True),
        Case(
            {"scores": numbers(generator, 2, 3), "allowed": empty_row},
            about=EMPTY_GRADIENTS,
            gradients=True,
        ),
    ]


def _blocked_get_nothing(case: Case, results: tuple) -> str | None:
    allowed, (weights,) = case.inputs["allowed"], results
    leaked = (weights.detach() != 0) & ~allowed
    if not leaked.any():
        return None
    place = leaked.nonzero()[0].tolist()
    return worded(
        "Blocked: {place} must not be attended to, and has weight {weight:.4g}; expected 0.",
        place=place,
        weight=weights[tuple(place)].item(),
    )


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


def _masked_late_and_divided(scores, allowed):
    kept = scores.softmax(dim=-1) * allowed
    total = kept.sum(dim=-1, keepdim=True)
    return kept / total.masked_fill(total == 0, 1.0)


def _added(value: float):
    return lambda scores, allowed: (scores + torch.zeros(scores.shape).masked_fill(~allowed, value)).softmax(dim=-1)


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
            "You replaced the blocked scores with 0. 0 is a score like any other: e to the 0 is 1, so a blocked key "
            "still counts in the sum of its row. Which score gives e^s = 0?",
            also=(_fill_and_multiply(0.0),),
        ),
        Mistake(
            lambda s, a: s.softmax(dim=-1) * a,
            "You masked after the softmax. The blocked keys were part of the sum that their row is divided by, so that "
            "row no longer sums to 1. Mask the scores, before the softmax.",
        ),
        Mistake(
            lambda s, a: s.softmax(dim=-1) * a / (s.softmax(dim=-1) * a).sum(dim=-1, keepdim=True),
            "A blocked score that is much larger than the others takes all the weight, and leaves 0 or 0 / 0 for the "
            "rest. (That happens if you mask after the softmax and divide once more, which is right on paper.) "
            "Take the score out before the softmax.",
            seen_in="a blocked key with a very large score",
            also=(
                lambda s, a: (s.softmax(-1) * a / (s.softmax(-1) * a).sum(-1, keepdim=True)).nan_to_num(0.0),
                _masked_late_and_divided,
            ),
        ),
        Mistake(
            edited(_with_nan_to_num, ".nan_to_num(0.0)", ""),
            "Right, except for a query with nothing to attend to: its row is all -inf, and the softmax turns it into "
            "NaN. Such a row must become 0.",
            also=(_added(-torch.inf),),
        ),
        Mistake(
            lambda s, a: _added(-torch.inf)(s, a).nan_to_num(0.0),
            "The weights are right, but not their gradients: for a row of nothing but -inf the softmax has a gradient "
            "of NaN. Replacing the weights afterwards, as with nan_to_num, doesn't replace that gradient, and it "
            "reaches the scores. Write -inf over them with masked_fill in place of adding it: then no gradient gets "
            "through to a blocked score.",
            seen_in=EMPTY_GRADIENTS,
        ),
        Mistake(
            _fill(-1e9),
            "A row with nothing to attend to has scores that are all equal, so it attends evenly to what is blocked. "
            "(A large negative number such as -1e9, instead of -inf, does that.) Its weights must be 0.",
            seen_in="a query with nothing to attend to",
            also=(_fill(-30.0), _fill(-1e4), _fill(torch.finfo(torch.float32).min), _added(-1e9)),
        ),
        Mistake(
            _fill_and_multiply(-1e4),
            "You have a finite number in place of -inf. Where the allowed scores are lower still, nothing is left of "
            "their row: the blocked key takes all the weight, or every power is 0. -inf is below every number.",
            seen_in=LOW,
            also=(_fill_and_multiply(-30.0),),
        ),
        Mistake(
            _by_powers,
            "The formula is right, but e^1000 is too large for a float, and e^-1000 too small. Subtract the row's "
            "largest allowed score first, as in lesson 02, or let softmax do it.",
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
            "You subtracted the largest score of the whole table. A row whose scores are far below it then becomes "
            "0 / 0. Subtract each row's own largest score: dim=-1.",
            seen_in="allowed scores around 1000 and around -1000",
            also=(
                lambda s, a: _one_greatest_for_all(s, a).nan_to_num(0.0),
                edited(
                    _one_greatest_for_all,
                    ("scores.masked_fill(~allowed, -torch.inf)", "scores"),
                    (").exp()", ").exp() * allowed"),
                ),
            ),
        ),
        Mistake(
            _all_empty,
            "One query with nothing to attend to empties your whole table. Only its own row must become 0.",
            seen_in="a query with nothing to attend to",
        ),
        Mistake(
            edited(_with_empty_rows, ", keepdim=True", ""),
            "allowed.any(dim=-1) has one entry per query, (Q,). Next to the weights, (Q, K), it is aligned with the "
            "keys. keepdim=True makes it a column, (Q, 1).",
        ),
        Mistake(
            edited(_with_empty_rows, "any", "all"),
            "Every row in which anything is blocked becomes 0, as with all in place of any, or +inf in place of -inf. "
            "Only a row in which *nothing* is allowed should.",
        ),
        Mistake(
            edited(_with_nan_to_num, "~allowed", "allowed"),
            "You blocked what is allowed, and allowed what is blocked: True means may attend.",
            also=(
                edited(_with_nan_to_num, ("~allowed", "allowed"), (".nan_to_num(0.0)", "")),
                lambda s, a: s.masked_fill(a, -1e9).softmax(-1),
            ),
        ),
        Mistake(
            edited(_with_nan_to_num, "dim=-1", "dim=1"),
            "In a table, axis 1 is the keys. With a batch in front, it is the queries: use dim=-1.",
            also=(edited(_with_nan_to_num, "dim=-1).nan_to_num(0.0)", "dim=1)"),),
        ),
        Mistake(
            edited(_with_empty_rows, "any(dim=-1", "any(dim=1"),
            "Which queries have nothing to attend to? You asked along axis 1: in a table that is the keys, but in a "
            "batch it is the queries. Ask along the last axis: allowed.any(dim=-1).",
        ),
        Mistake(
            lambda s, a: (s + (~a).float() * -torch.inf).softmax(dim=-1),
            "0 times -inf is NaN, not 0, so a mask of 0 and 1 multiplied by -inf spoils the allowed scores as well. "
            "Use masked_fill, or torch.where.",
        ),
        Mistake(
            lambda s, a: (s * torch.ones(s.shape).masked_fill(~a, -torch.inf)).softmax(dim=-1),
            "A score times -inf is not always -inf: a negative score becomes +inf, and 0 becomes NaN. Replace the "
            "blocked scores: masked_fill, or torch.where.",
            also=(lambda s, a: (s * torch.ones(s.shape).masked_fill(~a, -torch.inf)).softmax(dim=-1).nan_to_num(0.0),),
        ),
        Mistake(
            edited(_with_nan_to_num, "dim=-1", "dim=-2"),
            "The softmax runs down the columns, over the queries. Run it along the rows: the keys are the last axis.",
        ),
        Mistake(
            lambda s, a: s.softmax(dim=-1),
            "The mask is not used: these are the weights without one.",
        ),
        Mistake(
            lambda s, a: (s + a).softmax(dim=-1),
            "You added the mask to the scores. True counts as 1 and False as 0, so nothing is blocked, only nudged. An "
            "additive mask contains 0 and -inf.",
        ),
        Mistake(
            lambda s, a: (s * a).masked_fill(s * a == 0, -torch.inf).softmax(dim=-1).nan_to_num(0.0),
            "You took a score of 0 for a blocked one. A real score can be 0, too: ask the mask.",
            seen_in="a score of exactly 0 that is allowed",
        ),
        Mistake(
            edited(_with_nan_to_num, "scores.masked_fill(", "scores.detach().masked_fill_("),
            "Your function changed the scores that it was given: scores[~allowed] = … and masked_fill_ with a trailing "
            "underscore work in place. The caller still needs them.",
        ),
        Mistake(
            edited(
                _with_empty_rows, "    return", "    if not allowed.any(dim=-1):\n        return 0 * scores\n    return"
            ),
            "`if` needs one truth value, and allowed.any(dim=-1) has one for each query. masked_fill and torch.where "
            "choose row by row.",
        ),
        Mistake(
            edited(_with_empty_rows, "~allowed.any", "allowed.any"),
            "You emptied the rows that have something to attend to. The others must become 0: ~allowed.any(…).",
        ),
        Mistake(
            lambda s, a: s[a].softmax(dim=-1),
            "scores[allowed] is one long row of all allowed scores: the table is lost. scores.masked_fill(~allowed, …) "
            "keeps it.",
        ),
    ],
    hints=[
        "Where allowed is False, the score must become one whose power of e is 0: scores.masked_fill(~allowed, …).",
        "Only after that, the softmax, over the keys.",
        "A row of nothing but -inf gives NaN. Which rows are these? allowed.any(dim=-1, keepdim=True) tells.",
    ],
    solution="""
        def my_masked_weights(scores, allowed):
            weights = scores.masked_fill(~allowed, -torch.inf).softmax(dim=-1)
            empty = ~allowed.any(dim=-1, keepdim=True)  # rows with nothing to attend to: NaN
            return weights.masked_fill(empty, 0.0)
    """,
    in_package="lessons.attention.masked_softmax",
)
