"""Lesson 03, fixed_attention: what learners write."""

import math

import torch
import torch.nn.functional as F

from tests.answers import edit, right, wrong

with right:

    def fixed_attention(q, k, v):
        length = q.size(-2)
        mask = torch.triu(torch.ones(length, length, dtype=torch.bool), diagonal=1)
        return F.scaled_dot_product_attention(q, k, v, attn_mask=~mask)


with right:

    def fixed_attention(q, k, v):
        return F.scaled_dot_product_attention(q, k, v, is_causal=True)


with right:

    def fixed_attention(q, k, v):
        length = q.size(-2)
        mask = torch.full((length, length), -torch.inf).triu(diagonal=1)
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)


edit("1", "0", "the diagonal is missing")

edit(
    "torch.full((length, length), -torch.inf).triu(",
    "torch.tril(torch.ones(length, length, dtype=torch.bool), ",
    "one diagonal too many",
    of=2,
)

edit("True", "True, scale=2.0", "Values: output differs", of=1)

with wrong("You masked after the softmax"):

    def fixed_attention(q, k, v):
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
        return torch.tril(scores.softmax(dim=-1)) @ v


with wrong("Every row is NaN"):

    def fixed_attention(q, k, v):
        length = q.size(-2)
        mask = torch.triu(torch.ones(length, length), diagonal=1) * -torch.inf
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)


with wrong("Every row is NaN"):

    def fixed_attention(q, k, v):
        mask = torch.zeros(q.size(-2), q.size(-2), dtype=torch.bool).tril()
        scores = q @ k.mT / math.sqrt(q.size(-1))
        return scores.masked_fill(~mask, -torch.inf).softmax(dim=-1) @ v


with wrong("Still the triangle of the future"):

    def fixed_attention(q, k, v):
        length = q.size(-2)
        mask = torch.triu(torch.ones(length, length, dtype=torch.bool), diagonal=-1)
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)


with wrong("the scores are not divided by √d"):

    def fixed_attention(q, k, v):
        mask = torch.ones(q.size(-2), q.size(-2), dtype=torch.bool).tril()
        return (q @ k.mT).masked_fill(~mask, -torch.inf).softmax(dim=-1) @ v


edit("attn_mask=~mask", "attn_mask=mask, is_causal=True", "not both")

edit("q.size(-2)", "q.size(-1)", "one row for each feature", of=2)

edit("attn_mask=~mask", "attn_mask=(~mask).masked_fill(mask, -torch.inf)", "one that is True everywhere")
