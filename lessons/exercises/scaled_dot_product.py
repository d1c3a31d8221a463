"""Exercises of 02_scaled_dot_product: the softmax, its axis, and the square root of d_k."""

import math

import torch
from torch import Tensor

from lessons.attention import attend
from lessons.exercises.engine import Case, Exercise, Mistake, numbers, rows_sum_to_one, small_numbers


def softmax(scores: Tensor) -> Tensor:
    """Along the last axis; the greatest score of a row is taken away first, so that no power overflows."""
    powers = (scores - scores.amax(dim=-1, keepdim=True)).exp()
    return powers / powers.sum(dim=-1, keepdim=True)


def scaled_scores(q: Tensor, k: Tensor) -> Tensor:
    """q (..., Q, d), k (..., K, d) -> (..., Q, K). Attention Is All You Need, section 3.2.1."""
    return q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))


def attention(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """q (..., Q, d), k (..., K, d), v (..., K, d_v) -> output (..., Q, d_v)."""
    return scaled_scores(q, k).softmax(dim=-1) @ v


def entropy(weights: Tensor) -> Tensor:
    """How spread out each row is, in nats: (..., Q, K) -> (..., Q). 0 for one key alone, ln K for all K alike."""
    return torch.special.entr(weights).sum(dim=-1)


def _softmax_cases(generator) -> list[Case]:
    return [
        Case({"scores": small_numbers(generator, 2, 3)}),
        Case({"scores": numbers(generator, 5, 4)}),
        Case({"scores": numbers(generator, 2, 5, 4)}, about="a batch axis in front, so that the keys are axis 2"),
        Case(
            {"scores": torch.tensor([[1000.0, 999.0, -1000.0], [-1000.0, -1001.0, -1002.0]])},
            about="scores around 1000 and around -1000, whose powers are too large and too small for a float",
        ),
    ]


soft_rows = Exercise(
    name="my_softmax",
    reference=softmax,
    cases=_softmax_cases,
    laws=[rows_sum_to_one()],
    mistakes=[
        Mistake(
            lambda s: s.softmax(dim=-2),
            "Your columns sum to 1, not your rows: the softmax runs over the queries. Which axis are the keys on?",
        ),
        Mistake(
            lambda s: s.softmax(dim=1),
            "Right for a table, where axis 1 holds the keys. With a batch in front, axis 1 holds the queries: name the "
            "axis from the end.",
        ),
        Mistake(
            lambda s: s.exp() / s.exp().sum(dim=-1, keepdim=True),
            "The formula is right, but e^1000 is too large for a float: it becomes inf, and inf / inf is NaN. Take the "
            "greatest score of the row away first; the quotient stays the same.",
            also=(lambda s: (s.exp() / s.exp().sum(dim=-1, keepdim=True)).nan_to_num(0.0),),
        ),
        Mistake(
            lambda s: s.exp() / s.exp().sum(dim=-1),
            "A sum or a maximum over the last axis has one number a row, (…, Q), and does not fit against (…, Q, K). "
            "keepdim=True keeps the axis with size 1, so that the number is spread along its row.",
        ),
        Mistake(
            lambda s: s - s.max(dim=-1, keepdim=True),
            "max with a dim gives two things, the greatest numbers and their places. Take s.max(dim=…).values, or "
            "s.amax(dim=…), which gives the numbers alone.",
        ),
        Mistake(
            lambda s: s.exp() / s.exp().sum(),
            "You divided by the sum of the whole table. Each row is divided by its own sum.",
        ),
        Mistake(
            lambda s: s / s.sum(dim=-1, keepdim=True),
            "You divided the scores themselves by their sum, without raising e to them first. Negative scores then "
            "give negative weights.",
        ),
        Mistake(
            lambda s: (s - s.amax(dim=-1, keepdim=True)).exp(),
            "These are the powers of e. Each row must still be divided by its sum.",
            also=(lambda s: s.exp(),),
        ),
        Mistake(
            lambda s: s.log_softmax(dim=-1),
            "These are the logarithms of the weights (log_softmax). The weights themselves are asked for.",
        ),
        Mistake(
            lambda s: (s - s.max()).exp() / (s - s.max()).exp().sum(dim=-1, keepdim=True),
            "You took away the greatest score of the whole table. A row whose scores lie far below it then becomes "
            "0 / 0. Take away each row's own greatest score.",
        ),
    ],
    hints=[
        "Raise e to each score, then divide each row by its sum: which axis is summed over?",
        "keepdim=True keeps the summed axis with size 1, so that the division broadcasts along the row.",
        "Subtracting a number from a whole row leaves its softmax as it was. Which number keeps the powers from "
        "overflowing?",
    ],
)


def _pairs(generator) -> list[dict[str, Tensor]]:
    shapes = [((2, 3), (4, 3)), ((5, 7), (6, 7)), ((2, 5, 7), (2, 6, 7)), ((2, 3, 5, 7), (2, 3, 4, 7))]
    return [{"q": numbers(generator, *a), "k": numbers(generator, *b)} for a, b in shapes]


scaling = Exercise(
    name="my_scaled_scores",
    reference=scaled_scores,
    cases=lambda generator: [
        Case(inputs, about=("", "", "a batch axis in front", "two axes in front")[i])
        for i, inputs in enumerate(_pairs(generator))
    ],
    mistakes=[
        Mistake(lambda q, k: q @ k.mT, "These are the plain scores. Divide them by the square root of d."),
        Mistake(
            lambda q, k: q @ k.mT / q.size(-1),
            "You divided by d. The standard deviation of a score grows like the square root of d; divided by d, "
            "the scores shrink as d grows, and the weights become all alike.",
        ),
        Mistake(
            lambda q, k: q @ k.mT / math.sqrt(k.size(-2)),
            "You divided by the square root of the number of keys. d is the number of features of a key: its last "
            "axis.",
        ),
        Mistake(
            lambda q, k: q @ k.mT / math.sqrt(q.size(-2)),
            "You divided by the square root of the number of queries. d is the number of features: the last axis.",
        ),
        Mistake(lambda q, k: q @ k.mT * math.sqrt(q.size(-1)), "You multiplied by √d. Divide."),
        Mistake(
            lambda q, k: q @ k.mT / math.sqrt(q.size(1)),
            "Right for a table, where axis 1 holds the features. With a batch in front, axis 1 is something else: "
            "name the axis from the end, q.size(-1).",
            also=(lambda q, k: q @ k.mT / math.sqrt(k.size(1)),),
        ),
        Mistake(
            lambda q, k: q @ k.T / math.sqrt(q.size(-1)),
            ".T turns all axes around, also the batch. Swap the last two: k.transpose(-2, -1), or k.mT.",
        ),
        Mistake(
            lambda q, k: q @ k.transpose(0, 1) / math.sqrt(q.size(-1)),
            "transpose(0, 1) is right for a table. With a batch in front it swaps sentences and keys: name the axes "
            "from the end, k.transpose(-2, -1).",
        ),
        Mistake(
            lambda q, k: q @ k / math.sqrt(q.size(-1)),
            "k is not transposed: the features of a query must meet the features of a key. Swap the last two axes of "
            "k first.",
        ),
        Mistake(
            lambda q, k: k @ q.mT / math.sqrt(q.size(-1)),
            "Your table is transposed: queries go down the rows, keys across the columns.",
        ),
        Mistake(
            lambda q, k: (q @ k.mT / math.sqrt(q.size(-1))).softmax(dim=-1),
            "These are the weights already. The scores are asked for, before the softmax.",
        ),
    ],
    hints=[
        "First the scores of lesson 01, then one division. By the root of which size?",
        "With a batch axis in front, k.T turns all axes around; k.transpose(-2, -1) swaps the last two.",
    ],
)


def _attention_cases(generator) -> list[Case]:
    sizes = [((2, 3), (4, 3), (4, 5)), ((5, 3), (3, 3), (3, 3)), ((6, 11), (5, 11), (5, 7))]
    cases = [Case({n: numbers(generator, *s) for n, s in zip("qkv", shapes)}) for shapes in sizes]
    one = {n: numbers(generator, *s) for n, s in zip("qkv", [(2, 3, 4), (2, 5, 4), (2, 5, 6)])}
    two = {n: numbers(generator, *s) for n, s in zip("qkv", [(2, 3, 5, 7), (2, 3, 6, 7), (2, 3, 6, 4)])}
    return [*cases, Case(one, about="a batch axis in front"), Case(two, about="two axes in front, batch and heads")]


def _attention_cases_with_gradients(generator) -> list[Case]:
    inputs = {n: numbers(generator, *s) for n, s in zip("qkv", [(3, 2), (4, 2), (4, 5)])}
    return [*_attention_cases(generator), Case(inputs, about="gradients", gradients=True)]


whole = Exercise(
    name="my_attention",
    reference=attention,
    cases=_attention_cases_with_gradients,
    solution=(scaled_scores, attention, attend),
    mistakes=[
        Mistake(
            lambda q, k, v: (q @ k.mT / math.sqrt(q.size(-1))).softmax(dim=-2) @ v,
            "Your columns sum to 1, not your rows: the softmax runs over the queries. The keys are on the last axis.",
        ),
        Mistake(
            lambda q, k, v: (q @ k.mT / math.sqrt(q.size(-1))).softmax(dim=1) @ v,
            "Right for a table; but with a batch in front, axis 1 no longer holds the keys. Use dim=-1.",
        ),
        Mistake(
            lambda q, k, v: (q @ k.mT).softmax(dim=-1) @ v,
            "The scores are not scaled: divide them by √d before the softmax.",
        ),
        Mistake(
            lambda q, k, v: (q @ k.mT).softmax(dim=-1) / math.sqrt(q.size(-1)) @ v,
            "You divided by √d after the softmax, so that each row sums to 1/√d. Divide the scores, before it.",
        ),
        Mistake(
            lambda q, k, v: (q @ k.mT / math.sqrt(q.size(-1))) @ v,
            "There is no softmax: you mixed the values by their scores, which may be negative and need not sum to 1.",
        ),
        Mistake(
            lambda q, k, v: (q @ k.mT / q.size(-1)).softmax(dim=-1) @ v,
            "You divided by d. Divide by its square root.",
        ),
        Mistake(
            lambda q, k, v: (q @ k.mT * math.sqrt(q.size(-1))).softmax(dim=-1) @ v,
            "You multiplied by √d. Divide.",
        ),
        Mistake(
            lambda q, k, v: (q @ k.mT / math.sqrt(q.size(-1))).softmax(dim=-1),
            "These are the weights. One step is left: mix the values by them.",
        ),
        Mistake(
            lambda q, k, v: (q @ k.mT / math.sqrt(v.size(-1))).softmax(dim=-1) @ v,
            "You divided by the root of the values' size. d is the size in which queries and keys are compared.",
        ),
        Mistake(
            lambda q, k, v: (q @ k.mT / math.sqrt(k.size(-2))).softmax(dim=-1) @ v,
            "You divided by the root of the number of keys. d is the number of features of a key.",
        ),
        Mistake(
            lambda q, k, v: (q @ k.mT / math.sqrt(q.size(-2))).softmax(dim=-1) @ v,
            "You divided by the root of the number of queries. d is the number of features of a query.",
        ),
        Mistake(
            lambda q, k, v: (q @ k.mT / math.sqrt(q.size(1))).softmax(dim=-1) @ v,
            "Right for a table, where axis 1 holds the features. With a batch in front it does not: q.size(-1).",
        ),
        Mistake(
            lambda q, k, v: (q @ k.T / math.sqrt(q.size(-1))).softmax(dim=-1) @ v,
            ".T turns all axes around, also the batch. Swap the last two: k.transpose(-2, -1), or k.mT.",
        ),
        Mistake(
            lambda q, k, v: (q @ k.mT / math.sqrt(q.size(-1))).softmax(dim=-1) @ k,
            "You mixed the keys. They are there to be found by; what is handed over are the values.",
        ),
    ],
    hints=[
        "Three steps: scaled scores, softmax over the keys, mixture of the values.",
        "You have written all three already, here and in lesson 01.",
    ],
)


def _weights(generator, *shape: int) -> Tensor:
    return (2 * numbers(generator, *shape)).softmax(dim=-1)


spread = Exercise(
    name="my_entropy",
    reference=entropy,
    cases=lambda generator: [
        Case({"weights": _weights(generator, 2, 3)}),
        Case({"weights": _weights(generator, 5, 4)}),
        Case({"weights": _weights(generator, 2, 5, 4)}, about="a batch axis in front"),
        Case(
            {"weights": torch.tensor([[1.0, 0.0, 0.0], [0.5, 0.5, 0.0]])},
            about="weights that are exactly 0, where ln 0 is -inf",
        ),
    ],
    mistakes=[
        Mistake(
            lambda w: -(w * w.log()).sum(dim=-1),
            "Right, but for weights of exactly 0: there 0 · ln 0 gives NaN, and it must count as 0. torch.xlogy(w, w) "
            "does that, or torch.where, with a 1 in the place of such a weight before the logarithm.",
        ),
        Mistake(
            lambda w: torch.xlogy(w, w).sum(dim=-1),
            "The sign is missing: logarithms of weights below 1 are negative, and the entropy is positive.",
        ),
        Mistake(
            lambda w: -torch.xlogy(w, w).sum(dim=-1) / math.log(2),
            "You used the logarithm to base 2, which measures in bits. Here the natural logarithm is asked for.",
        ),
        Mistake(
            lambda w: -torch.xlogy(w, w).sum(dim=-2),
            "You summed down the columns. Each query, so each row, has an entropy of its own.",
        ),
        Mistake(
            lambda w: -torch.xlogy(w, w).sum(dim=1),
            "Right for a table, where axis 1 holds the keys. With a batch in front it holds the queries: dim=-1.",
        ),
        Mistake(
            lambda w: -torch.xlogy(w, w).mean(dim=-1),
            "You took the mean over the keys. The entropy is the sum.",
        ),
        Mistake(
            lambda w: -w.log().sum(dim=-1),
            "You summed the logarithms. Each must be multiplied by its weight first.",
        ),
        Mistake(
            lambda w: -(w * (w + 1e-3).log()).sum(dim=-1),
            also=tuple(lambda w, eps=eps: -(w * (w + eps).log()).sum(dim=-1) for eps in (1e-2, 1e-4, 1e-5)),
            hint="You added a small number inside the logarithm to keep it from 0. It shifts every other weight a "
            "little, too: treat the zeros alone.",
        ),
    ],
    hints=[
        "For one row: minus the sum of w · ln w.",
        "A weight of 0 must count as 0. torch.xlogy(w, w) is w · ln w with that rule.",
    ],
)


def _softmax_along_one(q, k, v):
    return (q @ k.mT / math.sqrt(q.size(-1))).softmax(dim=1) @ v


bug_hunt = Exercise(
    name="mended_attention",
    reference=attention,
    cases=_attention_cases,
    solution=(attend,),
    mistakes=[
        Mistake(
            _softmax_along_one,
            "The bug is still there. A symptom: where all values are 1, every output should be 1; with a batch in "
            "front it is not.",
        ),
        Mistake(
            lambda q, k, v: (q @ k.mT / math.sqrt(q.size(-1))).softmax(dim=2) @ v,
            "Axis 2 holds the keys for a batch of tables; with no batch at all there is no axis 2, and with heads as "
            "a second axis in front it holds the queries. Name the axis from the end.",
        ),
        Mistake(
            lambda q, k, v: (q @ k.mT / math.sqrt(q.size(-1))).softmax(dim=-2) @ v,
            "Now it is wrong for every input: axis -2 holds the queries.",
        ),
        Mistake(
            lambda q, k, v: (q @ k.mT / math.sqrt(q.size(-1))).softmax(dim=0) @ v,
            "Axis 0 is the queries for a single table, and the batch for a batch: the sentences would compete.",
        ),
    ],
    hints=[
        "Try it with q = k = v = torch.randn(2, 5, 7). What do the rows of the weights sum to?",
        "Which axis is axis 1 in a tensor (Q, K)? And in a tensor (B, Q, K)?",
    ],
)
