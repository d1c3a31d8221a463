"""Lesson 06, my_rotary_scores: scores of queries and keys that are turned by their positions."""

import math

from torch import Tensor

from lessons.checking.edits import edited
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
            edited(rotary_scores, "rotate(k, angles)", "k"),
            "The keys are not turned. Then a score depends on where the query stands, not on the distance of the two.",
        ),
        Mistake(
            edited(rotary_scores, "rotate(q, angles)", "q"),
            "The queries are not turned. Then a score depends on where the key stands, not on the distance of the two.",
        ),
        Mistake(
            edited(rotary_scores, ("rotate(q, angles)", "q"), ("rotate(k, angles)", "k")),
            "Nothing is turned: these scores know no order.",
        ),
        Mistake(
            edited(rotary_scores, "rotate(k, angles)", "rotate(k, -angles)"),
            "Query and key are turned in opposite directions: the score depends on the *sum* of their positions. Turn "
            "both the same way.",
            also=(edited(rotary_scores, "rotate(q, angles)", "rotate(q, -angles)"),),
        ),
        Mistake(edited(rotary_scores, " / math.sqrt(q.size(-1))", ""), "The scores are not divided by √d."),
        Mistake(
            edited(rotary_scores, "q.size(-1)", "q.size(-1) // 2"),
            "You divided by the root of the number of pairs. It is the root of d, the number of features.",
        ),
        Mistake(
            edited(rotary_scores, "math.sqrt(q.size(-1))", "q.size(-1)"),
            "You divided by d. It is the root of d.",
        ),
        Mistake(
            lambda q, k, angles: rotary_scores(k, q, angles),
            "Rows and columns are exchanged: one row for each query, one column for each key.",
        ),
        Mistake(
            lambda q, k, angles: rotary_scores(q, k, angles).softmax(dim=-1),
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
