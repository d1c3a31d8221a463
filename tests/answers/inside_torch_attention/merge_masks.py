"""Lesson 13, my_merge_masks: what learners write."""

import torch

from tests.answers import right, wrong

with right:

    def my_merge_masks(attn_mask, key_padding_mask, num_heads):
        if attn_mask is not None and attn_mask.dtype == torch.bool:
            attn_mask = torch.zeros(attn_mask.shape).masked_fill(attn_mask, -torch.inf)
        if key_padding_mask is None:
            return attn_mask
        if key_padding_mask.dtype == torch.bool:
            key_padding_mask = torch.zeros(key_padding_mask.shape).masked_fill(key_padding_mask, -torch.inf)
        B, S = key_padding_mask.shape
        padding = key_padding_mask.view(B, 1, 1, S).expand(-1, num_heads, -1, -1).reshape(B * num_heads, 1, S)
        return padding if attn_mask is None else attn_mask + padding


with right:

    def my_merge_masks(attn_mask, key_padding_mask, num_heads):
        # as torch did it before: bool masks are joined by |, and become float at the end
        if key_padding_mask is not None and key_padding_mask.dtype == torch.bool:
            padding = key_padding_mask.repeat_interleave(num_heads, dim=0).unsqueeze(1)
            if attn_mask is None:
                attn_mask = padding
            elif attn_mask.dtype == torch.bool:
                attn_mask = attn_mask.logical_or(padding)
            else:
                attn_mask = attn_mask.masked_fill(padding, float("-inf"))
        elif key_padding_mask is not None:
            padding = key_padding_mask.repeat_interleave(num_heads, dim=0).unsqueeze(1)
            attn_mask = padding if attn_mask is None else attn_mask + padding
        if attn_mask is not None and attn_mask.dtype == torch.bool:
            attn_mask = torch.zeros_like(attn_mask, dtype=torch.float32).masked_fill_(attn_mask, float("-inf"))
        return attn_mask


with right:

    def my_merge_masks(attn_mask, key_padding_mask, num_heads):
        if attn_mask is None and key_padding_mask is None:
            return None

        def additive(mask):
            return torch.where(mask, -torch.inf, 0.0) if mask.dtype == torch.bool else mask

        total = 0.0
        if attn_mask is not None:
            total = total + additive(attn_mask)
        if key_padding_mask is not None:
            total = total + torch.stack([row for row in additive(key_padding_mask) for _ in range(num_heads)])[:, None]
        return total


with right:

    def my_merge_masks(attn_mask, key_padding_mask, num_heads):
        from lessons.torch_attention import merge_masks

        return merge_masks(attn_mask, key_padding_mask, num_heads)


with wrong("in the order H·B"):

    def my_merge_masks(attn_mask, key_padding_mask, num_heads):
        def additive(mask):
            return torch.zeros(mask.shape).masked_fill(mask, -torch.inf) if mask.dtype == torch.bool else mask

        if attn_mask is not None:
            attn_mask = additive(attn_mask)
        if key_padding_mask is None:
            return attn_mask
        padding = additive(key_padding_mask)[:, None].repeat(num_heads, 1, 1)
        return padding if attn_mask is None else attn_mask + padding


with wrong("Both masks are inverted"):

    def my_merge_masks(attn_mask, key_padding_mask, num_heads):
        def additive(mask):
            return torch.zeros(mask.shape).masked_fill(~mask, -torch.inf) if mask.dtype == torch.bool else mask

        if attn_mask is not None:
            attn_mask = additive(attn_mask)
        if key_padding_mask is None:
            return attn_mask
        padding = additive(key_padding_mask).repeat_interleave(num_heads, dim=0)[:, None]
        return padding if attn_mask is None else attn_mask + padding


with wrong("It raised AttributeError"):

    def my_merge_masks(attn_mask, key_padding_mask, num_heads):
        padding = key_padding_mask.repeat_interleave(num_heads, dim=0)[:, None]
        both = padding if attn_mask is None else padding | attn_mask
        return torch.zeros(both.shape).masked_fill(both, -torch.inf)


with wrong("so whatever is not 0 blocks"):

    def my_merge_masks(attn_mask, key_padding_mask, num_heads):
        if key_padding_mask is not None:
            key_padding_mask = key_padding_mask.repeat_interleave(num_heads, dim=0)[:, None]
        both = [mask.bool() for mask in (attn_mask, key_padding_mask) if mask is not None]
        if not both:
            return None
        both = both[0] if len(both) == 1 else both[0] | both[1]
        return torch.zeros(both.shape).masked_fill(both, -torch.inf)


with wrong("Your mask is bool still"):

    def my_merge_masks(attn_mask, key_padding_mask, num_heads):
        if key_padding_mask is not None:
            key_padding_mask = key_padding_mask.repeat_interleave(num_heads, dim=0)[:, None]
        if attn_mask is None or key_padding_mask is None:
            return attn_mask if key_padding_mask is None else key_padding_mask
        return attn_mask | key_padding_mask


with wrong("0 times -inf is NaN. Begin with zeros"):

    def my_merge_masks(attn_mask, key_padding_mask, num_heads):
        def additive(mask):
            return mask.float() * -torch.inf if mask.dtype == torch.bool else mask

        merged = None if attn_mask is None else additive(attn_mask)
        if key_padding_mask is None:
            return merged
        padding = additive(key_padding_mask).repeat_interleave(num_heads, dim=0)[:, None]
        return padding if merged is None else merged + padding


with wrong("None: the additive mask is a Tensor; expected None.\nIt goes wrong here: no mask at all."):

    def my_merge_masks(attn_mask, key_padding_mask, num_heads):
        from lessons.torch_attention import merge_masks

        if attn_mask is None and key_padding_mask is None:
            return torch.zeros(1, 1, 1)
        return merge_masks(attn_mask, key_padding_mask, num_heads)


with wrong("Your padding is (B·H, S)"):

    def my_merge_masks(attn_mask, key_padding_mask, num_heads):
        def additive(mask):
            return torch.where(mask, -torch.inf, 0.0) if mask.dtype == torch.bool else mask

        if key_padding_mask is None:
            return None if attn_mask is None else additive(attn_mask)
        padding = additive(key_padding_mask).repeat_interleave(num_heads, dim=0)
        return padding if attn_mask is None else additive(attn_mask) + padding


with wrong("as this course has it"):

    def my_merge_masks(attn_mask, key_padding_mask, num_heads):
        def additive(mask):
            return torch.where(mask, -torch.inf, 0.0) if mask.dtype == torch.bool else mask

        if key_padding_mask is None:
            return None if attn_mask is None else additive(attn_mask)
        padding = additive(key_padding_mask)[:, None, None]
        return padding if attn_mask is None else additive(attn_mask) + padding
