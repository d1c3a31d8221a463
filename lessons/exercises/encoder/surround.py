"""Lesson 07, my_surround: put a residual connection and a norm around a sublayer, Post-LN and Pre-LN."""

import torch
from torch import Tensor

from lessons.checking.edits import edited
from lessons.checking.engine import Case, Exercise, Mistake, numbers
from lessons.checking.stages import recorded, unrecorded
from lessons.exercises.encoder.layer_norm import layer_norm


def surround(x: Tensor, sublayer, norm, norm_first: bool) -> Tensor:
    """x (T, D) -> (T, D): a residual connection and a norm around a sublayer; norm_first: Pre-LN."""
    if norm_first:
        return x + sublayer(norm(x))
    return norm(x + sublayer(x))


def _surrounded(record, candidate, x, w, norm_first):
    """The sublayer is tanh(x w), the norm layer normalization with eps 0.1."""
    size = x.size(-1)
    ones, zeros = torch.ones(size), torch.zeros(size)
    sublayer = recorded("the sublayer", lambda y: torch.tanh(y @ w), record)
    norm = recorded("the norm", lambda y: layer_norm(y, ones, zeros, 0.1), record)
    return candidate(x, sublayer, norm, norm_first)


def _surround_cases(generator) -> list[Case]:
    return [
        Case({"x": 2 * numbers(generator, t, d), "w": numbers(generator, d, d), "norm_first": first}, about=about)
        for t, d, first, about in [
            (2, 3, True, ""),
            (3, 5, False, ""),
            (4, 4, True, ""),
            (4, 4, False, ""),
        ]
    ]


residual = Exercise(
    lesson="07",
    name="my_surround",
    reference=surround,
    cases=_surround_cases,
    call=unrecorded(_surrounded),
    stages=_surrounded,
    mistakes=[
        Mistake(
            edited(surround, "x + sublayer(norm", "norm(x) + sublayer(norm"),
            "With norm_first you added the *normalized* x. Add x itself: x + sublayer(norm(x)).",
        ),
        Mistake(
            edited(surround, "norm(x + sublayer(x))", "x + sublayer(norm(x))"),
            "You always put the norm first. With norm_first=False it comes last: norm(x + sublayer(x)).",
        ),
        Mistake(
            edited(surround, "x + sublayer(norm(x))", "norm(x + sublayer(x))"),
            "You always put the norm last. With norm_first=True the sublayer gets norm(x), and x itself is added.",
        ),
        Mistake(
            edited(surround, "if norm_first", "if not norm_first"),
            "Pre-LN and Post-LN are swapped: norm_first=True is x + sublayer(norm(x)).",
        ),
        Mistake(
            edited(surround, ("x + sublayer(norm", "sublayer(norm"), ("norm(x + ", "norm(")),
            "The residual connection is missing: add x to the sublayer's output.",
        ),
        Mistake(
            edited(surround, "norm(x + sublayer(x))", "x + norm(sublayer(x))"),
            "With norm_first=False you normalized only the sublayer's output. Normalize the sum: "
            "norm(x + sublayer(x)).",
        ),
        Mistake(
            lambda x, f, norm, first: x + f(x),
            "There is no norm.",
        ),
        Mistake(
            edited(surround, "sublayer(norm(x))", "norm(sublayer(x))"),
            "With norm_first=True the norm goes before the sublayer, not after it.",
        ),
        Mistake(
            edited(surround, "x + sublayer(norm(x))", "norm(x + sublayer(norm(x)))"),
            "With norm_first=True you normalized the sum, too. Then it is no longer Pre-LN: the sum is not normalized.",
        ),
        Mistake(
            edited(surround, "norm(x + sublayer(x))", "norm(x) + sublayer(x)"),
            "With norm_first=False you normalized x and then added. First the sum, then its norm: "
            "norm(x + sublayer(x)).",
        ),
        Mistake(
            edited(surround, "norm(x + sublayer(x))", "norm(x + sublayer(norm(x)))"),
            "With norm_first=False the norm came twice. The sublayer gets x as it is; only the sum is normalized.",
        ),
        Mistake(
            edited(surround, "x + sublayer(norm", "sublayer(norm"),
            "With norm_first=True the residual connection is missing: add x to the sublayer's output.",
        ),
        Mistake(
            edited(surround, "norm(x + ", "norm("),
            "With norm_first=False the residual connection is missing: norm(x + sublayer(x)).",
        ),
        Mistake(
            edited(surround, "x + sublayer(norm(x))", "norm(x) + sublayer(x)"),
            "With norm_first=True the sublayer gets norm(x), and x itself is added to its output.",
        ),
    ],
    hints=[
        "Two cases, one line each.",
        "norm_first=False, as in the paper: add, then normalize the sum.",
        "norm_first=True: the sublayer gets norm(x), and x itself is added to its output.",
    ],
    solution="""
        def my_surround(x, sublayer, norm, norm_first):
            if norm_first:
                return x + sublayer(norm(x))
            return norm(x + sublayer(x))
    """,
    in_package="lessons.layers.Residual",
)
