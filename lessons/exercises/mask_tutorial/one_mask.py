"""Lesson 10, my_one_mask: the two masks of nn.MultiheadAttention as one of ours."""

import torch
from torch import Tensor

from lessons.checking.edits import edited
from lessons.checking.engine import Case, Exercise, Mistake


def one_mask(key_padding_mask: Tensor, attn_mask: Tensor) -> Tensor:
    """(B, K) and (Q, K), True = blocked, as nn.MultiheadAttention takes them -> bool (B, 1, Q, K), True = may look."""
    blocked = key_padding_mask[:, None, None, :] | attn_mask
    return ~blocked


def _blocked(generator: torch.Generator, *shape: int) -> Tensor:
    """A bool mask of which some is True, and neither the first nor the last column throughout."""
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
            "Joined rightly, but True still means blocked. F.scaled_dot_product_attention would show exactly what is "
            "to be hidden. Turn it around with ~.",
        ),
        Mistake(
            edited(one_mask, " | ", " & "),
            "You block only what both masks block. One of them is enough: blocked masks are joined by |.",
        ),
        Mistake(
            edited(one_mask, (" | ", " & "), ("~blocked", "blocked")),
            "These are the pairs that both masks block, and True means blocked. Two things are turned around: what "
            "joins blocked masks, and what True means at the end.",
        ),
        Mistake(
            lambda padding, mask: padding[:, None, None, :] & ~mask,
            "attn_mask is turned around, key_padding_mask is not: both say by True what is blocked.",
            also=(lambda padding, mask: padding[:, None, None, :] | ~mask,),
        ),
        Mistake(
            lambda padding, mask: ~padding[:, None, None, :] & mask,
            "key_padding_mask is turned around, attn_mask is not: both say by True what is blocked.",
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
            "The truth values are right, but the axis of the heads is missing: expected (B, 1, Q, K).",
        ),
        Mistake(
            edited(one_mask, "[:, None, None, :]", "[:, None, :, None]"),
            "The padding lies on the axis of the queries. It is about keys: (B, 1, 1, K).",
        ),
        Mistake(
            edited(one_mask, "[:, None, None, :]", ""),
            "(B, K) and (Q, K) were joined as they are, so that sentences meet queries. Where there are as many of the "
            "one as of the other there is not even an error. First make (B, 1, 1, K) of the padding.",
            also=(lambda padding, mask: ~(mask | padding),),
        ),
    ],
    hints=[
        "Bring key_padding_mask to four axes first: (B, 1, 1, K). attn_mask (Q, K) broadcasts by itself.",
        "A pair is blocked if the one mask blocks it or the other. Which sign is that?",
        "At the end, turn it around: ~ makes of blocked what is allowed.",
    ],
)
