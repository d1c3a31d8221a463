"""Lesson 10, my_one_mask: the two masks of nn.MultiheadAttention as one of ours."""

import torch
from torch import Tensor

from lessons.checking.edits import edited
from lessons.checking.engine import Case, Exercise, Mistake


def one_mask(key_padding_mask: Tensor, attn_mask: Tensor) -> Tensor:
    """(B, K) and (Q, K), True = blocked, as for nn.MultiheadAttention -> bool (B, 1, Q, K), True = may attend."""
    blocked = key_padding_mask[:, None, None, :] | attn_mask
    return ~blocked


def _blocked(generator: torch.Generator, *shape: int) -> Tensor:
    """A bool mask in which some entries are True, and neither the first nor the last column entirely."""
    mask = torch.rand(*shape, generator=generator) < 0.4
    mask[0, -1], mask[-1, 0] = True, False
    return mask


both_joined = Exercise(
    lesson="10",
    name="my_one_mask",
    reference=one_mask,
    cases=lambda generator: [
        Case({"key_padding_mask": _blocked(generator, b, k), "attn_mask": _blocked(generator, q, k)})
        for b, q, k in [(2, 3, 4), (3, 2, 5), (3, 3, 3)]
    ],
    outputs=("allowed",),
    mistakes=[
        Mistake(
            edited(one_mask, "~blocked", "blocked"),
            "You joined them correctly, but True still means blocked. F.scaled_dot_product_attention would show "
            "exactly what must be hidden. Invert the mask with ~.",
        ),
        Mistake(
            edited(one_mask, " | ", " & "),
            "You block only what both masks block. One of them is enough: join blocked masks with |.",
        ),
        Mistake(
            edited(one_mask, (" | ", " & "), ("~blocked", "blocked")),
            "These are the pairs that both masks block, and True means blocked. Two things are inverted: how you join "
            "blocked masks, and what True means at the end.",
        ),
        Mistake(
            lambda padding, mask: padding[:, None, None, :] & ~mask,
            "You inverted attn_mask but not key_padding_mask. In both, True means blocked.",
            also=(lambda padding, mask: padding[:, None, None, :] | ~mask,),
        ),
        Mistake(
            lambda padding, mask: ~padding[:, None, None, :] & mask,
            "You inverted key_padding_mask but not attn_mask. In both, True means blocked.",
            also=(lambda padding, mask: ~padding[:, None, None, :] | mask,),
        ),
        Mistake(
            lambda padding, mask: (~padding)[:, None, None, :].expand(-1, 1, mask.size(0), -1),
            "key_padding_mask is in it, attn_mask is not.",
            also=(lambda padding, mask: ~padding[:, None, None, :],),
        ),
        Mistake(
            lambda padding, mask: (~mask).expand(padding.size(0), 1, -1, -1),
            "attn_mask is in it, key_padding_mask is not.",
            also=(lambda padding, mask: ~mask, lambda padding, mask: (~mask)[None, None]),
        ),
        Mistake(
            edited(one_mask, "~blocked", "~blocked[:, 0]"),
            "The values are right, but the axis of the heads is missing: expected (B, 1, Q, K).",
        ),
        Mistake(
            edited(one_mask, "[:, None, None, :]", "[:, None, :, None]"),
            "The padding is on the axis of the queries. It is about keys: (B, 1, 1, K).",
        ),
        Mistake(
            edited(one_mask, "[:, None, None, :]", ""),
            "(B, K) and (Q, K) were joined as they are, so sentences meet queries. If there are as many sentences as "
            "queries, there is not even an error. First make the padding (B, 1, 1, K).",
            also=(lambda padding, mask: ~(mask | padding),),
        ),
        Mistake(
            edited(one_mask, "|", "^"),
            "Where both masks block, yours is open again: ^ is true where exactly one of them is. Use |.",
        ),
        Mistake(
            edited(one_mask, "~blocked", "(~blocked).float()"),
            "The pattern is right, but these are the numbers 0 and 1. Added to the scores they block nothing: return "
            "a bool mask.",
        ),
        Mistake(
            edited(one_mask, " | ", " or "),
            "`or` and `not` ask whether a whole tensor is true, which torch refuses. | and ~ work on each pair.",
        ),
    ],
    hints=[
        "First bring key_padding_mask to four axes: (B, 1, 1, K). attn_mask (Q, K) broadcasts by itself.",
        "A pair is blocked if one mask blocks it or the other. Which operator is that?",
        "At the end, ~ inverts the mask: what was blocked is now what is not allowed.",
    ],
    solution="""
        def my_one_mask(key_padding_mask, attn_mask):
            blocked = key_padding_mask[:, None, None, :] | attn_mask
            return ~blocked
    """,
)
