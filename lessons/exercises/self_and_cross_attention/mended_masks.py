"""Lesson 04: mended_masks."""

import torch
from torch import Tensor

from lessons import masks
from lessons.checking.engine import Case, Exercise, Mistake
from lessons.exercises.self_and_cross_attention.shared import _expand, _ids


def three_masks(src: Tensor, tgt: Tensor, src_pad_id: int, tgt_pad_id: int) -> tuple[Tensor, Tensor, Tensor]:
    """src (B, S), tgt (B, T) -> the masks of encoder self-, decoder self- and cross-attention, each (B, 1, Q, K)."""
    src_real = masks.padding(src, pad_id=src_pad_id)
    tgt_real = masks.padding(tgt, pad_id=tgt_pad_id)
    return src_real, masks.causal(tgt.size(1)) & tgt_real, src_real


def _three(src, tgt, self_pad, tgt_pad, cross_pad, *, causal_mask=True):
    size = tgt.size(1)
    causal = masks.causal(size) if causal_mask else torch.ones(size, size, dtype=torch.bool)
    return (
        (src != self_pad)[:, None, None, :],
        causal & (tgt != tgt_pad)[:, None, None, :],
        (src != cross_pad)[:, None, None, :],
    )


def _also_on_queries(three, tgt, tgt_pad, places):
    real = (tgt != tgt_pad)[:, None, :, None]
    return tuple(mask & real if place in places else mask for place, mask in enumerate(three))


def _stretched(candidate, src, tgt, src_pad_id, tgt_pad_id):
    given = candidate(src, tgt, src_pad_id, tgt_pad_id)
    if not isinstance(given, tuple | list) or len(given) != 3:
        return given
    queries, keys = (src.size(1), tgt.size(1), tgt.size(1)), (src.size(1), tgt.size(1), src.size(1))
    return tuple(_expand(mask, (src.size(0), 1, q, k)) for mask, q, k in zip(given, queries, keys))


bug_hunt = Exercise(
    lesson="04",
    name="mended_masks",
    reference=three_masks,
    cases=lambda generator: [
        Case({"src": _ids(generator, b, s, sp), "tgt": _ids(generator, b, t, tp), "src_pad_id": sp, "tgt_pad_id": tp})
        for b, s, t, sp, tp in [(2, 3, 4, 1, 3), (3, 5, 7, 6, 2), (5, 6, 6, 0, 4)]
    ],
    outputs=("encoder self-attention", "decoder self-attention", "cross-attention"),
    call=_stretched,
    mistakes=[
        Mistake(
            lambda src, tgt, s, t: _three(src, tgt, s, s, s),
            "The bug is still there. A symptom: a real word of the target is hidden, and some of its padding is not.",
        ),
        Mistake(
            lambda src, tgt, s, t: _three(src, tgt, s, t, t),
            "Now the cross-attention has the wrong one: its keys are the source.",
        ),
        Mistake(
            lambda src, tgt, s, t: _three(src, tgt, t, t, s),
            "Now the encoder has the wrong one: its keys are the source.",
        ),
        Mistake(
            lambda src, tgt, s, t: _three(src, tgt, t, s, t),
            "Now all three are exchanged. Each rule asks for the padding id of the sentence that its keys are from.",
        ),
        Mistake(
            lambda src, tgt, s, t: _three(src, tgt, s, t, s, causal_mask=False),
            "The ids are right now, but the decoder's self-attention has lost its causal rule.",
        ),
        Mistake(
            lambda src, tgt, s, t: (
                (src != s)[:, None, None, :],
                masks.causal(tgt.size(1)) & ((tgt != s) & (tgt != t))[:, None, None, :],
                (src != s)[:, None, None, :],
            ),
            "Now the target hides both ids. The source's padding id may be a real word of the target: it is another "
            "language, with another vocabulary.",
        ),
        Mistake(
            lambda src, tgt, s, t: _also_on_queries(_three(src, tgt, s, t, s), tgt, t, [1]),
            "The ids are right now. But you also hid rows: those of the target's padding, on the side of the queries. "
            "Such a row may have nothing to look at. A mask hides keys.",
            also=(
                lambda src, tgt, s, t: _also_on_queries(_three(src, tgt, s, t, s), tgt, t, [2]),
                lambda src, tgt, s, t: _also_on_queries(_three(src, tgt, s, t, s), tgt, t, [1, 2]),
            ),
        ),
    ],
    hints=[
        "For each of the three masks: from which sentence are the keys?",
        "Which padding id belongs to that sentence?",
    ],
)
