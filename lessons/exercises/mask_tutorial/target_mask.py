"""Lesson 10, my_target_mask: neither the future nor padding, for the decoder's self-attention."""

import torch
from torch import Tensor

from lessons import masks
from lessons.checking.edits import edited
from lessons.checking.engine import Case, Exercise, Mistake
from lessons.exercises.mask_tutorial.shared import padded_ids


def target_mask(ids: Tensor, pad_id: int) -> Tensor:
    """The mask of the decoder's self-attention: ids (B, T) -> bool (B, 1, T, T), True = may attend."""
    return masks.causal(ids.size(1)) & masks.padding(ids, pad_id=pad_id)


target_hidden = Exercise(
    lesson="10",
    name="my_target_mask",
    reference=target_mask,
    cases=lambda generator: [
        Case({"ids": padded_ids(generator, 2, 4, 9), "pad_id": 9}),
        Case({"ids": padded_ids(generator, 3, 5, 2), "pad_id": 2}),
        Case({"ids": padded_ids(generator, 3, 3, 4), "pad_id": 4}),
        Case({"ids": padded_ids(generator, 2, 5, 7, front=True), "pad_id": 7}, about="padding on the left"),
        Case({"ids": torch.tensor([[7]]), "pad_id": 7}, about="a single token, and it is padding"),
    ],
    outputs=("allowed",),
    mistakes=[
        Mistake(
            lambda ids, pad: ~target_mask(ids, pad),
            "Right, except for the meaning of True: yours says what is blocked. In this course True means: may attend.",
        ),
        Mistake(
            edited(target_mask, " & ", " | "),
            "You joined the rules with |, so a key is visible if any rule allows it: the future, if it is not padding."
            " Both rules must allow it.",
        ),
        Mistake(
            lambda ids, pad: masks.causal(ids.size(1)).expand(ids.size(0), 1, -1, -1),
            "The future is hidden, the padding is not.",
            seen_in="padding on the left",
        ),
        Mistake(
            edited(target_mask, " & masks.padding(ids, pad_id=pad_id)", ""),
            "That is only the rule about the future, (T, T). The padding is missing, which is different for each "
            "sentence.",
        ),
        Mistake(
            edited(target_mask, "masks.causal(ids.size(1)) & ", ""),
            "That is only the rule about padding: each token still sees the future.",
            also=(lambda ids, pad: masks.padding(ids, pad_id=pad).expand(-1, -1, ids.size(1), -1),),
        ),
        Mistake(
            edited(target_mask, "masks.causal(ids.size(1))", "masks.causal(ids.size(0))"),
            "The triangle has one row for each sentence: ids.size(0) is B. It needs one for each token, ids.size(1).",
        ),
        Mistake(
            edited(target_mask, "pad_id=pad_id)", "pad_id=pad_id).mT"),
            "The padding is on the axis of the queries: a padded query has no open key, and with padding on the left, "
            "real tokens attend to it. Put it on the axis of the keys.",
        ),
        Mistake(
            edited(target_mask, "pad_id=pad_id)", "pad_id=pad_id) & masks.padding(ids, pad_id=pad_id).mT"),
            "Keys are right. But you also blocked padding as a query: its row has no open key, which gives NaN in much"
            " code.",
        ),
        Mistake(
            lambda ids, pad: target_mask(ids, pad) | torch.eye(ids.size(1), dtype=torch.bool),
            "You opened the whole diagonal, so padding attends to itself. The rule about padding has no exception "
            "here: no query attends to it.",
        ),
        Mistake(
            edited(target_mask, "pad_id=pad_id", "pad_id=0"),
            "You compared with 0. The padding id is the one that the caller passes: pad_id.",
        ),
        Mistake(
            lambda ids, pad: target_mask(ids, pad)[:, 0],
            "The values are right, but the axis of the heads is missing: (B, T, T) would meet scores (B, H, T, T) with"
            " the batch where the heads are.",
        ),
        Mistake(
            edited(target_mask, "masks.causal(ids.size(1))", "masks.causal(ids.size(1)).mT"),
            "The triangle is transposed: each token sees what comes after it, and not what came before.",
        ),
        Mistake(
            edited(target_mask, "masks.causal(ids.size(1))", "masks.causal(ids.size(1)).tril(-1)"),
            "The diagonal is missing: a token may attend to itself.",
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
            "& is for True and False, and one side of yours holds numbers: build the triangle with dtype=torch.bool, "
            "or use .bool().",
        ),
        Mistake(
            edited(target_mask, "masks.padding(ids, pad_id=pad_id)", "(ids != pad_id)"),
            "The padding is (B, T), and meets the triangle (T, T) with the sentences where the queries are. With as "
            "many sentences as tokens there is not even an error. Put two axes of size 1 in between.",
            also=(lambda ids, pad: (ids != pad) & masks.causal(ids.size(1)),),
        ),
        Mistake(
            edited(target_mask, " & ", " and "),
            "`and` asks whether a whole tensor is true, which torch refuses. & asks it for each pair.",
        ),
        Mistake(
            edited(target_mask, "pad_id=pad_id", "pad_id"),
            "masks.padding takes the padding id by its name: masks.padding(ids, pad_id=pad_id).",
        ),
        Mistake(
            lambda ids, pad: target_mask(ids, pad).float(),
            "The pattern is right, but these are the numbers 0 and 1. Added to the scores they block nothing: return "
            "a bool mask.",
        ),
    ],
    hints=[
        "Two rules: no key in the future, (T, T), and no key that is padding, (B, 1, 1, T).",
        "Both must allow it. Which operator joins them, & or |?",
        "The rest is broadcasting: (T, T) meets (B, 1, 1, T), and gives (B, 1, T, T).",
    ],
    solution="""
        def my_target_mask(ids, pad_id):
            length = ids.size(1)
            not_future = torch.ones(length, length, dtype=torch.bool).tril()  # (T, T)
            not_padding = (ids != pad_id)[:, None, None, :]  # (B, 1, 1, T)
            return not_future & not_padding
    """,
)
