"""Lesson 14, mended_maps: the weights of all heads, with no weight on padding."""

import math

import torch
from torch import Tensor

from lessons import masks
from lessons.attention import split_heads
from lessons.checking.edits import edited
from lessons.checking.engine import Case, Exercise, Mistake, numbers, rows_sum_to_one


def maps(x: Tensor, w_q: Tensor, w_k: Tensor, num_heads: int, real: Tensor) -> Tensor:
    """x (B, S, D), w_q and w_k (D, D), real (B, S), True = a token -> weights (B, H, S, S)."""
    q, k = split_heads(x @ w_q.T, num_heads), split_heads(x @ w_k.T, num_heads)  # (B, H, S, d)
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    scores = scores.masked_fill(~real[:, None, None], -torch.inf)  # nobody looks at padding
    return scores.softmax(dim=-1)


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


BOTH_SIDES = ("~real[:, None, None]", "~(real[:, None, None] & real[:, None, :, None])")
EMPTY_ROWS_0 = ("softmax(dim=-1)", "softmax(dim=-1).nan_to_num()")  # a row in which all is blocked: NaN becomes 0


bug_hunt = Exercise(
    lesson="14",
    name="mended_maps",
    reference=maps,
    cases=_map_cases,
    outputs=("weights",),
    laws=(rows_sum_to_one(),),
    mistakes=[
        Mistake(
            edited(maps, ".masked_fill(~real[:, None, None], -torch.inf)", ""),
            "The bug is still there. A symptom: the map of a short sentence changes when a longer one stands beside it "
            "in the batch.",
        ),
        Mistake(
            edited(maps, "~real[:, None, None]", "~real[:, None, :, None]"),
            "You blocked the rows of the padding, its queries: all other rows still look at padding. Block its "
            "columns, the keys: real[:, None, None].",
            also=[edited(maps, ("~real[:, None, None]", "~real[:, None, :, None]"), EMPTY_ROWS_0)],
        ),
        Mistake(
            edited(
                maps,
                (".masked_fill(~real[:, None, None], -torch.inf)", ""),
                ("softmax(dim=-1)", "softmax(dim=-1) * real[:, None, None]"),
            ),
            "The mask came after the softmax: the padding's share is gone, and the rows do not sum to 1 any more. "
            "Block the scores, with −inf.",
        ),
        Mistake(
            edited(maps, "-torch.inf", "0.0"),
            "You set the scores of the padding to 0. exp(0) is 1, so it still gets weight: take −inf.",
        ),
        Mistake(
            edited(maps, "~real", "real"),
            "The mask is turned around: now only padding is looked at, and where there is none, nothing at all. real "
            "is True where a token is.",
        ),
        Mistake(
            edited(maps, BOTH_SIDES, EMPTY_ROWS_0),
            "You blocked the padding's rows as well as its columns. The model blocks its columns alone: a map that is "
            "to show what the model does has the padding's rows too, though nobody uses them.",
            also=(edited(maps, BOTH_SIDES), edited(maps, BOTH_SIDES, ("-torch.inf", "-1e9"))),
        ),
        Mistake(
            edited(maps, "~real[:, None, None]", "~(real[:, None, None] & masks.causal(x.size(1)))"),
            "Each token looks at itself and those before it: that is a decoder's mask. In an encoder all look at all, "
            "but for padding.",
            also=[edited(maps, "~real[:, None, None]", "~masks.causal(x.size(1))")],
        ),
        Mistake(
            edited(maps, " / math.sqrt(q.size(-1))", ""),
            "The mask is right, but the scores are not divided by √d any more.",
        ),
        Mistake(
            edited(maps, "~real[:, None, None]", "~real[:, None]"),
            "real[:, None] is (B, 1, S), and beside (B, H, S, S) the sentences are taken for heads. It needs an axis "
            "for the heads and one for the queries: real[:, None, None].",
        ),
        Mistake(
            edited(maps, "math.sqrt(q.size(-1))", "math.sqrt(x.size(-1))"),
            "The mask is right, but now the scores are divided by √D. Each head has d = D / num_heads features: √d.",
        ),
        Mistake(
            edited(maps, "~real[:, None, None]", "~real"),
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
