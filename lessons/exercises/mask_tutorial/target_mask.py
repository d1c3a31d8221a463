"""Lesson 10: my_target_mask."""

import torch
from torch import Tensor

from lessons import masks
from lessons.checking.engine import Case, Exercise, Mistake
from lessons.exercises.mask_tutorial.shared import _ids


def target_mask(ids: Tensor, pad_id: int) -> Tensor:
    """The mask of the decoder's self-attention: ids (B, T) -> bool (B, 1, T, T), True = may look."""
    return masks.causal(ids.size(1)) & masks.padding(ids, pad_id=pad_id)


def _real(ids: Tensor, pad_id: int) -> Tensor:
    return (ids != pad_id)[:, None, None, :]


target_hidden = Exercise(
    lesson="10",
    name="my_target_mask",
    reference=target_mask,
    cases=lambda generator: [
        Case({"ids": _ids(generator, 2, 4, 9), "pad_id": 9}),
        Case({"ids": _ids(generator, 3, 5, 2), "pad_id": 2}),
        Case({"ids": _ids(generator, 3, 3, 4), "pad_id": 4}),
        Case({"ids": _ids(generator, 2, 5, 7, front=True), "pad_id": 7}, about="padding in front of the words"),
    ],
    outputs=("allowed",),
    solution=(target_mask, masks.causal, masks.padding),
    mistakes=[
        Mistake(
            lambda ids, pad: ~target_mask(ids, pad),
            "Right, but for the meaning of True: yours says what is blocked. In this course True means: may look.",
        ),
        Mistake(
            lambda ids, pad: masks.causal(ids.size(1)) | _real(ids, pad),
            "You joined the rules by |, so that a key is visible where any rule allows it: the future, if it is no "
            "padding. Both rules must allow it.",
        ),
        Mistake(
            lambda ids, pad: masks.causal(ids.size(1)).expand(ids.size(0), 1, -1, -1),
            "The future is hidden, the padding is not.",
            seen_in="padding in front of the words",
        ),
        Mistake(
            lambda ids, pad: masks.causal(ids.size(1)),
            "That is the rule about the future alone, (T, T): the padding, which is another one for each sentence, "
            "is not in it.",
        ),
        Mistake(
            lambda ids, pad: _real(ids, pad),
            "That is the rule about padding alone, (B, 1, 1, T): each token still sees the future.",
        ),
        Mistake(
            lambda ids, pad: masks.causal(ids.size(1)) & _real(ids, pad).mT,
            "The padding lies on the axis of the queries: a padded query may look at nothing, and words may look at "
            "padding. Put it on the axis of the keys.",
        ),
        Mistake(
            lambda ids, pad: target_mask(ids, pad) & _real(ids, pad).mT,
            "Keys are right. But you also blocked padding as a query: its row has nothing to look at, and gives NaN in "
            "much code.",
        ),
        Mistake(
            lambda ids, pad: masks.causal(ids.size(1)) & _real(ids, 0),
            "You compared with 0. Padding has the id that the caller says: pad_id.",
        ),
        Mistake(
            lambda ids, pad: (masks.causal(ids.size(1)) & _real(ids, pad))[:, 0],
            "The truth values are right, but the axis of the heads is missing: (B, T, T) would meet scores "
            "(B, H, T, T) with the batch where the heads are.",
        ),
        Mistake(
            lambda ids, pad: masks.causal(ids.size(1)).mT & _real(ids, pad),
            "The triangle lies the other way: each token sees what comes after it, and not what came before.",
        ),
        Mistake(
            lambda ids, pad: torch.ones(ids.size(1), ids.size(1), dtype=torch.bool).tril(-1) & _real(ids, pad),
            "The diagonal is missing: a token may look at itself.",
        ),
        Mistake(
            lambda ids, pad: torch.ones(ids.size(1), ids.size(1), dtype=torch.bool).tril(1) & _real(ids, pad),
            "One diagonal too many is open: each token sees the one after it.",
        ),
        Mistake(
            lambda ids, pad: ~masks.causal(ids.size(1)) & _real(ids, pad),
            "Each token sees the future, and nothing else. That triangle says what is blocked.",
        ),
        Mistake(
            lambda ids, pad: masks.causal(ids.size(1)) & ~_real(ids, pad),
            "The triangle is right, but of its keys only the padding is open. For which ids is == True, for which !=?",
        ),
        Mistake(
            lambda ids, pad: torch.ones(ids.size(1), ids.size(1)).tril() & _real(ids, pad),
            "torch.ones gives floats, and & is for True and False: torch.ones(…, dtype=torch.bool), or .bool().",
            also=(lambda ids, pad: _real(ids, pad) & torch.ones(ids.size(1), ids.size(1)).tril(),),
        ),
        Mistake(
            lambda ids, pad: masks.causal(ids.size(1)) & (ids != pad),
            "The padding is (B, T), and meets the triangle (T, T) with the sentences where the queries are. With as "
            "many sentences as tokens there is not even an error. Two axes of size 1 belong in between.",
            also=(lambda ids, pad: (ids != pad) & masks.causal(ids.size(1)),),
        ),
    ],
    hints=[
        "Two rules: no key in the future, (T, T), and no key that is padding, (B, 1, 1, T).",
        "Both must allow it. Which sign joins them, & or |?",
        "The rest is broadcasting: (T, T) meets (B, 1, 1, T), and gives (B, 1, T, T).",
    ],
)
