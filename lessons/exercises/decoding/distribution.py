"""Lesson 12, my_distribution: temperature, top-k and top-p."""

import torch
from torch import Tensor

from lessons.checking.edits import edited
from lessons.checking.engine import Case, Exercise, Mistake
from lessons.wording import worded


def distribution_by_hand(logits: Tensor, temperature: float, top_k: int, top_p: float) -> Tensor:
    """logits (V,) -> probabilities (V,): temperature, the k likeliest words, the smallest set that reaches p."""
    ordered, words = (logits / temperature).sort(descending=True, stable=True)  # likeliest first
    ordered = ordered.masked_fill(torch.arange(len(ordered)) >= top_k, -torch.inf)
    likely = ordered.softmax(dim=-1)
    before = likely.cumsum(dim=-1) - likely  # the sum of all likelier words
    ordered = ordered.masked_fill(before >= top_p, -torch.inf)
    return torch.zeros_like(logits).scatter(0, words, ordered.softmax(dim=-1))


def _distribution_called(candidate, logits, temperature, top_k, top_p):
    """Of equally likely words either may stay: where there are any, the sorted results are compared."""
    result = candidate(logits, temperature, top_k, top_p)
    tied = len(logits.unique()) < len(logits)
    return result.sort(descending=True).values if tied and isinstance(result, Tensor) and result.dim() else result


def _distribution_cases(generator) -> list[Case]:
    def case(logits, temperature, top_k, top_p, about=""):
        logits = torch.tensor(logits)
        return Case({"logits": logits, "temperature": temperature, "top_k": top_k, "top_p": top_p}, about=about)

    return [
        case([1.0, 3.0, 0.0, 2.0], 1.0, 4, 1.0),
        case([1.0, 3.0, 0.0, 2.0], 2.0, 4, 1.0, "only the temperature"),
        case([1.0, 3.0, 0.0, 2.0, -1.0], 1.0, 3, 1.0, "only top-k"),
        case([1.0, 2.0, 0.0, 1.5, -1.0, 0.5], 1.0, 6, 0.6, "only top-p"),
        case([0.5, 4.0, 0.0, 1.0, -1.0], 1.0, 5, 0.7, "the likeliest word crosses p by itself"),
        case([1.0, 2.0, 0.0, 1.5, -1.0, 0.5], 2.0, 4, 0.7, "all three together"),
        case([1.0, 2.0, 1.0, 0.0, 1.0], 1.0, 2, 1.0, "three words are equally likely, at the cutoff of top-k"),
        case([0.7, 1.9, -0.4, 1.2, 0.1, 1.6, 0.9], 0.5, 5, 0.8, "a temperature below 1"),
        case([1.0, 1.0, 1.0, 1.0], 1.0, 4, 0.5, "the likelier words sum to exactly p"),
        case([100.0, 102.0, 99.0, 101.0], 1.0, 4, 1.0, "logits around 100"),
    ]


_TIES_STAY = edited(distribution_by_hand, "torch.arange(len(ordered)) >= top_k", "ordered < ordered[:top_k][-1]")
NEVER_RENORMALIZED = (
    ("likely = ordered", "likely = (logits / temperature)[words]"),
    ("ordered.softmax(dim=-1))", "likely * (ordered > -torch.inf))"),
)


def _top_p_unsorted(logits, temperature, top_k, top_p):
    """Top-p in the order of the vocabulary."""
    p = distribution_by_hand(logits, temperature, top_k, 1.0)
    p = p.masked_fill(p.cumsum(dim=0) - p >= top_p, 0.0)
    return p / p.sum()


def _sums_to_one(case: Case, results: tuple) -> str | None:
    total = results[0].double().sum().item()
    if abs(total - 1) < 1e-3:
        return None
    return worded("Sum: your probabilities sum to {total:.4g}; they must sum to 1.", total=total)


choosing = Exercise(
    lesson="12",
    name="my_distribution",
    reference=distribution_by_hand,
    cases=_distribution_cases,
    call=_distribution_called,
    outputs=("probabilities",),
    laws=[_sums_to_one],
    mistakes=[
        Mistake(
            edited(distribution_by_hand, "logits / temperature", "logits * temperature"),
            "You multiply the logits by the temperature. Divide by it: a temperature of 2 flattens the distribution.",
            seen_in="only the temperature",
        ),
        Mistake(
            edited(
                distribution_by_hand,
                ("logits / temperature", "logits"),
                ("words, ordered.softmax(dim=-1)", "words, ordered.softmax(dim=-1) / temperature"),
            ),
            "You divide after the softmax, where the temperature is only a factor: the sum is not 1. Divide the logits "
            "by it, before the softmax.",
            seen_in="only the temperature",
        ),
        Mistake(
            edited(distribution_by_hand, "logits / temperature", "logits"),
            "The temperature changes nothing: you don't use it, or it divides probabilities and cancels when they are "
            "renormalized. Divide the logits by it.",
            seen_in="only the temperature",
        ),
        Mistake(
            edited(
                distribution_by_hand,
                ("logits / temperature", "logits"),
                ("words, ordered", "words, (ordered / temperature)"),
            ),
            "The temperature comes after top-p: it had no say in which words stay. In this exercise it comes first.",
            seen_in="all three together",
        ),
        Mistake(
            edited(distribution_by_hand, "before >= top_p", "(before + likely > top_p) & (top_p < 1)"),
            "You drop the word that crosses p. It stays: the kept words sum to p or more. If the first word crosses p, "
            "you have nothing left.",
            also=[
                edited(distribution_by_hand, "before >= top_p", "likely.cumsum(dim=-1) >= top_p"),
                edited(_TIES_STAY, "before >= top_p", "(before + likely > top_p) & (top_p < 1)"),
                edited(distribution_by_hand, "before >= top_p", "likely.cumsum(dim=-1) > top_p"),
                edited(_TIES_STAY, "before >= top_p", "likely.cumsum(dim=-1) > top_p"),
            ],
            seen_in="only top-p",
        ),
        Mistake(
            edited(distribution_by_hand, "before >= top_p", "(before > 0) & (before + likely > top_p) & (top_p < 1)"),
            "You drop the word that crosses p, unless it is the first. It stays: the kept words sum to p or more.",
            also=[
                edited(original, "before >= top_p", f"(before > 0) & (likely.cumsum(dim=-1) > top_p) & {where}")
                for original in (distribution_by_hand, _TIES_STAY)
                for where in ("(top_p < 1)", "True")  # without the condition, the sum of all may round to above 1
            ],
            seen_in="only top-p",
        ),
        Mistake(
            edited(distribution_by_hand, "before >= top_p", "before.clamp(min=likely[0]) >= top_p"),
            "If the first word crosses p by itself, you drop it, too, and nothing is left. The likeliest word always "
            "stays.",
            also=[edited(distribution_by_hand, "before >= top_p", "before.clamp(min=likely[0]) > top_p")],
            seen_in="the likeliest word crosses p by itself",
        ),
        Mistake(
            edited(distribution_by_hand, "before >= top_p", "torch.cat([before[:1], before[:-1]]) >= top_p"),
            "Top-p keeps one word too many: p is already reached. A word stays if the sum of all likelier words is "
            "below p.",
            seen_in="only top-p",
        ),
        Mistake(
            edited(
                distribution_by_hand,
                "ordered.softmax(dim=-1))",
                "(logits / temperature).softmax(dim=-1)[words] * (ordered > -torch.inf))",
            ),
            "The right words stay, but their probabilities are not renormalized: they must sum to 1.",
            also=[edited(distribution_by_hand, "words, ordered.softmax(dim=-1)", "words, likely * (before < top_p)")],
            seen_in="only top-p",
        ),
        Mistake(
            edited(distribution_by_hand, *NEVER_RENORMALIZED),
            "You never renormalize. What top-k leaves must sum to 1 before you compare it with p, or too many words "
            "stay; and what top-p leaves must sum to 1 again.",
            also=[edited(_TIES_STAY, *NEVER_RENORMALIZED)],
            seen_in="all three together",
        ),
        Mistake(
            edited(
                distribution_by_hand,
                "words, ordered.softmax(dim=-1)",
                "words, ordered.masked_fill(ordered == -torch.inf, 0.0).softmax(dim=-1)",
            ),
            "You set the logits of the dropped words to 0. Then they have e⁰ = 1 in the softmax and can be drawn. −∞ "
            "makes their probability 0.",
            also=[
                edited(distribution_by_hand, ("top_k, -torch.inf", "top_k, 0.0"), ("top_p, -torch.inf", "top_p, 0.0")),
                edited(distribution_by_hand, "top_k, -torch.inf", "top_k, 0.0"),
            ],
            seen_in="only top-k",
        ),
        Mistake(
            edited(distribution_by_hand, "(logits / temperature)", "(logits / temperature).softmax(dim=-1)"),
            "Two softmaxes: the second one gets probabilities and flattens them. A softmax needs logits; divide "
            "probabilities by their sum.",
            also=[lambda *inputs: distribution_by_hand(*inputs).softmax(dim=-1)],
            seen_in="only the temperature",
        ),
        Mistake(
            edited(distribution_by_hand, "before >= top_p", "before > top_p"),
            "Where the likelier words sum to exactly p, p is reached, and the next word is not needed: drop a word "
            "where that sum is p *or more*.",
            seen_in="the likelier words sum to exactly p",
        ),
        Mistake(
            edited(
                distribution_by_hand,
                "ordered.softmax(dim=-1))",
                "(logits / temperature)[words].exp().mul(ordered > -torch.inf).div((logits / temperature)[words].exp()"
                ".mul(ordered > -torch.inf).sum()))",
            ),
            "e^100 is too large for a float: inf / inf is NaN. Logits can be that large, above all with a temperature "
            "near 0. Subtract the largest first, or let softmax do it.",
            seen_in="logits around 100",
        ),
        Mistake(
            edited(distribution_by_hand, ">= top_k", "> top_k"),
            "Top-k keeps k + 1 words.",
            seen_in="only top-k",
        ),
        Mistake(
            edited(distribution_by_hand, ">= top_k", ">= top_k - 1"),
            "Top-k keeps k − 1 words. Counted from 0, the first one to drop is at place k.",
            seen_in="only top-k",
        ),
        Mistake(
            _TIES_STAY,
            "Right except for ties: at the cutoff of top-k there are equally likely words, and all of them stay. A "
            "threshold does that. Exactly k stay: take the first k places of the sorted list.",
            seen_in="three words are equally likely, at the cutoff of top-k",
        ),
        Mistake(
            edited(distribution_by_hand, "likely = ordered", "likely = (logits / temperature)[words]"),
            "Top-p used the probabilities of all words. Top-k comes first; p is compared with what is left of it, "
            "renormalized.",
            seen_in="all three together",
        ),
        Mistake(
            lambda logits, t, k, p: (logits / t).softmax(dim=-1),
            "You use only the temperature: neither top_k nor top_p drops a word.",
            seen_in="only top-k",
        ),
        Mistake(
            lambda logits, t, k, p: distribution_by_hand(logits, t, k, 1.0),
            "top_p drops no word.",
            seen_in="only top-p",
        ),
        Mistake(
            lambda logits, t, k, p: distribution_by_hand(logits, t, len(logits), p),
            "top_k drops no word.",
            seen_in="only top-k",
        ),
        Mistake(
            edited(distribution_by_hand, "descending=True", "descending=False"),
            "The least likely words stay. Sort with the likeliest first.",
            seen_in="only top-k",
        ),
        Mistake(
            edited(
                distribution_by_hand,
                "torch.zeros_like(logits).scatter(0, words, ordered.softmax(dim=-1))",
                "ordered.softmax(dim=-1)",
            ),
            "The probabilities are still in the order of the sorted list, likeliest first. result[words] = … or "
            "scatter puts each back to its word.",
            seen_in="only the temperature",
        ),
        Mistake(
            edited(
                distribution_by_hand,
                "torch.zeros_like(logits).scatter(0, words, ordered.softmax(dim=-1))",
                "ordered.softmax(dim=-1)[words]",
            ),
            "The probabilities are in the wrong places: indexing the sorted ones with words shuffles them once more. "
            "To undo the sort, write result[words] = …, or use scatter or words.argsort().",
            seen_in="only the temperature",
        ),
        Mistake(
            _top_p_unsorted,
            "Top-p added up the words in the order of the vocabulary. What counts is the sum of the likelier words: "
            "sort before cumsum.",
            seen_in="only top-p",
        ),
    ],
    hints=[
        "Divide the logits by the temperature, then sort: ordered, words = x.sort(descending=True).",
        "A word stays in top-p if all likelier words sum to less than p: cumsum minus the word's own probability.",
        "Dropped words get −∞, and the softmax renormalizes the rest. Put each probability back to its word: "
        "result[words] = …",
    ],
    solution="""
        def my_distribution(logits, temperature, top_k, top_p):
            ordered, words = (logits / temperature).sort(descending=True)
            ordered[top_k:] = -torch.inf  # all but the k likeliest
            probabilities = ordered.softmax(dim=-1)
            before = probabilities.cumsum(dim=-1) - probabilities  # of all likelier words
            ordered[before >= top_p] = -torch.inf
            result = torch.zeros_like(logits)
            result[words] = ordered.softmax(dim=-1)  # back to the order of the vocabulary
            return result
    """,
    in_package="lessons.decoding.distribution",
)
