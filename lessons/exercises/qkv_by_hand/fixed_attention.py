"""Lesson 01, fixed_attention: find the bug in a whole attention, and fix it."""

import math

from torch import Tensor

from lessons.checking.edits import edited
from lessons.checking.engine import Case, Exercise, Mistake, numbers
from lessons.exercises.qkv_by_hand.output import mix_values
from lessons.exercises.qkv_by_hand.projections import project
from lessons.exercises.qkv_by_hand.scores import scores
from lessons.exercises.qkv_by_hand.shared import projection_inputs


def attention(x: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor) -> Tensor:
    """All five. x (T, D), w_q and w_k (D, d), w_v (D, d_v) -> output (T, d_v)."""
    q, k, v = project(x, w_q, w_k, w_v)
    weights = (scores(q, k) / math.sqrt(q.size(-1))).softmax(dim=-1)
    return mix_values(weights, v)


bug_hunt = Exercise(
    lesson="01",
    name="fixed_attention",
    reference=attention,
    cases=lambda generator: [
        *(Case(projection_inputs(numbers, generator, *size)) for size in [(2, 3, 4, 5), (4, 3, 3, 3), (7, 5, 6, 2)]),
        Case(projection_inputs(numbers, generator, 1, 3, 4, 5), about="a single token"),
    ],
    mistakes=[
        Mistake(
            edited(attention, "project(x, w_q, w_k,", "project(x, w_q, w_q,"),
            "The bug is still there. A symptom: replace w_k by any other matrix, and the result stays the same.",
            also=(
                edited(attention, ("project(x, w_q, w_k,", "project(x, w_q, w_q,"), (" / math.sqrt(q.size(-1))", "")),
                edited(attention, ("project(x, w_q, w_k,", "project(x, w_q, w_q,"), ("q.size", "x.size")),
                edited(attention, ("project(x, w_q, w_k,", "project(x, w_q, w_q,"), ("dim=-1", "dim=0")),
            ),
        ),
        Mistake(
            edited(attention, "project(x, w_q, w_k,", "project(x, w_k, w_k,"),
            "Now keys are compared with keys, both made with w_k. On the left belong the queries, made with w_q.",
        ),
        Mistake(
            edited(attention, "project(x, w_q, w_k,", "project(x, w_q, w_v,"),
            "Now the queries are compared with what w_v makes. Compare them with the keys, made with w_k.",
        ),
        Mistake(
            edited(attention, "project(x, w_q, w_k,", "project(x, w_k, w_q,"),
            "Now queries and keys are swapped: q needs w_q, k needs w_k, and row i of q @ k.T belongs to query i.",
        ),
        Mistake(
            edited(attention, "w_k, w_v)", "w_k, w_k)"),
            "Now the weights mix what w_k makes, the keys. Let them mix the values, made with w_v.",
        ),
        Mistake(
            edited(attention, " / math.sqrt(q.size(-1))", ""),
            "The keys are right now, but the scores are no longer divided by √d. That line was right.",
        ),
        Mistake(
            edited(attention, "q.size(-1)", "x.size(-1)"),
            "The keys are right now, but the scores are no longer divided by √d, with d the number of features of a "
            "query. That line was right.",
            also=(edited(attention, "math.sqrt(q.size(-1))", "q.size(-1)"),),
        ),
        Mistake(
            edited(attention, (" / math.sqrt(q.size(-1))", ""), ("dim=-1)", "dim=-1) / math.sqrt(q.size(-1))")),
            "The keys are right now, but the division by √d comes after the softmax. It was right before it.",
        ),
        Mistake(
            edited(attention, "dim=-1", "dim=0"),
            "The keys are right now, but the softmax runs down the columns, over the queries. dim=-1 was right.",
        ),
        Mistake(
            edited(attention, "return mix_values(weights, v)", "return weights"),
            "These are the weights. The last line was right: it mixes the values by them.",
        ),
    ],
    hints=[
        "Print q and k for some x. What do you notice?",
        "Read the three projections aloud: which matrix makes which?",
    ],
    solution="""
        def fixed_attention(x, w_q, w_k, w_v):
            q = x @ w_q
            k = x @ w_k  # w_k, not w_q
            v = x @ w_v
            weights = (q @ k.T / math.sqrt(q.size(-1))).softmax(dim=-1)
            return weights @ v
    """,
)
