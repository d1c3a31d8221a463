"""Lesson 16, fixed_convert: what learners write."""

import torch

from tests.answers import edit, right, wrong

with right:

    def fixed_convert(w_q, w_k, num_heads, num_kv_heads):
        def reorder(weight, heads):
            pairs = weight.unflatten(0, (heads, -1, 2))
            return pairs.transpose(1, 2).flatten(0, 2)

        return reorder(w_q, num_heads), reorder(w_k, num_kv_heads)


with right:

    def fixed_convert(w_q, w_k, num_heads, num_kv_heads):
        d = len(w_q) // num_heads
        heads = [*w_q.split(d), *w_k.split(d)]
        heads = [torch.cat([head[0::2], head[1::2]]) for head in heads]
        return torch.cat(heads[:num_heads]), torch.cat(heads[num_heads:])


with wrong("The bug is still there"):

    def fixed_convert(w_q, w_k, num_heads, num_kv_heads):
        def reorder(weight, heads):
            pairs = weight.unflatten(0, (heads, -1, 2))  # (heads, d / 2, 2, D)
            return pairs.transpose(1, 2).flatten(0, 2)

        return reorder(w_q, num_heads), reorder(w_k, num_heads // num_kv_heads)


edit("reorder(w_k, num_kv_heads)", "reorder(w_k, num_heads)", "as many heads as the queries have")

edit("reorder(w_q, num_heads)", "reorder(w_q, num_kv_heads)", "the queries are scrambled")

edit("reorder(w_k, num_kv_heads)", "w_k", "The keys now stay as they were")

edit("(heads, -1, 2)", "(heads, 2, -1)", "This is the way back")
