"""Lesson 10, fixed_causal: the causal mask of new tokens that come after those in a cache."""

import torch
from torch import Tensor

from lessons.checking.engine import Case, Exercise, Mistake


def causal_with_cache(num_queries: int, num_keys: int) -> Tensor:
    """The last num_queries of num_keys tokens ask -> bool (Q, K), True = may attend."""
    query = torch.arange(num_keys - num_queries, num_keys)  # the position of each query among the keys
    return torch.arange(num_keys) <= query[:, None]


def _triangle(num_queries: int, num_keys: int, diagonal: int) -> Tensor:
    return torch.ones(num_queries, num_keys, dtype=torch.bool).tril(diagonal)


bug_hunt = Exercise(
    lesson="10",
    name="fixed_causal",
    reference=causal_with_cache,
    cases=lambda generator: [
        Case({"num_queries": q, "num_keys": k}) for q, k in [(4, 11), (1, 4), (4, 4), (3, 4), (2, 5)]
    ],
    outputs=("allowed",),
    mistakes=[
        Mistake(
            lambda q, k: _triangle(q, k, 0),
            "The bug is still there. A symptom: the last of 11 tokens sees only 4 of them.",
        ),
        Mistake(
            lambda q, k: _triangle(q, k, k - q + 1),
            "Almost: each query but the last sees one key too many, the token after it.",
        ),
        Mistake(
            lambda q, k: _triangle(q, k, k - q - 1),
            "Almost: no query sees itself.",
        ),
        Mistake(
            lambda q, k: _triangle(q, k, q - k),
            "The triangle moved the wrong way: now the queries see even less. Which diagonal is the upper one?",
        ),
        Mistake(
            lambda q, k: _triangle(q, k, q),
            "The triangle has moved, but not by the number of tokens in the cache. How many keys come before the first "
            "query?",
            also=[lambda q, k: _triangle(q, k, 1)],
        ),
        Mistake(
            lambda q, k: _triangle(q, q, 0),
            "That is the mask of the new tokens among themselves, (Q, Q). The keys of the cache are missing on its "
            "left.",
        ),
        Mistake(
            lambda q, k: torch.ones(q, k, dtype=torch.bool),
            "Now everything is open. For a single new token that is right; of several, the first sees those that come "
            "after.",
        ),
        Mistake(
            lambda q, k: torch.cat([torch.zeros(q, k - q, dtype=torch.bool), _triangle(q, q, 0)], dim=1),
            "The triangle is in the right place, but the cache is hidden: the new tokens see only each other.",
        ),
        Mistake(
            lambda q, k: _triangle(k, k, 0),
            "That is the mask of all tokens, (K, K). Only the last num_queries of them ask: which rows are theirs?",
        ),
        Mistake(
            lambda q, k: torch.ones(q, k, dtype=torch.bool).triu(k - q),
            "The diagonal is the right one, but triu keeps what is right of it: each query sees itself and what comes "
            "after. tril keeps what is left of it.",
        ),
        Mistake(
            lambda q, k: _triangle(k, q, k - q),
            "Queries and keys are swapped: a row for each query, a column for each key, (Q, K).",
            also=[lambda q, k: _triangle(k, q, 0)],
        ),
        Mistake(
            lambda q, k: ~_triangle(q, k, k - q),
            "The triangle is in the right place, but True and False are swapped. Here True means: may attend.",
        ),
        Mistake(
            lambda q, k: _triangle(q, k, k - q).float(),
            "The pattern is right, but these are the numbers 0 and 1. Added to the scores they block nothing: return "
            "a bool mask.",
        ),
    ],
    hints=[
        "Print the mask for 2 queries and 5 keys. At which position of the sentence is query 0?",
        "Query i is at position num_keys - num_queries + i, and may attend to the keys up to that position.",
        "tril(diagonal=…) moves the triangle to the right. By how many positions?",
    ],
    solution="""
        def fixed_causal(num_queries, num_keys):
            before = num_keys - num_queries  # the tokens in the cache
            return torch.ones(num_queries, num_keys, dtype=torch.bool).tril(diagonal=before)
    """,
    in_package="lessons.masks.causal",
)
