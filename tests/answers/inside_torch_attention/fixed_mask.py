"""Lesson 13, fixed_mask: what learners write."""

import torch

from tests.answers import edit, right, wrong

with right:

    def fixed_mask(blocked, num_heads):
        return blocked.repeat_interleave(num_heads, dim=0)


with right:

    def fixed_mask(blocked, num_heads):
        B, L, S = blocked.shape
        return blocked.view(B, 1, L, S).expand(-1, num_heads, -1, -1).reshape(B * num_heads, L, S)


with right:

    def fixed_mask(blocked, num_heads):
        return torch.stack([sentence for sentence in blocked for head in range(num_heads)])


with right:

    def fixed_mask(blocked, num_heads):
        return blocked[:, None].repeat(1, num_heads, 1, 1).flatten(0, 1)


edit("blocked.repeat_interleave(num_heads, dim=0", "blocked.repeat(num_heads, 1, 1", "The bug is still there")

edit("return ", "return ~", "you inverted the mask")

edit(
    "blocked.repeat_interleave(num_heads, dim=0",
    "blocked.unsqueeze(1).expand(-1, num_heads, -1, -1",
    "does not accept four axes",
)

edit("0", "1", "Shape")

edit(
    "num_heads, dim=0)",
    "num_heads, dim=0).transpose(1, 2).reshape(-1, *blocked.shape[1:])",
    "Leave the last two axes alone",
)


with wrong("gets the mask of the first one"):

    def fixed_mask(blocked, num_heads):
        return blocked[:1].expand(num_heads * len(blocked), -1, -1)


with wrong("one mask for all sentences"):

    def fixed_mask(blocked, num_heads):
        return blocked.any(dim=0).expand(num_heads * len(blocked), -1, -1)
