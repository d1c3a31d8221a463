"""Lesson 10, my_target_mask: neither the future nor padding, for the decoder's self-attention."""

from torch import Tensor

from lessons import masks
from lessons.checking.edits import edited
from lessons.checking.engine import Case, Exercise, Mistake
from lessons.exercises.mask_tutorial.shared import padded_ids


def target_mask(ids: Tensor, pad_id: int) -> Tensor:
    """The mask of the decoder's self-attention: ids (B, T) -> bool (B, 1, T, T), True = may look."""
    return masks.causal(ids.size(1)) & masks.padding(ids, pad_id=pad_id)


target_hidden = Exercise(
    lesson="10",
    name="my_target_mask",
    reference=target_mask,
    cases=lambda generator: [
        Case({"ids": padded_ids(generator, 2, 4, 9), "pad_id": 9}),
        Case({"ids": padded_ids(generator, 3, 5, 2), "pad_id": 2}),
        Case({"ids": padded_ids(generator, 3, 3, 4), "pad_id": 4}),
        Case({"ids": padded_ids(generator, 2, 5, 7, front=True), "pad_id": 7}, about="padding in front of the words"),
    ],
    outputs=("allowed",),
    solution=(target_mask, masks.causal, masks.padding),
    mistakes=[
        Mistake(
            lambda ids, pad: ~target_mask(ids, pad),
            "Right, but for the meaning of True: yours says what is blocked. In this course True means: may look.",
        ),
        Mistake(
            edited(target_mask, " & ", " | "),
            "You joined the rules by |, so that a key is visible where any rule allows it: the future, if it is no "
            "padding. Both rules must allow it.",
        ),
        Mistake(
            lambda ids, pad: masks.causal(ids.size(1)).expand(ids.size(0), 1, -1, -1),
            "The future is hidden, the padding is not.",
            seen_in="padding in front of the words",
        ),
        Mistake(
            edited(target_mask, " & masks.padding(ids, pad_id=pad_id)", ""),
            "That is the rule about the future alone, (T, T): the padding, which is another one for each sentence, "
            "is not in it.",
        ),
        Mistake(
            edited(target_mask, "masks.causal(ids.size(1)) & ", ""),
            "That is the rule about padding alone, (B, 1, 1, T): each token still sees the future.",
        ),
        Mistake(
            edited(target_mask, "pad_id=pad_id)", "pad_id=pad_id).mT"),
            "The padding lies on the axis of the queries: a padded query may look at nothing, and words may look at "
            "padding. Put it on the axis of the keys.",
        ),
        Mistake(
            edited(target_mask, "pad_id=pad_id)", "pad_id=pad_id) & masks.padding(ids, pad_id=pad_id).mT"),
            "Keys are right. But you also blocked padding as a query: its row has nothing to look at, and gives NaN in "
            "much code.",
        ),
        Mistake(
            edited(target_mask, "pad_id=pad_id", "pad_id=0"),
            "You compared with 0. Padding has the id that the caller says: pad_id.",
        ),
        Mistake(
            lambda ids, pad: target_mask(ids, pad)[:, 0],
            "The truth values are right, but the axis of the heads is missing: (B, T, T) would meet scores "
            "(B, H, T, T) with the batch where the heads are.",
        ),
        Mistake(
            edited(target_mask, "masks.causal(ids.size(1))", "masks.causal(ids.size(1)).mT"),
            "The triangle lies the other way: each token sees what comes after it, and not what came before.",
        ),
        Mistake(
            edited(target_mask, "masks.causal(ids.size(1))", "masks.causal(ids.size(1)).tril(-1)"),
            "The diagonal is missing: a token may look at itself.",
        ),
        Mistake(
            edited(target_mask, "masks.causal(ids.size(1))", "masks.causal(ids.size(1), offset=1)[:, :-1]"),
            "One diagonal too many is open: each token sees the one after it.",
        ),
        Mistake(
            edited(target_mask, "masks.causal", "~masks.causal"),
            "Each token sees the future, and nothing else. That triangle says what is blocked.",
        ),
        Mistake(
            edited(target_mask, "masks.padding", "~masks.padding"),
            "The triangle is right, but of its keys only the padding is open. For which ids is == True, for which !=?",
        ),
        Mistake(
            edited(target_mask, "masks.causal(ids.size(1))", "masks.causal(ids.size(1)).float()"),
            "torch.ones gives floats, and & is for True and False: torch.ones(…, dtype=torch.bool), or .bool().",
        ),
        Mistake(
            edited(target_mask, "masks.padding(ids, pad_id=pad_id)", "(ids != pad_id)"),
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
