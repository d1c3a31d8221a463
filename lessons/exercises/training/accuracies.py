"""Lesson 11: my_accuracies."""

import torch
from torch import Tensor

from lessons.checking.engine import Case, Exercise, Mistake
from lessons.exercises.training.shared import PAD, ids


def accuracies(predicted: Tensor, targets: Tensor, pad_id: int) -> tuple[Tensor, Tensor]:
    """predicted, targets (B, T) -> the share of right words, and of wholly right sentences; padding does not count"""
    real = targets != pad_id
    right = predicted == targets
    return right[real].float().mean(), (right | ~real).all(dim=1).float().mean()


def _accuracy_cases(generator) -> list[Case]:
    def case(lengths, width, wrong, about="", pad_id=PAD, at_padding=7):
        targets = ids(generator, lengths, width, 9)
        predicted = targets.where(targets != PAD, at_padding)  # what is said there does not matter
        for place in wrong:
            predicted[place] = 2
        return Case({"predicted": predicted, "targets": targets.where(targets != PAD, pad_id), "pad_id": pad_id}, about)

    return [
        case([3, 2], 3, [(0, 1)]),
        case([5, 3, 4], 6, [(0, 1), (0, 2), (2, 0)]),
        case([4, 4, 4, 4], 4, [(1, 3), (2, 0), (2, 1)], about="no padding at all"),
        case([2, 5, 3], 5, [(1, 0), (1, 1), (1, 2), (1, 3), (1, 4)], about="one sentence all wrong"),
        case([3, 2, 4], 5, [(1, 0)], about="another pad_id than 0", pad_id=9),
        case([3, 2, 4], 5, [(0, 0), (0, 2)], about="the model, too, says padding at the padding", at_padding=PAD),
    ]


def _pair(words, sentences):
    return words.float().mean(), sentences.float().mean()


def _as_tensors(candidate, predicted, targets, pad_id):
    """What is returned, plain numbers as tensors."""
    shares = candidate(predicted, targets, pad_id)
    if not isinstance(shares, tuple | list):
        return shares
    return tuple(torch.tensor(share) if isinstance(share, float) else share for share in shares)


def _mean_share_of_sentences(predicted, targets, pad_id):
    real = targets != pad_id
    return ((predicted == targets) & real).sum(dim=1) / real.sum(dim=1)


counting = Exercise(
    lesson="11",
    name="my_accuracies",
    reference=accuracies,
    cases=_accuracy_cases,
    call=_as_tensors,
    outputs=("words", "sentences"),
    mistakes=[
        Mistake(
            lambda predicted, targets, pad_id: _pair(predicted == targets, (predicted == targets).all(dim=1)),
            "Padding is counted: whatever the model says there counts against it, and no short sentence can be right.",
        ),
        Mistake(
            lambda predicted, targets, pad_id: _pair(
                (predicted == targets)[targets != pad_id], (predicted == targets).all(dim=1)
            ),
            "The words are right. In the sentences, padding is still compared: let it count as right there.",
        ),
        Mistake(
            lambda predicted, targets, pad_id: _pair(
                (predicted == targets) | (targets == pad_id), ((predicted == targets) | (targets == pad_id)).all(dim=1)
            ),
            "The sentences are right. In the words, padding counts as right: with enough of it any model looks good.",
        ),
        Mistake(
            lambda predicted, targets, pad_id: _pair(
                (predicted == targets)[targets != pad_id], ((predicted == targets) & (targets != pad_id)).any(dim=1)
            ),
            "One right word makes a sentence right for you: any in place of all.",
        ),
        Mistake(
            lambda predicted, targets, pad_id: _pair(
                (predicted == targets)[targets != pad_id], (predicted == targets)[targets != pad_id]
            ),
            "Both numbers are that of the words. A sentence is right when all of its words are.",
        ),
        Mistake(
            lambda predicted, targets, pad_id: tuple(reversed(accuracies(predicted, targets, pad_id))),
            "The two changed places: first the words, then the sentences.",
        ),
        Mistake(
            lambda predicted, targets, pad_id: tuple(1 - share for share in accuracies(predicted, targets, pad_id)),
            "These are the shares of what is wrong.",
        ),
        Mistake(
            lambda predicted, targets, pad_id: (
                _mean_share_of_sentences(predicted, targets, pad_id).mean(),
                accuracies(predicted, targets, pad_id)[1],
            ),
            "The sentences are right. For the words you took a mean of the sentences' shares: a word in a short "
            "sentence counts more than one in a long one. Take one mean over all real words.",
            also=[
                lambda predicted, targets, pad_id: (
                    _mean_share_of_sentences(predicted, targets, pad_id).mean(),
                    (_mean_share_of_sentences(predicted, targets, pad_id) == 1).float().mean(),
                )
            ],
        ),
        Mistake(
            lambda predicted, targets, pad_id: (
                ((predicted == targets) & (targets != pad_id)).float().mean(),
                accuracies(predicted, targets, pad_id)[1],
            ),
            "The sentences are right. In the words, padding is never counted as right, but it is counted in the number "
            "that you divide by.",
        ),
        Mistake(
            lambda predicted, targets, pad_id: _pair(
                (predicted == targets)[targets != pad_id], ((predicted == targets) | (targets == pad_id)).all(dim=0)
            ),
            "The words are right. For the sentences you looked down the columns: a sentence is a row.",
        ),
        Mistake(
            lambda predicted, targets, pad_id: accuracies(predicted, targets, 0),
            "pad_id is not used: you took 0 for the padding, whatever pad_id says.",
            seen_in="another pad_id than 0",
        ),
    ],
    hints=[
        "real = targets != pad_id; right = predicted == targets.",
        "A sentence is right where, at each position, right or not real.",
    ],
)
