"""Lesson 06: my_rotary_scores."""

import math

from torch import Tensor

from lessons.checking.engine import Case, Exercise, Mistake, numbers
from lessons.positions import rotary_angles, rotate


def rotary_scores(q: Tensor, k: Tensor, angles: Tensor) -> Tensor:
    """q and k (T, d), angles (T, d / 2) -> (T, T): both are turned, then multiplied and divided by the root of d."""
    return rotate(q, angles) @ rotate(k, angles).mT / math.sqrt(q.size(-1))


def _score_cases(generator) -> list[Case]:
    def case(t, d, about="", gradients=False):
        inputs = {"q": numbers(generator, t, d), "k": numbers(generator, t, d), "angles": rotary_angles(t, d)}
        return Case(inputs, about=about, gradients=gradients)

    return [case(3, 4), case(5, 8), case(4, 4), case(5, 6, "gradients", gradients=True)]


scores = Exercise(
    lesson="06",
    name="my_rotary_scores",
    reference=rotary_scores,
    cases=_score_cases,
    mistakes=[
        Mistake(
            lambda q, k, a: rotate(q, a) @ k.mT / math.sqrt(q.size(-1)),
            "The keys are not turned. Then a score depends on where the query stands, not on the distance of the two.",
        ),
        Mistake(
            lambda q, k, a: q @ rotate(k, a).mT / math.sqrt(q.size(-1)),
            "The queries are not turned. Then a score depends on where the key stands, not on the distance of the two.",
        ),
        Mistake(lambda q, k, a: q @ k.mT / math.sqrt(q.size(-1)), "Nothing is turned: these scores know no order."),
        Mistake(
            lambda q, k, a: rotate(q, a) @ rotate(k, -a).mT / math.sqrt(q.size(-1)),
            "Query and key are turned in opposite directions: the score depends on the *sum* of their positions. Turn "
            "both the same way.",
            also=(lambda q, k, a: rotate(q, -a) @ rotate(k, a).mT / math.sqrt(q.size(-1)),),
        ),
        Mistake(lambda q, k, a: rotate(q, a) @ rotate(k, a).mT, "The scores are not divided by √d."),
        Mistake(
            lambda q, k, a: rotate(q, a) @ rotate(k, a).mT / math.sqrt(q.size(-1) // 2),
            "You divided by the root of the number of pairs. It is the root of d, the number of features.",
        ),
        Mistake(
            lambda q, k, a: rotate(q, a) @ rotate(k, a).mT / q.size(-1),
            "You divided by d. It is the root of d.",
        ),
        Mistake(
            lambda q, k, a: rotate(k, a) @ rotate(q, a).mT / math.sqrt(q.size(-1)),
            "Rows and columns are exchanged: one row for each query, one column for each key.",
        ),
        Mistake(
            lambda q, k, a: (rotate(q, a) @ rotate(k, a).mT / math.sqrt(q.size(-1))).softmax(dim=-1),
            "These are the weights. Asked for are the scores, as they are before the softmax.",
        ),
        Mistake(
            lambda q, k, a: rotate(q @ k.mT / math.sqrt(q.size(-1)), a),
            "You turned the scores. It is q and k that are turned, before they are multiplied.",
            also=(lambda q, k, a: rotate(q @ k.mT, a),),
        ),
    ],
    hints=[
        "Turn q and k, each by the angles of its positions: rotate, or your my_rotate.",
        "Then as always: q kᵀ / √d.",
    ],
)
