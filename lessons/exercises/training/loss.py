"""Lesson 11, my_loss: cross-entropy in plain steps, without padding."""

import torch
import torch.nn.functional as F
from torch import Tensor

from lessons.checking.edits import edited
from lessons.checking.engine import Exercise, Mistake
from lessons.exercises.training.shared import UNFLATTENED, loss_cases


def loss_without_padding(logits: Tensor, targets: Tensor, pad_id: int) -> Tensor:
    """logits (B, T, V), targets (B, T) -> the mean of -log p(right word), over all words that are no padding"""
    log_p = logits.log_softmax(dim=-1)  # (B, T, V)
    of_the_right = log_p.gather(-1, targets[..., None]).squeeze(-1)  # (B, T)
    return -of_the_right[targets != pad_id].mean()


loss = Exercise(
    lesson="11",
    name="my_loss",
    reference=loss_without_padding,
    cases=loss_cases,
    outputs=("the loss",),
    mistakes=[
        Mistake(
            edited(loss_without_padding, "[targets != pad_id]", ""),
            "The padding is counted as if it were words: the model is praised for writing padding after padding, and "
            "the loss looks better the more of it there is.",
        ),
        Mistake(
            edited(loss_without_padding, "of_the_right[targets != pad_id]", "(of_the_right * (targets != pad_id))"),
            "The padding adds nothing to the sum, but still to the number that you divide by: the loss is too small.",
        ),
        Mistake(
            edited(loss_without_padding, "logits.log_softmax", "logits.softmax(dim=-1).log_softmax"),
            "A softmax too much: the logits went through two of them. log_softmax and cross_entropy bring their own.",
        ),
        Mistake(
            edited(loss_without_padding, "mean()", "sum()"),
            "That is the sum over the words; the mean is asked for.",
        ),
        Mistake(
            lambda logits, targets, pad_id: torch.stack(
                [loss_without_padding(*sentence, pad_id) for sentence in zip(logits, targets)]
            ).mean(),
            "That is the mean of the sentences' means: a word in a short sentence counts more than one in a long one. "
            "Take one mean over all real words.",
        ),
        Mistake(
            edited(loss_without_padding, "-of_the_right", "of_the_right"),
            "The sign: log p is below 0, and the loss is -log p.",
        ),
        Mistake(
            edited(loss_without_padding, "logits.log_softmax(dim=-1)", "logits"),
            "That is the logit of the right word, not the log of its probability: the softmax is missing.",
        ),
        Mistake(
            edited(loss_without_padding, "dim=-1", "dim=1"),
            "The softmax runs over the positions. It runs over the vocabulary, the last axis.",
        ),
        UNFLATTENED,
        Mistake(
            lambda logits, targets, pad_id: F.cross_entropy(
                logits.reshape(len(logits), -1, targets.size(1)), targets, ignore_index=pad_id
            ),
            "The shape is one that cross_entropy takes, but the logits of different words are mixed: view and reshape "
            "cut the numbers into other rows. To change two axes, transpose.",
        ),
        Mistake(
            lambda logits, targets, pad_id: F.cross_entropy(
                logits[:, :-1].flatten(0, 1), targets[:, 1:].flatten(), ignore_index=pad_id
            ),
            "Shifted once more: these targets are shifted already. Position t of the logits belongs to position t of "
            "the targets.",
        ),
        Mistake(
            edited(loss_without_padding, "[targets != pad_id].mean()", ".exp()[targets != pad_id].mean().log()"),
            "That is the log of the mean probability. First the log of each word's, then the mean.",
        ),
        Mistake(
            edited(loss_without_padding, "targets != pad_id", "targets == pad_id"),
            "Only the padding is counted: the mask is turned around.",
        ),
        Mistake(
            edited(loss_without_padding, "log_softmax", "softmax"),
            "The log is missing: -p in place of -log p.",
        ),
        Mistake(
            edited(loss_without_padding, "targets != pad_id", "targets != 0"),
            "pad_id is not used: you took 0 for the padding, whatever pad_id says.",
            seen_in="another pad_id than 0",
        ),
    ],
    hints=[
        "log_softmax over the last axis; then gather picks the entry of the right word, as targets[..., None] says.",
        "Choose the real words by targets != pad_id before you take the mean.",
    ],
)
