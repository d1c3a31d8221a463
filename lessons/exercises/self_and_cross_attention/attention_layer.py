"""Lesson 04, my_attention_layer: one function for self-, cross- and masked attention."""

import math

import torch
from torch import Tensor

from lessons import masks
from lessons.attention import attend
from lessons.checking.edits import edited
from lessons.checking.engine import Case, Exercise, Mistake, numbers, rows_sum_to_one


def attention_layer(
    queries_from: Tensor, keys_from: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor, allowed: Tensor | None = None
) -> tuple[Tensor, Tensor | None]:
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


BATCH = "a batch axis in front, and padding in the source"
EMPTY = "a query with nothing to attend to"


def _layer_cases(generator) -> list[Case]:
    masked = _layer_inputs(generator, 4, None, (3, 5, 2)) | {"allowed": masks.causal(4)}
    padded = _layer_inputs(generator, 5, 7, (4, 6, 3), batch=(2,))
    padded["allowed"] = masks.padding_from_lengths([7, 3])[:, 0]  # (B, 1, K)
    shared = _layer_inputs(generator, 4, None, (3, 2, 6), batch=(2,)) | {"allowed": masks.causal(4)}
    large = {name: 4 * x.round() for name, x in _layer_inputs(generator, 4, 5, (2, 4, 3)).items()}
    large["w_v"] /= 64
    empty = _layer_inputs(generator, 3, 4, (5, 2, 6)) | {"allowed": torch.tensor([[True], [False], [True]])}
    return [
        Case(_layer_inputs(generator, 2, 3, (4, 5, 6)) | {"allowed": None}),
        Case(_layer_inputs(generator, 4, 4, (3, 5, 2)) | {"allowed": None}),
        Case(masked),
        Case(padded, about=BATCH),
        Case(shared, about="one mask (Q, K) for a whole batch"),
        Case(_layer_inputs(generator, 3, 4, (5, 2, 6)) | {"allowed": None}, about="gradients", gradients=True),
        Case(_layer_inputs(generator, 2, 3, (4, 5, 6)), about="called without allowed"),
        Case(_layer_inputs(generator, 2, 3, (4, 5, 6), batch=(2, 3)) | {"allowed": None}, about="two axes in front"),
        Case(large | {"allowed": None}, about="scores of a hundred and more"),
        Case(empty, about=EMPTY, gradients=True),
        Case(
            _layer_inputs(generator, 1, 5, (4, 3, 2), batch=(1,)) | {"allowed": None},
            about="a batch of one, with a single query",
        ),
    ]


def _by_powers(x, memory, w_q, w_k, w_v, allowed=None):
    scores = (x @ w_q) @ (memory @ w_k).mT / math.sqrt(w_q.size(-1))
    powers = scores.exp() if allowed is None else scores.exp().masked_fill(~allowed, 0.0)
    weights = powers / powers.sum(dim=-1, keepdim=True)
    return weights @ (memory @ w_v), weights


def _in_plain_steps(x, memory, w_q, w_k, w_v, allowed=None):
    q, k, v = x @ w_q, memory @ w_k, memory @ w_v
    scores = q @ k.mT / math.sqrt(q.size(-1))
    if allowed is not None:
        scores = scores.masked_fill(~allowed, -torch.inf)
    weights = scores.softmax(dim=-1)
    return weights @ v, weights


_with_nan_to_num = edited(_in_plain_steps, "softmax(dim=-1)", "softmax(dim=-1).nan_to_num(0.0)")


def _masked_late(x, memory, w_q, w_k, w_v, allowed=None):
    weights = attention_layer(x, memory, w_q, w_k, w_v)[1]
    if allowed is not None:
        weights = weights * allowed
    return weights @ (memory @ w_v), weights


def _with_the_scores(x, memory, w_q, w_k, w_v, allowed=None):
    scores = (x @ w_q) @ (memory @ w_k).mT / math.sqrt(w_q.size(-1))
    return attention_layer(x, memory, w_q, w_k, w_v, allowed)[0], scores


def _causal_by_itself(x, memory):
    return torch.ones(x.size(-2), memory.size(-2), dtype=torch.bool).tril()


one_function = Exercise(
    lesson="04",
    name="my_attention_layer",
    reference=attention_layer,
    cases=_layer_cases,
    outputs=("output", "weights"),
    laws=[rows_sum_to_one(1)],
    mistakes=[
        Mistake(
            lambda x, memory, *others: attention_layer(memory, x, *others),
            "The roles are swapped: queries come from queries_from, keys and values from keys_from. There is one "
            "output per query, so one per row of queries_from.",
        ),
        Mistake(
            lambda x, memory, *others: attention_layer(x, x, *others),
            "You never used keys_from: this is self-attention, whatever the inputs are.",
        ),
        Mistake(
            lambda x, memory, *others: attention_layer(memory, memory, *others),
            "You never used queries_from: this is self-attention, whatever the inputs are.",
        ),
        Mistake(
            edited(attention_layer, "keys_from @ w_v", "queries_from @ w_v"),
            "The values come from the wrong side. Key and value belong to the same token: compute both from keys_from.",
        ),
        Mistake(
            edited(attention_layer, "keys_from @ w_k", "queries_from @ w_k"),
            "The keys come from the wrong side. Key and value belong to the same token: compute both from keys_from.",
        ),
        Mistake(
            edited(attention_layer, "@ w_v, allowed", "@ w_v"),
            "The mask is not used. What allowed blocks must get weight 0.",
        ),
        Mistake(
            edited(_in_plain_steps, "~allowed", "allowed"),
            "The mask is inverted: you blocked what is allowed. True means may attend.",
            also=(
                lambda *inputs: attention_layer(*inputs[:5], *(a if a is None else ~a for a in inputs[5:])),
                edited(attention_layer, "@ w_v, allowed", "@ w_v, ~allowed"),
            ),
        ),
        Mistake(
            _masked_late,
            "You masked after the softmax: the blocked keys took part in the sum of their row, which is less than 1 "
            "without them. Mask the scores.",
        ),
        Mistake(
            edited(_in_plain_steps, "q.size(-1)", "x.size(-1)"),
            "You divided by the root of the tokens' size. d is the size of q and k after the projection.",
        ),
        Mistake(
            edited(_in_plain_steps, " / math.sqrt(q.size(-1))", ""),
            "The scores are not scaled: divide them by √d, or let attend do it.",
        ),
        Mistake(
            edited(_in_plain_steps, "math.sqrt(q.size(-1))", "q.size(-1)"),
            "You divided the scores by d. Divide by √d.",
        ),
        Mistake(
            edited(_in_plain_steps, "dim=-1", "dim=-2"),
            "Your columns sum to 1, not your rows: the softmax ran over the queries. Run it over the keys, the last "
            "axis.",
        ),
        Mistake(
            edited(_in_plain_steps, "k.mT", "k.T"),
            "k.T reverses all axes. That suits one sentence; with a batch in front, swap the last two alone, with "
            "k.transpose(-2, -1) or k.mT.",
            seen_in=BATCH,
            also=(edited(_with_nan_to_num, "k.mT", "k.T"),),
        ),
        Mistake(
            edited(_with_nan_to_num, "k.mT", "k.transpose(1, 2)"),
            "Which axes of k you swap depends on how many are in front: there may be none, or several. Count from the "
            "end: k.transpose(-2, -1), or k.mT.",
            also=(
                edited(_in_plain_steps, "k.mT", "k.transpose(1, 2)"),
                edited(_with_nan_to_num, "k.mT", "k.transpose(0, 1)"),
                edited(_in_plain_steps, "k.mT", "k.transpose(0, 1)"),
            ),
        ),
        Mistake(
            edited(_in_plain_steps, "weights @ v, weights", "weights @ v, scores"),
            "You returned the scores with the output. The weights are what the softmax makes of them.",
            also=(_with_the_scores,),
        ),
        Mistake(
            edited(_in_plain_steps, "-torch.inf", "0.0"),
            "You set blocked scores to 0. That is a score like any other, and e⁰ is 1. Use −inf, which leaves no "
            "weight.",
        ),
        Mistake(
            edited(_in_plain_steps, "if allowed is not None:\n        ", ""),
            "allowed may be None: then nothing is blocked, and there is nothing to invert.",
        ),
        Mistake(
            edited(attention_layer, ("@ w_q", "@ w_q.T"), ("@ w_k", "@ w_k.T"), ("@ w_v", "@ w_v.T")),
            "The matrices are (D, d) as they are: x @ w_q. (nn.Linear stores its matrix transposed; there is none "
            "here.)",
        ),
        Mistake(
            edited(attention_layer, "keys_from @ w_v", "keys_from"),
            "w_v is not used: the values are keys_from @ w_v.",
        ),
        Mistake(
            edited(attention_layer, "keys_from @ w_k", "keys_from @ w_q"),
            "You computed the keys with w_q. They have their own matrix, w_k.",
        ),
        Mistake(
            lambda x, memory, w_q, w_k, *others: attention_layer(x, memory, w_k, w_q, *others),
            "w_q and w_k are swapped: w_q makes the queries, w_k the keys.",
        ),
        Mistake(
            edited(attention_layer, "keys_from @ w_k, keys_from @ w_v", "keys_from @ w_v, keys_from @ w_k"),
            "Your keys are made with w_v. They need w_k: attend takes q, k, v in this order.",
        ),
        Mistake(
            edited(attention_layer, "w_v, allowed)", "w_v, allowed)[::-1]"),
            "The two results are swapped: return output first, then weights.",
        ),
        Mistake(
            _by_powers,
            "The formula is right, but e^100 is too large for a float: inf / inf is NaN. Subtract the row's maximum "
            "first, as in lesson 02, or let attend do it.",
            seen_in="scores of a hundred and more",
            also=(edited(_by_powers, "scores.exp().masked_fill(~allowed, 0.0)", "scores.exp() * allowed"),),
        ),
        Mistake(
            edited(_in_plain_steps, "math.sqrt(q.size(-1))", "math.sqrt(k.size(-2))"),
            "You divided by the root of the number of keys. d is the number of features of q and k, their last axis.",
        ),
        Mistake(
            edited(_in_plain_steps, "if allowed is not None", "if allowed"),
            "A table of many truth values is neither True nor False. Ask whether there is one: if allowed is not None.",
        ),
        Mistake(
            edited(attention_layer, (" @ w_q", ""), (" @ w_k", ""), (" @ w_v", "")),
            "The three matrices are not used: queries, keys and values are what they make of the tokens.",
        ),
        Mistake(
            edited(_in_plain_steps, "dim=-1", "dim=1"),
            "For one sentence, axis 1 is the keys. With a batch in front, it is the queries: dim=-1.",
            seen_in=BATCH,
            also=(
                edited(_with_nan_to_num, "dim=-1", "dim=1"),
                edited(_in_plain_steps, ("dim=-1", "dim=1"), ("-torch.inf", "-1e9")),
            ),
        ),
        Mistake(
            lambda x, memory, w_q, w_k, w_v, allowed=None: attention_layer(
                x, memory, w_q, w_k, w_v, _causal_by_itself(x, memory) if allowed is None else allowed
            ),
            "Without a mask you made it causal. If allowed is None, nothing is hidden.",
            also=(
                edited(
                    attention_layer,
                    "@ w_v, allowed",
                    "@ w_v, masks.causal(queries_from.size(-2)) if allowed is None else allowed",
                ),
            ),
        ),
        Mistake(
            edited(attention_layer, "keys_from @ w_v", "keys_from @ w_k"),
            "You computed the values with w_k. They have their own matrix, w_v.",
        ),
        Mistake(
            _in_plain_steps,
            "Right, except for a query with nothing to attend to: its row is all -inf, and the softmax turns it into "
            "NaN. Its output and weights must be 0, as in lesson 03.",
            seen_in=EMPTY,
        ),
        Mistake(
            edited(_with_nan_to_num, "scores.masked_fill(~allowed, ", "scores + torch.where(allowed, 0.0, "),
            "The results are right, but not their gradients: for a row of nothing but -inf the softmax has a gradient "
            "of NaN, and it reaches the scores. Write -inf over them with masked_fill in place of adding it: then no "
            "gradient gets through to a blocked score.",
            seen_in=EMPTY,
        ),
        Mistake(
            edited(_in_plain_steps, "-torch.inf", "-1e9"),
            "A query with nothing to attend to has scores that are all equal, so it attends evenly to what is blocked. "
            "(A large negative number such as -1e9, instead of -inf, does that.) Its output and weights must be 0.",
            seen_in=EMPTY,
        ),
    ],
    hints=[
        "There are three projections. Which of the two inputs does each one use?",
        "After the projections it no longer matters where q, k and v came from: attend(q, k, v, allowed).",
    ],
    solution="""
        def my_attention_layer(queries_from, keys_from, w_q, w_k, w_v, allowed=None):
            q = queries_from @ w_q
            k = keys_from @ w_k
            v = keys_from @ w_v
            return attend(q, k, v, allowed)
    """,
)
