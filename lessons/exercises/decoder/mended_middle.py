"""Lesson 08, mended_middle: find out what must not be normalized in a decoder layer."""

import torch
from torch import Tensor

from lessons.checking.edits import edited
from lessons.checking.engine import Case, Exercise, Mistake, numbers
from lessons.exercises.encoder.layer_norm import layer_norm


def decode_with(x: Tensor, memory: Tensor, cross_attention, norm) -> Tensor:
    """The middle part of a decoder layer, norm first: x (T, D), memory (S, D) -> (T, D)."""
    return x + cross_attention(norm(x), memory)


def _middle(candidate, x, memory, w, gain):
    def cross_attention(y, m):
        return torch.tanh(y @ w @ m.T).softmax(dim=-1) @ m

    return candidate(x, memory, cross_attention, lambda y: layer_norm(y, gain, torch.zeros(x.size(-1)), 0.1))


bug_hunt = Exercise(
    lesson="08",
    name="mended_middle",
    reference=decode_with,
    call=_middle,
    cases=lambda generator: [
        Case(
            {
                "x": 2 * numbers(generator, t, d),
                "memory": 2 * numbers(generator, s, d) + 1,
                "w": numbers(generator, d, d),
                "gain": numbers(generator, d),
            }
        )
        for t, s, d in [(2, 3, 2), (3, 5, 4), (4, 4, 4)]
    ],
    mistakes=[
        Mistake(
            edited(decode_with, "norm(x), memory", "norm(x), norm(memory)"),
            "The bug is still there. A symptom: make the memory twice as large, and nothing changes.",
        ),
        Mistake(
            edited(decode_with, "norm(x)", "x"),
            "Now nothing is normalised. x is, on its way into cross-attention.",
        ),
        Mistake(
            edited(decode_with, "x + cross", "norm(x) + cross"),
            "The memory is right now, but the residual carries the normalised x. It carries x itself.",
        ),
        Mistake(
            edited(decode_with, "x + cross_attention(norm(x), memory)", "norm(x + cross_attention(x, memory))"),
            "Now it is Post-LN: the sum is normalised. Asked for is norm first.",
        ),
        Mistake(
            edited(decode_with, "norm(x), memory", "x, norm(memory)"),
            "The wrong one of the two is normalised: x is, the memory is not.",
        ),
        Mistake(
            edited(decode_with, "x + cross_attention(norm(x), memory)", "norm(x + cross_attention(norm(x), memory))"),
            "What goes in is right now, but the sum is normalised as well. With the norm first, it is not.",
        ),
        Mistake(
            edited(decode_with, "x + cross", "cross"),
            "What goes in is right now, but the residual is gone: x itself is to be added.",
        ),
        Mistake(
            edited(decode_with, "norm(x), memory", "norm(x), norm(x)"),
            "Now the memory is not asked at all: x looks at itself.",
            also=(edited(decode_with, "norm(x), memory", "norm(x), x"),),
        ),
    ],
    hints=[
        "Three things go in: x for the residual, x for the queries, the memory. Which of them is normalised?",
        "The memory has been through the encoder's last norm already; all decoder layers get the same one.",
    ],
)
