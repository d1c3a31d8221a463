"""Lesson 10: mended_padding."""

import torch
from torch import Tensor

from lessons import masks
from lessons.checking.engine import Case, Exercise, Mistake
from lessons.exercises.mask_tutorial.shared import _ids


def keys_only(query_ids: Tensor, key_ids: Tensor, query_pad_id: int, key_pad_id: int) -> Tensor:
    """query_ids (B, Q), key_ids (B, K) -> bool, broadcasts to (B, 1, Q, K): nobody may look at padding."""
    return masks.padding(key_ids, pad_id=key_pad_id)


def _sides(queries: Tensor, keys: Tensor, query_pad: int, key_pad: int) -> tuple[Tensor, Tensor]:
    return (queries != query_pad)[:, None, :, None], (keys != key_pad)[:, None, None, :]


def _shipped(queries, keys, query_pad, key_pad):
    query_real, key_real = _sides(queries, keys, query_pad, key_pad)
    return query_real & key_real


def _either(queries, keys, query_pad, key_pad):
    query_real, key_real = _sides(queries, keys, query_pad, key_pad)
    return query_real | key_real


def _queries_only(queries, keys, query_pad, key_pad):
    return _sides(queries, keys, query_pad, key_pad)[0]


def _padding_sees_all(queries, keys, query_pad, key_pad):
    query_real, key_real = _sides(queries, keys, query_pad, key_pad)
    return key_real | ~query_real


def _padding_sees_itself(queries, keys, query_pad, key_pad):
    allowed = _shipped(queries, keys, query_pad, key_pad)
    return allowed | torch.eye(queries.size(1), keys.size(1), dtype=torch.bool)


def _expanded(candidate, query_ids, key_ids, query_pad_id, key_pad_id):
    """One row for all queries and a row for each mean the same, and both are right."""
    mask = candidate(query_ids, key_ids, query_pad_id, key_pad_id)
    shape = (query_ids.size(0), 1, query_ids.size(1), key_ids.size(1))
    broadcasts = isinstance(mask, Tensor) and mask.dim() == 4 and all(a in (1, b) for a, b in zip(mask.shape, shape))
    return mask.expand(shape) if broadcasts else mask


tidy_mask = Exercise(
    lesson="10",
    name="mended_padding",
    reference=keys_only,
    cases=lambda generator: [
        Case(
            {
                "query_ids": _ids(generator, b, q, qp),
                "key_ids": _ids(generator, b, k, kp).flip(0),
                "query_pad_id": qp,
                "key_pad_id": kp,
            }
        )
        for b, q, k, qp, kp in [(3, 6, 5, 7, 2), (2, 3, 4, 1, 3), (4, 4, 4, 5, 5)]
    ],
    outputs=("allowed",),
    call=_expanded,
    solution=(keys_only, masks.padding),
    mistakes=[
        Mistake(
            _shipped,
            "The bug is still there. A symptom: in some rows nothing may be looked at, and their softmax is NaN.",
        ),
        Mistake(
            _either,
            "No row is empty now, but words look at padding: | makes a key visible if the query is a word.",
        ),
        Mistake(
            _queries_only,
            "You kept the wrong one of the two: padded queries have nothing to look at, and words look at padding.",
        ),
        Mistake(
            _padding_sees_all,
            "That mends the symptom: no row is empty any more. But now padded queries look at everything, padding "
            "too. Nobody needs their output; the simplest is not to ask who the query is.",
        ),
        Mistake(
            _padding_sees_itself,
            "You opened the diagonal, so that padding sees itself. That fits self-attention alone; in cross-attention "
            "query i and key i are different words, or padding. It is simpler not to ask who the query is.",
        ),
        Mistake(
            lambda queries, keys, query_pad, key_pad: torch.ones(len(keys), 1, queries.size(1), keys.size(1)).bool(),
            "No row is empty now, because nothing is hidden at all: words look at padding.",
        ),
        Mistake(
            lambda queries, keys, query_pad, key_pad: ~keys_only(queries, keys, query_pad, key_pad),
            "Keys only, that is right. But True and False are exchanged: now all look at padding alone.",
        ),
        Mistake(
            lambda queries, keys, query_pad, key_pad: keys_only(queries, keys, query_pad, query_pad),
            "Keys only, that is right. But their padding has the id key_pad_id.",
        ),
    ],
    hints=[
        "Print the mask for query_ids with one PAD at the end. What may that query look at?",
        "What is the softmax of a row that is blocked throughout? And what becomes of it in the next layer?",
        "Does anybody need to know whether the query is padding?",
    ],
)
