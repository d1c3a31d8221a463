"""Lesson 06, my_rotary_scores: scores of queries and keys that are rotated to their positions."""

import math

import torch
from torch import Tensor

from lessons.checking.edits import edited
from lessons.checking.engine import Case, Exercise, Mistake, numbers
from lessons.positions import rotary_angles, rotate


def rotary_scores(q: Tensor, k: Tensor, angles: Tensor) -> Tensor:
    """q and k (T, d), angles (T, d / 2) -> (T, T): both are rotated, then multiplied, then divided by √d."""
    return rotate(q, angles) @ rotate(k, angles).mT / math.sqrt(q.size(-1))


def _score_cases(generator) -> list[Case]:
    def case(t, d, about="", gradients=False):
        inputs = {"q": numbers(generator, t, d), "k": numbers(generator, t, d), "angles": rotary_angles(t, d)}
        return Case(inputs, about=about, gradients=gradients)

    return [case(3, 4), case(5, 8), case(4, 4), case(5, 6, "gradients", gradients=True), case(1, 4, "a single token")]


scores = Exercise(
    lesson="06",
    name="my_rotary_scores",
    reference=rotary_scores,
    cases=_score_cases,
    mistakes=[
        Mistake(
            edited(rotary_scores, "rotate(k, angles)", "k"),
            "The keys are not rotated. Then a score depends on the query's position, not on the offset.",
        ),
        Mistake(
            edited(rotary_scores, "rotate(q, angles)", "q"),
            "The queries are not rotated. Then a score depends on the key's position, not on the offset.",
        ),
        Mistake(
            edited(rotary_scores, ("rotate(q, angles)", "q"), ("rotate(k, angles)", "k")),
            "Nothing is rotated: these scores ignore the positions.",
        ),
        Mistake(
            edited(rotary_scores, "rotate(k, angles)", "rotate(k, -angles)"),
            "Query and key are rotated in opposite directions: the score depends on the *sum* of their positions. "
            "Rotate both the same way.",
            also=(edited(rotary_scores, "rotate(q, angles)", "rotate(q, -angles)"),),
        ),
        Mistake(edited(rotary_scores, " / math.sqrt(q.size(-1))", ""), "The scores are not divided by √d."),
        Mistake(
            edited(rotary_scores, "q.size(-1)", "q.size(-1) // 2"),
            "You divided by the root of the number of pairs. Divide by √d, where d is the number of features.",
        ),
        Mistake(
            edited(rotary_scores, "math.sqrt(q.size(-1))", "q.size(-1)"),
            "You divided by d. Divide by √d.",
        ),
        Mistake(
            lambda q, k, angles: rotary_scores(k, q, angles),
            "Rows and columns are swapped: you need one row per query and one column per key.",
        ),
        Mistake(
            lambda q, k, angles: rotary_scores(q, k, angles).softmax(dim=-1),
            "These are the weights. Return the scores, before the softmax.",
        ),
        Mistake(
            lambda q, k, a: rotate(q @ k.mT / math.sqrt(q.size(-1)), a),
            "You rotated the scores. Rotate q and k, before you multiply them.",
            also=(lambda q, k, a: rotate(q @ k.mT, a),),
        ),
        Mistake(
            edited(
                rotary_scores, ("rotate(q, angles)", "rotate(q, -angles)"), ("rotate(k, angles)", "rotate(k, -angles)")
            ),
            "Query and key are both rotated backward, so a key two positions ahead gets the score of one two positions "
            "back. (a, b) becomes (a cos − b sin, a sin + b cos).",
        ),
        Mistake(
            edited(rotary_scores, "q.size(-1)", "len(q)"),
            "You divided by the root of the number of tokens, T. Divide by √d, where d is the number of features.",
        ),
        Mistake(
            edited(rotary_scores, "/ math", "* math"),
            "You multiplied by √d. Divide by it.",
        ),
        Mistake(
            edited(rotary_scores, ".mT", ""),
            "The keys are not transposed: (T, d) @ (d, T) → (T, T).",
        ),
        Mistake(
            edited(rotary_scores, ("@", "*"), (".mT", "")),
            "You multiplied q and k number by number. A score is a dot product, of each query with each key: q @ k.T.",
            also=(lambda q, k, a: (rotate(q, a) * rotate(k, a)).sum(-1) / math.sqrt(q.size(-1)),),
        ),
        Mistake(
            lambda q, k, a: rotary_scores(q, k, a).masked_fill(torch.ones(len(q), len(q)).triu(1).bool(), -math.inf),
            "You applied a causal mask. The task has none: every query has a score with every key.",
        ),
    ],
    hints=[
        "Rotate q and k, each by the angles of its positions, with rotate or your my_rotate.",
        "Then, as always: q kᵀ / √d.",
    ],
    solution="""
        def my_rotary_scores(q, k, angles):
            q, k = rotate(q, angles), rotate(k, angles)
            return q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    """,
)
