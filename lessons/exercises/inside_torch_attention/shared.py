"""What the exercises of lesson 13 share."""

import torch
from torch import Tensor

from lessons.torch_attention import (
    to_additive,
)


def plain(mask: Tensor) -> Tensor:
    return to_additive(mask, torch.float32)


def each_for_all_heads(row: Tensor, num_heads: int) -> Tensor:
    return row.repeat_interleave(num_heads, dim=0)


def _merged(attn=plain, padding=plain, join=torch.add, heads=each_for_all_heads):
    """Merging with some of its steps changed."""

    def wrong(attn_mask, key_padding_mask, num_heads):
        merged = None if attn_mask is None else attn(attn_mask)
        if key_padding_mask is None:
            return merged
        rows = heads(padding(key_padding_mask)[:, None], num_heads)  # (B·H, 1, S)
        return rows if merged is None else join(merged, rows)

    return wrong


def inverted(mask: Tensor) -> Tensor:
    return ~mask if mask.dtype == torch.bool else mask
