"""Lesson 02, my_scaled_scores: scores divided by the root of d, with any axes in front."""

import math

import torch
from torch import Tensor

from lessons.checking.edits import edited
from lessons.checking.engine import Case, Exercise, Mistake, numbers


def scaled_scores(q: Tensor, k: Tensor) -> Tensor:
    """q (..., Q, d), k (..., K, d) -> (..., Q, K). Attention Is All You Need, section 3.2.1."""
    return q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))


def _scaling_cases(generator) -> list[Case]:
    return [
        Case({"q": numbers(generator, *q), "k": numbers(generator, *k)}, about=about)
        for q, k, about in [
            ((2, 3), (4, 3), ""),
            ((5, 7), (6, 7), ""),
            ((2, 5, 7), (2, 6, 7), "a batch axis in front"),
            ((2, 3, 5, 7), (2, 3, 4, 7), "two axes in front"),
            ((1, 1, 4), (1, 5, 4), "a batch of one, with a single query"),
        ]
    ]


scaling = Exercise(
    lesson="02",
    name="my_scaled_scores",
    reference=scaled_scores,
    cases=_scaling_cases,
    mistakes=[
        Mistake(
            edited(scaled_scores, " / math.sqrt(q.size(-1))", ""),
            "These scores are not scaled. Divide them by the square root of d.",
        ),
        Mistake(
            edited(scaled_scores, "math.sqrt(q.size(-1))", "q.size(-1)"),
            "In all, you divided by d: at once, or q and k by √d each. The standard deviation of a score grows like "
            "the square root of d; divided by d, the scores shrink as d grows, and the weights become nearly equal.",
        ),
        Mistake(
            edited(scaled_scores, "q.size(-1)", "k.size(-2)"),
            "You divided by the square root of the number of keys. d is the number of features of a key: its last "
            "axis.",
        ),
        Mistake(
            edited(scaled_scores, "q.size(-1)", "q.size(-2)"),
            "You divided by the square root of the number of queries. d is the number of features: the last axis.",
        ),
        Mistake(edited(scaled_scores, "/ math", "* math"), "You multiplied by √d. Divide."),
        Mistake(
            edited(scaled_scores, "q.size(-1)", "q.size(1)"),
            "Right for a table, where axis 1 is the features. With a batch in front, axis 1 is something else: count "
            "the axis from the end, q.size(-1).",
            also=(edited(scaled_scores, "q.size(-1)", "k.size(1)"),),
        ),
        Mistake(
            edited(scaled_scores, "k.transpose(-2, -1)", "k.T"),
            ".T reverses all axes, the batch too. Swap the last two: k.transpose(-2, -1), or k.mT.",
        ),
        Mistake(
            edited(scaled_scores, "k.transpose(-2, -1)", "k.permute(0, 2, 1)"),
            "This needs exactly one axis in front, as transpose(1, 2), permute(0, 2, 1) and B, Q, d = q.shape do. "
            "There may be none, or several: count from the end, k.transpose(-2, -1) and q.size(-1).",
            also=(
                edited(scaled_scores, "(-2, -1)", "(1, 2)"),
                edited(scaled_scores, "    return", "    _, _, _ = q.shape\n    return"),
            ),
        ),
        Mistake(
            edited(scaled_scores, "(-2, -1)", "(0, 1)"),
            "transpose(0, 1) is right for a table. With a batch in front it swaps sentences and keys: count the axes "
            "from the end, k.transpose(-2, -1).",
        ),
        Mistake(
            edited(scaled_scores, ".transpose(-2, -1)", ""),
            "k is not transposed: the features of a query must meet the features of a key. Swap the last two axes of "
            "k first.",
        ),
        Mistake(
            edited(scaled_scores, "q @ k.transpose", "k @ q.transpose"),
            "Your table is transposed: one row per query, one column per key.",
        ),
        Mistake(
            lambda q, k: scaled_scores(q, k).softmax(dim=-1),
            "These are the weights already. Return the scores, before the softmax.",
        ),
        Mistake(
            lambda q, k: torch.cosine_similarity(q.unsqueeze(-2), k.unsqueeze(-3), dim=-1),
            "You divided by the lengths of the vectors: that is the cosine. Divide by √d, the same for all.",
        ),
        Mistake(
            edited(scaled_scores, "math.sqrt", "math.isqrt"),
            "The root is rounded down to a whole number, as math.isqrt and int(…) do. Divide by the root itself: "
            "math.sqrt.",
        ),
        Mistake(
            lambda q, k: torch.einsum("bqd,bkd->bqk", q, k) / math.sqrt(q.size(-1)),
            "einsum with three letters needs exactly one axis in front. There may be none, or several: three dots "
            'stand for them, "...qd,...kd->...qk".',
        ),
        Mistake(
            edited(scaled_scores, "math.sqrt(q.size(-1))", "q.size(-1) ** 1 / 2"),
            "d ** 1 / 2 is no root: ** comes before /, so it is (d ** 1) / 2. Write d ** 0.5, or math.sqrt(d).",
            also=(edited(scaled_scores, "math.sqrt(q.size(-1))", "(q.size(-1) ** 1 / 2)"),),
        ),
    ],
    hints=[
        "First the scores of lesson 01, then one division: by the root of which size?",
        "With a batch axis in front, k.T reverses all axes; k.transpose(-2, -1) swaps the last two.",
    ],
    solution="""
        def my_scaled_scores(q, k):
            return q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    """,
)
