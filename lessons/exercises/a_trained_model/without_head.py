"""Lesson 14: my_without_head."""

import torch
from torch import Tensor

from lessons.attention import split_heads
from lessons.checking.engine import Case, Exercise, Mistake, numbers, small_numbers


def without_head(joined: Tensor, num_heads: int, head: int, w_out: Tensor, b_out: Tensor) -> Tensor:
    """joined (B, S, D), the heads' outputs side by side -> (B, S, D): projected, with the output of `head` at 0."""
    head_dim = joined.size(-1) // num_heads
    kept = joined.clone()
    kept[..., head * head_dim : (head + 1) * head_dim] = 0.0
    return kept @ w_out.T + b_out


def _silence(joined, num_heads, head, w_out, b_out):
    return without_head(joined, num_heads, head, w_out, b_out)


def _zeroed(joined, place):
    kept = joined.clone()
    kept[place] = 0.0
    return kept


def _silence_cases(generator) -> list[Case]:
    def case(b, s, h, d, head, draw=numbers, about="", gradients=False):
        size = h * d
        inputs = {"joined": draw(generator, b, s, size), "num_heads": h, "head": head}
        inputs |= {"w_out": draw(generator, size, size), "b_out": draw(generator, size)}
        return Case(inputs, about=about, gradients=gradients)

    return [
        case(1, 2, 2, 2, 1, small_numbers),
        case(2, 4, 3, 5, 1),
        case(3, 5, 4, 2, 2),
        case(3, 3, 3, 3, 2),
        case(2, 5, 2, 3, 0, about="the first head"),
        case(1, 3, 2, 3, 1, about="gradients", gradients=True),
    ]


def _slice(joined, num_heads, head):
    head_dim = joined.size(-1) // num_heads
    return (..., slice(head * head_dim, (head + 1) * head_dim))


silence = Exercise(
    lesson="14",
    name="my_without_head",
    reference=without_head,
    cases=_silence_cases,
    outputs=("output",),
    mistakes=[
        Mistake(
            lambda x, n, h, w, b: x @ w.T + b,
            "Nothing is silent: this is the output with all heads.",
        ),
        Mistake(
            lambda x, n, h, w, b: _zeroed(x @ w.T + b, _slice(x, n, h)),
            "You set features to 0 after the projection. There they belong to no head any more: out_proj mixes all "
            "heads into every feature. Silence the head before it.",
        ),
        Mistake(
            lambda x, n, h, w, b: _zeroed(x @ w.T, _slice(x, n, h)) + b,
            "These places of the output are now the bias alone. But the output's features belong to no head: each is "
            "a mixture of all. A head is read by *columns* of w_out; its rows are the output's features.",
        ),
        Mistake(
            lambda x, n, h, w, b: _zeroed(x, _slice(x, n, h)),
            "The right head is silent, but out_proj is missing: … @ w_out.T + b_out.",
        ),
        Mistake(
            lambda x, n, h, w, b: _zeroed(x, (..., slice(h, h + x.size(-1) // n))) @ w.T + b,
            "You silenced d features, but from place head on. Before this head stand head · d of them.",
        ),
        Mistake(
            lambda x, n, h, w, b: _zeroed(x, (..., slice(h * (x.size(-1) // n), None))) @ w.T + b,
            "You silenced this head and all that follow. It ends at (head + 1) · d.",
        ),
        Mistake(
            lambda x, n, h, w, b: _zeroed(split_heads(x, n), (slice(None), h)).reshape(x.shape) @ w.T + b,
            "The heads were joined without being brought back to their place: (B, H, S, d) goes to (B, S, H, d) first, "
            "transpose(1, 2), and then to (B, S, D).",
        ),
        Mistake(
            lambda x, n, h, w, b: (
                _zeroed(x.reshape(len(x), n, x.size(1), -1), (slice(None), h)).reshape(x.shape) @ w.T + b
            ),
            "reshape to (B, H, S, d) cuts the tokens into heads, not the features. First (B, S, H, d); there the heads "
            "are axis 2.",
        ),
        Mistake(
            lambda x, n, h, w, b: _zeroed(x, (..., slice(h, None, n))) @ w.T + b,
            "You silenced every num_heads-th feature. A head's features lie side by side: from head · d on, d of them.",
        ),
        Mistake(
            lambda x, n, h, w, b: _zeroed(x, (..., slice(h * n, (h + 1) * n))) @ w.T + b,
            "You took num_heads for the size of a head. It is d = D / num_heads.",
        ),
        Mistake(
            lambda x, n, h, w, b: _zeroed(x, (..., h)) @ w.T + b,
            "You silenced a single feature. A head has D / num_heads of them.",
        ),
        Mistake(
            lambda x, n, h, w, b: _silence(x, n, h - 1, w, b),
            "That is the head before. Heads are counted from 0: head h begins at feature h · d.",
        ),
        Mistake(
            lambda x, n, h, w, b: (x - _zeroed(x, _slice(x, n, h))) @ w.T + b,
            "You kept this head and silenced all others.",
        ),
        Mistake(
            lambda x, n, h, w, b: _silence(x, n, h, w.T, b),
            "The projection lies the wrong way: a linear layer of torch is x @ w.T + b.",
        ),
        Mistake(
            lambda x, n, h, w, b: _silence(x, n, h, w, 0.0),
            "The bias of out_proj is missing. It belongs to no head, and stays.",
        ),
        Mistake(
            lambda x, n, h, w, b: _silence(x * n / (n - 1), n, h, w, b),
            "You scaled the other heads up, as dropout does. Here they stay as they are.",
        ),
        Mistake(
            lambda x, n, h, w, b: _zeroed(x, (slice(None), h)) @ w.T + b,
            "You silenced a token: axis 1 counts the tokens. The heads lie along the last axis.",
        ),
        Mistake(
            lambda x, n, h, w, b: torch.zeros_like(x) @ w.T + b,
            "Everything is silent: what is left is the bias of out_proj.",
        ),
    ],
    hints=[
        "joined holds the heads side by side: head 0 in the first d features, head 1 in the next d, …",
        "Set joined[..., head · d : (head + 1) · d] to 0, in a clone.",
        "Then out_proj as always: … @ w_out.T + b_out.",
    ],
)
