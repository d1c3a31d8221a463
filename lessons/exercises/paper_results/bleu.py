"""Lesson 15, my_bleu: BLEU from n-gram counts and the two lengths."""

import math
from collections.abc import Sequence

import torch

from lessons.checking.edits import edited
from lessons.checking.engine import Case, Exercise, Mistake


def bleu(found: Sequence[int], total: Sequence[int], length: int, reference_length: int) -> float:
    """The sums of `matches` over all sentences, for n = 1 … 4, and the number of words on both sides -> BLEU, 0 to 100.

    The geometric mean of the four precisions, times exp(1 - reference_length / length) if the text is too short.
    0 if nothing is found for some n.
    """
    if min(found) == 0:
        return 0.0
    mean_log = sum(math.log(f / t) for f, t in zip(found, total)) / len(found)
    penalty = 1.0 if length >= reference_length else math.exp(1 - reference_length / length)
    return 100 * penalty * math.exp(mean_log)


def _score(candidate, found, total, length, reference_length):
    score = candidate(found.tolist(), total.tolist(), length, reference_length)
    return score if score is None else torch.as_tensor(score).double()


def _bleu_cases(generator) -> list[Case]:
    def case(found, total, length, reference_length, about=""):
        counts = {"found": torch.tensor(found), "total": torch.tensor(total)}
        return Case({**counts, "length": length, "reference_length": reference_length}, about=about)

    return [
        case([4, 2, 1, 1], [5, 4, 3, 2], 5, 5),
        case([80, 61, 43, 29], [90, 81, 72, 63], 90, 100),
        case([80, 61, 43, 29], [90, 81, 72, 63], 90, 75),
        case([10, 9, 8, 7], [10, 9, 8, 7], 10, 40, about="all correct, but only the first quarter was generated"),
        case([5, 3, 0, 0], [9, 8, 7, 6], 9, 9, about="no run of three words is found"),
        case([3, 2, 1, 0], [3, 2, 1, 0], 3, 3, about="three words, so there is no run of four"),
    ]


def _precisions(found, total):
    return [f / t for f, t in zip(found, total)]


def _penalty(length, reference_length):
    return min(1.0, math.exp(1 - reference_length / length))


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
            "The brevity penalty is missing. A model that generates only the words it is sure of would be rewarded.",
        ),
        Mistake(
            lambda f, t, n, r: 100 * _penalty(n, r) * sum(_precisions(f, t)) / 4,
            "That is the arithmetic mean of the precisions. BLEU uses the geometric mean: one precision of 0 makes the "
            "whole BLEU 0.",
        ),
        Mistake(
            edited(bleu, "1.0 if length >= reference_length else ", ""),
            "The penalty has become a reward: for a text longer than the reference, exp(1 - reference/length) is above "
            "1. Use 1 there; the precisions already punish the extra words.",
        ),
        Mistake(
            edited(
                bleu,
                ("length >= reference_length", "reference_length >= length"),
                ("math.exp(1 - reference_length / length)", "math.exp(1 - length / reference_length)"),
            ),
            "The two lengths are swapped: too long is punished, too short is not.",
        ),
        Mistake(
            edited(bleu, "100 * ", ""),
            "Your BLEU runs from 0 to 1. Most papers, including this one, give it from 0 to 100.",
        ),
        Mistake(
            edited(bleu, "math.exp(1 - reference_length / length)", "length / reference_length"),
            "The penalty is exp(1 - reference/length), not length/reference: it is harsher on very short texts.",
        ),
        Mistake(
            edited(bleu, (" / len(found)", ""), ("math.exp(mean_log)", "math.exp(mean_log) / 4")),
            "That is a quarter of the product, not its fourth root. In Python x ** 1 / 4 is (x ** 1) / 4: write "
            "x ** (1 / 4).",
        ),
        Mistake(
            edited(bleu, "math.exp(mean_log)", "sum(found) / sum(total)"),
            "You put the n-grams of all four sizes together. Compute a precision for each n, then the geometric mean "
            "of the four.",
            also=[lambda f, t, n, r: 100 * _penalty(n, r) * sum(f) / sum(t)],
        ),
        Mistake(
            edited(bleu, " / len(found)", ""),
            "You multiply the four precisions, but the fourth root is missing: BLEU uses their geometric mean.",
        ),
        Mistake(
            edited(bleu, ZERO_FORGOTTEN, ("f / t", "(f + 1) / (t + 1)")),
            "You add one to every count. Such smoothing exists, for single sentences; BLEU as defined above has none.",
        ),
        Mistake(
            edited(bleu, ZERO_FORGOTTEN),
            "This works as long as something is found for each n. If nothing is, log 0 raises an error: BLEU must be 0 "
            "then.",
            seen_in="no run of three words is found",
        ),
        Mistake(
            lambda f, t, n, r: 100 * _penalty(n, r) * _geometric([x / y for x, y in zip(f, t) if x]),
            "You leave precisions of 0 out of the mean. A text without any match of three words is rewarded for that; "
            "its BLEU must be 0.",
            also=[lambda f, t, n, r: 100 * _penalty(n, r) * math.prod(x / y for x, y in zip(f, t) if x) ** (1 / 4)],
            seen_in="no run of three words is found",
        ),
        Mistake(
            edited(
                bleu,
                ZERO_FORGOTTEN,
                ("math.exp(mean_log)", "_geometric(_precisions(found, total))"),
                ("sum(math.log(f / t) for f, t in zip(found, total)) / len(found)", "0.0"),
            ),
            "A text without any run of four words has 0 of them: 0 / 0. BLEU is 0 if nothing is found, so ask that "
            "before you divide.",
            seen_in="three words, so there is no run of four",
        ),
        Mistake(
            lambda f, t, n, r: 100 * _penalty(n, r) * f[0] / t[0],
            "You count single words only, so their order would not matter at all.",
        ),
    ],
    hints=[
        "math.prod(values) ** (1 / 4) is the geometric mean of four values; the precisions are found / total.",
        "The penalty is 1 if length >= reference_length, else math.exp(1 - reference_length / length).",
    ],
    solution="""
        def my_bleu(found, total, length, reference_length):
            if 0 in found:
                return 0.0  # and no 0 / 0, where there is no run of four words
            mean = math.prod(f / t for f, t in zip(found, total)) ** (1 / 4)
            penalty = min(1, math.exp(1 - reference_length / length))
            return 100 * penalty * mean
    """,
)
