"""Lesson 12, fixed_scores: hypotheses of different lengths, compared fairly."""

import torch
from torch import Tensor

from lessons.checking.edits import edited
from lessons.checking.engine import Case, Exercise, Mistake


def scores_of(log_probs: Tensor, ids: Tensor, pad_id: int, alpha: float) -> Tensor:
    """What hypotheses are compared by: log_probs (W,), ids (W, T) from BOS on, padded -> (W,).

    The length of a hypothesis is the number of generated words, including EOS.
    """
    lengths = (ids != pad_id).sum(dim=1) - 1  # without BOS, which was not generated
    return log_probs / ((5 + lengths) / 6) ** alpha


def _score_cases(generator) -> list[Case]:
    def case(log_probs, lengths, alpha, pad_id=0, about=""):
        longest = max(lengths) + 1
        rows = [[1, *range(4, 3 + n), 2, *[pad_id] * (longest - n - 1)] for n in lengths]
        inputs = {"log_probs": torch.tensor(log_probs), "ids": torch.tensor(rows), "pad_id": pad_id, "alpha": alpha}
        return Case(inputs, about=about)

    return [
        case([-2.0, -2.4], [1, 4], 1.0),
        case([-3.0, -3.3, -4.0], [2, 3, 7], 0.6),
        case([-1.0, -1.5, -2.0, -2.5], [4, 5, 1, 3], 2.0, pad_id=9),
        case([-2.0], [3], 0.6, about="a single hypothesis"),
    ]


bug_hunt = Exercise(
    lesson="12",
    name="fixed_scores",
    reference=scores_of,
    cases=_score_cases,
    outputs=("scores",),
    mistakes=[
        Mistake(
            edited(scores_of, "(ids != pad_id).sum(dim=1)", "ids.size(1)"),
            "The bug is still there. A symptom: whatever alpha is, the ranking of the hypotheses stays the same.",
        ),
        Mistake(
            edited(scores_of, "sum(dim=1) - 1", "sum(dim=1)"),
            "Each has its own length now, but you count BOS. It was not generated.",
        ),
        Mistake(
            edited(scores_of, "sum(dim=1) - 1", "sum(dim=1) - 2"),
            "Each has its own length now, but you leave out EOS. It was generated, and its probability is in "
            "log_probs.",
        ),
        Mistake(
            edited(scores_of, "log_probs / ", "log_probs * "),
            "The lengths are right, but you multiply: long sentences pay twice. Divide.",
        ),
        Mistake(
            edited(scores_of, "** alpha", "/ alpha"),
            "The lengths are right, but alpha is an exponent: (…) ** alpha.",
            also=[edited(scores_of, "((5 + lengths) / 6) ** alpha", "((5 + lengths) / 6 * alpha)")],
        ),
        Mistake(
            edited(scores_of, "((5 + lengths) / 6)", "lengths"),
            "The lengths are right; keep the formula: (5 + length) / 6, to the power of alpha.",
        ),
        Mistake(
            edited(scores_of, "(ids != pad_id).sum(dim=1) - 1", "(ids == pad_id).sum(dim=1)"),
            "You count the padding. Count what is not padding.",
            also=[edited(scores_of, "ids != pad_id", "ids == pad_id")],
        ),
        Mistake(
            edited(scores_of, "ids != pad_id", "ids != 0"),
            "You assume that padding is 0. Compare with pad_id.",
        ),
        Mistake(
            edited(scores_of, "sum(dim=1)", "sum()"),
            "One length for all: you count the words of all hypotheses together. sum(dim=1) counts each row's own.",
            also=[edited(scores_of, "(ids != pad_id).sum(dim=1) - 1", "(ids[:, 1:] != pad_id).sum()")],
        ),
        Mistake(
            edited(scores_of, "(ids != pad_id).sum(dim=1) - 1", "(ids[:, 1:] != pad_id).sum(dim=0)"),
            "You count down the columns, one number for each place. A row is a hypothesis: count along it, with dim=1.",
            also=[
                edited(scores_of, "sum(dim=1) - 1", "sum(dim=0) - 1"),
                edited(scores_of, "sum(dim=1) - 1", "sum(dim=0)"),
            ],
        ),
        Mistake(
            edited(scores_of, "((5 + lengths) / 6)", "(5 + lengths / 6)"),
            "The lengths are right, but only they are divided by 6. Parentheses are missing: (5 + length) / 6.",
        ),
        Mistake(
            edited(scores_of, "sum(dim=1) - 1", "sum(dim=1, keepdim=True) - 1"),
            "The lengths are right, but keepdim=True makes them (W, 1), and each log_prob was divided by those of all "
            "hypotheses: (W, W). Leave keepdim out.",
        ),
    ],
    hints=[
        "Which number in the formula should differ between hypotheses, and does not?",
        "(ids != pad_id).sum(dim=1) counts the words of a row, including BOS.",
    ],
    solution="""
        def fixed_scores(log_probs, ids, pad_id, alpha):
            lengths = (ids != pad_id).sum(dim=1) - 1  # each its own, without BOS
            return log_probs / ((5 + lengths) / 6) ** alpha
    """,
    in_package="lessons.decoding.beam",
)
