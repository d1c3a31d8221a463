"""Lesson 13, my_merge_masks: attn_mask and key_padding_mask as one additive mask."""

import torch
from torch import Tensor

from lessons.checking.engine import Case, Exercise, Mistake
from lessons.exercises.inside_torch_attention.shared import inverted, some_bias, some_blocked, some_padding
from lessons.torch_attention import merge_masks, to_additive


def _three_axes(candidate, attn_mask, key_padding_mask, num_heads):
    """(L, S) and (1, L, S) broadcast alike, and one row for all queries is as good as a row for each."""
    mask = candidate(attn_mask, key_padding_mask, num_heads)
    if not isinstance(mask, Tensor) or mask.dim() not in (2, 3):
        return mask
    if key_padding_mask is not None:
        length = 1 if attn_mask is None else attn_mask.size(-2)
        wanted = (key_padding_mask.size(0) * num_heads, length, key_padding_mask.size(-1))
    elif attn_mask is not None:
        wanted = (attn_mask.size(0) if attn_mask.dim() == 3 else 1, *attn_mask.shape[-2:])
    else:
        return mask
    shape = (1, *mask.shape) if mask.dim() == 2 else tuple(mask.shape)
    return mask.expand(wanted) if all(a in (1, b) for a, b in zip(shape, wanted)) else mask


def _merge_cases(generator: torch.Generator) -> list[Case]:
    b, h, length, keys = 2, 3, 4, 5

    def case(attn, padding, num_heads=h, about=""):
        return Case({"attn_mask": attn, "key_padding_mask": padding, "num_heads": num_heads}, about=about)

    return [
        case(some_blocked(generator, length, keys), some_padding(b, keys)),
        case(some_blocked(generator, b * h, length, keys), some_padding(b, keys)),
        case(some_blocked(generator, 4, 4), some_padding(4, 4), num_heads=4),
        case(None, some_padding(b, keys), about="key_padding_mask alone"),
        case(some_blocked(generator, length, keys), None, about="attn_mask alone, (L, S)"),
        case(some_blocked(generator, b * h, length, keys), None, about="attn_mask alone, (B·H, L, S)"),
        case(
            some_bias(generator, length, keys),
            some_padding(b, keys),
            about="a float attn_mask that holds more than 0 and -inf",
        ),
        case(some_bias(generator, b * h, length, keys), some_bias(generator, b, keys), about="both masks are float"),
        case(None, None, about="no mask at all"),
    ]


def _plain(mask: Tensor) -> Tensor:
    return to_additive(mask, torch.float32)


def _each_for_all_heads(row: Tensor, num_heads: int) -> Tensor:
    return row.repeat_interleave(num_heads, dim=0)


def _merged(attn=_plain, padding=_plain, join=torch.add, heads=_each_for_all_heads):
    """Merging with some of its steps changed."""

    def wrong(attn_mask, key_padding_mask, num_heads):
        merged = None if attn_mask is None else attn(attn_mask)
        if key_padding_mask is None:
            return merged
        rows = heads(padding(key_padding_mask)[:, None], num_heads)  # (B·H, 1, S)
        return rows if merged is None else join(merged, rows)

    return wrong


def _turned(mask: Tensor) -> Tensor:
    return _plain(inverted(mask))


def _ones(mask: Tensor) -> Tensor:
    return mask.float()


def _finite(mask: Tensor) -> Tensor:
    return mask * -1e9 if mask.dtype == torch.bool else mask


def _times_inf(mask: Tensor) -> Tensor:
    return mask * -torch.inf if mask.dtype == torch.bool else mask


def _unless_zero(mask: Tensor) -> Tensor:
    return _plain(mask != 0)


def _replaced(attn_mask, key_padding_mask, num_heads):
    return merge_masks(None if key_padding_mask is not None else attn_mask, key_padding_mask, num_heads)


def _attn_only(attn_mask, key_padding_mask, num_heads):
    return merge_masks(attn_mask, None if attn_mask is not None else key_padding_mask, num_heads)


def _padding_as_queries(attn_mask, key_padding_mask, num_heads):
    if attn_mask is None or key_padding_mask is None:
        return merge_masks(attn_mask, key_padding_mask, num_heads)
    column = to_additive(key_padding_mask, torch.float32)[:, :, None].repeat_interleave(num_heads, dim=0)
    return to_additive(attn_mask, torch.float32) + column


merging = Exercise(
    lesson="13",
    name="my_merge_masks",
    reference=merge_masks,
    cases=_merge_cases,
    outputs=("the additive mask",),
    call=_three_axes,
    solution=(to_additive, merge_masks),
    mistakes=[
        Mistake(
            _merged(heads=lambda rows, h: rows.repeat(h, 1, 1)),
            "The rows of the padding are in the order H·B: sentence 0, sentence 1, sentence 0, sentence 1 … The q that "
            "they meet are in the order B·H, sentence 0 for each of its heads first. So a sentence is given the "
            "padding of its neighbour. View as (B, 1, 1, S), expand over the heads, reshape.",
        ),
        Mistake(
            _merged(padding=_turned),
            "key_padding_mask is turned around: the words are blocked and the padding is open. In "
            "nn.MultiheadAttention True means blocked.",
        ),
        Mistake(
            _merged(attn=_turned),
            "attn_mask is turned around. In nn.MultiheadAttention True means blocked, the opposite of "
            "F.scaled_dot_product_attention.",
        ),
        Mistake(
            _merged(attn=_turned, padding=_turned),
            "Both masks are turned around: you took True for may look, as F.scaled_dot_product_attention does. In "
            "nn.MultiheadAttention it means blocked.",
        ),
        Mistake(
            _merged(join=torch.maximum),
            "Where only one of the masks blocks, your result does not. One reason to hide is enough: masks in which "
            "True is blocked are joined by |, additive ones are added.",
        ),
        Mistake(
            _merged(join=torch.mul),
            "You multiplied the masks. Additive masks hold 0 for what may look, and 0 times -inf is NaN. Add them.",
        ),
        Mistake(
            _merged(join=torch.minimum),
            "Where both masks are float and hold a bias, you kept the smaller number alone. Additive masks are added.",
            seen_in="both masks are float",
        ),
        Mistake(
            _merged(padding=_times_inf, attn=_times_inf),
            "The mask was multiplied by -inf: True becomes -inf, but False is 0, and 0 times -inf is NaN. Begin with "
            "zeros and fill in -inf where the mask is True.",
        ),
        Mistake(
            _merged(padding=_ones, attn=_ones),
            "True became 1. Added to the scores, it makes what should be hidden heavier. It must be -inf: .float() is "
            "not the way to it.",
        ),
        Mistake(
            _merged(padding=_finite, attn=_finite),
            "-1e9 is not -inf: a row with nothing else becomes an even share of all that is hidden, and half precision "
            "cannot hold it.",
        ),
        Mistake(
            _merged(attn=_unless_zero),
            "A float attn_mask was read as if it were bool, so that whatever is not 0 blocks. A float mask is added to "
            "the scores as it is: it may hold a bias.",
            seen_in="a float attn_mask that holds more than 0 and -inf",
        ),
        Mistake(
            _merged(padding=_unless_zero),
            "A float key_padding_mask was read as if it were bool, so that whatever is not 0 blocks. Float masks are "
            "added as they are.",
            seen_in="both masks are float",
        ),
        Mistake(
            _merged(attn=_unless_zero, padding=_unless_zero),
            "Float masks were read as if they were bool, so that whatever is not 0 blocks. Float masks are added to "
            "the scores as they are: they may hold a bias.",
            seen_in="a float attn_mask that holds more than 0 and -inf",
        ),
        Mistake(
            _replaced,
            "Where key_padding_mask is given, attn_mask is lost: you put the one in the place of the other.",
        ),
        Mistake(
            _attn_only,
            "Where attn_mask is given, key_padding_mask is lost.",
        ),
        Mistake(
            _padding_as_queries,
            "Where both are given, the padding lies on the axis of the queries, (B·H, S, 1). It is about keys: "
            "(B·H, 1, S).",
        ),
        Mistake(
            _merged(heads=lambda rows, h: rows),
            "The padding is (B, 1, S), once for each sentence. Meeting (B·H, L, S) it needs a row for each head of "
            "each sentence: B·H of them.",
        ),
    ],
    hints=[
        "Four cases: no mask, one of them, the other, both. Turn each mask that is bool into 0 and -inf first.",
        "key_padding_mask: view as (B, 1, 1, S), expand to (B, H, 1, S), reshape to (B·H, 1, S).",
        "attn_mask (L, S) broadcasts by itself, (B·H, L, S) fits as it is. Additive masks are joined by adding.",
    ],
)
