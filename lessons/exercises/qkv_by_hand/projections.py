"""Lesson 01, my_projections: make queries, keys and values from the tokens."""

import torch
from torch import Tensor

from lessons.checking.edits import edited
from lessons.checking.engine import Case, Exercise, Mistake, numbers, small_numbers
from lessons.exercises.qkv_by_hand.shared import projection_inputs


def project(x: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Products one to three. x (T, D), w_q and w_k (D, d), w_v (D, d_v) -> q (T, d), k (T, d), v (T, d_v)."""
    return x @ w_q, x @ w_k, x @ w_v


def _projection_cases(generator) -> list[Case]:
    sizes = [(small_numbers, 2, 3, 4, 5), (small_numbers, 4, 3, 3, 3), (numbers, 7, 5, 6, 2)]
    return [
        *(Case(projection_inputs(draw, generator, *size)) for draw, *size in sizes),
        Case(projection_inputs(small_numbers, generator, 1, 3, 4, 2), about="a single token"),
    ]


projections = Exercise(
    lesson="01",
    name="my_projections",
    reference=project,
    cases=_projection_cases,
    outputs=("q", "k", "v"),
    mistakes=[
        Mistake(
            lambda x, w_q, w_k, w_v: (x @ w_q.T, x @ w_k.T, x @ w_v.T),
            "Your weight matrices are transposed. A token is a row of x, and x goes on the left: x @ w. "
            "(nn.Linear does store its weight transposed; here there is no nn.Linear.)",
        ),
        Mistake(
            edited(project, "x @ w_k", "x @ w_q"),
            "Your keys are your queries: k was made with w_q. Each of the three has its own matrix.",
            also=(edited(project, ("x @ w_k", "x @ w_q"), ("x @ w_v", "x @ w_q")),),
        ),
        Mistake(
            edited(project, "x @ w_k, x @ w_v", "x @ w_v, x @ w_k"),
            "Your keys and values are swapped. k comes from w_k and v from w_v; return them in the order q, k, v.",
        ),
        Mistake(
            edited(project, "x @ w_q, x @ w_k", "x @ w_k, x @ w_q"),
            "Your queries and keys are swapped. q comes from w_q and k from w_k.",
        ),
        Mistake(
            edited(project, "x @ w_q", "x @ w_k"),
            "Your queries are your keys: q was made with w_k. Each of the three has its own matrix.",
        ),
        Mistake(
            edited(project, "x @ w_v", "x @ w_k"),
            "Your values are your keys: v was made with w_k. Each of the three has its own matrix.",
        ),
        Mistake(
            lambda x, w_q, w_k, w_v: (w_q @ x, w_k @ x, w_v @ x),
            "x belongs on the left: x @ w. Its rows are the tokens, and its D features meet the D rows of w.",
            also=(lambda x, w_q, w_k, w_v: (w_q @ x.T, w_k @ x.T, w_v @ x.T),),
        ),
        Mistake(
            lambda x, w_q, w_k, w_v: (x.T @ w_q, x.T @ w_k, x.T @ w_v),
            "x is transposed. Its D features meet the D rows of w as it is: x @ w.",
        ),
        Mistake(
            lambda x, w_q, w_k, w_v: ((x @ w_q).T, (x @ w_k).T, (x @ w_v).T),
            "Your results are transposed: there should be one row per token, as in x.",
        ),
        Mistake(
            lambda x, w_q, w_k, w_v: (x @ w_q, x @ w_q @ w_k, x @ w_q @ w_k @ w_v),
            "k was made from q instead of from x. All three are projections of the same tokens, x.",
            also=(lambda x, w_q, w_k, w_v: (x @ w_q, x @ w_q @ w_k, x @ w_q @ w_v),),
        ),
        Mistake(
            edited(project, "x @ w_v", "x @ w_k @ w_v"),
            "v was made from k instead of from x. All three are projections of the same tokens, x.",
        ),
        Mistake(
            lambda x, w_q, w_k, w_v: (x * w_q, x * w_k, x * w_v),
            "You multiplied entry by entry. A projection is a matrix product: @, not *.",
        ),
        Mistake(
            edited(project, "x @ w_q,", "x @ w_q / w_q.size(1) ** 0.5,"),
            "You divided q by √d. That step belongs to the scores and comes later; return the plain products.",
        ),
        Mistake(
            edited(project, "x @ w_q, x @ w_k, x @ w_v", "x @ w_k, x @ w_v, x @ w_q"),
            "These are the right three, in the wrong order. Return q, k, v.",
            also=(
                edited(project, "x @ w_q, x @ w_k, x @ w_v", "x @ w_v, x @ w_q, x @ w_k"),
                edited(project, "x @ w_q, x @ w_k, x @ w_v", "x @ w_v, x @ w_k, x @ w_q"),
            ),
        ),
        Mistake(
            lambda x, w_q, w_k, w_v: tuple(torch.stack([x @ w_q, x @ w_k, x @ w_v])),
            "You stacked the three. v may have another number of features than q and k: return them as q, k, v.",
        ),
    ],
    hints=[
        "One token is a row of x with D numbers; it must become a row with d numbers. Which product does that?",
        "The same product for all tokens at once is one matrix product, x @ w. Three matrices make three of them.",
    ],
    solution="""
        def my_projections(x, w_q, w_k, w_v):
            q = x @ w_q
            k = x @ w_k
            v = x @ w_v
            return q, k, v
    """,
)
