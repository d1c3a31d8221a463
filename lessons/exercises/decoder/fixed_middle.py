"""Lesson 08, fixed_middle: find out what must not be normalized in a decoder layer."""

import torch
from torch import Tensor

from lessons.checking.edits import edited
from lessons.checking.engine import Case, Exercise, Mistake, numbers
from lessons.checking.stages import recorded, unrecorded
from lessons.exercises.encoder.layer_norm import layer_norm


def decode_with(x: Tensor, memory: Tensor, cross_attention, norm) -> Tensor:
    """The middle of a Pre-LN decoder layer: x (T, D), memory (S, D) -> (T, D)."""
    return x + cross_attention(norm(x), memory)


def _middle(record, candidate, x, memory, w, gain):
    def cross_attention(y, memory):
        return torch.tanh(y @ w @ memory.T).softmax(dim=-1) @ memory

    norm = recorded("norm", lambda y: layer_norm(y, gain, torch.zeros(x.size(-1)), 0.1), record)
    return candidate(x, memory, recorded("cross_attention", cross_attention, record), norm)


bug_hunt = Exercise(
    lesson="08",
    name="fixed_middle",
    reference=decode_with,
    call=unrecorded(_middle),
    stages=_middle,
    cases=lambda generator: [
        Case(
            {
                "x": 2 * numbers(generator, t, d),
                "memory": 2 * numbers(generator, s, d) + 1,
                "w": numbers(generator, d, d),
                "gain": numbers(generator, d),
            },
            about=about,
        )
        for t, s, d, about in [(2, 3, 2, ""), (3, 5, 4, ""), (4, 4, 4, ""), (1, 5, 4, "a single token")]
    ],
    mistakes=[
        Mistake(
            edited(decode_with, "norm(x), memory", "norm(x), norm(memory)"),
            "The bug is still there. A symptom: multiply the memory by 2, and the result hardly changes.",
        ),
        Mistake(
            edited(decode_with, "norm(x)", "x"),
            "Now nothing is normalized. x should be, on its way into cross-attention.",
        ),
        Mistake(
            edited(decode_with, "x + cross", "norm(x) + cross"),
            "The memory is right now, but you add the normalized x. Add x itself.",
        ),
        Mistake(
            edited(decode_with, "x + cross_attention(norm(x), memory)", "norm(x + cross_attention(x, memory))"),
            "Now it is Post-LN: the sum is normalized. The task is Pre-LN.",
        ),
        Mistake(
            edited(decode_with, "norm(x), memory", "x, norm(memory)"),
            "The wrong input is normalized: normalize x, not the memory.",
        ),
        Mistake(
            edited(decode_with, "x + cross_attention(norm(x), memory)", "norm(x + cross_attention(norm(x), memory))"),
            "The inputs are right now, but the sum is normalized as well. In Pre-LN it is not.",
        ),
        Mistake(
            edited(decode_with, "x + cross", "cross"),
            "The inputs are right now, but the residual connection is gone: add x itself.",
        ),
        Mistake(
            edited(decode_with, "cross_attention(norm(x), memory)", "norm(cross_attention(x, memory))"),
            "Now the output of cross-attention is normalized. In Pre-LN the norm comes before it, around x.",
            also=(edited(decode_with, "cross_attention(norm(x), memory)", "norm(cross_attention(norm(x), memory))"),),
        ),
        Mistake(
            edited(decode_with, "norm(x), memory", "memory, norm(x)"),
            "The two arguments of cross_attention are swapped: first x, whose queries ask, then the memory.",
        ),
        Mistake(
            edited(decode_with, "norm(x), memory", "norm(x), norm(x)"),
            "Now the memory is not used at all: x attends to itself.",
            also=(edited(decode_with, "norm(x), memory", "norm(x), x"),),
        ),
    ],
    hints=[
        "There are three inputs: x for the residual connection, x for the queries, the memory. Which is normalized?",
        "The memory has already been through the encoder's last norm. All decoder layers use the same memory.",
    ],
    solution="""
        def fixed_middle(x, memory, cross_attention, norm):
            return x + cross_attention(norm(x), memory)  # no norm around the memory
    """,
    in_package="lessons.layers.DecoderLayer",
)
