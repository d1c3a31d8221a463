"""Lesson 04, fixed_masks: give each of three masks the padding that it needs."""

import torch
from torch import Tensor

from lessons import masks
from lessons.checking.edits import edited
from lessons.checking.engine import Case, Exercise, Mistake
from lessons.exercises.self_and_cross_attention.shared import ids, in_full


def three_masks(src: Tensor, tgt: Tensor, src_pad_id: int, tgt_pad_id: int) -> tuple[Tensor, Tensor, Tensor]:
    """src (B, S), tgt (B, T) -> the masks of encoder self-, decoder self- and cross-attention, each (B, 1, Q, K)."""
    src_real = masks.padding(src, pad_id=src_pad_id)
    tgt_real = masks.padding(tgt, pad_id=tgt_pad_id)
    return src_real, masks.causal(tgt.size(1)) & tgt_real, src_real


def _masks_in_full(candidate, src, tgt, src_pad_id, tgt_pad_id):
    given = candidate(src, tgt, src_pad_id, tgt_pad_id)
    if not isinstance(given, tuple | list) or len(given) != 3:
        return given
    queries, keys = (src.size(1), tgt.size(1), tgt.size(1)), (src.size(1), tgt.size(1), src.size(1))
    return tuple(in_full(mask, (src.size(0), 1, q, k)) for mask, q, k in zip(given, queries, keys))


DECODER = "masks.causal(tgt.size(1)) & tgt_real"


def _past(tgt, src):
    return torch.ones(tgt.size(1), src.size(1), dtype=torch.bool).tril()


bug_hunt = Exercise(
    lesson="04",
    name="fixed_masks",
    reference=three_masks,
    cases=lambda generator: [
        Case(
            {
                "src": ids(generator, b, s, sp),
                "tgt": ids(generator, b, t, tp).flip(0),  # padded in other places, also where both have one shape
                "src_pad_id": sp,
                "tgt_pad_id": tp,
            }
        )
        for b, s, t, sp, tp in [(2, 3, 4, 1, 3), (3, 5, 7, 6, 2), (5, 6, 6, 0, 4)]
    ],
    outputs=("encoder self-attention", "decoder self-attention", "cross-attention"),
    call=_masks_in_full,
    mistakes=[
        Mistake(
            edited(three_masks, "pad_id=tgt_pad_id", "pad_id=src_pad_id"),
            "The bug is still there. A symptom: a real token of the target is hidden, and some of its padding is not.",
        ),
        Mistake(
            edited(three_masks, "& tgt_real, src_real", "& tgt_real, masks.padding(src, pad_id=tgt_pad_id)"),
            "Now cross-attention has the wrong padding: its keys are the source.",
        ),
        Mistake(
            edited(
                three_masks,
                "masks.causal(tgt.size(1)) & tgt_real, src_real",
                "masks.causal(tgt.size(1)) & masks.padding(tgt, pad_id=src_pad_id), "
                "masks.padding(src, pad_id=tgt_pad_id)",
            ),
            "The bug is still there, and cross-attention, which was right, is wrong now: its keys come from the "
            "source, and so must its padding id.",
            also=(
                edited(
                    three_masks,
                    ("pad_id=tgt_pad_id", "pad_id=src_pad_id"),
                    ("tgt_real, src_real", "tgt_real, (tgt != tgt_pad_id)[:, None, None]"),
                ),
            ),
        ),
        Mistake(
            edited(three_masks, "& tgt_real, src_real", "& tgt_real, tgt_real"),
            "The decoder's own mask is right now. But cross-attention hides the target's padding, and its keys are "
            "the source.",
            also=(
                edited(
                    three_masks,
                    "masks.causal(tgt.size(1)) & tgt_real, src_real",
                    "masks.causal(tgt.size(1)) & tgt_real, masks.causal(tgt.size(1)) & tgt_real",
                ),
            ),
        ),
        Mistake(
            edited(three_masks, "return src_real", "return masks.padding(src, pad_id=tgt_pad_id)"),
            "Now the encoder has the wrong padding: its keys are the source.",
        ),
        Mistake(
            lambda src, tgt, s, t: three_masks(src, tgt, t, s),
            "Now all three are swapped. Each mask needs the padding id of the sentence that its keys come from.",
        ),
        Mistake(
            edited(three_masks, "masks.causal(tgt.size(1)) & ", ""),
            "The ids are right now, but the decoder's self-attention has lost its causal mask.",
        ),
        Mistake(
            edited(three_masks, "& tgt_real", "& ~tgt_real"),
            "The decoder may now attend to its padding alone: True means may attend, so compare with !=.",
        ),
        Mistake(
            edited(three_masks, "tgt.size(1)", "src.size(1)"),
            "The causal mask has the size of the source. The decoder's queries and keys are the target: tgt.size(1).",
            also=[edited(three_masks, DECODER, "tgt_real & masks.causal(src.size(1))")],
        ),
        Mistake(
            edited(three_masks, "& tgt_real, src_real", "& tgt_real, src_real & _past(tgt, src)"),
            "The ids are right now, but you made cross-attention causal. The whole source is known before the first "
            "target token is generated.",
            also=(edited(three_masks, "& tgt_real, src_real", "& tgt_real, masks.causal(tgt.size(1)) & src_real"),),
        ),
        Mistake(
            edited(three_masks, "return src_real", "return masks.causal(src.size(1)) & src_real"),
            "The ids are right now, but you made the encoder causal. It reads the whole source, in both directions.",
        ),
        Mistake(
            edited(three_masks, "tgt.size(1)) &", "tgt.size(1)) |"),
            "With | a token may attend to whatever one of the two rules allows: real tokens of the future, and padding "
            "of the past. Both must allow it: &.",
        ),
        Mistake(
            edited(three_masks, "& tgt_real", "& tgt_real & masks.padding(tgt, pad_id=src_pad_id)"),
            "Now the target hides both ids. The source's padding id may be a real token of the target, which has its "
            "own vocabulary.",
        ),
        Mistake(
            edited(three_masks, "& tgt_real", "& tgt_real & tgt_real.mT"),
            "The ids are right now. But you hid rows: those of the target's padding, on the side of the queries. "
            "Such a row has no key left. A padding mask hides keys.",
            also=(
                edited(three_masks, "& tgt_real, src_real", "& tgt_real, src_real & tgt_real.mT"),
                edited(three_masks, "& tgt_real, src_real", "& tgt_real & tgt_real.mT, src_real & tgt_real.mT"),
            ),
        ),
        Mistake(
            edited(three_masks, DECODER, "masks.causal(tgt.size(1))[None, None]"),
            "The decoder's self-attention hides no padding now, only the future. Its keys are the target: hide the "
            "padding of the target, too.",
            also=(edited(three_masks, DECODER, "masks.causal(tgt.size(1))"),),
        ),
        Mistake(
            edited(three_masks, "& tgt_real", "& src_real"),
            "The decoder's self-attention hides the padding of the source. Its own keys are the target.",
            also=[edited(three_masks, DECODER, "src_real & masks.causal(tgt.size(1))")],
        ),
        Mistake(
            edited(three_masks, "masks.causal(tgt.size(1)) &", "~masks.causal(tgt.size(1)) &"),
            "The ids are right now, but you inverted the causal mask: each token of the target sees only later ones.",
        ),
    ],
    hints=[
        "For each of the three masks: which sentence do the keys come from?",
        "Which padding id belongs to that sentence?",
    ],
    solution="""
        def fixed_masks(src, tgt, src_pad_id, tgt_pad_id):
            encoder_self = (src != src_pad_id)[:, None, None, :]
            # The keys of the decoder's self-attention are the target: tgt_pad_id.
            decoder_self = masks.causal(tgt.size(1)) & (tgt != tgt_pad_id)[:, None, None, :]
            cross = (src != src_pad_id)[:, None, None, :]
            return encoder_self, decoder_self, cross
    """,
)
