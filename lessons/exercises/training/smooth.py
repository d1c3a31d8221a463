"""Lesson 11, my_smooth: the targets of label smoothing."""

import torch
import torch.nn.functional as F
from torch import Tensor

from lessons.checking.edits import edited
from lessons.checking.engine import Case, Exercise, Mistake


def smooth(targets: Tensor, vocab_size: int, smoothing: float) -> Tensor:
    """targets (N,) -> what is wished, (N, V): 1 - smoothing for the right word, smoothing shared by all V words"""
    wished = torch.full((len(targets), vocab_size), smoothing / vocab_size)
    wished[torch.arange(len(targets)), targets] += 1 - smoothing
    return wished


RARE = "the last words of the vocabulary are not among the targets"


def _smooth_cases(generator) -> list[Case]:
    def case(count, vocab_size, smoothing, about=""):
        targets = torch.randint(vocab_size, (count,), generator=generator)
        return Case({"targets": targets, "vocab_size": vocab_size, "smoothing": smoothing}, about=about)

    last_is_rare = Case({"targets": torch.tensor([1, 0, 2]), "vocab_size": 5, "smoothing": 0.1}, about=RARE)
    return [case(2, 4, 0.2), case(5, 6, 0.1), case(6, 6, 0.5), case(3, 5, 0.0, "no smoothing"), last_is_rare]


smoothing = Exercise(
    lesson="11",
    name="my_smooth",
    reference=smooth,
    cases=_smooth_cases,
    outputs=("wished",),
    mistakes=[
        Mistake(
            edited(smooth, ("smoothing / vocab_size", "smoothing / (vocab_size - 1)"), ("+=", "=")),
            "You shared it among the other words alone. Some books do; here, as in torch, all V words get a share, the "
            "right one too.",
        ),
        Mistake(
            edited(smooth, "+=", "="),
            "The rows do not sum to 1: the right word gets its share of the smoothing on top of 1 - smoothing.",
        ),
        Mistake(
            edited(
                smooth, ("smoothing / vocab_size", "(1 - smoothing) / vocab_size"), ("+= 1 - smoothing", "+= smoothing")
            ),
            "smoothing and 1 - smoothing changed places: with 0.1, the right word is to keep 0.9.",
        ),
        Mistake(
            edited(smooth, "smoothing / vocab_size", "smoothing"),
            "Each word gets the whole of smoothing. It is shared: divide by the number of words.",
        ),
        Mistake(
            edited(smooth, "smoothing / vocab_size", "smoothing / len(targets)"),
            "You divided by the number of positions. It is shared by the words of the vocabulary.",
        ),
        Mistake(
            edited(smooth, "+= 1 - smoothing", "+= 1"),
            "The right word keeps its whole 1, and the rows sum to more than 1: take the share away from it.",
        ),
        Mistake(
            edited(smooth, ("smoothing / vocab_size", "smoothing / (vocab_size - 2)"), ("+=", "=")),
            "You left two words out of the sharing, as code does that also leaves out padding. Here all V share.",
        ),
        Mistake(
            edited(smooth, "smoothing / vocab_size", "0.0"),
            "The share is taken from the right word and given to nobody: the rows sum to 1 - smoothing.",
        ),
        Mistake(
            lambda targets, v, s: F.one_hot(targets, v).float(),
            "Nothing is smoothed: the right word keeps the whole 1.",
        ),
        Mistake(
            edited(smooth, "torch.arange(len(targets))", ":"),
            "Each row has the right words of all positions. wished[:, targets] takes these columns in every row: pair "
            "row 0 with targets[0], row 1 with targets[1], and so on.",
        ),
        Mistake(
            lambda targets, v, s: (1 - s) * F.one_hot(targets) + s / v,
            "The rows are as long as the greatest target asks for, and not vocab_size: F.one_hot(targets) guesses the "
            "number of words from the targets that it sees.",
            seen_in=RARE,
        ),
    ],
    hints=[
        "Begin with a matrix that is smoothing / vocab_size everywhere.",
        "Then add 1 - smoothing at [0, targets[0]], [1, targets[1]], …: wished[torch.arange(N), targets] += …",
    ],
)
