"""Lesson 07, my_surround: a residual connection around a sublayer, and a norm: Post-LN, Pre-LN, or on both sides."""

import torch
from torch import Tensor

from lessons.checking.edits import edited
from lessons.checking.engine import Case, Exercise, Mistake, numbers
from lessons.checking.stages import recorded, unrecorded
from lessons.exercises.encoder.layer_norm import layer_norm
from lessons.wording import worded


def surround(x: Tensor, sublayer, norm, norm_first: bool, second_norm=None) -> Tensor:
    """x (T, D) -> (T, D): a residual connection and a norm around a sublayer; norm_first: Pre-LN.

    second_norm: with Pre-LN only, normalizes what is added to x.
    """
    if norm_first:
        change = sublayer(norm(x))
        return x + (change if second_norm is None else second_norm(change))
    return norm(x + sublayer(x))


def _surrounded(record, candidate, x, w, norm_first, second_norm):
    """The sublayer is tanh(x w); both norms are layer normalization with eps 0.1, the second with weights of 2."""
    size = x.size(-1)
    ones, zeros = torch.ones(size), torch.zeros(size)
    sublayer = recorded(worded("the sublayer"), lambda y: torch.tanh(y @ w), record)
    norm = recorded(worded("the norm"), lambda y: layer_norm(y, ones, zeros, 0.1), record)
    second = recorded(worded("the second norm"), lambda y: layer_norm(y, 2 * ones, zeros, 0.1), record)
    return candidate(x, sublayer, norm, norm_first, second if second_norm else None)


TWO = "a second norm"


def _surround_cases(generator) -> list[Case]:
    return [
        Case(
            {"x": 2 * numbers(generator, t, d), "w": numbers(generator, d, d), "norm_first": first, "second_norm": two},
            about=about,
        )
        for t, d, first, two, about in [
            (2, 3, True, False, ""),
            (3, 5, False, False, ""),
            (4, 4, True, False, ""),
            (4, 4, False, False, ""),
            (2, 3, True, True, TWO),
            (3, 4, True, True, TWO),
            (1, 4, True, False, "a single token"),
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
            edited(surround, "x + (change", "norm(x) + (change"),
            "With norm_first you added the *normalized* x. Add x itself: x + sublayer(norm(x)).",
        ),
        Mistake(
            edited(surround, "norm(x + sublayer(x))", "x + sublayer(norm(x))"),
            "You always put the norm first. With norm_first=False it comes last: norm(x + sublayer(x)).",
        ),
        Mistake(
            edited(surround, "    if norm_first", "    if False"),
            "You always put the norm last. With norm_first=True the sublayer gets norm(x), and x itself is added.",
        ),
        Mistake(
            edited(surround, "if norm_first", "if not norm_first"),
            "Pre-LN and Post-LN are swapped: norm_first=True is x + sublayer(norm(x)).",
        ),
        Mistake(
            edited(surround, ("x + (change", "(change"), ("norm(x + ", "norm(")),
            "The residual connection is missing: add x to the sublayer's output.",
        ),
        Mistake(
            edited(surround, "norm(x + sublayer(x))", "x + norm(sublayer(x))"),
            "With norm_first=False you normalized only the sublayer's output. Normalize the sum: "
            "norm(x + sublayer(x)).",
        ),
        Mistake(
            lambda x, f, norm, first, second: x + f(x),
            "There is no norm.",
        ),
        Mistake(
            edited(surround, "sublayer(norm(x))", "norm(sublayer(x))"),
            "With norm_first=True the norm goes before the sublayer, not after it.",
        ),
        Mistake(
            edited(surround, "x + (change if second_norm is None else second_norm(change))", "norm(x + change)"),
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
            edited(surround, "x + (change", "(change"),
            "With norm_first=True the residual connection is missing: add x to the sublayer's output.",
        ),
        Mistake(
            edited(surround, "norm(x + ", "norm("),
            "With norm_first=False the residual connection is missing: norm(x + sublayer(x)).",
        ),
        Mistake(
            edited(surround, ("sublayer(norm(x))", "sublayer(x)"), ("x + (change", "norm(x) + (change")),
            "With norm_first=True the sublayer gets norm(x), and x itself is added to its output.",
        ),
        Mistake(
            edited(surround, "if second_norm is None else second_norm(change)", ""),
            "Post-LN and Pre-LN are right. With norm_first=True, second_norm is not used: what is added to x is not "
            "normalized.",
            seen_in=TWO,
        ),
        Mistake(
            edited(
                surround,
                "x + (change if second_norm is None else second_norm(change))",
                "x + change if second_norm is None else second_norm(x + change)",
            ),
            "The second norm is on the sum, so x itself goes through it. Only what is added to x is normalized.",
            seen_in=TWO,
        ),
        Mistake(
            lambda x, f, norm, first, second: surround(x, f, norm, first) if second is None else x + f(second(norm(x))),
            "Both norms are in front of the sublayer. The second one normalizes what the sublayer gives.",
            seen_in=TWO,
        ),
        Mistake(
            edited(surround, "else second_norm(change)", "else norm(change)"),
            "You used the first norm twice. second_norm has weights of its own.",
            seen_in=TWO,
        ),
        Mistake(
            lambda x, f, norm, first, second: surround(x, f, norm, first) if second is None else x + second(f(x)),
            "With a second norm, the first one is missing: the sublayer still gets norm(x).",
            seen_in=TWO,
        ),
        Mistake(
            lambda x, f, norm, first, second: surround(x, f, norm, first) if second is None else second(f(norm(x))),
            "With a second norm, the residual connection is missing: add x to what the second norm gives.",
            seen_in=TWO,
        ),
        Mistake(
            lambda x, f, norm, first, second: (
                surround(x, f, norm, first) if second is None else second(surround(x, f, norm, False))
            ),
            "With a second norm, x itself goes through both. Neither may be on its path.",
            seen_in=TWO,
        ),
        Mistake(
            lambda x, f, norm, first, second: surround(x, f, norm, first) if second is None else x + second(norm(f(x))),
            "Both norms come after the sublayer. The first one stays in front: the sublayer gets norm(x).",
            seen_in=TWO,
            also=(
                lambda x, f, norm, first, second: (
                    surround(x, f, norm, first) if second is None else x + norm(second(f(x)))
                ),
            ),
        ),
        Mistake(
            lambda x, f, norm, first, second: surround(x, f, norm, first) if second is None else norm(x + second(f(x))),
            "With a second norm, you put the first one on the sum. It stays in front of the sublayer, which gets "
            "norm(x), and the sum is not normalized.",
            seen_in=TWO,
            also=(
                lambda x, f, norm, first, second: (
                    surround(x, f, norm, first) if second is None else norm(x + second(f(norm(x))))
                ),
            ),
        ),
        Mistake(
            edited(
                surround,
                "x + (change if second_norm is None else second_norm(change))",
                "x + change + (second_norm(change) if second_norm else 0)",
            ),
            "With a second norm, what the sublayer gives was added twice: as it is, and normalized. Add it once.",
            seen_in=TWO,
        ),
        Mistake(
            edited(
                surround,
                "x + (change if second_norm is None else second_norm(change))",
                "(second_norm(x) if second_norm else x) + change",
            ),
            "The second norm is on x itself. It normalizes what is added to x: the sublayer's output.",
            seen_in=TWO,
        ),
        Mistake(
            lambda x, f, norm, first, second: (
                surround(x, f, norm, first) if second is None else norm(x) + second(f(norm(x)))
            ),
            "With a second norm, you added the *normalized* x. Add x itself: it is still never normalized.",
            seen_in=TWO,
        ),
        Mistake(
            edited(surround, "(change if second_norm is None else second_norm(change))", "second_norm(change)"),
            "second_norm is None in most calls, and None cannot be called. Use it only if it is given.",
            also=(
                edited(
                    surround,
                    ("(change if second_norm is None else second_norm(change))", "second_norm(change)"),
                    ("x + sublayer(x)", "x + second_norm(sublayer(x))"),
                ),
            ),
        ),
        Mistake(
            lambda x, f, norm, first, second: surround(x, f, norm, first) if second is None else x + norm(f(second(x))),
            "The two norms are swapped: norm comes before the sublayer, and second_norm after it.",
            seen_in=TWO,
        ),
        Mistake(
            lambda x, f, norm, first, second: surround(x, f, second or norm, first),
            "With a second norm, you put it in the place of the first. Both are used: norm before the sublayer, and "
            "second_norm after it.",
            seen_in=TWO,
        ),
        Mistake(
            lambda x, f, norm, first, second: surround(x, f, norm, second is not None, second),
            "Without a second norm, norm_first is ignored: you always put the norm last. With norm_first=True it is "
            "x + sublayer(norm(x)), with or without a second norm.",
        ),
    ],
    hints=[
        "norm_first=False, as in the paper: add, then normalize the sum.",
        "norm_first=True: the sublayer gets norm(x), and x itself is added to its output.",
        "What is added to x? Give it a name. If there is a second_norm, that is what goes through it.",
    ],
    solution="""
        def my_surround(x, sublayer, norm, norm_first, second_norm=None):
            if not norm_first:
                return norm(x + sublayer(x))
            change = sublayer(norm(x))
            if second_norm is not None:
                change = second_norm(change)
            return x + change
    """,
    in_package="lessons.layers.Residual",
)
