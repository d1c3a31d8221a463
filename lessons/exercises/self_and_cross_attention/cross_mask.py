"""Lesson 04, my_cross_mask: where the target may attend in the source."""

import torch
from torch import Tensor

from lessons import masks
from lessons.checking.edits import edited
from lessons.checking.engine import Case, Exercise, Mistake
from lessons.exercises.self_and_cross_attention.shared import ids, in_full


def cross_mask(src_ids: Tensor, tgt_ids: Tensor, src_pad_id: int) -> Tensor:
    """Where the target may attend in the source: src_ids (B, S), tgt_ids (B, T) -> bool, broadcasts to (B, 1, T, S)."""
    return masks.padding(src_ids, pad_id=src_pad_id)


def _mask_in_full(candidate, src_ids, tgt_ids, src_pad_id):
    mask = candidate(src_ids, tgt_ids, src_pad_id)
    return in_full(mask, (src_ids.size(0), 1, tgt_ids.size(1), src_ids.size(1)))


def _compared(src_ids, tgt_ids, pad_id):
    return (src_ids != pad_id)[:, None, None, :]


cross_hidden = Exercise(
    lesson="04",
    name="my_cross_mask",
    reference=cross_mask,
    cases=lambda generator: [
        Case({"src_ids": ids(generator, 2, 3, 1), "tgt_ids": ids(generator, 2, 4, 1), "src_pad_id": 1}),
        Case({"src_ids": ids(generator, 3, 4, 5), "tgt_ids": ids(generator, 3, 4, 5).flip(0), "src_pad_id": 5}),
        Case({"src_ids": ids(generator, 4, 6, 0).flip(1), "tgt_ids": ids(generator, 4, 5, 0), "src_pad_id": 0}),
    ],
    outputs=("allowed",),
    call=_mask_in_full,
    mistakes=[
        Mistake(
            edited(_compared, "!=", "=="),
            "True and False are swapped: the target may attend only to padding.",
        ),
        Mistake(
            edited(_compared, "(src_ids !=", "(tgt_ids !="),
            "This is the target's padding on the axis of the keys. In cross-attention the keys are the source.",
        ),
        Mistake(
            edited(_compared, "(src_ids != pad_id)[:, None, None, :]", "(tgt_ids != pad_id)[:, None, :, None]"),
            "You blocked whole rows: those of the target's padding, on the side of the queries. A padding mask hides "
            "keys, so columns. Who are the keys here?",
        ),
        Mistake(
            edited(_compared, "src_ids !=", "src_ids[:1] !="),
            "Every sentence got the mask of the first one. Each has its own padding.",
        ),
        Mistake(
            edited(_compared, "return ", "return (tgt_ids != pad_id)[:, None, :, None] & "),
            "The source's padding is right. But you also blocked the padding of the target, which is on the axis of "
            "the queries: such a row has no key left, and gives NaN in much code.",
            also=(edited(_compared, "return ", "return (tgt_ids != 0)[:, None, :, None] & "),),
        ),
        Mistake(
            lambda src, tgt, pad: (
                _compared(src, tgt, pad) & (torch.arange(src.size(1)) <= torch.arange(tgt.size(1))[:, None])
            ),
            "You made it causal. The source is known from the start: every target position may attend to all of it. "
            "Word 1 of a translation may need the last word of the source.",
            also=(
                lambda src, tgt, pad: _compared(src, tgt, pad) & masks.causal(tgt.size(1)),
                lambda src, tgt, pad: masks.causal(tgt.size(1)) & _compared(src, tgt, pad),
            ),
        ),
        Mistake(
            edited(_compared, "!= pad_id", "!= 0"),
            "You compared with 0. The id of the padding is an argument: src_pad_id.",
        ),
        Mistake(
            edited(
                _compared,
                "(src_ids != pad_id)",
                "(torch.arange(src_ids.size(1)) < (src_ids != pad_id).sum(dim=1, keepdim=True))",
            ),
            "You counted the real tokens and assumed that they come first. Padding can also come first: compare each "
            "id with src_pad_id.",
        ),
        Mistake(
            edited(_compared, "!= pad_id", "!= 1"),
            "You compared with 1. Padding may have another id: the argument src_pad_id says which.",
        ),
        Mistake(
            lambda src, tgt, pad: torch.ones(src.size(0), 1, tgt.size(1), src.size(1), dtype=torch.bool),
            "Nothing is hidden: the target may attend to the source's padding, too.",
        ),
        Mistake(
            edited(_compared, "[:, None, None, :]", "[:, None, None, :] & (tgt_ids != pad_id)[:, None, None, :]"),
            "You put the target's padding on the axis of the keys, too. They are the source, which may have another "
            "number of tokens: hide the source's padding alone.",
            also=(edited(_compared, "return ", "return (tgt_ids != pad_id)[:, None, None, :] & "),),
        ),
        Mistake(
            edited(_compared, "(src_ids != pad_id)", "(src_ids != pad_id).float()"),
            "The pattern is right, but these are the numbers 0 and 1. A mask is bool here: the comparison alone is.",
            also=(edited(_compared, "(src_ids != pad_id)", "(src_ids != pad_id).long()"),),
        ),
        Mistake(
            lambda src, tgt, pad: torch.zeros(src.shape).masked_fill(src == pad, -torch.inf)[:, None, None, :],
            "This is 0 where a token may be attended to and -inf where it is padding: an additive mask. Return a bool "
            "mask, True = may attend.",
        ),
        Mistake(
            edited(_compared, "[:, None, None, :]", "[:, :, None, None]"),
            "The truth values are right, but the new axes are at the end: (B, S, 1, 1). The keys are the last axis; "
            "the new axes go between B and S.",
        ),
        Mistake(
            edited(_compared, "[:, None, None, :]", "[:, None, :].expand(-1, tgt_ids.size(1), -1)"),
            "The table is right, but the axis of the heads is missing: (B, T, S). Insert one of size 1, (B, 1, T, S).",
        ),
        Mistake(
            edited(_compared, "[:, None, None, :]", ""),
            "The truth values are right, but their axes are (B, S). Insert two axes of size 1: (B, 1, 1, S).",
        ),
        Mistake(
            edited(_compared, "[:, None, None, :]", "[:, None, :]"),
            "The truth values are right, but there is one axis too few: with (B, 1, S), B would meet the heads. The "
            "mask has four, (B, 1, 1, S).",
        ),
        Mistake(
            edited(_compared, "[:, None, None, :]", "[:, None, :, None]"),
            "The source is on the axis of the queries. In cross-attention the source tokens are the keys: the last "
            "axis.",
            also=(edited(_compared, "[:, None, None, :]", "[:, None, :, None].expand(-1, 1, -1, tgt_ids.size(1))"),),
        ),
        Mistake(
            edited(_compared, "[:, None, None, :]", "[:, None, None, :] | (tgt_ids != pad_id)[:, None, :, None]"),
            "With | it is enough if the target's token is real, so real tokens see the source's padding. Hide the "
            "padding of the keys, whoever asks.",
        ),
        Mistake(
            lambda src, tgt, pad: torch.ones(tgt.size(1), src.size(1), dtype=torch.bool).tril()[None, None],
            "That is a causal mask. The source is known from the start: hide its padding, and nothing else.",
        ),
        Mistake(
            edited(_compared, "(src_ids != pad_id)[:, None, None, :]", "masks.padding(src_ids, pad_id)"),
            "masks.padding takes the id by its name: masks.padding(ids, pad_id=…).",
        ),
    ],
    hints=[
        "In cross-attention, who are the keys? The mask is about their padding.",
        "Is there any word of the source that a word of the target must not see?",
        "It is the padding mask of lesson 03, made from src_ids.",
    ],
    solution="""
        def my_cross_mask(src_ids, tgt_ids, src_pad_id):
            return (src_ids != src_pad_id)[:, None, None, :]
    """,
    in_package="lessons.masks.padding",
)
