"""Lesson 10: my_torch_masks."""

import torch
from torch import Tensor

from lessons import masks
from lessons.checking.engine import Case, Exercise, Mistake
from lessons.exercises.mask_tutorial.shared import _ids


def torch_masks(src: Tensor, tgt: Tensor, src_pad_id: int, tgt_pad_id: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """src (B, S), tgt (B, T) -> what nn.Transformer is to be told, True = blocked."""
    src_key_padding_mask = src == src_pad_id  # (B, S)
    tgt_mask = ~masks.causal(tgt.size(1))  # (T, T)
    tgt_key_padding_mask = tgt == tgt_pad_id  # (B, T)
    memory_key_padding_mask = src_key_padding_mask  # the memory has the source's padding
    return src_key_padding_mask, tgt_mask, tgt_key_padding_mask, memory_key_padding_mask


def _told(source=lambda m: m, future=lambda m: m, target=lambda m: m, memory=lambda m: m):
    """What nn.Transformer is told, with some of the four changed."""

    def wrong(src, tgt, src_pad_id, tgt_pad_id):
        right = torch_masks(src, tgt, src_pad_id, tgt_pad_id)
        return tuple(change(mask) for change, mask in zip((source, future, target, memory), right))

    return wrong


def _with_axes(mask: Tensor) -> Tensor:
    return mask[:, None, None, :]


def _wrong_side(src, tgt, src_pad_id, tgt_pad_id):
    source, future, target, _ = torch_masks(src, tgt, src_pad_id, tgt_pad_id)
    return source, future, target, target


def _one_pad_id(src, tgt, src_pad_id, tgt_pad_id):
    return torch_masks(src, tgt, src_pad_id, src_pad_id)


def _target_pad_in_source(src, tgt, src_pad_id, tgt_pad_id):
    return torch_masks(src, tgt, tgt_pad_id, tgt_pad_id)


def _target_pad_in_memory(src, tgt, src_pad_id, tgt_pad_id):
    return *torch_masks(src, tgt, src_pad_id, tgt_pad_id)[:3], src == tgt_pad_id


def _pad_id_0(src, tgt, src_pad_id, tgt_pad_id):
    return torch_masks(src, tgt, 0, 0)


for_torch = Exercise(
    lesson="10",
    name="my_torch_masks",
    reference=torch_masks,
    cases=lambda generator: [
        Case({"src": _ids(generator, b, s, sp), "tgt": _ids(generator, b, t, tp), "src_pad_id": sp, "tgt_pad_id": tp})
        for b, s, t, sp, tp in [(2, 3, 4, 1, 3), (3, 5, 6, 7, 2), (4, 4, 4, 5, 6)]
    ],
    outputs=("src_key_padding_mask", "tgt_mask", "tgt_key_padding_mask", "memory_key_padding_mask"),
    mistakes=[
        Mistake(
            _told(*[torch.logical_not] * 4),
            "All four are turned around: nn.Transformer blocks where its masks are True.",
        ),
        Mistake(
            _told(future=torch.logical_not),
            "The padding is right, but tgt_mask is the triangle that may look. In nn.Transformer True blocks: the "
            "model would see the future, and nothing else.",
        ),
        Mistake(
            _told(torch.logical_not, lambda m: m, torch.logical_not, torch.logical_not),
            "tgt_mask is right, but the padding masks say by True what is a word. In nn.Transformer True blocks: only "
            "the padding would be seen.",
        ),
        Mistake(
            _wrong_side,
            "memory_key_padding_mask is about the keys of cross-attention. They are the memory, which has the "
            "source's length and the source's padding.",
        ),
        Mistake(
            _one_pad_id,
            "You looked for the source's padding id in the target. It is another language, with another vocabulary.",
        ),
        Mistake(
            _pad_id_0,
            "You compared with 0. Padding has the ids that the caller says: src_pad_id and tgt_pad_id.",
        ),
        Mistake(
            _told(source=torch.logical_not),
            "One of the padding masks is turned around. All three are True where there is padding.",
            also=(_told(target=torch.logical_not), _told(memory=torch.logical_not)),
        ),
        Mistake(
            _told(future=lambda m: m.mT),
            "tgt_mask blocks what came before, and shows the future: the triangle lies the other way.",
        ),
        Mistake(
            _told(future=lambda m: m.triu(2)),
            "tgt_mask leaves one diagonal too many open: each token sees the one after it.",
        ),
        Mistake(
            _target_pad_in_source,
            "You looked for the target's padding id in the source. Each side has its own.",
            also=(_target_pad_in_memory,),
        ),
        Mistake(
            _told(future=lambda m: m | torch.eye(len(m), dtype=torch.bool)),
            "tgt_mask blocks the diagonal, too: a token may look at itself. triu needs diagonal=1.",
        ),
        Mistake(
            _told(future=torch.zeros_like),
            "tgt_mask blocks nothing: the decoder sees the future.",
        ),
        Mistake(
            _told(memory=torch.zeros_like),
            "memory_key_padding_mask blocks nothing. nn.Transformer does not take it over from "
            "src_key_padding_mask: the decoder looks at the source's padding until you tell it once more.",
        ),
        Mistake(
            _told(_with_axes, lambda m: m, _with_axes, _with_axes),
            "The truth values are right, but nn.Transformer adds the axes itself: its padding masks are (B, K).",
        ),
    ],
    hints=[
        "True = blocked: a padding mask is True where the id is the padding.",
        "tgt_mask is the same for all sentences, (T, T): True above the diagonal.",
        "memory_key_padding_mask: whose are the keys in cross-attention?",
    ],
)
