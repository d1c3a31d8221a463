"""Lesson 04: my_cross_mask."""

import torch
from torch import Tensor

from lessons import masks
from lessons.checking.engine import Case, Exercise, Mistake
from lessons.exercises.self_and_cross_attention.shared import _expand, _ids


def cross_mask(src_ids: Tensor, tgt_ids: Tensor, src_pad_id: int) -> Tensor:
    """Where the target may look in the source: src_ids (B, S), tgt_ids (B, T) -> bool, broadcasts to (B, 1, T, S)."""
    return masks.padding(src_ids, pad_id=src_pad_id)


def _expanded(candidate, src_ids, tgt_ids, src_pad_id):
    mask = candidate(src_ids, tgt_ids, src_pad_id)
    return _expand(mask, (src_ids.size(0), 1, tgt_ids.size(1), src_ids.size(1)))


cross_hidden = Exercise(
    lesson="04",
    name="my_cross_mask",
    reference=cross_mask,
    cases=lambda generator: [
        Case({"src_ids": _ids(generator, 2, 3, 1), "tgt_ids": _ids(generator, 2, 4, 1), "src_pad_id": 1}),
        Case({"src_ids": _ids(generator, 3, 4, 5), "tgt_ids": _ids(generator, 3, 4, 5).flip(0), "src_pad_id": 5}),
        Case({"src_ids": _ids(generator, 4, 6, 0), "tgt_ids": _ids(generator, 4, 5, 0), "src_pad_id": 0}),
    ],
    outputs=("allowed",),
    call=_expanded,
    solution=(cross_mask, masks.padding),
    mistakes=[
        Mistake(
            lambda src, tgt, pad: (src == pad)[:, None, None, :],
            "True and False are exchanged: the target may look at padding only.",
        ),
        Mistake(
            lambda src, tgt, pad: (tgt != pad)[:, None, None, :],
            "This is the target's padding on the axis of the keys. In cross-attention the keys are the source.",
        ),
        Mistake(
            lambda src, tgt, pad: (tgt != pad)[:, None, :, None],
            "Whole rows are hidden: those of the target's padding, which is on the side of the queries. A mask hides "
            "keys, so columns. Who are the keys here?",
        ),
        Mistake(
            lambda src, tgt, pad: (src[:1] != pad)[:, None, None, :],
            "Every sentence got the mask of the first one. Each has padding of its own.",
        ),
        Mistake(
            lambda src, tgt, pad: (tgt != pad)[:, None, :, None] & (src != pad)[:, None, None, :],
            "The source's padding is right. But you also blocked the padding of the target, which is on the axis of "
            "the queries: such a row has nothing to look at, and gives NaN in much code.",
        ),
        Mistake(
            lambda src, tgt, pad: (
                (src != pad)[:, None, None, :]
                & (torch.arange(src.size(1)) <= torch.arange(tgt.size(1))[:, None])[None, None]
            ),
            "You made it causal. The source is known from the start: every target position may look at all of it. "
            "Word 1 of a translation may need the last word of the source.",
            also=(
                lambda src, tgt, pad: (src != pad)[:, None, None, :] & masks.causal(tgt.size(1)),
                lambda src, tgt, pad: masks.causal(tgt.size(1)) & (src != pad)[:, None, None, :],
            ),
        ),
        Mistake(
            lambda src, tgt, pad: (src != 0)[:, None, None, :],
            "You compared with 0. Padding has the id that the caller says: src_pad_id.",
        ),
        Mistake(
            lambda src, tgt, pad: (src != 1)[:, None, None, :],
            "You compared with 1. Padding may have another id: the caller says which, in src_pad_id.",
        ),
        Mistake(
            lambda src, tgt, pad: torch.ones(src.size(0), 1, tgt.size(1), src.size(1), dtype=torch.bool),
            "Nothing is hidden: the target may look at the source's padding, too.",
        ),
        Mistake(
            lambda src, tgt, pad: src != pad,
            "The truth values are right, but their axes are (B, S). Put two axes of size 1 in between: (B, 1, 1, S).",
        ),
    ],
    hints=[
        "In cross-attention, who are the keys? The mask is about their padding.",
        "Is there any word of the source that a word of the target must not see?",
        "It is the padding mask of lesson 03, made from src_ids.",
    ],
)
