"""Lesson 02, fixed_attention: what learners write."""

import math

from tests.answers import edit, right, wrong

with right:

    def fixed_attention(q, k, v):
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
        weights = scores.softmax(dim=-1)
        return weights @ v


with right:

    def fixed_attention(q, k, v):
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
        weights = scores.softmax(dim=scores.dim() - 1)
        return weights @ v


edit("=-1", "=2", "A table has no axis 2")

edit("k.transpose(-2, -1)", "k.transpose(1, 2)", "A table has no axis 2")

edit("q.size(-1)", "q.size(2)", "A table has no axis 2")

edit(" / math.sqrt(q.size(-1))", "", "no longer divided by √d")

edit("math.sqrt(q.size(-1))", "q.size(-1)", "you divide by d")

edit("scores.softmax(dim=-1)", "scores.flatten(-2).softmax(-1).view_as(scores)", "of a whole table sum to 1")

edit("q.size(-1)", "k.size(-2)", "the root of the number of keys")

edit("k.transpose(-2, -1)", "k.T", "reverses all axes")

with wrong("the softmax still ran over the queries"):

    def fixed_attention(q, k, v):
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
        weights = scores.softmax(dim=1)
        weights = weights / weights.sum(dim=-1, keepdim=True)
        return weights @ v


edit("q.size(-1)", "q.size(1)", "but d is not")

with wrong("The bug is still there"):

    def fixed_attention(q, k, v):
        scores = q @ k.transpose(-2, -1)
        weights = scores.softmax(dim=1)
        return weights @ v
