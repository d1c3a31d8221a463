"""Lesson 11, my_accuracies: accuracy over tokens and over whole sentences, without padding."""

import torch
from torch import Tensor

from lessons.checking.edits import edited
from lessons.checking.engine import Case, Exercise, Mistake
from lessons.exercises.training.shared import PAD, ids


def accuracies(predicted: Tensor, targets: Tensor, pad_id: int) -> tuple[Tensor, Tensor]:
    """predicted, targets (B, T) -> accuracy over tokens, and over whole sentences; padding doesn't count"""
    real = targets != pad_id
    right = predicted == targets
    return right[real].float().mean(), (right | ~real).all(dim=1).float().mean()


def _accuracy_cases(generator) -> list[Case]:
    def case(lengths, width, wrong, about="", pad_id=PAD, at_padding=7, instead=2):
        targets = ids(generator, lengths, width, 9)
        predicted = targets.where(targets != PAD, at_padding)  # what is predicted there doesn't matter
        for place in wrong:
            predicted[place] = instead
        return Case({"predicted": predicted, "targets": targets.where(targets != PAD, pad_id), "pad_id": pad_id}, about)

    return [
        case([3, 2], 3, [(0, 1)]),
        case([6, 3, 4], 6, [(1, 1), (1, 2)]),
        case([4, 4, 4, 4], 4, [(1, 3), (2, 0), (2, 1)], about="no padding at all"),
        case([2, 5, 3], 5, [(1, 0), (1, 1), (1, 2), (1, 3), (1, 4)], about="one sentence all wrong"),
        case([3, 2, 4], 5, [(1, 0)], about="another pad_id than 0", pad_id=9),
        case([3, 2, 4], 5, [(0, 0), (0, 2)], about="the model predicts padding at the padding", at_padding=PAD),
        case([3, 4], 4, [(0, 1)], about="the model predicts padding in place of a token", instead=PAD),
    ]


def _as_tensors(candidate, predicted, targets, pad_id):
    """What the candidate returns, plain numbers as tensors."""
    shares = candidate(predicted, targets, pad_id)
    if not isinstance(shares, tuple | list):
        return shares
    return tuple(torch.tensor(share) if isinstance(share, float) else share for share in shares)


counting = Exercise(
    lesson="11",
    name="my_accuracies",
    reference=accuracies,
    cases=_accuracy_cases,
    call=_as_tensors,
    outputs=("tokens", "sentences"),
    mistakes=[
        Mistake(
            edited(accuracies, ("right[real]", "right"), ("(right | ~real)", "right")),
            "Padding is counted: what the model predicts there is compared like a token, and a padded sentence is "
            "correct only if padding is predicted, too.",
        ),
        Mistake(
            edited(accuracies, "(right | ~real)", "right"),
            "The tokens are right. For the sentences, padding is still compared: count it as correct there.",
        ),
        Mistake(
            edited(accuracies, "right[real]", "(right | ~real)"),
            "The sentences are right. For the tokens, padding counts as correct: with enough of it any model is good.",
        ),
        Mistake(
            edited(accuracies, "(right | ~real).all", "(right & real).any"),
            "One correct token makes a sentence correct here: you need all, not any.",
        ),
        Mistake(
            edited(accuracies, "dim=1", ""),
            "The tokens are right. For the sentences you asked the whole batch at once: one wrong sentence makes the "
            "number 0. Ask each sentence: all(dim=1).",
        ),
        Mistake(
            edited(accuracies, "(right | ~real).all(dim=1)", "right[real]"),
            "Both numbers are the accuracy over tokens. A sentence is correct if all of its tokens are.",
        ),
        Mistake(
            lambda predicted, targets, pad_id: tuple(reversed(accuracies(predicted, targets, pad_id))),
            "The two are swapped: first the tokens, then the sentences.",
        ),
        Mistake(
            lambda predicted, targets, pad_id: tuple(1 - share for share in accuracies(predicted, targets, pad_id)),
            "These are the fractions of what is wrong.",
        ),
        Mistake(
            lambda predicted, targets, pad_id: tuple(100 * share for share in accuracies(predicted, targets, pad_id)),
            "These are percentages. The task asks for fractions, from 0 to 1.",
        ),
        Mistake(
            edited(
                accuracies,
                ("right[real].float().mean()", "right[real].sum()"),
                (".all(dim=1).float().mean()", ".all(dim=1).sum()"),
            ),
            "At least one of the two is a count. The task asks for fractions: divide by the number of tokens, and of "
            "sentences.",
            also=[
                edited(accuracies, "right[real].float().mean()", "right[real].sum()"),
                edited(accuracies, ".all(dim=1).float().mean()", ".all(dim=1).sum()"),
                edited(accuracies, "right[real].float().mean()", "right[real].float().sum()"),
                edited(accuracies, ".all(dim=1).float().mean()", ".all(dim=1).float().sum()"),
                edited(
                    accuracies,
                    ("right[real].float().mean()", "right[real].float().sum()"),
                    (".all(dim=1).float().mean()", ".all(dim=1).float().sum()"),
                ),
            ],
        ),
        Mistake(
            edited(accuracies, ".all(dim=1).float().mean()", ".all(dim=1).sum() / real.sum()"),
            "The tokens are right. You divided the number of correct sentences by that of the tokens: divide by the "
            "number of sentences.",
        ),
        Mistake(
            edited(accuracies, "right[real].float().mean()", "((right & real).sum(dim=1) / real.sum(dim=1)).mean()"),
            "The sentences are right. For the tokens you averaged the sentences' accuracies: a token in a short "
            "sentence counts more than one in a long sentence. Take one mean over all real tokens.",
        ),
        Mistake(
            edited(accuracies, "right[real]", "(right & real)"),
            "The sentences are right. For the tokens, padding is never counted as correct, but it is counted in the "
            "number that you divide by.",
        ),
        Mistake(
            edited(accuracies, "dim=1", "dim=0"),
            "The tokens are right. For the sentences you went down the columns: a sentence is a row.",
        ),
        Mistake(
            edited(accuracies, "targets != pad_id", "targets != 0"),
            "pad_id isn't used: you took 0 for the padding, whatever pad_id is.",
            seen_in="another pad_id than 0",
        ),
        Mistake(
            edited(accuracies, "targets != pad_id", "predicted != pad_id"),
            "You told the padding by what the model predicts. The targets say where it is: targets != pad_id.",
        ),
        Mistake(
            edited(accuracies, "targets != pad_id", "(targets != pad_id) & (predicted != pad_id)"),
            "Tokens where the model predicts padding are left out, so that its mistake does not count. What counts is "
            "decided by the targets alone.",
            seen_in="the model predicts padding in place of a token",
        ),
        Mistake(
            edited(accuracies, "(right | ~real).all(dim=1)", "right[real].all(dim=1)"),
            "right[real] is one long row of all real tokens: which sentence each belongs to is lost. For the "
            "sentences, keep (B, T), and count padding as correct: (right | ~real).all(dim=1).",
        ),
    ],
    hints=[
        "real = targets != pad_id; right = predicted == targets.",
        "A sentence is correct if every position of it is right or not real.",
    ],
    solution="""
        def my_accuracies(predicted, targets, pad_id):
            real = targets != pad_id
            right = predicted == targets
            of_tokens = right[real].float().mean()
            of_sentences = (right | ~real).all(dim=1).float().mean()
            return of_tokens, of_sentences
    """,
    in_package="lessons.evaluation.teacher_forced",
)
