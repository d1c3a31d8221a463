"""Lesson 13, my_merge_masks: attn_mask and key_padding_mask as one additive mask."""

import torch
from torch import Tensor

from lessons.checking.engine import Case, Exercise, Mistake
from lessons.exercises.inside_torch_attention.shared import inverted, some_bias, some_blocked, some_padding
from lessons.torch_attention import merge_masks, to_additive


def _three_axes(candidate, attn_mask, key_padding_mask, num_heads):
    """(L, S) and (1, L, S) broadcast the same way, and one row for all queries counts as a row for each."""
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
        case(None, some_padding(b, keys), about="only key_padding_mask"),
        case(some_blocked(generator, length, keys), None, about="only attn_mask, (L, S)"),
        case(some_blocked(generator, b * h, length, keys), None, about="only attn_mask, (B·H, L, S)"),
        case(
            some_bias(generator, length, keys),
            some_padding(b, keys),
            about="a float attn_mask with more than 0 and -inf",
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
    mistakes=[
        Mistake(
            _merged(heads=lambda rows, h: rows.repeat(h, 1, 1)),
            "The rows of the padding are in the order H·B: sentence 0, sentence 1, sentence 0, sentence 1 … The rows "
            "of q are in the order B·H: all heads of sentence 0 first. So a sentence gets the padding of its neighbor."
            " View as (B, 1, 1, S), expand over the heads, reshape.",
        ),
        Mistake(
            _merged(padding=_turned),
            "key_padding_mask is inverted: the tokens are blocked and the padding is open. In nn.MultiheadAttention "
            "True means blocked.",
        ),
        Mistake(
            _merged(attn=_turned),
            "attn_mask is inverted. In nn.MultiheadAttention True means blocked, the opposite of "
            "F.scaled_dot_product_attention.",
        ),
        Mistake(
            _merged(attn=_turned, padding=_turned),
            "Both masks are inverted: you read True as allowed, as F.scaled_dot_product_attention does. In "
            "nn.MultiheadAttention it means blocked.",
        ),
        Mistake(
            _merged(join=torch.maximum),
            "Where only one of the masks blocks, your result does not. One reason to hide is enough: masks with True ="
            " blocked are joined by |, additive masks are added.",
        ),
        Mistake(
            _merged(join=torch.mul),
            "You multiplied the masks. In an additive mask 0 means allowed, and 0 times -inf is NaN. Add them.",
        ),
        Mistake(
            _merged(join=torch.minimum),
            "Where both masks are float and contain a bias, you kept only the smaller number. Additive masks are "
            "added.",
            seen_in="both masks are float",
        ),
        Mistake(
            _merged(padding=_times_inf, attn=_times_inf),
            "You multiplied the mask by -inf. True becomes -inf, but False is 0, and 0 times -inf is NaN. Begin with "
            "zeros and fill in -inf where the mask is True.",
        ),
        Mistake(
            _merged(padding=_ones, attn=_ones),
            "True became 1. Added to the scores, it gives more weight to what should be hidden. It must be -inf, so "
            ".float() is not enough.",
        ),
        Mistake(
            _merged(padding=_finite, attn=_finite),
            "-1e9 is not -inf: in a row with no other key, hidden keys get weight, and half precision (float16) cannot "
            "represent it.",
        ),
        Mistake(
            _merged(attn=_unless_zero),
            "You read a float attn_mask as if it were bool, so whatever is not 0 blocks. A float mask is added to the "
            "scores as it is: it may contain a bias.",
            seen_in="a float attn_mask with more than 0 and -inf",
        ),
        Mistake(
            _merged(padding=_unless_zero),
            "You read a float key_padding_mask as if it were bool, so whatever is not 0 blocks. Float masks are added "
            "as they are.",
            seen_in="both masks are float",
        ),
        Mistake(
            _merged(attn=_unless_zero, padding=_unless_zero),
            "You read float masks as if they were bool, so whatever is not 0 blocks. Float masks are added to the "
            "scores as they are: they may contain a bias.",
            seen_in="a float attn_mask with more than 0 and -inf",
        ),
        Mistake(
            _replaced,
            "Where key_padding_mask is given, attn_mask is lost: you replaced one by the other.",
        ),
        Mistake(
            _attn_only,
            "Where attn_mask is given, key_padding_mask is lost.",
        ),
        Mistake(
            _padding_as_queries,
            "Where both are given, the padding is on the axis of the queries, (B·H, S, 1). It is about keys: (B·H, 1, "
            "S).",
        ),
        Mistake(
            _merged(heads=lambda rows, h: _each_for_all_heads(rows, h)[:, 0]),
            "Your padding is (B·H, S). Next to (L, S) or (B·H, L, S), torch takes its rows for queries. It needs an "
            "axis for the queries: (B·H, 1, S).",
        ),
        Mistake(
            _merged(heads=lambda rows, h: rows[:, None]),
            "Your padding is (B, 1, 1, S), as this course has it: next to scores with an axis for the heads. Here the "
            "heads are among the rows, (B·H, L, S): repeat each sentence for its heads.",
        ),
        Mistake(
            _merged(padding=lambda mask: mask, attn=lambda mask: mask, join=torch.bitwise_or),
            "Your mask is bool still. It is added to the scores, where True would count as 1: make it 0 and -inf. (And "
            "float masks can't be joined by |.)",
        ),
        Mistake(
            _merged(heads=lambda rows, h: rows),
            "The padding is (B, 1, S), one row per sentence. To fit (B·H, L, S) it needs a row for each head of each "
            "sentence: B·H rows.",
        ),
    ],
    hints=[
        "Four cases: no mask, one of them, the other, both. First turn each bool mask into 0 and -inf.",
        "key_padding_mask: view as (B, 1, 1, S), expand to (B, H, 1, S), reshape to (B·H, 1, S).",
        "attn_mask (L, S) broadcasts by itself, (B·H, L, S) fits as it is. How do you join two additive masks? By "
        "adding them.",
    ],
    solution="""
        def my_merge_masks(attn_mask, key_padding_mask, num_heads):
            if attn_mask is not None and attn_mask.dtype == torch.bool:
                attn_mask = torch.zeros(attn_mask.shape).masked_fill(attn_mask, -torch.inf)
            if key_padding_mask is None:
                return attn_mask
            if key_padding_mask.dtype == torch.bool:
                zeros = torch.zeros(key_padding_mask.shape)
                key_padding_mask = zeros.masked_fill(key_padding_mask, -torch.inf)
            padding = key_padding_mask[:, None]  # (B, 1, S)
            padding = padding.repeat_interleave(num_heads, dim=0)  # (B·H, 1, S)
            return padding if attn_mask is None else attn_mask + padding
    """,
    in_package="lessons.torch_attention.merge_masks",
)
