"""Lesson 11, my_loss: cross-entropy in plain steps, without padding."""

import torch
import torch.nn.functional as F
from torch import Tensor

from lessons.checking.edits import edited
from lessons.checking.engine import Exercise, Mistake
from lessons.exercises.training.shared import LOG_OF_SOFTMAX, MIXED, UNFLATTENED, loss_cases


def loss_without_padding(logits: Tensor, targets: Tensor, pad_id: int) -> Tensor:
    """logits (B, T, V), targets (B, T) -> the mean of -log p(correct token), over all tokens except padding"""
    log_p = logits.log_softmax(dim=-1)  # (B, T, V)
    of_target = log_p.gather(-1, targets[..., None]).squeeze(-1)  # (B, T)
    return -of_target[targets != pad_id].mean()


loss = Exercise(
    lesson="11",
    name="my_loss",
    reference=loss_without_padding,
    cases=loss_cases,
    outputs=("the loss",),
    mistakes=[
        Mistake(
            edited(loss_without_padding, "[targets != pad_id]", ""),
            "The padding is counted, too: the model is rewarded for predicting padding after padding, and the more "
            "padding there is, the less the real tokens count.",
        ),
        Mistake(
            edited(loss_without_padding, "of_target[targets != pad_id]", "(of_target * (targets != pad_id))"),
            "The padding adds nothing to the sum, but it is counted in the number that you divide by: the loss is too "
            "small.",
        ),
        Mistake(
            edited(loss_without_padding, "logits.log_softmax", "logits.softmax(dim=-1).log_softmax"),
            "One softmax too many: the logits went through two. log_softmax and cross_entropy contain their own.",
        ),
        Mistake(
            edited(loss_without_padding, "mean()", "sum()"),
            "That is the sum over the tokens; the task asks for the mean.",
        ),
        Mistake(
            lambda logits, targets, pad_id: torch.stack(
                [loss_without_padding(*sentence, pad_id) for sentence in zip(logits, targets)]
            ).mean(),
            "That is the mean of the sentences' means: a token in a short sentence counts more than one in a long "
            "sentence. Take one mean over all real tokens.",
        ),
        Mistake(
            edited(loss_without_padding, "-of_target", "of_target"),
            "The sign is wrong: log p is negative, and the loss is -log p.",
        ),
        Mistake(
            edited(loss_without_padding, "logits.log_softmax(dim=-1)", "logits"),
            "That is the logit of the correct token, not the log of its probability: the softmax is missing.",
        ),
        Mistake(
            edited(loss_without_padding, "dim=-1", "dim=1"),
            "Your softmax runs over the positions. It should run over the vocabulary, the last axis.",
        ),
        Mistake(
            edited(loss_without_padding, "logits.log_softmax(dim=-1)", "logits.log()"),
            "The log of a logit: where that is negative, it is NaN. The softmax comes first, which makes probabilities "
            "of the logits.",
        ),
        Mistake(
            edited(
                loss_without_padding,
                "logits.log_softmax(dim=-1)",
                "(logits.exp() / logits.exp().sum(dim=-1, keepdim=True)).log()",
            ),
            "e^x of a large logit is more than a float can hold: inf / inf is NaN. log_softmax subtracts the largest "
            "first.",
            seen_in="logits that are far apart",
        ),
        Mistake(
            edited(loss_without_padding, "log_p.gather(-1, targets[..., None]).squeeze(-1)", "log_p.amax(dim=-1)"),
            "That is -log p of the likeliest token, whichever it is. The loss is about the correct one.",
        ),
        Mistake(
            edited(loss_without_padding, "mean()", "sum() / len(targets)"),
            "You divided by the number of sentences. It is the mean over the real tokens: divide by their number.",
        ),
        Mistake(
            edited(loss_without_padding, "log_softmax(dim=-1)", "softmax(dim=-1).log2()"),
            "Another logarithm: log is the natural one here, torch.log, not that of base 2 or 10.",
            also=[edited(loss_without_padding, "log_softmax(dim=-1)", "softmax(dim=-1).log10()")],
        ),
        Mistake(
            edited(loss_without_padding, ".mean()", ""),
            "That is one loss for each token. The task asks for one number, their mean.",
            also=[
                lambda logits, targets, pad_id: F.cross_entropy(
                    logits.flatten(0, 1), targets.flatten(), ignore_index=pad_id, reduction="none"
                ),
                edited(loss_without_padding, "of_target[targets != pad_id].mean()", "of_target * (targets != pad_id)"),
            ],
        ),
        UNFLATTENED,
        LOG_OF_SOFTMAX,
        MIXED,
        Mistake(
            lambda logits, targets, pad_id: F.cross_entropy(
                logits[:, :-1].flatten(0, 1), targets[:, 1:].flatten(), ignore_index=pad_id
            ),
            "Shifted once more: these targets are already shifted. Position t of the logits belongs to position t of "
            "the targets.",
        ),
        Mistake(
            edited(loss_without_padding, "[targets != pad_id].mean()", ".exp()[targets != pad_id].mean().log()"),
            "That is the log of the mean probability. First take the log for each token, then the mean.",
        ),
        Mistake(
            edited(loss_without_padding, "targets != pad_id", "targets == pad_id"),
            "Only the padding is counted: the mask is inverted.",
        ),
        Mistake(
            edited(loss_without_padding, "log_softmax", "softmax"),
            "The log is missing: this is -p instead of -log p.",
        ),
        Mistake(
            edited(loss_without_padding, "targets != pad_id", "targets != 0"),
            "pad_id isn't used: you took 0 for the padding, whatever pad_id is.",
            seen_in="another pad_id than 0",
        ),
        Mistake(
            edited(loss_without_padding, "targets[..., None]).squeeze(-1)", "targets)"),
            "gather needs an index with as many axes as the table has: targets[..., None] is (B, T, 1). Take that axis "
            "away again afterwards.",
        ),
        Mistake(
            edited(
                loss_without_padding,
                (".squeeze(-1)", ""),
                (
                    "-of_target[targets != pad_id].mean()",
                    "-(of_target * (targets != pad_id)).sum() / (targets != pad_id).sum()",
                ),
            ),
            "gather leaves an axis of size 1 at the end. (B, T, 1) times (B, T) is no product token by token: each "
            "meets the others, or there is an error. Take the axis away first: .squeeze(-1), or [..., 0].",
        ),
    ],
    hints=[
        "log_softmax over the last axis; then gather, with targets[..., None] as the index, picks the entry of each "
        "correct token. squeeze(-1) removes the axis that None has added.",
        "Select the real tokens with targets != pad_id before you take the mean.",
    ],
    solution="""
        def my_loss(logits, targets, pad_id):
            log_p = logits.log_softmax(dim=-1)  # (B, T, V)
            of_target = log_p.gather(-1, targets[..., None]).squeeze(-1)  # (B, T)
            return -of_target[targets != pad_id].mean()
    """,
    in_package="lessons.training.token_loss",
)
