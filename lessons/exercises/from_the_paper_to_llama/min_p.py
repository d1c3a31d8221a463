"""Lesson 16, my_min_p: drop what is much less likely than the likeliest token."""

import torch
from torch import Tensor

from lessons.checking.edits import edited
from lessons.checking.engine import Case, Exercise, Mistake, numbers


def min_p_by_hand(logits: Tensor, min_p: float) -> Tensor:
    """logits (V,) -> probabilities (V,); tokens with less than min_p times the largest probability get 0."""
    p = logits.softmax(dim=-1)
    kept = p.masked_fill(p < min_p * p.max(), 0.0)
    return kept / kept.sum()


def _min_p_cases(generator) -> list[Case]:
    def case(logits, min_p, about=""):
        return Case({"logits": logits, "min_p": min_p}, about=about)

    return [
        case(torch.tensor([2.0, 0.0, 1.0, -1.0]), 0.2),
        case(2 * numbers(generator, 6), 0.1),
        case(2 * numbers(generator, 9), 0.3),
        case(torch.tensor([0.0, 5.0, 1.0, 3.5]), 0.1, "one token is almost certain"),
        case(torch.linspace(0.0, 0.5, 8), 0.5, "all tokens are about equally likely"),
        case(numbers(generator, 5), 0.0, "min_p is 0: all tokens stay"),
        case(numbers(generator, 5), 1.0, "min_p is 1: only the likeliest stays"),
    ]


KEPT = "p.masked_fill(p < min_p * p.max(), 0.0)"


def _tail_to_zero_and_softmax(logits, min_p):
    p = logits.softmax(dim=-1)
    return p.masked_fill(p < min_p * p.max(), 0.0).softmax(dim=-1)


def _top_p(logits, min_p):
    p, order = logits.softmax(dim=-1).sort(descending=True)
    p = p.masked_fill(p.cumsum(dim=-1) - p >= min_p, 0.0)
    return torch.zeros_like(p).scatter(0, order, p / p.sum())


def _only_what_stays(logits, min_p):
    kept = min_p_by_hand(logits, min_p)
    return kept[kept > 0]


trimming = Exercise(
    lesson="16",
    name="my_min_p",
    reference=min_p_by_hand,
    cases=_min_p_cases,
    mistakes=[
        Mistake(
            edited(min_p_by_hand, "min_p * p.max()", "min_p"),
            "You compare with min_p itself. The limit moves with the likeliest token: min_p · p.max(). If no token has "
            "that much, yours leaves nothing to draw.",
        ),
        Mistake(
            edited(min_p_by_hand, "kept / kept.sum()", "kept"),
            "What stays does not sum to 1. Divide by the sum.",
        ),
        Mistake(
            edited(min_p_by_hand, "p < min_p", "p <= min_p"),
            "A token with exactly the limit stays: at least min_p · p.max(). With min_p = 1 that is the likeliest one, "
            "and yours leaves nothing to draw.",
            seen_in="min_p is 1: only the likeliest stays",
        ),
        Mistake(
            lambda logits, min_p: min_p_by_hand(logits.sort(descending=True).values, min_p),
            "Your probabilities stand in the order of their size. Each token keeps its place, as in logits.",
        ),
        Mistake(
            _only_what_stays,
            "You return only the tokens that stay. The result has all V places, with 0 for what is dropped.",
        ),
        Mistake(
            lambda logits, min_p: logits.where(min_p_by_hand(logits, min_p) > 0, 0.0).softmax(dim=-1),
            "You set logits to 0 and took the softmax: 0 is a score like any other, so dropped tokens come back. "
            "Set −∞ instead, or set the probabilities to 0.",
        ),
        Mistake(
            edited(min_p_by_hand, "p < min_p", "p >= min_p"),
            "You dropped the likely tokens and kept the tail.",
        ),
        Mistake(
            edited(min_p_by_hand, "p < min_p * p.max()", "logits < min_p * logits.max()"),
            "You compare logits. min_p is a fraction of a probability: take the softmax first.",
        ),
        Mistake(
            _tail_to_zero_and_softmax,
            "You took a softmax of probabilities: dropped tokens come back, because exp(0) is 1. Divide by the sum "
            "instead.",
        ),
        Mistake(
            edited(min_p_by_hand, ("0.0", "-torch.inf"), ("kept / kept.sum()", "kept.softmax(dim=-1)")),
            "You took a softmax of the probabilities that stay. They are probabilities already, and a second softmax "
            "makes them more alike. Divide by their sum instead.",
        ),
        Mistake(
            _top_p,
            "That is top-p: as many tokens as it takes to reach a sum. Min-p asks each token for itself, against the "
            "likeliest one.",
        ),
        Mistake(
            edited(min_p_by_hand, "p < min_p * p.max()", "p < (1 - min_p) * p.max()"),
            "You keep tokens with at least 1 − min_p of the largest probability. min_p is what they need at least: "
            "0.1 keeps many, 0.9 few.",
        ),
        Mistake(
            edited(min_p_by_hand, KEPT, "p.masked_fill(p < p.max() - min_p, 0.0)"),
            "You subtract min_p from the largest probability. It is a fraction of it: multiply.",
        ),
        Mistake(
            edited(min_p_by_hand, KEPT, "p.masked_fill(p < min_p * p.mean(), 0.0)"),
            "You compare with the mean. The limit is a fraction of the *largest* probability.",
        ),
        Mistake(
            edited(min_p_by_hand, KEPT, "p"),
            "Nothing is dropped: these are the probabilities as they were.",
        ),
        Mistake(
            lambda logits, min_p: (min_p_by_hand(logits, min_p) > 0).float().softmax(dim=-1),
            "You took a softmax of ones and zeros. Keep the probabilities of the tokens that stay, and divide by their "
            "sum.",
        ),
        Mistake(
            lambda logits, min_p: (min_p_by_hand(logits, min_p) > 0) / (min_p_by_hand(logits, min_p) > 0).sum(),
            "All tokens that stay are equally likely in your result. Keep their probabilities, and divide by the sum.",
        ),
        Mistake(
            edited(min_p_by_hand, KEPT, "(p - min_p * p.max()).clamp(min=0.0)"),
            "You subtracted the limit from what stays. It only decides which stay; they keep their probabilities.",
        ),
        Mistake(
            edited(min_p_by_hand, "p < min_p * p.max()", "p.log() < min_p * p.log().max()"),
            "You compare logarithms. They are negative, so min_p times the largest is *above* it, and even the "
            "likeliest token falls. Compare probabilities.",
        ),
    ],
    hints=[
        "First the probabilities: softmax. Which one is the largest?",
        "Drop each p that is below min_p · p.max(): masked_fill(…, 0.0).",
        "What is left may sum to less than 1. Divide by its sum.",
    ],
    solution="""
        def my_min_p(logits, min_p):
            p = logits.softmax(dim=-1)
            kept = p.masked_fill(p < min_p * p.max(), 0.0)
            return kept / kept.sum()
    """,
)
