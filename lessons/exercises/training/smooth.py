"""Lesson 11, my_smooth: the targets of label smoothing."""

import torch
import torch.nn.functional as F
from torch import Tensor

from lessons.checking.edits import edited
from lessons.checking.engine import Case, Exercise, Mistake


def smooth(targets: Tensor, vocab_size: int, smoothing: float) -> Tensor:
    """targets (N,) -> smoothed targets (N, V): 1 - smoothing for the correct token, plus smoothing shared by all V"""
    smoothed = torch.full((len(targets), vocab_size), smoothing / vocab_size)
    smoothed[torch.arange(len(targets)), targets] += 1 - smoothing
    return smoothed


RARE = "the last tokens of the vocabulary are not among the targets"


def _smooth_cases(generator) -> list[Case]:
    def case(count, vocab_size, smoothing, about=""):
        targets = torch.randint(vocab_size, (count,), generator=generator)
        return Case({"targets": targets, "vocab_size": vocab_size, "smoothing": smoothing}, about=about)

    last_is_rare = Case({"targets": torch.tensor([1, 0, 2]), "vocab_size": 5, "smoothing": 0.1}, about=RARE)
    return [
        case(2, 4, 0.2),
        case(5, 6, 0.1),
        case(6, 6, 0.5),
        case(3, 5, 0.0, "no smoothing"),
        last_is_rare,
        case(1, 5, 0.2, "a single token"),
    ]


smoothing = Exercise(
    lesson="11",
    name="my_smooth",
    reference=smooth,
    cases=_smooth_cases,
    outputs=("smoothed",),
    mistakes=[
        Mistake(
            edited(smooth, ("smoothing / vocab_size", "smoothing / (vocab_size - 1)"), ("+=", "=")),
            "You shared it among the other tokens only. Here, as in torch, all V tokens get a part, the correct one, "
            "too.",
        ),
        Mistake(
            edited(smooth, "+=", "="),
            "The rows don't sum to 1: on top of 1 - smoothing, the correct token must get its part of smoothing.",
        ),
        Mistake(
            edited(
                smooth, ("smoothing / vocab_size", "(1 - smoothing) / vocab_size"), ("+= 1 - smoothing", "+= smoothing")
            ),
            "smoothing and 1 - smoothing are swapped: with 0.1, the correct token should keep 0.9.",
        ),
        Mistake(
            edited(smooth, "smoothing / vocab_size", "smoothing"),
            "Each token gets all of smoothing. It is shared: divide by the size of the vocabulary.",
        ),
        Mistake(
            edited(smooth, "smoothing / vocab_size", "smoothing / len(targets)"),
            "You divided by the number of positions. Smoothing is shared by the tokens of the vocabulary.",
        ),
        Mistake(
            edited(smooth, "+= 1 - smoothing", "+= 1"),
            "The correct token keeps its 1, and the rows sum to more than 1: subtract smoothing from it.",
        ),
        Mistake(
            edited(smooth, "+= 1 - smoothing", "= 1 - smoothing / vocab_size"),
            "The correct token gives away only one token's share, and the rows sum to more than 1. It gives away all "
            "of smoothing, and gets one share back.",
        ),
        Mistake(
            edited(smooth, ("smoothing / vocab_size", "smoothing / (vocab_size - 2)"), ("+=", "=")),
            "You shared it among V - 2 tokens, as code does that also leaves out padding. Here all V get a part.",
        ),
        Mistake(
            edited(smooth, "smoothing / vocab_size", "0.0"),
            "Smoothing is taken from the correct token and given to no other: the rows sum to 1 - smoothing.",
        ),
        Mistake(
            lambda targets, v, s: F.one_hot(targets, v).float(),
            "Nothing is smoothed: the correct token keeps its 1.",
        ),
        Mistake(
            edited(smooth, "torch.arange(len(targets))", ":"),
            also=(edited(smooth, ("torch.arange(len(targets))", ":"), ("+=", "=")),),
            hint="Each row has the correct tokens of all positions. smoothed[:, targets] takes these columns in every "
            "row: "
            "pair row 0 with targets[0], row 1 with targets[1], and so on.",
        ),
        Mistake(
            lambda targets, v, s: (1 - s) * F.one_hot(targets) + s / v,
            "The rows are as long as the largest target requires, not vocab_size: F.one_hot(targets) guesses the size "
            "of the vocabulary from the targets that it sees.",
            seen_in=RARE,
        ),
        Mistake(
            edited(smooth, "[torch.arange(len(targets)), targets]", "[targets]"),
            "smoothed[targets] means whole rows, those with the numbers of the targets. In row 0 the column targets[0] "
            "is meant, in row 1 the column targets[1], and so on: smoothed[torch.arange(N), targets].",
            also=(edited(smooth, ("[torch.arange(len(targets)), targets]", "[targets]"), ("+=", "=")),),
        ),
    ],
    hints=[
        "Start with a matrix that is smoothing / vocab_size everywhere.",
        "Then add 1 - smoothing at [0, targets[0]], [1, targets[1]], …: smoothed[torch.arange(N), targets] += …",
    ],
    solution="""
        def my_smooth(targets, vocab_size, smoothing):
            smoothed = torch.full((len(targets), vocab_size), smoothing / vocab_size)
            smoothed[torch.arange(len(targets)), targets] += 1 - smoothing
            return smoothed
    """,
    in_package="lessons.training.token_loss",
)
