"""Lesson 07: mended_encoder."""

import torch
from torch import Tensor

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


def _normalised_stream(x, sublayers, norms):
    *inner, last = norms
    for sublayer, norm in zip(sublayers, inner):
        x = norm(x)
        x = x + sublayer(x)
    return last(x)


def _norm_behind(x, sublayers, norms):
    for sublayer, norm in zip(sublayers, norms):
        x = x + norm(sublayer(x))
    return norms[-1](x)


def _norm_unused(x, sublayers, norms):
    for sublayer in sublayers:
        x = x + sublayer(x)
    return norms[-1](x)


def _no_residual(x, sublayers, norms):
    for sublayer, norm in zip(sublayers, norms):
        x = sublayer(norm(x))
    return norms[-1](x)


def _only_the_first(x, sublayers, norms):
    return norms[-1](x + sublayers[0](norms[0](x)))


def _no_last_norm(x, sublayers, norms):
    for sublayer, norm in zip(sublayers, norms):
        x = x + sublayer(norm(x))
    return x


def _last_norm_inside(x, sublayers, norms):
    *inner, last = norms
    for sublayer, norm in zip(sublayers, inner):
        x = last(x + sublayer(norm(x)))
    return x


def _post(x, sublayers, norms):
    *inner, last = norms
    for sublayer, norm in zip(sublayers, inner):
        x = norm(x + sublayer(x))
    return last(x)


bug_hunt = Exercise(
    lesson="07",
    name="mended_encoder",
    reference=encode,
    cases=_stack_cases,
    call=_stack,
    outputs=("output",),
    mistakes=[
        Mistake(
            _normalised_stream,
            "The bug is still there. A symptom: with sublayers that give nothing but 0, the result should be norms[-1] "
            "of x. It is something else.",
        ),
        Mistake(_norm_behind, "The norm stands behind the sublayer now. It comes before it: x + sublayer(norm(x))."),
        Mistake(_norm_unused, "The sublayers get x as it is. Each has a norm before it: x + sublayer(norm(x))."),
        Mistake(_no_residual, "x is not carried on: what a sublayer gives is added to x, and does not replace it."),
        Mistake(_only_the_first, "Only the first sublayer is used. Does `return` stand inside the loop?"),
        Mistake(
            _post,
            "Now it is the other order, Post-LN: each sum is normalised. Asked for is x + sublayer(norm(x)).",
        ),
        Mistake(_no_last_norm, "The norm at the end is missing: the stream has grown with every sublayer."),
        Mistake(_last_norm_inside, "The last norm stands inside the loop. It comes once, after all sublayers."),
    ],
    hints=[
        "Follow x itself: through which functions does it go on its way to the end?",
        "In norm-first order the norm is only in the branch to the sublayer.",
        "Two names help: normalised = norm(x), and x stays x.",
    ],
)
