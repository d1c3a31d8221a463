"""Lesson 02, fixed_attention: find the axis that is wrong as soon as there is a batch."""

import math

from lessons.checking.edits import edited
from lessons.checking.engine import Exercise, Mistake
from lessons.exercises.scaled_dot_product.attention import attention, in_one_line
from lessons.exercises.scaled_dot_product.shared import attention_cases


def _divided_once_more(q, k, v):
    weights = (q @ k.mT / math.sqrt(q.size(-1))).softmax(dim=1)
    return weights / weights.sum(dim=-1, keepdim=True) @ v


bug_hunt = Exercise(
    lesson="02",
    name="fixed_attention",
    reference=attention,
    cases=attention_cases,
    mistakes=[
        Mistake(
            edited(attention, "dim=-1", "dim=1"),
            "The bug is still there. A symptom: if all values are 1, every output should be 1; with a batch in front "
            "it isn't.",
            also=(
                edited(in_one_line, (" / math.sqrt(q.size(-1))", ""), ("dim=-1", "dim=1")),
                edited(in_one_line, ("math.sqrt(q.size(-1))", "q.size(-1)"), ("dim=-1", "dim=1")),
                edited(in_one_line, ("q.size(-1)", "k.size(-2)"), ("dim=-1", "dim=1")),
            ),
        ),
        Mistake(
            edited(attention, "dim=-1", "dim=2"),
            "A table has no axis 2, and with heads as a second axis in front, axis 2 is another one than in a batch of "
            "tables. Count the axes from the end.",
        ),
        Mistake(
            edited(attention, "dim=-1", "dim=-2"),
            "Now it is wrong for a single table, too: axis -2 is the queries.",
        ),
        Mistake(
            edited(attention, "dim=-1", "dim=0"),
            "For a single table axis 0 is the queries, and for a batch it is the sentences: they would compete with "
            "each other.",
        ),
        Mistake(
            edited(in_one_line, " / math.sqrt(q.size(-1))", ""),
            "The axis is right now, but the scores are no longer divided by √d. That line was right.",
        ),
        Mistake(
            edited(in_one_line, "q.size(-1)", "k.size(-2)"),
            "The axis is right now, but you divide by the root of the number of keys. The line of the scores was "
            "right: d is the number of features.",
        ),
        Mistake(
            edited(in_one_line, "k.mT", "k.T"),
            "The transpose was right: .T reverses all axes, the batch too.",
        ),
        Mistake(
            edited(in_one_line, "math.sqrt(q.size(-1))", "q.size(-1)"),
            "The axis is right now, but you divide by d. The line of the scores was right: it divides by its root.",
        ),
        Mistake(
            lambda q, k, v: (q @ k.mT / math.sqrt(q.size(-1))).flatten(-2).softmax(-1).view(*q.shape[:-1], -1) @ v,
            "Now the weights of a whole table sum to 1. Each row should, by itself: dim=-1.",
        ),
        Mistake(
            edited(in_one_line, "q.size(-1)", "q.size(1)"),
            "The axis of the softmax is right now, but d is not: with a batch in front, axis 1 is the queries. The "
            "line of the scores was right.",
        ),
        Mistake(
            _divided_once_more,
            "Now the rows sum to 1, but the softmax still ran over the queries: each weight contains its column's sum. "
            "Only the axis is wrong: dim=-1.",
        ),
    ],
    hints=[
        "Try it with q = k = v = torch.randn(2, 5, 7). What does each row of the weights sum to?",
        "Which axis is axis 1 in a tensor (Q, K)? And in a tensor (B, Q, K)?",
    ],
    solution="""
        def fixed_attention(q, k, v):
            scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
            weights = scores.softmax(dim=-1)  # the last axis, not axis 1
            return weights @ v
    """,
    in_package="lessons.attention.attend",
)
