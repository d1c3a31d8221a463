"""Lesson 03, my_causal: the mask that hides the future."""

import torch
from torch import Tensor

from lessons import masks
from lessons.checking.edits import edited
from lessons.checking.engine import Case, Exercise, Mistake


def causal(num_queries: int) -> Tensor:
    """Query i may look at keys 0 to i: bool (Q, Q), True = may look."""
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
        Case({"num_queries": 1}, about="a single token, which may look at itself"),
    ],
    outputs=("allowed",),
    solution=(masks.causal,),
    mistakes=[
        Mistake(
            lambda n: ~masks.causal(n),
            "This is the mask with True and False exchanged: True where a query may not look. In this course True "
            "means: may look.",
        ),
        Mistake(
            edited(_triangle, "tril()", "tril(diagonal=-1)"),
            "The diagonal is missing: a token may not look at itself, and the first may look at nothing at all.",
        ),
        Mistake(
            edited(_triangle, "tril()", "tril(diagonal=1)"),
            "One too many: each query sees the token after it, the very one that it is to predict.",
        ),
        Mistake(
            edited(_triangle, "tril", "triu"),
            "The triangle lies the other way: each query sees the future, and not the past. Rows are queries.",
        ),
        Mistake(
            edited(_triangle, ", dtype=torch.bool", ""),
            "The places are right, but these are the numbers 0 and 1. A mask is bool here: with numbers, ~ and & do "
            "not do what you need, and added to the scores they would block nothing. Use dtype=torch.bool.",
            also=(edited(_triangle, "torch.bool", "torch.int64"),),
        ),
        Mistake(
            lambda n: torch.zeros(n, n).masked_fill(~masks.causal(n), -torch.inf),
            "This is 0 where a query may look and -inf where it may not: numbers to be added to the scores. A bool "
            "mask is asked for, True = may look.",
        ),
        Mistake(
            lambda n: masks.causal(4),
            "It is (4, 4) whatever num_queries is. Build it from the argument: for 3 tokens it is (3, 3).",
        ),
        Mistake(
            lambda n: torch.eye(n, dtype=torch.bool),
            "Each token sees only itself. That is the identity; the past belongs to it, too.",
        ),
        Mistake(
            edited(_triangle, ".tril()", ""),
            "Everything is allowed. Nothing hides the future yet.",
        ),
    ],
    hints=[
        "Query i may look at key j if j ≤ i.",
        "torch.arange(n) as a row is the keys, as a column (add [:, None]) the queries. Compare them.",
        "Or: torch.ones(n, n, dtype=torch.bool), and cut off a triangle with tril or triu. Which one?",
    ],
)
