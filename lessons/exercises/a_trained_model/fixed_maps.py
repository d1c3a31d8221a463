"""Lesson 14, fixed_maps: the weights of all heads, with no weight on padding."""

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
    scores = scores.masked_fill(~real[:, None, None], -torch.inf)  # no weight on padding
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


QUERIES = ("~real[:, None, None]", "~real[:, None, :, None]")
BOTH_SIDES = ("~real[:, None, None]", "~(real[:, None, None] & real[:, None, :, None])")
EMPTY_ROWS_0 = ("softmax(dim=-1)", "softmax(dim=-1).nan_to_num()")  # a row in which all is blocked: NaN becomes 0


bug_hunt = Exercise(
    lesson="14",
    name="fixed_maps",
    reference=maps,
    cases=_map_cases,
    outputs=("weights",),
    laws=(rows_sum_to_one(),),
    mistakes=[
        Mistake(
            edited(maps, QUERIES, ("-torch.inf", "torch.finfo(scores.dtype).min")),
            "The bug is still there. A symptom: the map of a short sentence changes when a longer one is in the batch.",
        ),
        Mistake(
            edited(maps, ".masked_fill(~real[:, None, None], -torch.inf)", ""),
            "Now there is no mask at all, and the tokens of a shorter sentence attend to its padding.",
        ),
        Mistake(
            edited(maps, QUERIES),
            "You block the rows of the padding, its queries: the tokens still attend to it. Block its columns, the "
            "keys: real[:, None, None].",
            also=[edited(maps, QUERIES, EMPTY_ROWS_0)],
        ),
        Mistake(
            edited(
                maps,
                (".masked_fill(~real[:, None, None], -torch.inf)", ""),
                ("softmax(dim=-1)", "softmax(dim=-1) * real[:, None, None]"),
            ),
            "The mask came after the softmax: the padding's weight is gone, and where there is padding the rows no "
            "longer sum to 1. Block the scores, with −inf.",
        ),
        Mistake(
            edited(maps, "-torch.inf", "0.0"),
            "You set the scores of the padding to 0. exp(0) is 1, so it still gets weight. Use −inf.",
        ),
        Mistake(
            edited(maps, "~real", "real"),
            "The mask is inverted: it blocks the tokens, and not the padding. real is True where there is a token.",
            also=[edited(maps, ("~real", "real"), ("-torch.inf", "-1e9"))],
        ),
        Mistake(
            edited(maps, BOTH_SIDES, EMPTY_ROWS_0),
            "You blocked the padding's rows as well as its columns. The model blocks only its columns: it computes the "
            "padding's rows, too, though nobody uses them.",
            also=(edited(maps, BOTH_SIDES), edited(maps, BOTH_SIDES, ("-torch.inf", "-1e9"))),
        ),
        Mistake(
            edited(maps, "~real[:, None, None]", "~(real[:, None, None] & masks.causal(x.size(1)))"),
            "Each token attends to itself and those before it: that is a decoder's mask. In an encoder all tokens "
            "attend to all tokens except padding.",
            also=[edited(maps, "~real[:, None, None]", "~masks.causal(x.size(1))")],
        ),
        Mistake(
            edited(maps, QUERIES, ("softmax(dim=-1)", "softmax(dim=-2)")),
            "The softmax goes over the queries now, so each column sums to 1 instead of each row. It was right before: "
            "over the keys, dim=-1. The bug is in the mask.",
            also=[edited(maps, QUERIES, ("-torch.inf", "torch.finfo(scores.dtype).min"), ("dim=-1", "dim=-2"))],
        ),
        Mistake(
            edited(maps, "softmax(dim=-1)", "softmax(dim=-2)"),
            "The mask is right, but the softmax goes over the queries now. It was right before: over the keys, dim=-1.",
        ),
        Mistake(
            edited(maps, ("~real[:, None, None]", "real[:, None, :, None]"), ("-torch.inf", "-1e9")),
            "Now the rows of the tokens are blocked, and those of the padding are open. ~ was right, the axis wasn't: "
            "block keys, not queries.",
            also=[edited(maps, ("~real[:, None, None]", "real[:, None, :, None]"))],
        ),
        Mistake(
            edited(maps, " / math.sqrt(q.size(-1))", ""),
            "The mask is right, but the scores are no longer divided by √d.",
        ),
        Mistake(
            edited(maps, "~real[:, None, None]", "~real[:, None]"),
            "real[:, None] is (B, 1, S). Next to (B, H, S, S), torch takes the sentences for heads. It needs an axis "
            "for the heads and one for the queries: real[:, None, None].",
        ),
        Mistake(
            edited(maps, "math.sqrt(q.size(-1))", "math.sqrt(x.size(-1))"),
            "The mask is right, but now the scores are divided by √D. Each head has d = D / num_heads features: √d.",
        ),
        Mistake(
            edited(maps, "~real[:, None, None]", "~real"),
            "real is (B, S). Next to (B, H, S, S), torch takes its axes for queries and keys. It needs an axis for the "
            "heads and one for the queries: real[:, None, None].",
        ),
    ],
    hints=[
        "Compare the map of a sentence in a batch with its map when it is alone.",
        "Nobody may attend to padding: it must be blocked as a key. Which axis of the scores has the keys?",
        "Before the softmax: scores.masked_fill(~real[:, None, None], -torch.inf).",
    ],
    solution="""
        def fixed_maps(x, w_q, w_k, num_heads, real):
            q = split_heads(x @ w_q.T, num_heads)  # (B, H, S, d)
            k = split_heads(x @ w_k.T, num_heads)
            scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
            padding = ~real[:, None, None, :]  # on the axis of the keys, the last one
            scores = scores.masked_fill(padding, torch.finfo(scores.dtype).min)
            return scores.softmax(dim=-1)
    """,
)
