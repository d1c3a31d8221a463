"""Lesson 12, my_penalty: make words that have been generated less likely."""

import torch
from torch import Tensor

from lessons.checking.edits import edited
from lessons.checking.engine import Case, Exercise, Mistake, numbers


def penalize(logits: Tensor, ids: Tensor, penalty: float) -> Tensor:
    """logits (V,) of the next word, ids (t,) generated so far -> logits (V,) in which each of those is less likely.

    A logit above 0 is divided by the penalty, one below 0 is multiplied by it, once for each word. CTRL (arXiv
    1909.05858), section 4.1, divides both; libraries multiply below 0.
    """
    seen = torch.zeros_like(logits, dtype=torch.bool).index_fill(0, ids, True)
    lower = torch.where(logits > 0, logits / penalty, logits * penalty)
    return torch.where(seen, lower, logits)


def _penalty_cases(generator) -> list[Case]:
    def case(logits, ids, penalty, about=""):
        return Case({"logits": logits, "ids": torch.tensor(ids), "penalty": penalty}, about=about)

    return [
        case(torch.tensor([2.0, 1.0, 4.0, 3.0]), [1, 2], 2.0),
        case(torch.tensor([3.0, -1.0, 1.0, -2.0, 0.5]), [3, 0], 2.0, about="a logit below 0"),
        case(3 * numbers(generator, 7), [6, 2, 6, 1, 6], 1.5, about="a word that was generated three times"),
        case(2 * numbers(generator, 6), [4, 0, 3], 1.2, about="a mild penalty"),
        case(2 * numbers(generator, 5), [1, 4], 1.0, about="a penalty of 1, which changes nothing"),
    ]


def _for_each_time(logits, ids, penalty):
    for word in ids:
        logits = penalize(logits, word[None], penalty)
    return logits


repeating = Exercise(
    lesson="12",
    name="my_penalty",
    reference=penalize,
    cases=_penalty_cases,
    outputs=("logits",),
    mistakes=[
        Mistake(
            edited(penalize, "torch.where(logits > 0, logits / penalty, logits * penalty)", "logits / penalty"),
            "Half of it is right. But −2 divided by 2 is −1: a word with a logit below 0 gets *more* likely. There you "
            "must multiply.",
            seen_in="a logit below 0",
        ),
        Mistake(
            edited(penalize, "torch.where(logits > 0, logits / penalty, logits * penalty)", "logits * penalty"),
            "You multiply by the penalty, whatever the sign: 4 becomes 8, and that word gets *more* likely. Above 0, "
            "divide.",
        ),
        Mistake(
            edited(penalize, "logits / penalty, logits * penalty", "logits * penalty, logits / penalty"),
            "The two cases are swapped, so these words get more likely. Divide above 0, multiply below.",
        ),
        Mistake(
            edited(penalize, "logits * penalty)", "logits - penalty)"),
            "Above 0 it is right. Below 0 you subtract: then a penalty of 1 lowers a logit by 1, and it must change "
            "nothing. Multiply.",
        ),
        Mistake(
            edited(
                penalize,
                "torch.where(logits > 0, logits / penalty, logits * penalty)",
                "logits.abs() / penalty",
            ),
            "A logit of −2 became 1: without its sign it looks likely. It must stay below 0, and go down: multiply it.",
            seen_in="a logit below 0",
        ),
        Mistake(
            edited(penalize, "logits * penalty)", "logits.abs() * penalty)"),
            "A logit of −2 became 4: without its sign it looks likely. It must stay below 0, and go down: multiply it "
            "with its sign.",
            seen_in="a logit below 0",
        ),
        Mistake(
            _for_each_time,
            "A word that was generated three times pays three times. In this exercise each word pays once.",
            seen_in="a word that was generated three times",
        ),
        Mistake(
            edited(penalize, "return torch.where(seen, lower, logits)", "return lower"),
            "Every word pays, also those that were not generated. That only makes the distribution flatter or sharper.",
        ),
        Mistake(
            edited(penalize, "where(seen, lower, logits)", "where(seen, logits, lower)"),
            "The words that were *not* generated pay, and those that were don't.",
        ),
        Mistake(
            edited(penalize, "index_fill(0, ids, True)", "index_fill(0, ids[-1:], True)"),
            "Only the last word pays. A loop may be longer than one word: penalize all words in ids.",
        ),
        Mistake(
            edited(penalize, "torch.where(logits > 0, logits / penalty, logits * penalty)", "logits - penalty"),
            "You subtract the penalty. That exists, too (a presence penalty), but here a penalty of 1 must change "
            "nothing: divide or multiply.",
        ),
        Mistake(
            edited(
                penalize,
                "torch.where(logits > 0, logits / penalty, logits * penalty)",
                "torch.full_like(logits, -torch.inf)",
            ),
            "The words in ids can't come again at all. Then no text could have two commas: make them less likely, not "
            "impossible.",
        ),
        Mistake(
            edited(
                penalize,
                "torch.where(logits > 0, logits / penalty, logits * penalty)",
                "logits / penalty if logits > 0 else logits * penalty",
            ),
            "An `if` has one answer, and here each word needs its own. torch.where asks for each number whether it is "
            "above 0.",
        ),
        Mistake(
            edited(penalize, "return torch.where(seen, lower, logits)", "return lower[ids]"),
            "You return the logits of the words in ids alone. Return all V: the others stay as they are.",
        ),
    ],
    hints=[
        "Which way does a logit move when you divide it by 2? Try 3, and try −2.",
        "torch.where(logits > 0, logits / penalty, logits * penalty) moves each of them down.",
        "Work on a copy, result = logits.clone(), and write to result[ids] alone. An id that is in ids twice is "
        "written twice, with the same number.",
    ],
    solution="""
        def my_penalty(logits, ids, penalty):
            lower = torch.where(logits > 0, logits / penalty, logits * penalty)
            result = logits.clone()
            result[ids] = lower[ids]
            return result
    """,
)
