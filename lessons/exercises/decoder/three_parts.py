"""Lesson 08, my_three_parts: put residual connections and norms around three sublayers."""

import torch
from torch import Tensor

from lessons.checking.edits import edited
from lessons.checking.engine import Case, Exercise, Mistake, numbers
from lessons.checking.stages import recorded, unrecorded
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


def _parts_called(record, candidate, x, memory, w_self, w_cross, w_feed, gains, norm_first):
    size = x.size(-1)

    def cross_attention(y, memory):
        return torch.tanh(y @ w_cross @ memory.T).softmax(dim=-1) @ memory

    def norm(gain):
        return lambda y: layer_norm(y, gain, torch.zeros(size), 0.1)

    parts = (
        recorded("self_attention", lambda y: torch.tanh(y @ w_self).cumsum(dim=0), record),
        recorded("cross_attention", cross_attention, record),
        recorded("feed_forward", lambda y: torch.relu(y @ w_feed) @ w_feed.T, record),
    )
    norms = [recorded(f"norm{i}", norm(gain), record) for i, gain in enumerate(gains, start=1)]
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


def _around(norm_first=lambda x, f, norm: x + f(norm(x)), norm_last=lambda x, f, norm: norm(x + f(x))):
    """The three sublayers with something else around each of them, in Pre-LN, in Post-LN, or in both."""

    def wrong(x, memory, parts, norms, first):
        for sublayer, norm in zip((parts[0], lambda y: parts[1](y, memory), parts[2]), norms):
            x = (norm_first if first else norm_last)(x, sublayer, norm)
        return x

    return wrong


three = Exercise(
    lesson="08",
    name="my_three_parts",
    reference=three_parts,
    cases=_parts_cases,
    call=unrecorded(_parts_called),
    stages=_parts_called,
    mistakes=[
        Mistake(
            lambda x, memory, parts, *others: three_parts(
                x, memory, (lambda y: parts[1](y, memory), lambda y, _: parts[0](y), parts[2]), *others
            ),
            "Cross-attention came first. Self-attention comes first, then cross-attention.",
        ),
        Mistake(
            edited(three_parts, "norm2(x), memory", "norm2(x), norm2(memory)"),
            "You normalized the memory, too. It is used as the encoder returns it; only x is normalized.",
            also=(
                edited(
                    three_parts,
                    ("norm2(x), memory", "norm2(x), norm2(memory)"),
                    ("attention(x, memory)", "attention(x, norm2(memory))"),
                ),
            ),
        ),
        Mistake(
            edited(three_parts, ("norm2(x), memory", "norm2(x), norm2(x)"), ("(x, memory))", "(x, x))")),
            "Cross-attention got the decoder's x in place of the memory: nothing of the source arrives.",
            also=(edited(three_parts, ("norm2(x), memory", "norm2(x), x"), ("(x, memory))", "(x, x))")),),
        ),
        Mistake(
            edited(three_parts, ("(norm2(x), memory)", "(memory, norm2(x))"), ("(x, memory)", "(memory, x)")),
            "cross_attention got its arguments in the wrong order: first x, whose queries ask, then the memory.",
        ),
        Mistake(
            edited(
                three_parts,
                ("x = x + self_attention", "start, x = x, x + self_attention"),
                ("x + cross_attention(norm2", "start + cross_attention(norm2"),
                ("x + feed_forward(norm3", "start + feed_forward(norm3"),
                ("x = norm1(x + ", "start, x = x, norm1(x + "),
                ("norm2(x + ", "norm2(start + "),
                ("norm3(x + ", "norm3(start + "),
            ),
            "You added the x that came in, each time: what the sublayer before has added is lost. Add the x that the "
            "sublayer gets.",
        ),
        Mistake(
            edited(three_parts, ("x + feed_forward(norm3", "feed_forward(norm3"), ("norm3(x + ", "norm3(")),
            "The residual connection around the feed-forward network is missing.",
            also=(
                edited(three_parts, "norm3(x + ", "norm3("),
                edited(three_parts, "x + feed_forward(norm3", "feed_forward(norm3"),
            ),
        ),
        Mistake(
            edited(three_parts, ("x + cross_attention(norm2", "cross_attention(norm2"), ("norm2(x + ", "norm2(")),
            "The residual connection around cross-attention is missing: the output of self-attention is lost.",
        ),
        Mistake(
            _around(lambda x, f, norm: f(norm(x)), lambda x, f, norm: norm(f(x))),
            "There is no residual connection: add x to the output of each sublayer.",
        ),
        Mistake(
            _around(norm_first=lambda x, f, norm: norm(x) + f(norm(x))),
            "With norm_first you added norm(x). Add x itself: only the sublayer gets norm(x).",
        ),
        Mistake(
            _around(norm_first=lambda x, f, norm: x + norm(f(x))),
            "You normalized the output of a sublayer. With norm_first, normalize the input of the sublayer; otherwise "
            "normalize the sum.",
            also=(
                _around(norm_last=lambda x, f, norm: x + norm(f(x))),
                _around(lambda x, f, norm: x + norm(f(x)), lambda x, f, norm: x + norm(f(x))),
            ),
        ),
        Mistake(
            edited(three_parts, "if norm_first", "if not norm_first"),
            "Pre-LN and Post-LN are swapped: norm_first=True is x + sublayer(norm(x)).",
        ),
        Mistake(
            edited(
                three_parts,
                ("        x = x + cross_attention(norm2(x), memory)\n", ""),
                ("    x = norm2(x + cross_attention(x, memory))\n", ""),
            ),
            "The memory is not used: cross-attention, with its norm, is missing.",
        ),
        Mistake(
            edited(three_parts, "x + feed_forward(norm3(x))", "norm3(x + feed_forward(norm3(x)))"),
            "With norm_first there is one norm too many, at the end. Each of the three goes before a sublayer.",
        ),
        Mistake(
            edited(three_parts, "if norm_first", "if True"),
            "norm_first=False is ignored. With it, each sum is normalized.",
        ),
        Mistake(
            edited(three_parts, "if norm_first", "if False"),
            "norm_first=True is ignored. With it, each sublayer gets norm(x), and x is added to its output.",
        ),
        Mistake(
            edited(three_parts, "norm1, norm2, norm3 = norms", "norm1 = norm2 = norm3 = norms[0]"),
            "The first norm is used three times. Each of the three has its own.",
        ),
        Mistake(
            edited(
                three_parts,
                ("return x + feed_forward(norm3(x))", "return x"),
                ("return norm3(x + feed_forward(x))", "return x"),
            ),
            "The feed-forward network and its norm are missing.",
        ),
    ],
    hints=[
        "It is my_surround from lesson 07, three times, each with its own norm.",
        "cross_attention takes two arguments: lambda y: cross_attention(y, memory) takes one.",
    ],
    solution="""
        def my_three_parts(x, memory, parts, norms, norm_first):
            self_attention, cross_attention, feed_forward = parts
            norm1, norm2, norm3 = norms
            if norm_first:
                x = x + self_attention(norm1(x))
                x = x + cross_attention(norm2(x), memory)
                return x + feed_forward(norm3(x))
            x = norm1(x + self_attention(x))
            x = norm2(x + cross_attention(x, memory))
            return norm3(x + feed_forward(x))
    """,
    in_package="lessons.layers.DecoderLayer",
)
