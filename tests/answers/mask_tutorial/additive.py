"""Lesson 10, my_additive: what learners write."""

import torch

from lessons import masks
from tests.answers import edit, right, wrong

with right:

    def my_additive(allowed, dtype):
        return torch.zeros(allowed.shape, dtype=dtype).masked_fill(~allowed, float("-inf"))


with right:

    def my_additive(allowed, dtype):
        return torch.where(allowed, 0.0, -torch.inf).to(dtype)


with right:

    def my_additive(allowed, dtype):
        return allowed.to(dtype).log()


with right:

    def my_additive(allowed, dtype):
        return masks.allowed_to_additive(allowed, dtype=dtype)


with right:

    def my_additive(allowed, dtype):
        mask = torch.full(allowed.shape, -torch.inf, dtype=dtype)
        mask[allowed] = 0
        return mask


edit('float("-inf")', "-1e9", "-1e9 is large, but not infinite")

edit(
    ', dtype=dtype).masked_fill(~allowed, float("-inf")',
    ").masked_fill(~allowed, -torch.inf",
    "Kind of float: the mask is torch.float32; expected torch.float16",
)

edit(
    "torch.where(allowed, 0.0, -torch.inf).to(dtype)",
    "(1 - allowed.to(dtype)) * -torch.inf",
    "0 times -inf is NaN",
    of=1,
)

edit('float("-inf")', "-100.0", "yours -100, expected -inf")

with wrong("it returns a new tensor"):

    def my_additive(allowed, dtype):
        mask = torch.zeros(allowed.shape, dtype=dtype)
        mask.masked_fill(~allowed, -torch.inf)
        return mask
