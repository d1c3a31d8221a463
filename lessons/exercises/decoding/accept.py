"""Lesson 12, my_accept: judge a token that a draft model proposes."""

from numbers import Real

import torch
from torch import Tensor

from lessons.checking.edits import edited
from lessons.checking.engine import Case, Exercise, Mistake, numbers


def accept(true: Tensor, guessed: Tensor, word: int) -> tuple[Tensor, Tensor]:
    """The probability that a proposed word stays, and the distribution (V,) that is drawn from if it does not.

    true (V,): the large model's probabilities, guessed (V,): the draft's.
    """
    stays = (true[word] / guessed[word]).clamp(max=1.0)
    more = (true - guessed).clamp(min=0.0)
    return stays, more / more.sum()


def _accept_called(candidate, true, guessed, word):
    """A plain number counts like a tensor that contains one."""
    result = candidate(true, guessed, word)
    if isinstance(result, tuple | list) and len(result) == 2 and isinstance(result[0], Real):
        return torch.tensor(float(result[0])), result[1]
    return result


def _accept_cases(generator) -> list[Case]:
    def case(size, word):
        true, guessed = ((1.5 * numbers(generator, size)).softmax(dim=-1) for _ in range(2))
        return Case({"true": true, "guessed": guessed, "word": word})

    by_hand = {"true": torch.tensor([0.5, 0.3, 0.2]), "guessed": torch.tensor([0.3, 0.6, 0.1])}
    return [
        Case(by_hand | {"word": 1}),
        Case(by_hand | {"word": 0}, about="the large model likes the word more than the draft does"),
        case(4, 1),
        case(7, 0),
        case(5, 3),
    ]


judging = Exercise(
    lesson="12",
    name="my_accept",
    reference=accept,
    cases=_accept_cases,
    call=_accept_called,
    outputs=("stays", "rest"),
    mistakes=[
        Mistake(
            edited(accept, "true[word] / guessed[word]", "guessed[word] / true[word]"),
            "The fraction is upside down: it is true over guessed. The more the draft overrates a word, the more often "
            "it must be rejected.",
        ),
        Mistake(
            edited(accept, ".clamp(max=1.0)", ""),
            "stays is more than 1 where the large model likes the word more. It is a probability: at most 1.",
            seen_in="the large model likes the word more than the draft does",
        ),
        Mistake(
            edited(accept, "(true[word] / guessed[word]).clamp(max=1.0)", "true[word]"),
            "The word stays with the large model's own probability. But the draft has already drawn it with `guessed`: "
            "divide by that.",
        ),
        Mistake(
            edited(accept, "(true[word] / guessed[word]).clamp(max=1.0)", "(true.argmax() == word).float()"),
            "The word stays only if it is the large model's likeliest: that is greedy. The words would no longer have "
            "the large model's distribution.",
        ),
        Mistake(
            edited(accept, "(true[word] / guessed[word])", "(true / guessed)"),
            "You return a number for each word of the vocabulary. Only one word was proposed: take its number, [word].",
        ),
        Mistake(
            edited(accept, "max=1.0", "min=1.0"),
            "stays is never less than 1. It is the smaller of the two, min(1, …), not the larger.",
        ),
        Mistake(
            edited(accept, "(true[word] / guessed[word]).clamp(max=1.0)", "torch.minimum(true, guessed)[word]"),
            "That is how often the word is drawn *and* stays. The draft has already drawn it: divide by guessed[word].",
        ),
        Mistake(
            edited(accept, "(true[word] / guessed[word]).clamp(max=1.0)", "torch.minimum(true, guessed).sum()"),
            "That is how often any proposal stays. The question is about this word: true[word] and guessed[word].",
        ),
        Mistake(
            edited(accept, "(true[word] / guessed[word]).clamp(max=1.0)", "(true >= guessed)[word].float()"),
            "Here a word that the draft overrates is always rejected. Sometimes it stays: with probability true over "
            "guessed.",
        ),
        Mistake(
            edited(accept, "true[word] / guessed[word]", "true[word] - guessed[word]"),
            "stays is a difference, and may be negative. It is a ratio: true over guessed.",
        ),
        Mistake(
            edited(accept, "return stays", "return 1 - stays"),
            "That is the probability that the word is rejected. Return the probability that it stays.",
        ),
        Mistake(
            edited(accept, (".clamp(min=0.0)", ""), (" / more.sum()", "")),
            "The rest has negative numbers, so it is no distribution. Where the draft has more, set it to 0; then "
            "divide by the sum.",
            also=[edited(accept, ".clamp(min=0.0)", "")],
        ),
        Mistake(
            edited(accept, " / more.sum()", ""),
            "The rest does not sum to 1. Divide it by its sum.",
        ),
        Mistake(
            edited(accept, "(true - guessed).clamp(min=0.0)", "true"),
            "After a rejection you draw from the large model's whole distribution. Then the words that the draft likes "
            "come too often, because they already had their chance. Draw from what the draft has too little of.",
        ),
        Mistake(
            edited(accept, "true - guessed", "guessed - true"),
            "The rest is inverted: it is what the draft has too much of.",
        ),
        Mistake(
            edited(accept, ".clamp(min=0.0)", ".abs()"),
            "The rest counts differences both ways. Where the draft has more than the large model, it is 0.",
        ),
        Mistake(
            edited(accept, "(true - guessed).clamp(min=0.0)", "true.index_fill(0, torch.tensor([word]), 0.0)"),
            "The rest leaves out only the rejected word. Other words that the draft overrates must get less, too: true "
            "− guessed, and 0 where that is negative.",
        ),
        Mistake(
            edited(accept, "clamp(min=0.0)", "clamp(min=0.0).exp()"),
            "You took a softmax of the rest. Where it is 0, it must stay 0: divide it by its sum instead.",
        ),
        Mistake(
            edited(accept, "clamp(min=0.0)", "exp()"),
            "You took a softmax of the differences. Where the draft has more, the rest is 0: clamp first, then divide "
            "by the sum.",
        ),
        Mistake(
            edited(accept, "more / more.sum()", "more / more.sum() * (stays < 1)"),
            "Where the word is sure to stay, your rest is empty. Nothing would be drawn from it, but return it anyway: "
            "the rest does not depend on the word.",
            seen_in="the large model likes the word more than the draft does",
        ),
        Mistake(
            edited(accept, "more.sum()", "(1 - stays)"),
            "You divided the rest by how often *this* word is rejected. Then it does not sum to 1: divide by its own "
            "sum.",
        ),
        Mistake(
            edited(accept, "(true - guessed).clamp(min=0.0)", "max(0, true - guessed)"),
            "Python's max and min can't compare a number with each number of a tensor: (true − guessed).clamp(min=0) "
            "does it for max(0, …), and .clamp(max=1) for min(1, …).",
        ),
        Mistake(
            lambda true, guessed, word: accept(guessed, true, word),
            "true and guessed have changed places, in both results: the draft has drawn the word, and the large model "
            "judges it.",
        ),
    ],
    hints=[
        "The draft has drawn the word with probability guessed[word]. Where that is too much, which factor turns it "
        "into true[word]?",
        "What each word still lacks is true − guessed, where that is positive: .clamp(min=0). Divide it by its sum.",
    ],
    solution="""
        def my_accept(true, guessed, word):
            stays = (true[word] / guessed[word]).clamp(max=1.0)
            more = (true - guessed).clamp(min=0.0)  # what each word still lacks
            return stays, more / more.sum()
    """,
    in_package="lessons.decoding.speculative.judge",
)
