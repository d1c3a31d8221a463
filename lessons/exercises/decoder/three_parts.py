"""Lesson 08: my_three_parts."""

import torch
from torch import Tensor

from lessons.checking.engine import Case, Exercise, Mistake, numbers
from lessons.exercises.decoder.shared import _post, _pre
from lessons.exercises.encoder.layer_norm import layer_norm


def three_parts(x: Tensor, memory: Tensor, parts, norms, norm_first: bool) -> Tensor:
    """x (T, D), memory (S, D) -> (T, D). parts: self_attention(y), cross_attention(y, memory), feed_forward(y)."""
    self_attention, cross_attention, feed_forward = parts
    norm1, norm2, norm3 = norms
    if norm_first:
        x = x + self_attention(norm1(x))
        x = x + cross_attention(norm2(x), memory)
        return x + feed_forward(norm3(x))
    x = norm1(x + self_attention(x))
    x = norm2(x + cross_attention(x, memory))
    return norm3(x + feed_forward(x))


def _parts_called(candidate, x, memory, w_self, w_cross, w_feed, gains, norm_first):
    size = x.size(-1)
    parts = (
        lambda y: torch.tanh(y @ w_self).cumsum(dim=0),
        lambda y, m: torch.tanh(y @ w_cross @ m.T).softmax(dim=-1) @ m,
        lambda y: torch.relu(y @ w_feed) @ w_feed.T,
    )
    norms = [lambda y, gain=gain: layer_norm(y, gain, torch.zeros(size), 0.1) for gain in gains]
    return candidate(x, memory, parts, norms, norm_first)


def _parts_cases(generator) -> list[Case]:
    return [
        Case(
            {
                "x": numbers(generator, t, d),
                "memory": 2 * numbers(generator, s, d) + 1,
                "w_self": numbers(generator, d, d),
                "w_cross": numbers(generator, d, d),
                "w_feed": numbers(generator, d, f),
                "gains": numbers(generator, 3, d),
                "norm_first": first,
            }
        )
        for t, s, d, f, first in [(2, 3, 2, 4, True), (3, 5, 4, 6, False), (4, 4, 4, 4, True), (4, 4, 4, 4, False)]
    ]


def _loop(x, memory, parts, norms, first, *, order=(0, 1, 2), memory_norm=False, self_again=False, no_residual=None):
    calls = [parts[0], lambda y: parts[1](y, norms[1](memory) if memory_norm else memory), parts[2]]
    if self_again:
        calls[1] = lambda y: parts[1](y, y if self_again == "normalised" else x)
    for i, place in enumerate(order):
        norm, base = norms[i], 0 if place == no_residual else x
        x = base + calls[place](norm(x)) if first else norm(base + calls[place](x))
    return x


def _around(pre, post):
    """The three sublayers, each surrounded by `pre` with norm_first, else by `post`: (x, sublayer, norm) -> x."""

    def wrong(x, memory, parts, norms, norm_first):
        for sublayer, norm in zip((parts[0], lambda y: parts[1](y, memory), parts[2]), norms):
            x = (pre if norm_first else post)(x, sublayer, norm)
        return x

    return wrong


three = Exercise(
    lesson="08",
    name="my_three_parts",
    reference=three_parts,
    cases=_parts_cases,
    call=_parts_called,
    mistakes=[
        Mistake(
            lambda x, m, p, n, first: _loop(x, m, p, n, first, order=(1, 0, 2)),
            "Cross-attention came first. The decoder looks at itself first, then at the memory.",
        ),
        Mistake(
            lambda x, m, p, n, first: _loop(x, m, p, n, first, memory_norm=first),
            "You normalised the memory, too. It comes from the encoder as it is; only x is normalised.",
            also=(lambda x, m, p, n, first: _loop(x, m, p, n, first, memory_norm=True),),
        ),
        Mistake(
            lambda x, m, p, n, first: _loop(x, m, p, n, first, self_again="normalised"),
            "Cross-attention was given the decoder's own x in place of the memory: nothing of the source arrives.",
            also=(lambda x, m, p, n, first: _loop(x, m, p, n, first, self_again="as it is"),),
        ),
        Mistake(
            lambda x, m, p, n, first: _loop(x, m, p, n, first, no_residual=1),
            "The residual around cross-attention is missing: what the decoder knew of itself is gone.",
        ),
        Mistake(
            _around(lambda x, f, n: f(n(x)), lambda x, f, n: n(f(x))),
            "There is no residual: what goes in, x, is to be added to what each sublayer gives.",
        ),
        Mistake(
            _around(lambda x, f, n: n(x) + f(n(x)), _post),
            "With norm_first the residual carries norm(x). It carries x itself: only the sublayer gets norm(x).",
        ),
        Mistake(
            _around(lambda x, f, n: x + n(f(x)), _post),
            "The norm went over what a sublayer gives. With norm_first it goes over what the sublayer gets, without it "
            "over the sum.",
            also=(
                _around(_pre, lambda x, f, n: x + n(f(x))),
                _around(lambda x, f, n: x + n(f(x)), lambda x, f, n: x + n(f(x))),
            ),
        ),
        Mistake(_around(_post, _pre), "norm_first is turned around: if it is True, the norm stands before a sublayer."),
        Mistake(
            lambda x, m, p, n, first: _loop(x, m, (p[0], None, p[2]), [n[0], n[2]], first, order=(0, 2)),
            "The memory is not used: cross-attention, with its norm, is missing.",
        ),
        Mistake(
            lambda x, m, p, n, first: n[2](_loop(x, m, p, n, first)) if first else _loop(x, m, p, n, first),
            "With norm_first there is one norm too many, at the end. Each of the three stands before a sublayer.",
        ),
        Mistake(
            lambda x, m, p, n, first: _loop(x, m, p, n, True),
            "norm_first=False is not obeyed: then each sum is normalised.",
        ),
        Mistake(
            lambda x, m, p, n, first: _loop(x, m, p, n, False),
            "norm_first=True is not obeyed: then each sublayer gets norm(x), and x is added to it.",
        ),
        Mistake(
            lambda x, m, p, n, first: _loop(x, m, p, [n[0]] * 3, first),
            "The first norm is used three times. Each of the three has its own.",
        ),
        Mistake(
            lambda x, m, p, n, first: _loop(x, m, p, n, first, order=(0, 1)),
            "The feed-forward network is missing, and its norm.",
        ),
    ],
    hints=[
        "It is my_surround of lesson 07, three times, with one norm each.",
        "cross_attention takes two things: lambda y: cross_attention(y, memory) takes one.",
    ],
)
