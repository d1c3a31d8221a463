"""Lesson 15, my_bleu: BLEU, from counts of n-grams and the two lengths."""

import math
from collections.abc import Sequence

import torch

from lessons.checking.edits import edited
from lessons.checking.engine import Case, Exercise, Mistake


def bleu(found: Sequence[int], written: Sequence[int], length: int, right_length: int) -> float:
    """The sums of `matches` over all sentences, for n = 1 … 4, and the words of both sides -> BLEU, from 0 to 100.

    The geometric mean of the four precisions, times exp(1 - right_length / length) where too few words were written.
    Nothing found for some n: 0.
    """
    if min(found) == 0:
        return 0.0
    mean_log = sum(math.log(f / w) for f, w in zip(found, written)) / len(found)
    penalty = 1.0 if length >= right_length else math.exp(1 - right_length / length)
    return 100 * penalty * math.exp(mean_log)


def _score(candidate, found, written, length, right_length):
    score = candidate(found.tolist(), written.tolist(), length, right_length)
    return score if score is None else torch.as_tensor(score).double()


def _bleu_cases(generator) -> list[Case]:
    def case(found, written, length, right_length, about=""):
        counts = {"found": torch.tensor(found), "written": torch.tensor(written)}
        return Case({**counts, "length": length, "right_length": right_length}, about=about)

    return [
        case([4, 2, 1, 1], [5, 4, 3, 2], 5, 5),
        case([80, 61, 43, 29], [90, 81, 72, 63], 90, 100),
        case([80, 61, 43, 29], [90, 81, 72, 63], 90, 75),
        case([10, 9, 8, 7], [10, 9, 8, 7], 10, 40, about="all right, but only the first quarter is written"),
        case([5, 3, 0, 0], [9, 8, 7, 6], 9, 9, about="no run of three words is found"),
    ]


def _precisions(found, written):
    return [f / w for f, w in zip(found, written)]


def _penalty(length, right_length):
    return min(1.0, math.exp(1 - right_length / length))


def _geometric(values):
    return math.prod(values) ** (1 / len(values))


ZERO_FORGOTTEN = ("    if min(found) == 0:\n        return 0.0\n", "")


scoring = Exercise(
    lesson="15",
    name="my_bleu",
    reference=bleu,
    cases=_bleu_cases,
    call=_score,
    outputs=("BLEU",),
    mistakes=[
        Mistake(
            edited(bleu, "100 * penalty", "100"),
            "There is no brevity penalty: whoever writes only the words that are certain would be rewarded.",
        ),
        Mistake(
            lambda f, w, n, r: 100 * _penalty(n, r) * sum(_precisions(f, w)) / 4,
            "That is the arithmetic mean of the precisions. BLEU takes the geometric one: one precision of 0 makes "
            "all of it 0.",
        ),
        Mistake(
            edited(bleu, "1.0 if length >= right_length else ", ""),
            "The penalty became a reward: where more is written than is right, exp(1 - right/length) is over 1. It "
            "stays at 1 there; precision punishes the surplus.",
        ),
        Mistake(
            edited(
                bleu,
                ("length >= right_length", "right_length >= length"),
                ("math.exp(1 - right_length / length)", "math.exp(1 - length / right_length)"),
            ),
            "The two lengths changed places: too long is punished, too short is not.",
        ),
        Mistake(
            edited(bleu, "100 * ", ""),
            "Your BLEU runs from 0 to 1. Papers, this one too, write it from 0 to 100.",
        ),
        Mistake(
            edited(bleu, "math.exp(1 - right_length / length)", "length / right_length"),
            "The penalty is exp(1 - right/length), not length/right: it is harsher on very short texts.",
        ),
        Mistake(
            edited(bleu, (" / len(found)", ""), ("math.exp(mean_log)", "math.exp(mean_log) / 4")),
            "A quarter of the product, not its fourth root: x ** 1 / 4 is (x ** 1) / 4. Put 1 / 4 in brackets.",
        ),
        Mistake(
            edited(bleu, "math.exp(mean_log)", "sum(found) / sum(written)"),
            "You threw all n-grams into one pot. Each n has its precision; then their geometric mean is taken.",
            also=[lambda f, w, n, r: 100 * _penalty(n, r) * sum(f) / sum(w)],
        ),
        Mistake(
            edited(bleu, " / len(found)", ""),
            "The four precisions are multiplied, but the fourth root is missing: a mean of them is asked for.",
        ),
        Mistake(
            edited(bleu, ZERO_FORGOTTEN, ("f / w", "(f + 1) / (w + 1)")),
            "One is added to every count. Such smoothing is in use for single sentences; the paper's BLEU, of a whole "
            "test set, has none.",
        ),
        Mistake(
            edited(bleu, ZERO_FORGOTTEN),
            "Right as long as something is found for each n. Where nothing is, log 0 stops it: BLEU is 0 then.",
            seen_in="no run of three words is found",
        ),
        Mistake(
            lambda f, w, n, r: 100 * _penalty(n, r) * _geometric([x / y for x, y in zip(f, w) if x]),
            "A precision of 0 is left out of your mean, and what finds no run of three words is rewarded for it. Then "
            "BLEU is 0.",
            also=[lambda f, w, n, r: 100 * _penalty(n, r) * math.prod(x / y for x, y in zip(f, w) if x) ** (1 / 4)],
            seen_in="no run of three words is found",
        ),
        Mistake(
            lambda f, w, n, r: 100 * _penalty(n, r) * f[0] / w[0],
            "Only single words count for you: their order would not matter at all.",
        ),
    ],
    hints=[
        "math.prod(values) ** (1 / 4) is the geometric mean; the precisions are found / written.",
        "The penalty is 1 where length >= right_length, else math.exp(1 - right_length / length).",
    ],
)
