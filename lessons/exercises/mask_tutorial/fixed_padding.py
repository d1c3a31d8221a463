"""Lesson 10, fixed_padding: a mask for padding that leaves no row empty."""

import torch
from torch import Tensor

from lessons import masks
from lessons.checking.edits import edited
from lessons.checking.engine import Case, Exercise, Mistake
from lessons.exercises.mask_tutorial.shared import padded_ids


def keys_only(query_ids: Tensor, key_ids: Tensor, query_pad_id: int, key_pad_id: int) -> Tensor:
    """query_ids (B, Q), key_ids (B, K) -> bool, broadcasts to (B, 1, Q, K): no query attends to padding."""
    return masks.padding(key_ids, pad_id=key_pad_id)


def _expanded(candidate, query_ids, key_ids, query_pad_id, key_pad_id):
    """One row for all queries and a row for each mean the same, and both are right. Which real keys a padded query
    attends to is free, if there is one.
    """
    mask = candidate(query_ids, key_ids, query_pad_id, key_pad_id)
    shape = (query_ids.size(0), 1, query_ids.size(1), key_ids.size(1))
    broadcasts = isinstance(mask, Tensor) and mask.dim() == 4 and all(a in (1, b) for a, b in zip(mask.shape, shape))
    if not broadcasts or mask.dtype != torch.bool:
        return mask.expand(shape) if broadcasts else mask
    padded_query = ~masks.padding(query_ids, pad_id=query_pad_id).mT
    real_key = masks.padding(key_ids, pad_id=key_pad_id)
    harmless = padded_query & mask.any(dim=-1, keepdim=True) & ~(mask & ~real_key).any(dim=-1, keepdim=True)
    return torch.where(harmless, real_key, mask)


def shipped(query_ids: Tensor, key_ids: Tensor, query_pad_id: int, key_pad_id: int) -> Tensor:
    """The function with the bug: it asks of both, query and key, whether they are padding."""
    real_query = masks.padding(query_ids, pad_id=query_pad_id).mT
    return real_query & masks.padding(key_ids, pad_id=key_pad_id)


ON_THE_LEFT = "keys that are padded on the left"

tidy_mask = Exercise(
    lesson="10",
    name="fixed_padding",
    reference=keys_only,
    cases=lambda generator: [
        Case(
            {
                "query_ids": padded_ids(generator, b, q, qp),
                "key_ids": padded_ids(generator, b, k, kp, front=bool(about)).flip(0),
                "query_pad_id": qp,
                "key_pad_id": kp,
            },
            about,
        )
        for b, q, k, qp, kp, about in [
            (3, 6, 5, 7, 2, ""),
            (2, 3, 4, 1, 3, ""),
            (4, 4, 4, 5, 5, ""),
            (3, 4, 5, 2, 7, ON_THE_LEFT),
        ]
    ],
    outputs=("allowed",),
    call=_expanded,
    mistakes=[
        Mistake(
            shipped,
            "The bug is still there. A symptom: some rows have no open key, and their softmax is NaN.",
        ),
        Mistake(
            edited(shipped, " & ", " | "),
            "No row is empty now, but real tokens attend to padding: | makes a key visible if the query is a real "
            "token.",
        ),
        Mistake(
            edited(shipped, " & masks.padding(key_ids, pad_id=key_pad_id)", ""),
            "You kept the wrong one of the two: padded queries have no open key, and real tokens attend to padding.",
        ),
        Mistake(
            edited(shipped, "real_query & ", "~real_query | "),
            "That fixes the symptom: no row is empty any more. But now padded queries attend to everything, including "
            "padding. Nobody needs their output; it is simplest not to ask what the query is.",
        ),
        Mistake(
            edited(
                shipped,
                "return real_query & ",
                "return torch.eye(query_ids.size(1), key_ids.size(1), dtype=torch.bool) | real_query & ",
            ),
            "You opened the diagonal, so padding attends to itself. That works only in self-attention; in cross-"
            "attention query i and key i are different tokens, or padding. It is simpler not to ask what the query is.",
        ),
        Mistake(
            lambda queries, keys, query_pad, key_pad: torch.ones(len(keys), 1, queries.size(1), keys.size(1)).bool(),
            "No row is empty now, because nothing is hidden at all: real tokens attend to padding.",
        ),
        Mistake(
            edited(keys_only, "return masks", "return ~masks"),
            "Keys only, that is right. But True and False are swapped: now every query attends only to padding.",
        ),
        Mistake(
            edited(keys_only, "pad_id=key_pad_id", "pad_id=query_pad_id"),
            "Keys only, that is right. But their padding id is key_pad_id.",
        ),
        Mistake(
            lambda queries, keys, query_pad, key_pad: masks.padding(queries, pad_id=query_pad),
            "You put the padding of the queries' sentence on the axis of the keys. In cross-attention the keys are "
            "another sentence, key_ids.",
        ),
        Mistake(
            lambda queries, keys, query_pad, key_pad: shipped(keys, queries, key_pad, query_pad),
            "Queries and keys have changed places: a mask is (B, 1, Q, K), the queries before the keys.",
        ),
        Mistake(
            edited(
                shipped,
                "return real_query & ",
                "return (torch.arange(key_ids.size(1)) == 0) | real_query & ",
            ),
            "You opened the first key for every query, so no row is empty. But where the first key is padding, real "
            "tokens attend to it. A padded query needs no rule of its own: don't ask what the query is.",
            seen_in=ON_THE_LEFT,
        ),
        Mistake(
            edited(keys_only, "pad_id=key_pad_id)", "pad_id=key_pad_id)[:, 0, 0]"),
            "Keys only, that is right. But axes are missing: what broadcasts to (B, 1, Q, K) is (B, 1, 1, K).",
            also=[edited(keys_only, "pad_id=key_pad_id)", "pad_id=key_pad_id)[:, 0]")],
        ),
        Mistake(
            edited(
                keys_only,
                "return masks.padding(key_ids, pad_id=key_pad_id)",
                "return masks.allowed_to_additive(masks.padding(key_ids, pad_id=key_pad_id))",
            ),
            "Keys only, that is right. But these are numbers, 0 and −∞, that are added to scores. The task asks for "
            "True and False, True = may attend.",
        ),
        Mistake(
            edited(keys_only, "pad_id=key_pad_id", "key_pad_id"),
            "Keys only, that is right. But masks.padding takes the padding id by its name: pad_id=key_pad_id.",
        ),
    ],
    hints=[
        "Print the mask for query_ids with one PAD at the end. What may that query attend to?",
        "What is the softmax of a row that is completely blocked? And what happens to it in the next layer?",
        "Does anybody need to know whether the query is padding?",
    ],
    solution="""
        def fixed_padding(query_ids, key_ids, query_pad_id, key_pad_id):
            return key_ids.ne(key_pad_id)[:, None, None, :]  # only the keys count
    """,
    in_package="lessons.masks.padding",
)
