"""Lesson 02: my_scaled_scores."""

import math

from torch import Tensor

from lessons.checking.engine import Case, Exercise, Mistake, numbers


def scaled_scores(q: Tensor, k: Tensor) -> Tensor:
    """q (..., Q, d), k (..., K, d) -> (..., Q, K). Attention Is All You Need, section 3.2.1."""
    return q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))


def _pairs(generator) -> list[dict[str, Tensor]]:
    shapes = [((2, 3), (4, 3)), ((5, 7), (6, 7)), ((2, 5, 7), (2, 6, 7)), ((2, 3, 5, 7), (2, 3, 4, 7))]
    return [{"q": numbers(generator, *a), "k": numbers(generator, *b)} for a, b in shapes]


scaling = Exercise(
    lesson="02",
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
