"""Lesson 05, my_split_heads: what learners write."""

import torch

from tests.answers import edit, right

with right:

    def my_split_heads(x, num_heads):
        batch, tokens, features = x.shape
        return x.view(batch, tokens, num_heads, features // num_heads).transpose(1, 2)


with right:

    def my_split_heads(x, num_heads):
        return torch.stack(x.chunk(num_heads, dim=-1), dim=1)


with right:

    def my_split_heads(x, num_heads):
        size = x.size(-1) // num_heads
        result = torch.zeros(x.size(0), num_heads, x.size(1), size)
        for h in range(num_heads):
            for f in range(size):
                result[:, h, :, f] = x[:, :, h * size + f]
        return result


edit(
    "torch.stack(x.chunk(num_heads, dim=-1), dim=",
    "x.reshape(x.size(0), num_heads, x.size(1), -",
    "runs across several tokens",
    of=1,
)

edit("=1)", "=1).flip(-1)", "Values: the result differs", of=1)
