"""Lesson 12, my_accept: judge a token that a draft model proposes."""

from numbers import Real

import torch
from torch import Tensor

from lessons.checking.edits import edited
from lessons.checking.engine import Case, Exercise, Mistake, numbers


def accept(true: Tensor, guessed: Tensor, word: int) -> tuple[Tensor, Tensor]:
    """With which probability a proposed word stays, and what is drawn from, (V,), where it does not.

    true (V,): the large model's probabilities, guessed (V,): the draft's.
    """
    stays = (true[word] / guessed[word]).clamp(max=1.0)
    more = (true - guessed).clamp(min=0.0)
    return stays, more / more.sum()


def _accept_called(candidate, true, guessed, word):
    """A plain number is as good as a tensor that holds one."""
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
            "The fraction is upside down: true over guessed. A word that the draft likes too much is refused the more "
            "often.",
        ),
        Mistake(
            edited(accept, ".clamp(max=1.0)", ""),
            "stays is more than 1 where the large model likes the word more. It is a probability: 1 at most.",
            seen_in="the large model likes the word more than the draft does",
        ),
        Mistake(
            edited(accept, "(true[word] / guessed[word]).clamp(max=1.0)", "true[word]"),
            "The word stays with the large model's own probability. The draft has drawn it with `guessed` already: "
            "divide by that.",
        ),
        Mistake(
            edited(accept, "(true[word] / guessed[word]).clamp(max=1.0)", "(true.argmax() == word).float()"),
            "The word stays only where it is the large model's likeliest: that is greedy. Drawn words would lose their "
            "distribution.",
        ),
        Mistake(
            edited(accept, "max=1.0", "min=1.0"),
            "stays is never less than 1. It is the smaller of the two, min(1, …), not the greater.",
        ),
        Mistake(
            edited(accept, "(true[word] / guessed[word]).clamp(max=1.0)", "torch.minimum(true, guessed)[word]"),
            "That is how often the word is drawn *and* stays. The draft has drawn it already: divide by guessed[word].",
        ),
        Mistake(
            edited(accept, "(true[word] / guessed[word]).clamp(max=1.0)", "torch.minimum(true, guessed).sum()"),
            "That is how often a proposal stays, whatever it is. Asked for is this word: true[word] and guessed[word].",
        ),
        Mistake(
            edited(accept, "(true[word] / guessed[word]).clamp(max=1.0)", "(true >= guessed)[word].float()"),
            "A word that the draft likes too much is always refused here. It stays at times: with the probability true "
            "over guessed.",
        ),
        Mistake(
            edited(accept, "return stays", "return 1 - stays"),
            "That is the probability that the word is refused. Asked for is that it stays.",
        ),
        Mistake(
            edited(accept, (".clamp(min=0.0)", ""), (" / more.sum()", "")),
            "The rest has negative numbers, so it is no distribution. Where the draft has more, nothing is missing: "
            "0; and then bring it to a sum of 1.",
            also=[edited(accept, ".clamp(min=0.0)", "")],
        ),
        Mistake(
            edited(accept, " / more.sum()", ""),
            "The rest is not brought to a sum of 1.",
        ),
        Mistake(
            edited(accept, "(true - guessed).clamp(min=0.0)", "true"),
            "After a refusal you draw from the large model's whole distribution. Then the words that the draft likes "
            "come too often: they had their chance already. Draw from what the draft has too little of.",
        ),
        Mistake(
            edited(accept, "true - guessed", "guessed - true"),
            "The rest is turned around: it is what the draft has too much of.",
        ),
        Mistake(
            edited(accept, ".clamp(min=0.0)", ".abs()"),
            "The rest counts differences both ways. Where the draft has more than the large model, it is 0.",
        ),
        Mistake(
            edited(accept, "(true - guessed).clamp(min=0.0)", "true.index_fill(0, torch.tensor([word]), 0.0)"),
            "The rest leaves out the refused word alone. Others that the draft has too much of must get less, too: "
            "true − guessed, and 0 where that is negative.",
        ),
        Mistake(
            edited(accept, "clamp(min=0.0)", "clamp(min=0.0).exp()"),
            "A softmax was taken of the rest: these are probabilities already. Divide them by their sum.",
            also=[edited(accept, "clamp(min=0.0)", "exp()")],
        ),
        Mistake(
            edited(accept, "more / more.sum()", "more / more.sum() * (stays < 1)"),
            "Where the word is sure to stay, your rest is empty. Nothing will be drawn from it then, but it is asked "
            "for: the rest does not depend on the word.",
            seen_in="the large model likes the word more than the draft does",
        ),
        Mistake(
            edited(accept, "more.sum()", "(1 - stays)"),
            "The rest was divided by how often *this* word is refused. Then its sum is not 1: divide by its own sum.",
        ),
    ],
    hints=[
        "The draft has drawn the word with probability guessed[word]. What must it be multiplied with, to give "
        "true[word] at most?",
        "What is then missing of each word is true − guessed, where that is positive. Divide it by its sum.",
    ],
)
