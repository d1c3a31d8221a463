"""Lesson 10, my_additive: what learners write."""

import torch

from lessons import masks
from tests.answers import edit, right, wrong

with right:

    def my_additive(allowed, bias):
        return bias.expand(len(allowed), -1, -1, -1).masked_fill(~allowed, float("-inf"))


with right:

    def my_additive(allowed, bias):
        return torch.where(allowed, bias, -torch.inf).to(bias.dtype)


with right:

    def my_additive(allowed, bias):
        return bias + allowed.to(bias.dtype).log()


with right:

    def my_additive(allowed, bias):
        return bias + masks.allowed_to_additive(allowed, dtype=bias.dtype)


with right:

    def my_additive(allowed, bias):
        mask = torch.full((len(allowed), *bias.shape), -torch.inf, dtype=bias.dtype)
        for b in range(len(allowed)):
            for h in range(len(bias)):
                mask[b, h][allowed[b, 0]] = bias[h][allowed[b, 0]]
        return mask


edit('float("-inf")', "-1e9", "-1e9 is large, but not infinite")

edit(".to(bias.dtype)", ".float()", "Kind of float: the mask is torch.float32; expected torch.float16", of=1)

edit(
    "allowed.to(bias.dtype).log()",
    "(1 - allowed.to(bias.dtype)) * -torch.inf",
    "0 times -inf is NaN",
    of=2,
)

with wrong("it returns a new tensor"):

    def my_additive(allowed, bias):
        mask = bias.repeat(len(allowed), 1, 1, 1)
        mask.masked_fill(~allowed, -torch.inf)
        return mask


with wrong("the bias is lost"):

    def my_additive(allowed, bias):
        mask = torch.zeros(len(allowed), *bias.shape, dtype=bias.dtype)
        return mask.masked_fill(~allowed, -torch.inf)


edit('float("-inf")', 'float("inf")', "What is hidden gets +inf")

with wrong("the bias is lost"):

    def my_additive(allowed, bias):
        return masks.allowed_to_additive(allowed)


with wrong("a sum has the wider type"):

    def my_additive(allowed, bias):
        return masks.allowed_to_additive(allowed) + bias


with wrong("a sum has the wider type"):

    def my_additive(allowed, bias):
        return bias + torch.where(allowed, 0.0, -torch.inf)
