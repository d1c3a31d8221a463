"""Lesson 07, fixed_encoder: find out what happens to x on its way through the stack."""

import torch
from torch import Tensor

from lessons.checking.edits import edited
from lessons.checking.engine import Case, Exercise, Mistake, numbers
from lessons.checking.stages import recorded, unrecorded
from lessons.exercises.encoder.layer_norm import layer_norm


def encode(x: Tensor, sublayers, norms) -> Tensor:
    """x (T, D) -> (T, D): a Pre-LN stack of sublayers, and a norm at the end."""
    *inner, last = norms
    for sublayer, norm in zip(sublayers, inner):
        x = x + sublayer(norm(x))
    return last(x)


def _stack(record, candidate, x, w, gains):
    size = x.size(-1)

    def sublayer(one):
        return lambda y: torch.tanh(y @ one)

    def norm(gain):
        return lambda y: layer_norm(y, gain, torch.zeros(size), 0.1)

    sublayers = [recorded(f"sublayers[{i}]", sublayer(one), record) for i, one in enumerate(w)]
    norms = [recorded(f"norms[{i}]", norm(gain), record) for i, gain in enumerate(gains)]
    return candidate(x, sublayers, norms)


def _stack_cases(generator) -> list[Case]:
    return [
        Case(
            {
                "x": 2 * numbers(generator, t, d),
                "w": numbers(generator, n, d, d),
                "gains": numbers(generator, n + 1, d),
            },
            about=about,
        )
        for t, d, n, about in [(2, 3, 1, ""), (3, 5, 2, ""), (4, 4, 4, ""), (1, 4, 3, "a single token")]
    ]


bug_hunt = Exercise(
    lesson="07",
    name="fixed_encoder",
    reference=encode,
    cases=_stack_cases,
    call=unrecorded(_stack),
    stages=_stack,
    outputs=("output",),
    mistakes=[
        Mistake(
            edited(encode, "x = x + sublayer(norm(x))", "x = norm(x)\n        x = x + sublayer(x)"),
            "The bug is still there. A symptom: if all sublayers return 0, the result should be norms[-1] of x, and it "
            "is not.",
        ),
        Mistake(
            edited(encode, "sublayer(norm(x))", "norm(sublayer(x))"),
            "The norm comes after the sublayer now. It goes before it: x + sublayer(norm(x)).",
        ),
        Mistake(
            edited(encode, "norm(x)", "x"),
            "The sublayers get x without a norm. Each has a norm before it: x + sublayer(norm(x)).",
        ),
        Mistake(
            edited(encode, "x + sublayer", "sublayer"),
            "The residual connection is gone: the output of a sublayer is added to x; it does not replace x.",
        ),
        Mistake(
            edited(encode, "    return", "        return"),
            "Only the first sublayer is used. Is `return` inside the loop?",
        ),
        Mistake(
            edited(encode, "x + sublayer(norm(x))", "norm(x + sublayer(x))"),
            "Now it is Post-LN: each sum is normalized. The task is Pre-LN: x + sublayer(norm(x)).",
        ),
        Mistake(
            edited(encode, "last(x)", "x"),
            "The norm at the end is missing: all sublayers have added to x, and nothing has normalized the sum.",
        ),
        Mistake(
            edited(encode, ("x + sublayer(norm(x))", "last(x + sublayer(norm(x)))"), ("last(x)", "x")),
            "The last norm is inside the loop. Use it once, after all sublayers.",
        ),
        Mistake(
            edited(encode, "last(x)", "norm(x)"),
            "At the end you used the norm of the last sublayer once more. There is one norm more than there are "
            "sublayers, and it is norms[-1].",
        ),
        Mistake(
            edited(encode, "sublayer(norm(x))", "sublayer(last(x))"),
            "Every sublayer gets the norm from the end, norms[-1]. Sublayer i has its own: norms[i].",
        ),
        Mistake(
            edited(encode, "*inner, last = norms", "last, *inner = norms"),
            "The norms are shifted by one: norms[0] belongs to the first sublayer, and norms[-1] to the end.",
        ),
        Mistake(
            edited(encode, "x + sublayer(norm(x))", "norm(x) + sublayer(x)"),
            "The norm is on the path of x, and not on the branch: it should be the other way round.",
        ),
        Mistake(
            edited(encode, "x + sublayer(norm(x))", "x + norm(x) + sublayer(norm(x))"),
            "You added norm(x), too. Only what the sublayer gives is added to x.",
        ),
        Mistake(
            edited(
                encode,
                ("    for", "    start = x\n    for"),
                ("x + sublayer(norm(x))", "start + sublayer(norm(start))"),
            ),
            "Only the last sublayer counts: each got the x from the start. Each gets what the one before it has left.",
        ),
        Mistake(
            edited(encode, ("    for", "    start = x\n    for"), ("x + sublayer", "start + sublayer")),
            "Each sublayer gets what the one before it has left, but is added to the x from the start. Add it to the x "
            "that went in, so that what the sublayers before have added stays in the sum.",
        ),
    ],
    hints=[
        "Follow x itself from start to end: which functions is it passed through?",
        "In Pre-LN the norm is only on the branch to the sublayer.",
        "Two names help: normalized = norm(x), and x stays x.",
    ],
    solution="""
        def fixed_encoder(x, sublayers, norms):
            for sublayer, norm in zip(sublayers, norms):
                x = x + sublayer(norm(x))  # x itself is not normalized on its way
            return norms[-1](x)
    """,
    in_package="lessons.transformer.Encoder",
)
