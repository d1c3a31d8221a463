"""Lesson 01, my_output: mix the values by the weights."""

from torch import Tensor

from lessons.checking.engine import Case, Exercise, Mistake, numbers, small_numbers


def mix_values(weights: Tensor, v: Tensor) -> Tensor:
    """Product five. weights (Q, K), v (K, d_v) -> (Q, d_v): row i is the weighted average of the values for query i."""
    return weights @ v


mixtures = Exercise(
    lesson="01",
    name="my_output",
    reference=mix_values,
    cases=lambda generator: [
        Case({"weights": numbers(generator, q, k).softmax(-1), "v": draw(generator, k, d_v)}, about=about)
        for draw, q, k, d_v, about in [
            (small_numbers, 2, 3, 4, ""),
            (small_numbers, 3, 3, 3, ""),
            (numbers, 5, 7, 6, ""),
            (small_numbers, 1, 4, 3, "a single query"),
        ]
    ],
    mistakes=[
        Mistake(
            lambda weights, v: weights.T @ v,
            "You mixed along the columns: row i of your result uses what all queries give to key i. A query's "
            "weights are its row.",
        ),
        Mistake(
            lambda weights, v: weights @ v.T,
            "v is transposed, so you mixed over the features. The weights run over the keys, and the rows of v are "
            "the keys' values.",
        ),
        Mistake(
            lambda weights, v: v[weights.argmax(dim=-1)],
            "You took only the value of the best key. Attention is a soft look-up: every value counts, according to "
            "its weight.",
        ),
        Mistake(
            lambda weights, v: v.mean(dim=0).expand(weights.size(0), -1),
            "You took the plain average of the values, the same for every query. Each query has its own weights.",
        ),
        Mistake(
            lambda weights, v: weights[:, -1:] * v[-1],
            "Only the last key counts in your result. A loop that writes output[i] = … replaces what was there; "
            "output[i] += … adds to it.",
        ),
        Mistake(
            lambda weights, v: v @ weights,
            "The other way around: the weights go on the left, so their K columns meet the K rows of v.",
        ),
        Mistake(
            lambda weights, v: weights * v,
            "You multiplied entry by entry. A row of the output is a sum: each value times its weight, added up over "
            "the keys.",
        ),
        Mistake(
            lambda weights, v: weights.softmax(dim=-1) @ v,
            "These are weights already, and their rows sum to 1. Another softmax evens them out.",
        ),
        Mistake(
            lambda weights, v: weights @ v / v.size(0),
            "You divided by the number of keys as well. The weights of a row sum to 1 already: the sum is the average.",
        ),
        Mistake(
            lambda weights, v: v[: len(weights)],
            "Row i of your result is the value of token i alone. Each weight belongs to its own key: "
            "weights[i, j] * v[j], summed over j.",
        ),
        Mistake(
            lambda weights, v: weights[0] @ v,
            "This is the output of the first query alone. Every query has one: collect them, and return the table.",
        ),
        Mistake(
            lambda weights, v: weights * v.sum(dim=-1),
            "You summed over the features of the values. Sum over the keys: the features stay.",
        ),
        Mistake(
            lambda weights, v: weights[:, :, None] * v,
            "These are the weighted values, one table for each query. Add them up over the keys: .sum(dim=1).",
        ),
        Mistake(
            lambda weights, v: (weights[:, :, None] * v).sum(dim=0),
            "You added up over the queries, so each key has a row. Add up over the keys: each query has a row.",
        ),
    ],
    hints=[
        "Row i of the output is weights[i, 0] * v[0] + weights[i, 1] * v[1] + …",
        "A row of weights times a matrix of values: all rows at once are one matrix product.",
    ],
    solution="""
        def my_output(weights, v):
            return weights @ v
    """,
)
