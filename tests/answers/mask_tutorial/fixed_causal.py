"""Lesson 10, fixed_causal: what learners write."""

import torch

from lessons import masks
from tests.answers import edit, right

with right:

    def fixed_causal(num_queries, num_keys):
        return torch.ones(num_queries, num_keys, dtype=torch.bool).tril(diagonal=num_keys - num_queries)


with right:

    def fixed_causal(num_queries, num_keys):
        return masks.causal(num_queries, offset=num_keys - num_queries)


with right:

    def fixed_causal(num_queries, num_keys):
        return torch.ones(num_keys, num_keys, dtype=torch.bool).tril()[-num_queries:]


with right:

    def fixed_causal(num_queries, num_keys):
        old = num_keys - num_queries
        cache = torch.ones(num_queries, old).bool()
        new = torch.triu(torch.ones(num_queries, num_queries), diagonal=1) == 0
        return torch.cat([cache, new], dim=1)


edit("num_queries, offset=num_keys - num_queries)", "num_keys)[:num_queries]", "sees only 4 of them", of=1)

edit(".tril(diagonal=num_keys - num_queries)", "", "of several, the first sees those that come after")

edit(
    "masks.causal(num_queries, offset=num_keys - num_queries",
    "torch.ones(num_keys, num_keys, dtype=torch.bool).tril(",
    "which rows are theirs?",
    of=1,
)

edit(", dtype=torch.bool).tril(diagonal=", ").tril(", "these are the numbers 0 and 1")


edit(".tril(diagonal=", ".triu(diagonal=", "triu keeps what is right of it")

edit(
    "torch.ones(num_queries, num_keys, dtype", "torch.ones(num_keys, num_queries, dtype", "Queries and keys are swapped"
)


edit("diagonal=num_keys - num_queries", "diagonal=num_queries", "not by the number of tokens in the cache")

edit("num_queries, offset=num_keys - num_queries", "num_queries", "The keys of the cache are missing", of=1)
