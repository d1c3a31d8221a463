"""Lesson 04: my_attention_layer."""

import math

import torch
from torch import Tensor

from lessons import masks
from lessons.attention import attend
from lessons.checking.engine import Case, Exercise, Mistake, numbers, rows_sum_to_one


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
    lesson="04",
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
