"""Lesson 15, my_mean_and_error: the mean of several runs, and how certain it is."""

import math

import torch
from torch import Tensor

from lessons.checking.edits import edited
from lessons.checking.engine import Case, Exercise, Mistake, numbers


def mean_and_error(scores: Tensor) -> tuple[Tensor, Tensor]:
    """scores (N,), one per seed -> their mean, and the standard error of that mean"""
    return scores.mean(), scores.std() / math.sqrt(len(scores))


def _score_cases(generator) -> list[Case]:
    def case(count, about=""):
        return Case({"scores": 50 + 5 * numbers(generator, count)}, about=about)

    return [case(3), case(5), case(10), Case({"scores": torch.tensor([70.0, 70.0, 70.0])}, about="all the same")]


def _both(candidate, scores):
    """Plain numbers are accepted as well as tensors."""
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
            "That is the standard deviation: how far a single run typically is from the mean. The mean of N runs is "
            "more certain than one run: divide by √N.",
            also=[edited(mean_and_error, "scores.std() / math.sqrt(len(scores))", "scores.std(correction=0)")],
        ),
        Mistake(
            edited(mean_and_error, "std() / math.sqrt(len(scores))", "var() / len(scores)"),
            "That is the error squared. Take the root.",
        ),
        Mistake(
            edited(mean_and_error, "math.sqrt(len(scores))", "len(scores) / 2"),
            "N ** 1 / 2 is half of N, not its root: write N ** (1 / 2), or use math.sqrt.",
        ),
        Mistake(
            edited(mean_and_error, "std()", "std(correction=0)"),
            "Your standard deviation divides by N. The mean comes from the same few numbers, so they are too close to "
            "it: divide by N - 1. With three seeds the result is 22 % larger.",
        ),
        Mistake(
            edited(mean_and_error, "math.sqrt(len(scores))", "len(scores)"),
            "You divide by N instead of √N: four times as many runs only halve the error.",
        ),
        Mistake(
            edited(mean_and_error, "/ math.sqrt(", "* math.sqrt("),
            "You multiply by √N. The more runs, the more certain is their mean: divide.",
        ),
        Mistake(
            edited(mean_and_error, "scores.mean()", "scores.max()"),
            "That is the best seed. The best of ten rolls of a die is usually a six, which says nothing about the die: "
            "the more seeds you try, the better it looks.",
        ),
        Mistake(
            edited(mean_and_error, "std()", "var()"),
            "You use the variance, which is the square of the standard deviation. Take the root.",
        ),
        Mistake(
            edited(mean_and_error, "scores.std() / math.sqrt(len(scores))", "(scores.max() - scores.min()) / 2"),
            "Half the range grows with the number of seeds; an error of the mean shrinks.",
        ),
        Mistake(
            edited(mean_and_error, "len(scores)", "3"),
            "You divide by √3, however many scores there are. N is len(scores).",
        ),
        Mistake(
            edited(mean_and_error, "len(scores)", "len(scores) - 1"),
            "N - 1 belongs inside the standard deviation, where torch's std already has it; the root is of N.",
        ),
        Mistake(
            edited(mean_and_error, "scores.std()", "1.96 * scores.std()"),
            "That is half of a 95 % interval if there are many seeds, about two standard errors. Return the error "
            "itself.",
            also=[edited(mean_and_error, "scores.std()", "2 * scores.std()")],
        ),
        Mistake(
            lambda scores: mean_and_error(scores)[::-1],
            "The two are swapped: first the mean, then its error.",
        ),
        Mistake(
            edited(mean_and_error, "scores.mean()", "scores.median()"),
            "That is the median. It can be a good choice, but the task is the mean.",
        ),
        Mistake(
            edited(mean_and_error, "scores.std()", "(scores - scores.mean()).abs().mean()"),
            "That is the mean of the distances. The standard deviation squares them first, divides their sum by N - 1, "
            "and takes the root.",
        ),
        Mistake(
            lambda scores: tuple(round(float(x), 1) for x in mean_and_error(scores)),
            "You rounded the results. Return them as they are, and round where you print them.",
            also=[lambda scores: tuple(round(float(x), 2) for x in mean_and_error(scores))],
        ),
    ],
    hints=[
        "scores.std() divides by N - 1, as it should.",
        "The error of the mean is the standard deviation divided by √N.",
    ],
    solution="""
        def my_mean_and_error(scores):
            return scores.mean(), scores.std() / math.sqrt(len(scores))
    """,
)
