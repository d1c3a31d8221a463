"""Lesson 03, my_causal: the mask that hides the future."""

import torch
from torch import Tensor

from lessons import masks
from lessons.checking.edits import edited
from lessons.checking.engine import Case, Exercise, Mistake


def causal(num_queries: int) -> Tensor:
    """Query i may attend to keys 0 to i: bool (Q, Q), True = may attend."""
    return masks.causal(num_queries)


def _triangle(num_queries):
    return torch.ones(num_queries, num_queries, dtype=torch.bool).tril()


future_hidden = Exercise(
    lesson="03",
    name="my_causal",
    reference=causal,
    cases=lambda generator: [
        Case({"num_queries": 3}),
        Case({"num_queries": 5}),
        Case({"num_queries": 1}, about="a single token, which may attend to itself"),
    ],
    outputs=("allowed",),
    mistakes=[
        Mistake(
            lambda n: ~masks.causal(n),
            "This is the mask with True and False swapped: True where a query may not attend. In this course True "
            "means: may attend.",
        ),
        Mistake(
            edited(_triangle, "tril()", "tril(diagonal=-1)"),
            "The diagonal is missing: a token may not attend to itself, and the first has nothing to attend to.",
        ),
        Mistake(
            edited(_triangle, "tril()", "tril(diagonal=1)"),
            "One diagonal too many: each query but the last sees the next token, the very one that it must predict.",
        ),
        Mistake(
            edited(_triangle, "tril", "triu"),
            "This is the other triangle: it shows the future, and hides the past. Rows are queries.",
        ),
        Mistake(
            edited(_triangle, ", dtype=torch.bool", ""),
            "The pattern is right, but these are the numbers 0 and 1. A mask is bool here: with numbers, ~ and & don't "
            "do what you need, and added to the scores they block nothing. Use dtype=torch.bool.",
            also=(edited(_triangle, "torch.bool", "torch.int64"),),
        ),
        Mistake(
            lambda n: torch.zeros(n, n).masked_fill(~masks.causal(n), -torch.inf),
            "This is 0 where a query may attend and -inf where it may not: an additive mask. Return a bool mask, "
            "True = may attend.",
        ),
        Mistake(
            lambda n: masks.causal(4),
            "Your mask is (4, 4) whatever num_queries is. Build it from the argument: for 3 tokens it is (3, 3).",
        ),
        Mistake(
            lambda n: torch.eye(n, dtype=torch.bool),
            "Each token sees only itself: that is the identity. It must see the past, too.",
        ),
        Mistake(
            lambda n: masks.causal(n) & (torch.arange(n) > 0)[:, None],
            "Row 0 is empty: the first query may attend to itself. Does a loop start at 1?",
        ),
        Mistake(
            lambda n: torch.ones(n, dtype=torch.bool),
            "That is one row for all queries. Each has its own: compare the key positions, a row, with the query "
            "positions, a column ([:, None]).",
            also=(lambda n: torch.ones(1, n, dtype=torch.bool),),
        ),
        Mistake(
            edited(_triangle, "tril()", "tril().flip(1)"),
            "The triangle is mirrored: row 0 allows the last key. Key 0 is on the left, and every query may attend to "
            "it.",
        ),
        Mistake(
            edited(_triangle, "tril()", "tril().triu(diagonal=-1)"),
            "Each token sees only itself and the one before. It may attend to everything before it.",
        ),
        Mistake(
            edited(_triangle, ".tril()", ""),
            "Everything is allowed. Nothing hides the future yet.",
        ),
        Mistake(
            lambda n: masks.causal(n).tolist(),
            "Your result is a list; expected a tensor. torch.tensor(…) makes one out of it.",
        ),
        Mistake(
            lambda n: torch.tril(torch.ones(n)),
            "torch.ones(n) is a row. A triangle is cut from a table: torch.ones(n, n, dtype=torch.bool).",
        ),
    ],
    hints=[
        "Query i may attend to key j if j ≤ i.",
        "torch.arange(n) as a row is the key positions, as a column (add [:, None]) the query positions. Compare them.",
        "Or: torch.ones(n, n, dtype=torch.bool), and cut off a triangle with tril or triu. Which one?",
    ],
    solution="""
        def my_causal(num_queries):
            return torch.ones(num_queries, num_queries, dtype=torch.bool).tril()
    """,
    in_package="lessons.masks.causal",
)
