"""Lesson 15, my_mean_and_error: the mean of several trainings, and how sure it is."""

import math

import torch
from torch import Tensor

from lessons.checking.edits import edited
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
            edited(mean_and_error, " / math.sqrt(len(scores))", ""),
            "The error is the standard deviation: how far one training lies from another. The mean of N trainings is "
            "surer than one of them: divide by √N.",
            also=[edited(mean_and_error, "scores.std() / math.sqrt(len(scores))", "scores.std(correction=0)")],
        ),
        Mistake(
            edited(mean_and_error, "std() / math.sqrt(len(scores))", "var() / len(scores)"),
            "That is the error squared, in points squared. Take the root.",
        ),
        Mistake(
            edited(mean_and_error, "math.sqrt(len(scores))", "len(scores) / 2"),
            "N ** 1 / 2 is half of N, not its root: put 1 / 2 in brackets, or take math.sqrt.",
        ),
        Mistake(
            edited(mean_and_error, "std()", "std(correction=0)"),
            "The standard deviation divides by N here. The mean was taken from the same few numbers, which lie too "
            "near to it: divide by N - 1. With three seeds that is 22 % more.",
        ),
        Mistake(
            edited(mean_and_error, "math.sqrt(len(scores))", "len(scores)"),
            "Divided by N in place of √N: four times as many trainings only halve the error.",
        ),
        Mistake(
            edited(mean_and_error, "scores.mean()", "scores.max()"),
            "That is the best of the seeds. The best of ten throws of a die is a six, and says nothing of the die; "
            "the more seeds, the better it looks.",
        ),
        Mistake(
            edited(mean_and_error, "std()", "var()"),
            "That is the variance, the square; its unit would be points squared. Take the root.",
        ),
        Mistake(
            edited(mean_and_error, "scores.std() / math.sqrt(len(scores))", "(scores.max() - scores.min()) / 2"),
            "Half the range grows with the number of seeds; an error of the mean shrinks.",
        ),
        Mistake(
            edited(mean_and_error, "len(scores)", "len(scores) - 1"),
            "N - 1 stands inside the standard deviation, and torch's std has it there; under the root it is N.",
        ),
        Mistake(
            edited(mean_and_error, "scores.std()", "1.96 * scores.std()"),
            "That is a 95 % interval, about two errors to each side. The error itself is asked for.",
            also=[edited(mean_and_error, "scores.std()", "2 * scores.std()")],
        ),
        Mistake(
            lambda scores: mean_and_error(scores)[::-1],
            "The two have changed places: first the mean, then its error.",
        ),
        Mistake(
            edited(mean_and_error, "scores.mean()", "scores.median()"),
            "That is the median. It may be a good choice, but the mean is asked for.",
        ),
    ],
    hints=["scores.std() divides by N - 1, as it should.", "The error of the mean is the deviation over √N."],
)
