"""Lesson 01, my_scores: the score of every query with every key."""

import math

import torch
from torch import Tensor

from lessons.checking.engine import Case, Exercise, Mistake, numbers, small_numbers


def scores(q: Tensor, k: Tensor) -> Tensor:
    """Product four. q (Q, d), k (K, d) -> (Q, K): entry [i, j] is query i times key j, feature by feature, summed."""
    return q @ k.T


score_table = Exercise(
    lesson="01",
    name="my_scores",
    reference=scores,
    cases=lambda generator: [
        Case({"q": draw(generator, queries, d), "k": draw(generator, keys, d)}, about=about)
        for draw, queries, keys, d, about in [
            (small_numbers, 2, 4, 3, ""),
            (small_numbers, 3, 3, 3, ""),
            (numbers, 5, 6, 7, ""),
            (small_numbers, 1, 4, 3, "a single query"),
        ]
    ],
    mistakes=[
        Mistake(
            lambda q, k: k @ q.T,
            "Your table is transposed: entry [i, j] is key i against query j. There should be one row per "
            "query and one column per key.",
        ),
        Mistake(
            lambda q, k: q * k,
            "You multiplied entry by entry. A score is one number for a pair of tokens: multiply feature by "
            "feature, and then sum over the features.",
        ),
        Mistake(
            lambda q, k: q @ k,
            "k is not transposed: you summed over the wrong axis of k. The features of a query meet the features "
            "of a key; both are on the last axis.",
        ),
        Mistake(
            lambda q, k: q.T @ k,
            "You summed over the tokens, so the result is features by features. Sum over the features: the result "
            "is queries by keys.",
            also=(lambda q, k: k.T @ q, lambda q, k: q.T @ k.T),
        ),
        Mistake(
            lambda q, k: (q @ k.T) / math.sqrt(q.size(-1)),
            "These are the scores divided by √d. That step comes later; return the plain products.",
            also=(lambda q, k: q @ k.T / math.sqrt(3),),
        ),
        Mistake(
            lambda q, k: (q @ k.T) / (q.norm(dim=-1)[:, None] * k.norm(dim=-1)),
            "You divided by the lengths of the vectors: that is the cosine. Return the dot product; in it the "
            "lengths count, too.",
        ),
        Mistake(
            lambda q, k: (q * k).sum(dim=-1),
            "You multiplied query i with key i only. Every query meets every key: the result is a table, (Q, K).",
        ),
        Mistake(
            lambda q, k: q @ k.reshape(k.size(1), k.size(0)),
            "reshape and view put the numbers of k, in their old order, into another shape. That is no transpose: "
            "k.T turns rows into columns.",
        ),
        Mistake(
            lambda q, k: (q @ k.T / math.sqrt(q.size(-1))).softmax(dim=-1),
            "These are the weights already. Return the scores: plain products, with no softmax.",
            also=(lambda q, k: (q @ k.T).softmax(dim=-1),),
        ),
        Mistake(
            lambda q, k: (q @ k.T).abs(),
            "You lost the sign. A score may be negative: then query and key are more than 90° apart.",
        ),
        Mistake(
            lambda q, k: (q[:, None] - k[None]).square().sum(dim=-1),
            "These are distances, small where query and key are alike. A score is a product: multiply feature "
            "by feature, and sum.",
            also=(lambda q, k: torch.cdist(q, k),),
        ),
        Mistake(
            lambda q, k: (q @ k.T) / q.size(-1),
            "You divided by the number of features, as the mean does. A score is the sum of the products.",
        ),
        Mistake(
            lambda q, k: q @ q.T,
            "You compared queries with queries: k is not used. Row i, column j is query i against key j.",
        ),
        Mistake(
            lambda q, k: q @ k[: len(q)].T,
            "Your table is queries by queries. There may be more keys than queries: the columns, or the inner loop, "
            "run over all of k.",
        ),
        Mistake(
            lambda q, k: torch.stack([a @ b for a, b in zip(q, k)]),
            "You compared query i with key i alone. Every query is compared with every key: a table, (Q, K).",
        ),
        Mistake(
            lambda q, k: (q[:, None] * k).sum(dim=1),
            "You added up over the keys. A score adds up over the features: the last axis.",
        ),
        Mistake(
            lambda q, k: q[:, -1:] * k[:, -1],
            "Only the last feature counts in your result. A loop that writes table[i, j] = … replaces what was there; "
            "table[i, j] += … adds to it.",
        ),
    ],
    hints=[
        "How many scores are there for Q queries and K keys? That is the shape of the result.",
        "Write one entry first: sum(q[i] * k[j]). Which matrix product computes all of them?",
        "In a matrix product the inner sizes must match: (Q, d) times (d, K).",
    ],
    solution="""
        def my_scores(q, k):
            return q @ k.T
    """,
)
