"""Lesson 01, fixed_attention: what learners write."""

import math

import torch

from tests.answers import edit, right

with right:

    def fixed_attention(x, w_q, w_k, w_v):
        q = x @ w_q
        k = x @ w_k
        v = x @ w_v
        weights = (q @ k.T / math.sqrt(q.size(-1))).softmax(dim=-1)
        return weights @ v


with right:

    def fixed_attention(x, w_q, w_k, w_v):
        return torch.nn.functional.scaled_dot_product_attention(x @ w_q, x @ w_k, x @ w_v)


edit("@ w_q", "@ w_k", "Now the queries are keys as well")

edit(" / math.sqrt(q.size(-1))", "", "Values: the result differs")
