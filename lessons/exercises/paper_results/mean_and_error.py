"""Lesson 15: my_mean_and_error."""

import math

import torch
from torch import Tensor

from lessons.checking.engine import Case, Exercise, Mistake, numbers


def mean_and_error(scores: Tensor) -> tuple[Tensor, Tensor]:
    """scores (N,), one of each seed -> their mean, and the standard error of that mean"""
    return scores.mean(), scores.std() / math.sqrt(len(scores))


def _score_cases(generator) -> list[Case]:
    def case(count, about=""):
        return Case({"scores": 50 + 5 * numbers(generator, count)}, about=about)

    return [case(3), case(5), case(10), Case({"scores": torch.tensor([70.0, 70.0, 70.0])}, about="all the same")]


def _both(candidate, scores):
    """Plain numbers are as good as tensors."""
    found = candidate(scores)
    if not isinstance(found, tuple | list):
        return found
    return tuple(x if x is None else torch.as_tensor(x).double() for x in found)


errors = Exercise(
    lesson="15",
    name="my_mean_and_error",
    reference=mean_and_error,
    cases=_score_cases,
    call=_both,
    outputs=("mean", "error"),
    mistakes=[
        Mistake(
            lambda scores: (scores.mean(), scores.std()),
            "The error is the standard deviation: how far one training lies from another. The mean of N trainings is "
            "surer than one of them: divide by √N.",
            also=[lambda scores: (scores.mean(), scores.std(correction=0))],
        ),
        Mistake(
            lambda scores: (scores.mean(), scores.var() / len(scores)),
            "That is the error squared, in points squared. Take the root.",
        ),
        Mistake(
            lambda scores: (scores.mean(), scores.std() / len(scores) / 2),
            "N ** 1 / 2 is half of N, not its root: put 1 / 2 in brackets, or take math.sqrt.",
        ),
        Mistake(
            lambda scores: (scores.mean(), scores.std(correction=0) / len(scores) ** 0.5),
            "The standard deviation divides by N here. The mean was taken from the same few numbers, which lie too "
            "near to it: divide by N - 1. With three seeds that is 22 % more.",
        ),
        Mistake(
            lambda scores: (scores.mean(), scores.std() / len(scores)),
            "Divided by N in place of √N: four times as many trainings only halve the error.",
        ),
        Mistake(
            lambda scores: (scores.max(), scores.std() / len(scores) ** 0.5),
            "That is the best of the seeds. The best of ten throws of a die is a six, and says nothing of the die; "
            "the more seeds, the better it looks.",
        ),
        Mistake(
            lambda scores: (scores.mean(), scores.var() / len(scores) ** 0.5),
            "That is the variance, the square; its unit would be points squared. Take the root.",
        ),
        Mistake(
            lambda scores: (scores.mean(), (scores.max() - scores.min()) / 2),
            "Half the range grows with the number of seeds; an error of the mean shrinks.",
        ),
        Mistake(
            lambda scores: (scores.mean(), scores.std() / (len(scores) - 1) ** 0.5),
            "N - 1 stands inside the standard deviation, and torch's std has it there; under the root it is N.",
        ),
        Mistake(
            lambda scores: (scores.mean(), 1.96 * scores.std() / len(scores) ** 0.5),
            "That is a 95 % interval, about two errors to each side. The error itself is asked for.",
            also=[lambda scores: (scores.mean(), 2 * scores.std() / len(scores) ** 0.5)],
        ),
        Mistake(
            lambda scores: (scores.std() / len(scores) ** 0.5, scores.mean()),
            "The two have changed places: first the mean, then its error.",
        ),
        Mistake(
            lambda scores: (scores.median(), scores.std() / len(scores) ** 0.5),
            "That is the median. It may be a good choice, but the mean is asked for.",
        ),
    ],
    hints=["scores.std() divides by N - 1, as it should.", "The error of the mean is the deviation over √N."],
)
