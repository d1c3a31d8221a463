"""Lesson 02, mended_attention: find the axis that is wrong as soon as there is a batch."""

from lessons.attention import attend
from lessons.checking.edits import edited
from lessons.checking.engine import Exercise, Mistake
from lessons.exercises.scaled_dot_product.attention import attention
from lessons.exercises.scaled_dot_product.shared import attention_cases

bug_hunt = Exercise(
    lesson="02",
    name="mended_attention",
    reference=attention,
    cases=attention_cases,
    solution=(attend,),
    mistakes=[
        Mistake(
            edited(attention, "dim=-1", "dim=1"),
            "The bug is still there. A symptom: where all values are 1, every output should be 1; with a batch in "
            "front it is not.",
        ),
        Mistake(
            edited(attention, "dim=-1", "dim=2"),
            "Axis 2 holds the keys for a batch of tables; with no batch at all there is no axis 2, and with heads as "
            "a second axis in front it holds the queries. Name the axis from the end.",
        ),
        Mistake(
            edited(attention, "dim=-1", "dim=-2"),
            "Now it is wrong for every input: axis -2 holds the queries.",
        ),
        Mistake(
            edited(attention, "dim=-1", "dim=0"),
            "Axis 0 is the queries for a single table, and the batch for a batch: the sentences would compete.",
        ),
    ],
    hints=[
        "Try it with q = k = v = torch.randn(2, 5, 7). What do the rows of the weights sum to?",
        "Which axis is axis 1 in a tensor (Q, K)? And in a tensor (B, Q, K)?",
    ],
)
