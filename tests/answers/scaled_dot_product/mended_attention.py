"""Lesson 02, mended_attention: what learners write."""

import math

from tests.answers import edit, right, wrong

with right:

    def mended_attention(q, k, v):
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
        weights = scores.softmax(dim=-1)
        return weights @ v


with right:

    def mended_attention(q, k, v):
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
        weights = scores.softmax(dim=scores.dim() - 1)
        return weights @ v


edit("=-1", "=2", "Axis 2 is the keys for a batch of tables")

with wrong("Values: the result differs"):

    def mended_attention(q, k, v):
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
        weights = scores.softmax(dim=1)
        weights = weights / weights.sum(dim=-1, keepdim=True)
        return weights @ v
