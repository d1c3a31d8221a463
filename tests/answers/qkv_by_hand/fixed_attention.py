"""Lesson 01, fixed_attention: what learners write."""

import math

import torch

from tests.answers import edit, right, wrong

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


edit("@ w_q", "@ w_k", "Now keys are compared with keys")

edit(" / math.sqrt(q.size(-1))", "", "no longer divided by √d")

edit("q.size", "x.size", "the number of features of a query")

edit("math.sqrt(q.size(-1))", "q.size(-1)", "the number of features of a query")

edit("weights @ v", "weights", "These are the weights")

edit("dim=-1)", "dim=0)", "over the queries")

edit("x @ w_v", "x @ w_k", "Now the weights mix what w_k makes")

edit("q @ k.T", "k @ q.T", "row i of q @ k.T belongs to query i")

edit("return weights", "return (weights + 0.01)", "Values: the result differs")

with wrong("The bug is still there"):

    def fixed_attention(x, w_q, w_k, w_v):
        q = x @ w_q
        k = x @ w_q
        v = x @ w_v
        weights = (q @ k.T / math.sqrt(x.size(-1))).softmax(dim=-1)
        return weights @ v


with wrong("comes after the softmax"):

    def fixed_attention(x, w_q, w_k, w_v):
        q, k, v = x @ w_q, x @ w_k, x @ w_v
        weights = (q @ k.T).softmax(dim=-1) / math.sqrt(q.size(-1))
        return weights @ v
