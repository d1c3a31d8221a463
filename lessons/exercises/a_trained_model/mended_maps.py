"""Lesson 14: mended_maps."""

import math

import torch
from torch import Tensor

from lessons import masks
from lessons.attention import masked_softmax, split_heads
from lessons.checking.engine import Case, Exercise, Mistake, numbers, rows_sum_to_one


def maps(x: Tensor, w_q: Tensor, w_k: Tensor, num_heads: int, real: Tensor) -> Tensor:
    """x (B, S, D), w_q and w_k (D, D), real (B, S), True = a token -> weights (B, H, S, S)."""
    q, k = split_heads(x @ w_q.T, num_heads), split_heads(x @ w_k.T, num_heads)  # (B, H, S, d)
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    scores = scores.masked_fill(~real[:, None, None], -torch.inf)  # nobody looks at padding
    return scores.softmax(dim=-1)


def _scores(x, w_q, w_k, num_heads):
    q, k = split_heads(x @ w_q.T, num_heads), split_heads(x @ w_k.T, num_heads)
    return q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))


def _both_ways(scores, real, far):
    return scores.masked_fill(~(real[:, None, None] & real[:, None, :, None]), far).softmax(dim=-1)


def _map_cases(generator) -> list[Case]:
    def case(lengths, h, d):
        real = masks.padding_from_lengths(lengths)[:, 0, 0]
        x = numbers(generator, *real.shape, h * d)
        return Case(
            {"x": x}
            | {name: numbers(generator, h * d, h * d) / math.sqrt(h * d) for name in ("w_q", "w_k")}
            | {"num_heads": h}
            | {"real": real}
        )

    return [case([2, 3], 1, 2), case([5, 2, 4], 2, 3), case([4, 2, 1, 3], 4, 4)]


bug_hunt = Exercise(
    lesson="14",
    name="mended_maps",
    reference=maps,
    cases=_map_cases,
    outputs=("weights",),
    laws=(rows_sum_to_one(),),
    mistakes=[
        Mistake(
            lambda x, q, k, n, real: _scores(x, q, k, n).softmax(dim=-1),
            "The bug is still there. A symptom: the map of a short sentence changes when a longer one stands beside it "
            "in the batch.",
        ),
        Mistake(
            lambda x, q, k, n, real: _scores(x, q, k, n).masked_fill(~real[:, None, :, None], -torch.inf).softmax(-1),
            "You blocked the rows of the padding, its queries: all other rows still look at padding. Block its "
            "columns, the keys: real[:, None, None].",
            also=(lambda x, q, k, n, real: masked_softmax(_scores(x, q, k, n), real[:, None, :, None]),),
        ),
        Mistake(
            lambda x, q, k, n, real: _scores(x, q, k, n).softmax(dim=-1) * real[:, None, None],
            "The mask came after the softmax: the padding's share is gone, and the rows do not sum to 1 any more. "
            "Block the scores, with −inf.",
        ),
        Mistake(
            lambda x, q, k, n, real: _scores(x, q, k, n).masked_fill(~real[:, None, None], 0.0).softmax(dim=-1),
            "You set the scores of the padding to 0. exp(0) is 1, so it still gets weight: take −inf.",
            also=(lambda x, q, k, n, real: (_scores(x, q, k, n) * real[:, None, None]).softmax(dim=-1),),
        ),
        Mistake(
            lambda x, q, k, n, real: _scores(x, q, k, n).masked_fill(real[:, None, None], -torch.inf).softmax(dim=-1),
            "The mask is turned around: now only padding is looked at, and where there is none, nothing at all. real "
            "is True where a token is.",
        ),
        Mistake(
            lambda x, q, k, n, real: masked_softmax(_scores(x, q, k, n), real[:, None, None] & real[:, None, :, None]),
            "You blocked the padding's rows as well as its columns. The model blocks its columns alone: a map that is "
            "to show what the model does has the padding's rows too, though nobody uses them.",
            also=(
                lambda x, q, k, n, real: _both_ways(_scores(x, q, k, n), real, -torch.inf),
                lambda x, q, k, n, real: _both_ways(_scores(x, q, k, n), real, -1e9),
            ),
        ),
        Mistake(
            lambda x, q, k, n, real: masked_softmax(_scores(x, q, k, n), real[:, None, None] & masks.causal(x.size(1))),
            "Each token looks at itself and those before it: that is a decoder's mask. In an encoder all look at all, "
            "but for padding.",
            also=(lambda x, q, k, n, real: masked_softmax(_scores(x, q, k, n), masks.causal(x.size(1))),),
        ),
        Mistake(
            lambda x, q, k, n, real: masked_softmax(
                _scores(x, q, k, n) * math.sqrt(x.size(-1) // n), real[:, None, None]
            ),
            "The mask is right, but the scores are not divided by √d any more.",
        ),
        Mistake(
            lambda x, q, k, n, real: masked_softmax(_scores(x, q, k, n), real[:, None]),
            "real[:, None] is (B, 1, S), and beside (B, H, S, S) the sentences are taken for heads. It needs an axis "
            "for the heads and one for the queries: real[:, None, None].",
        ),
        Mistake(
            lambda x, q, k, n, real: (
                (_scores(x, q, k, n) / math.sqrt(n)).masked_fill(~real[:, None, None], -torch.inf).softmax(dim=-1)
            ),
            "The mask is right, but now the scores are divided by √D. Each head has d = D / num_heads features: √d.",
        ),
        Mistake(
            lambda x, q, k, n, real: _scores(x, q, k, n).masked_fill(~real, -torch.inf).softmax(dim=-1),
            "real is (B, S), and beside (B, H, S, S) its axes are taken for queries and keys. It needs an axis for the "
            "heads and one for the queries: real[:, None, None].",
        ),
    ],
    hints=[
        "Which of the arguments does the function not use?",
        "In a batch, shorter sentences are filled up with padding; the model does not look at it.",
        "Before the softmax: scores.masked_fill(~real[:, None, None], -torch.inf).",
    ],
)
