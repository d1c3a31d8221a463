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


with wrong("Now both are split by the number of query heads in a group"):

    def fixed_convert(w_q, w_k, num_heads, num_kv_heads):
        def reorder(weight, heads):
            pairs = weight.unflatten(0, (heads, -1, 2))  # (heads, d / 2, 2, D)
            return pairs.transpose(1, 2).flatten(0, 2)

        group = num_heads // num_kv_heads
        return reorder(w_q, group), reorder(w_k, group)


with wrong("The queries now stay as they were"):

    def fixed_convert(w_q, w_k, num_heads, num_kv_heads):
        pairs = w_k.unflatten(0, (num_kv_heads, -1, 2))
        return w_q, pairs.transpose(1, 2).flatten(0, 2)


with wrong("as if they were one head"):

    def fixed_convert(w_q, w_k, num_heads, num_kv_heads):
        def reorder(weight, heads):
            pairs = weight.unflatten(0, (heads, -1, 2))  # (heads, d / 2, 2, D)
            return pairs.transpose(1, 2).flatten(0, 2)

        return reorder(w_q, num_heads), reorder(w_k, 1)
