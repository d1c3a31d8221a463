"""Exercises of 04_self_and_cross_attention: one function for all three, and the mask that each of them needs."""

import math

import torch
from torch import Tensor

from lessons import masks
from lessons.attention import attend
from lessons.exercises.engine import Case, Exercise, Mistake, numbers, rows_sum_to_one


def attention_layer(
    queries_from: Tensor, keys_from: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor, allowed: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """queries_from (..., Q, D), keys_from (..., K, D), w_q and w_k (D, d), w_v (D, d_v), allowed (..., Q, K).

    Returns output (..., Q, d_v) and weights (..., Q, K). With the same tensor twice it is self-attention, with
    the decoder's and the encoder's cross-attention, and with a causal mask masked attention.
    """
    return attend(queries_from @ w_q, keys_from @ w_k, keys_from @ w_v, allowed)


def _layer_inputs(generator, queries: int, keys: int | None, sizes: tuple[int, int, int], batch=()) -> dict:
    features, d, d_v = sizes
    x = numbers(generator, *batch, queries, features)
    return {
        "queries_from": x,
        "keys_from": x if keys is None else numbers(generator, *batch, keys, features),
        "w_q": numbers(generator, features, d) / math.sqrt(features),
        "w_k": numbers(generator, features, d) / math.sqrt(features),
        "w_v": numbers(generator, features, d_v) / math.sqrt(features),
    }


def _layer_cases(generator) -> list[Case]:
    masked = _layer_inputs(generator, 4, None, (3, 5, 2)) | {"allowed": masks.causal(4)}
    padded = _layer_inputs(generator, 5, 7, (4, 6, 3), batch=(2,))
    padded["allowed"] = masks.padding_from_lengths([7, 3])[:, 0]  # (B, 1, K)
    shared = _layer_inputs(generator, 4, None, (3, 2, 6), batch=(2,)) | {"allowed": masks.causal(4)}
    return [
        Case(_layer_inputs(generator, 2, 3, (4, 5, 6)) | {"allowed": None}),
        Case(_layer_inputs(generator, 4, 4, (3, 5, 2)) | {"allowed": None}),
        Case(masked),
        Case(padded, about="a batch axis in front, and padding in the source"),
        Case(shared, about="one mask (Q, K) for a whole batch"),
        Case(_layer_inputs(generator, 3, 4, (5, 2, 6)) | {"allowed": None}, about="gradients", gradients=True),
    ]


def _attend_plainly(q, k, v, allowed, *, size=None, axis=-1, invert=False, filled_with=-torch.inf):
    """Attention with one thing done otherwise, for the known mistakes."""
    scores = q @ k.mT / math.sqrt(size or q.size(-1))
    if allowed is not None:
        scores = scores.masked_fill(allowed if invert else ~allowed, filled_with)
    weights = scores.softmax(dim=axis)
    return weights @ v, weights


one_function = Exercise(
    name="my_attention_layer",
    reference=attention_layer,
    cases=_layer_cases,
    outputs=("output", "weights"),
    laws=[rows_sum_to_one(1)],
    solution=(attention_layer, attend),
    mistakes=[
        Mistake(
            lambda x, m, w_q, w_k, w_v, a: attend(m @ w_q, x @ w_k, x @ w_v, a),
            "The parts are exchanged: the queries come from queries_from, the keys and values from keys_from. There "
            "is one output for each query, so for each row of queries_from.",
        ),
        Mistake(
            lambda x, m, w_q, w_k, w_v, a: attend(x @ w_q, x @ w_k, x @ w_v, a),
            "You never looked at keys_from: this is self-attention, whatever it is given.",
        ),
        Mistake(
            lambda x, m, w_q, w_k, w_v, a: attend(m @ w_q, m @ w_k, m @ w_v, a),
            "You never looked at queries_from: this is self-attention, whatever it is given.",
        ),
        Mistake(
            lambda x, m, w_q, w_k, w_v, a: attend(x @ w_q, m @ w_k, x @ w_v, a),
            "The values come from the wrong side. Key and value are two faces of one token: both from keys_from.",
        ),
        Mistake(
            lambda x, m, w_q, w_k, w_v, a: attend(x @ w_q, x @ w_k, m @ w_v, a),
            "The keys come from the wrong side. Key and value are two faces of one token: both from keys_from.",
        ),
        Mistake(
            lambda x, m, w_q, w_k, w_v, a: attend(x @ w_q, m @ w_k, m @ w_v),
            "The mask is not used. What allowed forbids must get weight 0.",
        ),
        Mistake(
            lambda x, m, w_q, w_k, w_v, a: _attend_plainly(x @ w_q, m @ w_k, m @ w_v, a, invert=True),
            "The mask is the wrong way round: you blocked what is allowed. True means may look.",
        ),
        Mistake(
            lambda x, m, w_q, w_k, w_v, a: _attend_plainly(x @ w_q, m @ w_k, m @ w_v, a, size=x.size(-1)),
            "You divided by the root of the tokens' size. d is the size of q and k after the projection, in which "
            "they are compared.",
        ),
        Mistake(
            lambda x, m, w_q, w_k, w_v, a: attend(x @ w_q * w_q.size(-1) ** 0.5, m @ w_k, m @ w_v, a),
            "The scores are not scaled: divide them by √d, or let attend do it.",
        ),
        Mistake(
            lambda x, m, w_q, w_k, w_v, a: _attend_plainly(x @ w_q, m @ w_k, m @ w_v, a, size=w_q.size(-1) ** 2),
            "You divided the scores by d. It is the root of d.",
        ),
        Mistake(
            lambda x, m, w_q, w_k, w_v, a: _attend_plainly(x @ w_q, m @ w_k, m @ w_v, a, axis=-2),
            "Your columns sum to 1, not your rows: the softmax ran over the queries. It runs over the keys, the last "
            "axis.",
        ),
        Mistake(
            lambda x, m, w_q, w_k, w_v, a: _attend_plainly(x @ w_q, m @ w_k, m @ w_v, a, filled_with=0.0),
            "A forbidden score was set to 0. That is a score like any other, and e⁰ is 1: only −inf leaves no weight.",
        ),
        Mistake(
            lambda x, m, w_q, w_k, w_v, a: _attend_plainly(x @ w_q, m @ w_k, m @ w_v, ~a, invert=True),
            "allowed may be None: then nothing is hidden, and there is nothing to turn around.",
        ),
        Mistake(
            lambda x, m, w_q, w_k, w_v, a: attend(x @ w_q, m @ w_q, m @ w_v, a),
            "The keys were made with w_q. They have a matrix of their own, w_k.",
        ),
        Mistake(
            lambda x, m, w_q, w_k, w_v, a: attend(x @ w_k, m @ w_q, m @ w_v, a),
            "w_q and w_k are exchanged: w_q makes the queries, w_k the keys.",
        ),
        Mistake(
            lambda x, m, w_q, w_k, w_v, a: attend(x @ w_q, m @ w_v, m @ w_k, a),
            "Keys and values are exchanged: attend takes q, k, v in this order.",
        ),
        Mistake(
            lambda x, m, w_q, w_k, w_v, a: attend(x @ w_q, m @ w_k, m @ w_v, a)[::-1],
            "The two results are exchanged: output first, then weights.",
        ),
    ],
    hints=[
        "Three projections. Which of the two inputs does each start from?",
        "After the projections, nothing knows any more where q, k and v came from: attend(q, k, v, allowed).",
    ],
)


weights_shape = Exercise(
    name="my_shape",
    reference=lambda: (2, 5, 7),
    cases=lambda generator: [Case({})],
    outputs=("the shape",),
    solution=("(B, queries, keys) = (2, 5, 7): the target asks, the source is asked",),
    mistakes=[
        Mistake(
            lambda: (2, 7, 7),
            "That is the table of the source against itself, so the encoder's self-attention.",
        ),
        Mistake(lambda: (2, 5, 5), "That is the target against itself: the decoder's self-attention."),
        Mistake(
            lambda: (2, 7, 5), "Rows and columns are exchanged. Who asks, the target or the source? Rows are queries."
        ),
        Mistake(
            lambda: (2, 5, 16), "That is the shape of the output. The weights have one number for each pair of tokens."
        ),
        Mistake(lambda: (2, 1, 5, 7), "Right with an axis for heads; here there are none yet, so three axes."),
        Mistake(lambda: (5, 7), "The table is right; but each sentence of the batch has one of its own."),
    ],
    hints=[
        "One weight for each pair of query and key, for each sentence. Who are the queries here, and how many?",
        "The shape is (B, number of queries, number of keys).",
    ],
)


def cross_mask(src_ids: Tensor, tgt_ids: Tensor, src_pad_id: int) -> Tensor:
    """Where the target may look in the source: src_ids (B, S), tgt_ids (B, T) -> bool, broadcasts to (B, 1, T, S)."""
    return masks.padding(src_ids, pad_id=src_pad_id)


def _expand(mask, shape: tuple[int, ...]):
    """The mask in full, if it has four axes that broadcast to `shape`; else as it is."""
    broadcasts = isinstance(mask, Tensor) and mask.dim() == 4 and all(a in (1, b) for a, b in zip(mask.shape, shape))
    return mask.expand(shape) if broadcasts else mask


def _expanded(candidate, src_ids, tgt_ids, src_pad_id):
    mask = candidate(src_ids, tgt_ids, src_pad_id)
    return _expand(mask, (src_ids.size(0), 1, tgt_ids.size(1), src_ids.size(1)))


def _ids(generator, rows: int, columns: int, pad_id: int) -> Tensor:
    """Ids from 0 to 9, all but pad_id itself, with padding of different lengths at the end of each row."""
    ids = torch.randint(0, 9, (rows, columns), generator=generator)
    ids[ids >= pad_id] += 1
    for row in range(rows):
        ids[row, columns - (row + 1) % columns :] = pad_id
    return ids


cross_hidden = Exercise(
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
