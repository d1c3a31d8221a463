"""Lesson 12, my_distribution: temperature, top-k and top-p."""

import torch
from torch import Tensor

from lessons.checking.edits import edited
from lessons.checking.engine import Case, Exercise, Mistake


def distribution_by_hand(logits: Tensor, temperature: float, top_k: int, top_p: float) -> Tensor:
    """logits (V,) -> probabilities (V,): the temperature, then the k likeliest words, then the smallest set of p."""
    ordered, words = (logits / temperature).sort(descending=True, stable=True)  # likeliest first
    ordered = ordered.masked_fill(torch.arange(len(ordered)) >= top_k, -torch.inf)
    likely = ordered.softmax(dim=-1)
    before = likely.cumsum(dim=-1) - likely  # the sum of all likelier words
    ordered = ordered.masked_fill(before >= top_p, -torch.inf)
    return torch.zeros_like(logits).scatter(0, words, ordered.softmax(dim=-1))


def _distribution_called(candidate, logits, temperature, top_k, top_p):
    """Of equally likely words either may stay: where there are any, the result is compared in order."""
    result = candidate(logits, temperature, top_k, top_p)
    tied = len(logits.unique()) < len(logits)
    return result.sort(descending=True).values if tied and isinstance(result, Tensor) and result.dim() else result


def _distribution_cases(generator) -> list[Case]:
    def case(logits, temperature, top_k, top_p, about=""):
        logits = torch.tensor(logits)
        return Case({"logits": logits, "temperature": temperature, "top_k": top_k, "top_p": top_p}, about=about)

    return [
        case([1.0, 3.0, 0.0, 2.0], 2.0, 4, 1.0, "the temperature alone"),
        case([1.0, 3.0, 0.0, 2.0, -1.0], 1.0, 3, 1.0, "top-k alone"),
        case([1.0, 2.0, 0.0, 1.5, -1.0, 0.5], 1.0, 6, 0.6, "top-p alone"),
        case([0.5, 4.0, 0.0, 1.0, -1.0], 1.0, 5, 0.7, "the likeliest word alone crosses p"),
        case([1.0, 2.0, 0.0, 1.5, -1.0, 0.5], 2.0, 4, 0.7, "all three together"),
        case([1.0, 2.0, 1.0, 0.0, 1.0], 1.0, 2, 1.0, "three words are equally likely, at the edge of the top k"),
        case([0.7, 1.9, -0.4, 1.2, 0.1, 1.6, 0.9], 0.5, 5, 0.8, "a temperature below 1"),
    ]


def _sums_to_one(case: Case, results: tuple) -> str | None:
    total = results[0].double().sum().item()
    return None if abs(total - 1) < 1e-3 else f"Sum: your probabilities sum to {total:.4g}; they must sum to 1."


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
            "The logits are multiplied by the temperature. They are divided by it: 2 makes all words more alike.",
            seen_in="the temperature alone",
        ),
        Mistake(
            edited(
                distribution_by_hand,
                ("logits / temperature", "logits"),
                ("words, ordered.softmax(dim=-1)", "words, ordered.softmax(dim=-1) / temperature"),
            ),
            "The temperature comes after the softmax, where it is no more than a factor: the sum is not 1. Divide the "
            "logits by it, before the softmax.",
            seen_in="the temperature alone",
        ),
        Mistake(
            edited(distribution_by_hand, "logits / temperature", "logits"),
            "The temperature changes nothing: it is not used, or it divides the probabilities and is lost when they "
            "are brought to a sum of 1. Divide the logits by it.",
            seen_in="the temperature alone",
        ),
        Mistake(
            edited(
                distribution_by_hand,
                ("logits / temperature", "logits"),
                ("words, ordered", "words, (ordered / temperature)"),
            ),
            "The temperature comes after top-p: which words stay was decided without it. It comes first.",
            seen_in="all three together",
        ),
        Mistake(
            edited(distribution_by_hand, "before >= top_p", "(before + likely > top_p) & (top_p < 1)"),
            "The word whose probability crosses p is dropped. It stays: the sum of those kept is p or more. If the "
            "first word crosses it, you have nothing left.",
            also=[edited(distribution_by_hand, "before >= top_p", "likely.cumsum(dim=-1) >= top_p")],
            seen_in="top-p alone",
        ),
        Mistake(
            edited(distribution_by_hand, "before >= top_p", "(before > 0) & (before + likely > top_p) & (top_p < 1)"),
            "The word whose probability crosses p is dropped, unless it is the first. It stays: the sum of those kept "
            "is p or more.",
            seen_in="top-p alone",
        ),
        Mistake(
            edited(distribution_by_hand, "before >= top_p", "before.clamp(min=likely[0]) >= top_p"),
            "Right as long as the first word is below p. Where it alone crosses p, it is dropped, too, and nothing is "
            "left. The likeliest word always stays.",
            seen_in="the likeliest word alone crosses p",
        ),
        Mistake(
            edited(distribution_by_hand, "before >= top_p", "torch.cat([before[:1], before[:-1]]) >= top_p"),
            "Top-p keeps one word too many: p is reached already, and one more comes after. A word stays if the sum "
            "of all likelier ones is below p.",
            seen_in="top-p alone",
        ),
        Mistake(
            edited(
                distribution_by_hand,
                "ordered.softmax(dim=-1))",
                "(logits / temperature).softmax(dim=-1)[words] * (ordered > -torch.inf))",
            ),
            "The words that stay are right, but their probabilities are not brought back to a sum of 1.",
            also=[edited(distribution_by_hand, "words, ordered.softmax(dim=-1)", "words, likely * (before < top_p)")],
            seen_in="top-p alone",
        ),
        Mistake(
            edited(
                distribution_by_hand,
                "words, ordered.softmax(dim=-1)",
                "words, ordered.masked_fill(ordered == -torch.inf, 0.0).softmax(dim=-1)",
            ),
            "The logits of the dropped words became 0. Then they have e⁰ = 1 in the softmax, and can be drawn. −∞ "
            "makes their probability 0.",
            also=[
                edited(distribution_by_hand, ("top_k, -torch.inf", "top_k, 0.0"), ("top_p, -torch.inf", "top_p, 0.0"))
            ],
            seen_in="top-k alone",
        ),
        Mistake(
            edited(distribution_by_hand, "(logits / temperature)", "(logits / temperature).softmax(dim=-1)"),
            "Two softmaxes: the second one is taken of probabilities, and makes them all more alike. It wants logits; "
            "probabilities are divided by their sum.",
            also=[lambda *inputs: distribution_by_hand(*inputs).softmax(dim=-1)],
            seen_in="the temperature alone",
        ),
        Mistake(
            edited(distribution_by_hand, ">= top_k", "> top_k"),
            "Top-k keeps k + 1 words.",
            seen_in="top-k alone",
        ),
        Mistake(
            edited(distribution_by_hand, ">= top_k", ">= top_k - 1"),
            "Top-k keeps k − 1 words. Counted from 0, the first to go is the one at place k.",
            seen_in="top-k alone",
        ),
        Mistake(
            edited(distribution_by_hand, "torch.arange(len(ordered)) >= top_k", "ordered < ordered[:top_k][-1]"),
            "Right but for one thing: at the edge of the top k stand equally likely words, and all of them stay. A "
            "threshold does that. Exactly k stay; take the first k places of a sorted list.",
            seen_in="three words are equally likely, at the edge of the top k",
        ),
        Mistake(
            edited(distribution_by_hand, "likely = ordered", "likely = (logits / temperature)[words]"),
            "Top-p looked at the probabilities of all words. Top-k comes first, and p counts what is left of it, with "
            "a sum of 1.",
            seen_in="all three together",
        ),
        Mistake(
            lambda logits, t, k, p: (logits / t).softmax(dim=-1),
            "Only the temperature is used: neither top_k nor top_p drops a word.",
            seen_in="top-k alone",
        ),
        Mistake(
            lambda logits, t, k, p: distribution_by_hand(logits, t, k, 1.0),
            "top_p drops no word.",
            seen_in="top-p alone",
        ),
        Mistake(
            lambda logits, t, k, p: distribution_by_hand(logits, t, len(logits), p),
            "top_k drops no word.",
            seen_in="top-k alone",
        ),
        Mistake(
            edited(distribution_by_hand, "descending=True", "descending=False"),
            "The least likely words stay. Sort with the likeliest first.",
            seen_in="top-k alone",
        ),
        Mistake(
            edited(
                distribution_by_hand,
                "torch.zeros_like(logits).scatter(0, words, ordered.softmax(dim=-1))",
                "ordered.softmax(dim=-1)",
            ),
            "The probabilities are still in the order of the sorted list, likeliest first. Where does each belong? "
            "result[words] = … or scatter puts it there.",
            seen_in="the temperature alone",
        ),
        Mistake(
            edited(
                distribution_by_hand,
                "torch.zeros_like(logits).scatter(0, words, ordered.softmax(dim=-1))",
                "ordered.softmax(dim=-1)[words]",
            ),
            "The probabilities stand in the wrong places: indexing the sorted ones with words shuffles them once more. "
            "The way back is on the left side, result[words] = …, or by scatter, or by words.argsort().",
            seen_in="the temperature alone",
        ),
    ],
    hints=[
        "Divide the logits by the temperature, then sort: ordered, words = x.sort(descending=True).",
        "A word stays in top-p if the sum of all likelier words is below p: cumsum minus the word's own probability.",
        "What is dropped gets −∞, and a softmax brings the rest to a sum of 1. Put each back in its word's place.",
    ],
)
