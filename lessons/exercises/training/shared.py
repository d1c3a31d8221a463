"""What the exercises of lesson 11 share."""

import torch
import torch.nn.functional as F
from torch import Tensor

from lessons.checking.engine import Case, Mistake, numbers

PAD = 0


def ids(generator: torch.Generator, lengths: list[int], width: int, vocab_size: int) -> Tensor:
    """Ids from 3 on, up to each length; then padding: (B, width)."""
    drawn = torch.randint(3, vocab_size, (len(lengths), width), generator=generator)
    return drawn.where(torch.arange(width) < torch.tensor(lengths)[:, None], PAD)


UNFLATTENED = Mistake(
    lambda logits, targets, pad_id: F.cross_entropy(logits, targets, ignore_index=pad_id),
    "F.cross_entropy looks for the V logits on axis 1, and yours are on the last axis. Either flatten batch and "
    "positions into one axis, for the logits and for the targets, or pass logits.transpose(1, 2).",
    also=[lambda logits, targets, pad_id: F.cross_entropy(logits, targets)],
)


MIXED = Mistake(
    lambda logits, targets, pad_id: F.cross_entropy(
        logits.reshape(len(logits), -1, targets.size(1)), targets, ignore_index=pad_id
    ),
    "cross_entropy accepts this shape, but the logits of different positions are mixed: view and reshape cut "
    "the same sequence of numbers into other rows. Pass logits.transpose(1, 2) with targets as they are, or "
    "logits.flatten(0, 1) with targets.flatten().",
    also=[
        lambda logits, targets, pad_id: F.cross_entropy(
            logits.transpose(1, 2).reshape(-1, logits.size(-1)), targets.flatten(), ignore_index=pad_id
        )
    ],
)


LOG_OF_SOFTMAX = Mistake(
    lambda logits, targets, pad_id: F.nll_loss(
        logits.softmax(dim=-1).log().flatten(0, 1), targets.flatten(), ignore_index=pad_id
    ),
    "A softmax and then a log: with logits this far apart the softmax rounds to 0, and log 0 is -inf. log_softmax, "
    "which cross_entropy contains, takes both steps at once, and loses nothing.",
    seen_in="logits that are far apart",
)


def loss_cases(generator) -> list[Case]:
    def case(lengths, width, vocab_size, pad_id=PAD, about="", gradients=False, spread=2):
        logits = spread * numbers(generator, len(lengths), width, vocab_size)
        targets = ids(generator, lengths, width, vocab_size)
        return Case(
            {"logits": logits, "targets": targets.masked_fill(targets == PAD, pad_id), "pad_id": pad_id},
            about=about,
            gradients=gradients,
        )

    return [
        case([2, 1], 2, 5),
        case([4, 2, 3], 4, 6),
        case([5, 1, 3, 5, 2], 5, 5),
        case([3, 2], 4, 6, pad_id=1, about="another pad_id than 0"),
        case([3, 2], 4, 6, about="gradients", gradients=True),
        case([3, 2], 3, 5, about="logits that are far apart", spread=200),
    ]
