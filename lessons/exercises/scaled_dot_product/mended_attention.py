"""Lesson 02: mended_attention."""

import math

from torch import Tensor

from lessons.attention import attend
from lessons.checking.engine import Exercise, Mistake
from lessons.exercises.scaled_dot_product.scaled_scores import scaled_scores
from lessons.exercises.scaled_dot_product.shared import attention_cases


def attention(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """q (..., Q, d), k (..., K, d), v (..., K, d_v) -> output (..., Q, d_v)."""
    return scaled_scores(q, k).softmax(dim=-1) @ v


def _softmax_along_one(q, k, v):
    return (q @ k.mT / math.sqrt(q.size(-1))).softmax(dim=1) @ v


bug_hunt = Exercise(
    lesson="02",
    name="mended_attention",
    reference=attention,
    cases=attention_cases,
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
