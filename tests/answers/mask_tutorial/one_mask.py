"""Lesson 10, my_one_mask: what learners write."""

import torch

from lessons import masks
from tests.answers import edit, right

with right:

    def my_one_mask(key_padding_mask, attn_mask):
        return ~(key_padding_mask[:, None, None, :] | attn_mask)


with right:

    def my_one_mask(key_padding_mask, attn_mask):
        return ~key_padding_mask[:, None, None, :] & ~attn_mask[None, None]


with right:

    def my_one_mask(key_padding_mask, attn_mask):
        padding = masks.blocked_to_allowed(key_padding_mask)[:, None, None, :]
        return masks.combine(padding, masks.blocked_to_allowed(attn_mask))


with right:

    def my_one_mask(key_padding_mask, attn_mask):
        both = [[~(attn_mask[i] | sentence) for i in range(len(attn_mask))] for sentence in key_padding_mask]
        return torch.stack([torch.stack(rows) for rows in both]).unsqueeze(1)


with right:

    def my_one_mask(key_padding_mask, attn_mask):
        additive = torch.zeros(attn_mask.shape).masked_fill(attn_mask, -torch.inf)
        return additive.masked_fill(key_padding_mask[:, None, None, :], -torch.inf) == 0


edit(
    "(key_padding_mask[:, None, None, :] | attn_mask)",
    "key_padding_mask[:, None, None, :] | ~attn_mask",
    "You block only what both masks block",
)

edit(
    "(key_padding_mask[:, None, None, :] | attn_mask)",
    "key_padding_mask[:, None, None, :] & attn_mask",
    "You inverted key_padding_mask but not attn_mask",
)

edit(
    "~(key_padding_mask[:, None, None, :] | attn_mask",
    "(~(key_padding_mask[:, None, None, :] | attn_mask)).float(",
    "these are the numbers 0 and 1",
)

edit("(key_padding_mask[:, None, None, :] | attn_mask)", "attn_mask & ~key_padding_mask", "sentences meet queries")

edit(
    "~(key_padding_mask[:, None, None, :] | attn_mask)",
    "not (key_padding_mask[:, None, None, :] or attn_mask)",
    "ask whether a whole tensor is true",
)
