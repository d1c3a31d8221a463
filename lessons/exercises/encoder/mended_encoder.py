"""Lesson 07, mended_encoder: find out what happens to x on its way through the stack."""

import torch
from torch import Tensor

from lessons.checking.edits import edited
from lessons.checking.engine import Case, Exercise, Mistake, numbers
from lessons.exercises.encoder.layer_norm import layer_norm


def encode(x: Tensor, sublayers, norms) -> Tensor:
    """x (T, D) -> (T, D): a stack of sublayers, each in a residual with its norm first, and a norm at the end."""
    *inner, last = norms
    for sublayer, norm in zip(sublayers, inner):
        x = x + sublayer(norm(x))
    return last(x)


def _stack(candidate, x, w, gains):
    size = x.size(-1)
    sublayers = [lambda y, one=one: torch.tanh(y @ one) for one in w]
    norms = [lambda y, gain=gain: layer_norm(y, gain, torch.zeros(size), 0.1) for gain in gains]
    return candidate(x, sublayers, norms)


def _stack_cases(generator) -> list[Case]:
    return [
        Case(
            {"x": 2 * numbers(generator, t, d), "w": numbers(generator, n, d, d), "gains": numbers(generator, n + 1, d)}
        )
        for t, d, n in [(2, 3, 1), (3, 5, 2), (4, 4, 4)]
    ]


bug_hunt = Exercise(
    lesson="07",
    name="mended_encoder",
    reference=encode,
    cases=_stack_cases,
    call=_stack,
    outputs=("output",),
    mistakes=[
        Mistake(
            edited(encode, "x = x + sublayer(norm(x))", "x = norm(x)\n        x = x + sublayer(x)"),
            "The bug is still there. A symptom: with sublayers that give nothing but 0, the result should be norms[-1] "
            "of x. It is something else.",
        ),
        Mistake(
            edited(encode, "sublayer(norm(x))", "norm(sublayer(x))"),
            "The norm stands behind the sublayer now. It comes before it: x + sublayer(norm(x)).",
        ),
        Mistake(
            edited(encode, "norm(x)", "x"),
            "The sublayers get x as it is. Each has a norm before it: x + sublayer(norm(x)).",
        ),
        Mistake(
            edited(encode, "x + sublayer", "sublayer"),
            "x is not carried on: what a sublayer gives is added to x, and does not replace it.",
        ),
        Mistake(
            edited(encode, "    return", "        return"),
            "Only the first sublayer is used. Does `return` stand inside the loop?",
        ),
        Mistake(
            edited(encode, "x + sublayer(norm(x))", "norm(x + sublayer(x))"),
            "Now it is the other order, Post-LN: each sum is normalised. Asked for is x + sublayer(norm(x)).",
        ),
        Mistake(
            edited(encode, "last(x)", "x"), "The norm at the end is missing: the stream has grown with every sublayer."
        ),
        Mistake(
            edited(encode, ("x + sublayer(norm(x))", "last(x + sublayer(norm(x)))"), ("last(x)", "x")),
            "The last norm stands inside the loop. It comes once, after all sublayers.",
        ),
    ],
    hints=[
        "Follow x itself: through which functions does it go on its way to the end?",
        "In norm-first order the norm is only in the branch to the sublayer.",
        "Two names help: normalised = norm(x), and x stays x.",
    ],
)
