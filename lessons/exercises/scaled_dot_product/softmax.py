"""Lesson 02, my_softmax: turn scores into weights, each row for itself."""

import math

import torch
from torch import Tensor

from lessons.checking.edits import edited
from lessons.checking.engine import Case, Exercise, Mistake, numbers, rows_sum_to_one, small_numbers


def softmax(scores: Tensor) -> Tensor:
    """Along the last axis; the row's maximum is subtracted first, so no power overflows."""
    powers = (scores - scores.amax(dim=-1, keepdim=True)).exp()
    return powers / powers.sum(dim=-1, keepdim=True)


def _softmax_cases(generator) -> list[Case]:
    return [
        Case({"scores": small_numbers(generator, 2, 3)}),
        Case({"scores": numbers(generator, 5, 4)}),
        Case({"scores": numbers(generator, 2, 5, 4)}, about="a batch axis in front, so the keys are axis 2"),
        Case(
            {"scores": torch.tensor([[-1000.0, 1000.0, 100.0, 0.0], [-1000.0, -1001.0, -1002.0, -1003.0]])},
            about="scores around 1000 and around -1000, whose powers are too large and too small for a float",
        ),
        Case({"scores": torch.tensor([[-1000.0, -1001.0, -1002.0]])}, about="only scores around -1000"),
    ]


soft_rows = Exercise(
    lesson="02",
    name="my_softmax",
    reference=softmax,
    cases=_softmax_cases,
    laws=[rows_sum_to_one()],
    mistakes=[
        Mistake(
            lambda s: s.softmax(dim=-2),
            "Your columns sum to 1, not your rows: the sum runs over the queries. Which axis are the keys on?",
            also=(edited(softmax, "powers.sum(dim=-1", "powers.sum(dim=-2"),),
        ),
        Mistake(
            lambda s: s.softmax(dim=1),
            "Right for a table, where axis 1 is the keys. With a batch in front, axis 1 is the queries: count the axis "
            "from the end.",
        ),
        Mistake(
            edited(softmax, " - scores.amax(dim=-1, keepdim=True)", ""),
            "The formula is right, but e^1000 is too large for a float: it becomes inf, and inf / inf is NaN. Subtract "
            "the row's maximum first; the weights stay the same.",
            also=(lambda s: (s.exp() / s.exp().sum(dim=-1, keepdim=True)).nan_to_num(0.0),),
        ),
        Mistake(
            edited(softmax, "scores.amax(", "scores.mean("),
            "What you subtract isn't the row's maximum. A score can be far above it, and its power is then inf; inf / "
            "inf is NaN. Subtract the maximum: then no power is above 1.",
            also=(
                edited(softmax, "scores.amax(dim=-1, keepdim=True)", "scores[..., :1]"),
                edited(softmax, "scores.amax(", "scores.amin("),
            ),
        ),
        Mistake(
            lambda s: s.exp() / s.exp().sum(dim=-1),
            "A sum or a maximum over the last axis has one number per row, (…, Q). Next to (…, Q, K) these numbers "
            "are aligned with the keys. keepdim=True keeps the axis with size 1, so each is broadcast along its row.",
        ),
        Mistake(
            edited(softmax, "scores.amax", "scores.max"),
            "max with a dim gives two things, the maxima and their positions. Use s.max(dim=…).values, or "
            "s.amax(dim=…), which gives only the maxima.",
        ),
        Mistake(
            lambda s: s.exp() / s.exp().sum(),
            "You divided by the sum of the whole table. Divide each row by its own sum.",
        ),
        Mistake(
            lambda s: s / s.sum(dim=-1, keepdim=True),
            "You divided the scores themselves by their sum, without raising e to them first. Weights can then be "
            "negative.",
        ),
        Mistake(
            edited(softmax, " / powers.sum(dim=-1, keepdim=True)", ""),
            "These are the powers of e. One step is missing: divide each row by its sum.",
            also=(lambda s: s.exp(),),
        ),
        Mistake(
            lambda s: (s * math.log(2)).softmax(dim=-1),
            "You raised 2 to the scores. The softmax raises e: torch.exp.",
        ),
        Mistake(
            lambda s: s.log_softmax(dim=-1),
            "These are the logarithms of the weights (log_softmax). Return the weights themselves.",
        ),
        Mistake(
            edited(softmax, "scores.amax(dim=-1, keepdim=True)", "scores.max()"),
            "You subtracted the maximum of the whole table. A row whose scores are far below it then becomes 0 / 0. "
            "Subtract each row's own maximum.",
        ),
        Mistake(
            edited(softmax, "scores - ", "scores / "),
            "You divided by the maximum. Only subtracting the same number from a whole row leaves its softmax as it "
            "is.",
        ),
        Mistake(
            edited(softmax, "scores - scores.amax(dim=-1, keepdim=True)", "scores.amax(dim=-1, keepdim=True) - scores"),
            "You subtracted the scores from the maximum, so the largest score gets the smallest weight. Subtract the "
            "maximum from the scores.",
        ),
        Mistake(
            edited(softmax, ".exp()", ""),
            "The maximum is subtracted, but e is not raised to the rest. Weights are powers of e, divided by their "
            "sum.",
        ),
        Mistake(
            edited(softmax, "amax(dim=-1", "amax(dim=-2"),
            "You subtracted each column's maximum, so the scores of a row no longer have the differences that they "
            "had. Subtract each row's own maximum: dim=-1.",
        ),
        Mistake(
            edited(softmax, "scores.amax(", "scores.abs().amax("),
            "You subtracted too much: the largest absolute value, say, or a maximum that starts at 0. Where all scores "
            "are far below 0, every power is then 0, and 0 / 0 is NaN. The maximum itself may be negative.",
            seen_in="only scores around -1000",
            also=(edited(softmax, "keepdim=True)).exp()", "keepdim=True).clamp(min=0)).exp()"),),
        ),
        Mistake(
            lambda s: s.clamp(max=80).exp() / s.clamp(max=80).exp().sum(dim=-1, keepdim=True),
            "You cut off large scores. Above the limit they are all equal then, and scores far below 0 still give 0 "
            "/ 0. Subtract the row's maximum instead: the weights stay the same.",
        ),
        Mistake(
            edited(softmax, "powers.sum(", "scores.exp().sum("),
            "You subtracted the maximum above the fraction bar, and not below it. Both need the same powers.",
        ),
        Mistake(
            edited(softmax, "powers.sum(dim=-1, keepdim=True)", "powers.sum()"),
            "Each row has its own maximum, which is right. But you divided by the sum of the whole table: divide "
            "each row by its own sum.",
        ),
        Mistake(
            lambda s: s.square() / s.square().sum(dim=-1, keepdim=True),
            "You squared the scores. The softmax raises e to them: a score far below 0 gets little weight, not much.",
        ),
    ],
    hints=[
        "Raise e to each score, then divide each row by its sum. Which axis do you sum over?",
        "keepdim=True keeps the summed axis with size 1, so the division broadcasts along the row.",
        "You may subtract a number from a whole row without changing its softmax. Which number keeps the powers "
        "from overflowing?",
    ],
    solution="""
        def my_softmax(scores):
            powers = (scores - scores.amax(dim=-1, keepdim=True)).exp()  # at most 1
            return powers / powers.sum(dim=-1, keepdim=True)
    """,
)
