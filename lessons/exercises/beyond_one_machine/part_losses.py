"""Lesson 18, my_part_losses: what each part of a batch contributes to the loss, however uneven the parts are."""

import torch
import torch.nn.functional as F
from torch import Tensor

from lessons.checking.edits import edited
from lessons.checking.engine import Case, Exercise, Mistake, numbers


def part_losses(logits: Tensor, targets: Tensor, pad_id: int) -> Tensor:
    """logits (P, B, T, V), targets (P, B, T) -> (P,): they add up to the mean of -log p over all tokens that are no
    padding, of all parts together.
    """
    total = (targets != pad_id).sum()
    losses = []
    for part, wanted in zip(logits, targets):
        summed = F.cross_entropy(part.flatten(0, 1), wanted.flatten(), ignore_index=pad_id, reduction="sum")
        losses.append(summed / total)
    return torch.stack(losses)


def _cases(generator) -> list[Case]:
    def case(parts, b, t, v, lengths, about="", gradients=False, pad_id=0):
        targets = torch.randint(1, v, (parts * b, t), generator=generator)
        targets[torch.arange(t) >= torch.tensor(lengths)[:, None]] = 0
        logits = numbers(generator, parts, b, t, v)
        targets = (targets.view(parts, b, t) + pad_id) % v
        return Case({"logits": logits, "targets": targets, "pad_id": pad_id}, about, gradients)

    return [
        case(2, 1, 3, 4, [3, 1]),
        case(3, 2, 5, 7, [5, 4, 1, 2, 3, 1]),
        case(2, 3, 4, 6, [4, 4, 4, 1, 1, 1], "gradients", gradients=True),
        case(3, 2, 4, 5, [4, 4, 4, 4, 4, 4], "parts with equally many tokens"),
        case(2, 2, 3, 5, [3, 2, 0, 0], "a part of padding alone"),
        case(2, 2, 4, 5, [4, 2, 3, 1], "a pad_id that isn't 0", pad_id=3),
        case(1, 2, 4, 5, [4, 2], "a single part"),
    ]


def _added_up(logits, targets, pad_id):
    return part_losses(logits, targets, pad_id).sum()


FLAT = "part.flatten(0, 1), wanted.flatten()"
SUM, PADS = ', reduction="sum"', ", ignore_index=pad_id"

accumulating = Exercise(
    lesson="18",
    name="my_part_losses",
    reference=part_losses,
    cases=_cases,
    mistakes=[
        Mistake(
            edited(part_losses, (SUM, ""), ("summed / total", "summed / len(logits)")),
            "Each part counts the same in your loss, however few tokens it has. Then a token in a short part counts "
            "more than one in a long part. Add the losses of the tokens, and divide by the tokens of *all* parts.",
            also=[edited(part_losses, (SUM, ""), ("summed / total", "summed * wanted.numel() / targets.numel()"))],
        ),
        Mistake(
            edited(part_losses, (SUM, ""), ("summed / total", "summed")),
            "Each part gives the mean over its own tokens, so P parts add up to about P times the loss. Divide by the "
            "tokens of all parts.",
            also=[edited(part_losses, "summed / total", "summed / (wanted != pad_id).sum()")],
        ),
        Mistake(
            edited(part_losses, "summed / total", "summed"),
            "These are sums over tokens, and are never divided: a batch with twice as many tokens would give gradients "
            "twice as large. Divide by the tokens of all parts.",
        ),
        Mistake(
            edited(part_losses, (PADS, ""), ("(targets != pad_id).sum()", "targets.numel()")),
            "Padding counts as if it were a token to predict, in the sum and in the number. Leave it out of both.",
        ),
        Mistake(
            edited(part_losses, "(targets != pad_id).sum()", "targets.numel()"),
            "Your sum is without padding, and your number of tokens with it. Count only what is not padding.",
        ),
        Mistake(
            edited(part_losses, PADS, ""),
            "Your number of tokens is without padding, and your sum with it: ignore_index=pad_id leaves it out.",
        ),
        Mistake(
            edited(part_losses, "summed / total", "summed / len(logits)"),
            "You divide the sums by the number of parts. The loss is a mean over tokens: divide by those of all parts.",
        ),
        Mistake(
            edited(part_losses, FLAT, "part, wanted"),
            "F.cross_entropy takes the second axis for the vocabulary, and in (B, T, V) that is the tokens. Flatten to "
            "(B · T, V) and (B · T,), or swap the axes: part.transpose(1, 2).",
        ),
        Mistake(
            edited(part_losses, "summed / total", "summed / total * len(logits)"),
            "You multiply by the number of parts, as if somebody averaged them. backward() adds the gradients of the "
            "parts: the sum of your losses must be the loss of the batch.",
        ),
        Mistake(
            edited(part_losses, "summed / total", "summed / total / len(logits)"),
            "You divide twice: by the tokens of all parts, and by the number of parts. The gradients of the parts are "
            "*added*, so the first is enough.",
        ),
        Mistake(
            edited(part_losses, "(targets != pad_id).sum()", "targets.size(0) * targets.size(1)"),
            "You divide by the number of sentences. A long sentence has more tokens to predict; divide by those.",
        ),
        Mistake(
            edited(part_losses, (SUM, ""), ("summed / total", "summed * (wanted != pad_id).sum() / total")),
            "Almost: the mean over no tokens at all is 0 / 0, which is NaN, and NaN times 0 is NaN. Take the sum "
            "instead of the mean: of nothing it is 0.",
            seen_in="a part of padding alone",
        ),
        Mistake(
            edited(part_losses, ("targets != pad_id", "targets != 0"), ("ignore_index=pad_id", "ignore_index=0")),
            "You assume that padding is 0. Compare with pad_id.",
            seen_in="a pad_id that isn't 0",
        ),
        Mistake(
            edited(part_losses, FLAT, "part.reshape(len(part), part.size(2), -1), wanted"),
            "You reshaped (B, T, V) to (B, V, T), which mixes the logits of different tokens. Swap the axes with "
            "transpose(1, 2), or flatten to (B · T, V).",
        ),
        Mistake(
            edited(
                part_losses,
                ("targets != pad_id", "targets[..., 1:] != pad_id"),
                (FLAT, "part[:, :-1].flatten(0, 1), wanted[:, 1:].flatten()"),
            ),
            "You shift the targets once more. targets[p, b, t] already is what logits[p, b, t] must predict.",
        ),
        Mistake(
            _added_up,
            "That is the loss of the whole batch, one number. Return what each part contributes, (P,): in training, "
            "only one part is in memory at a time.",
        ),
        Mistake(
            edited(part_losses, "part.flatten(0, 1)", "part.flatten(0, 1).softmax(dim=-1)"),
            "F.cross_entropy wants logits, and you give it probabilities: it takes the softmax itself.",
        ),
    ],
    hints=[
        "Part 0 has 3 tokens, part 1 has 1. What fraction of the loss is each token, if the batch is taken as a whole?",
        "First count the tokens of all parts that are not padding. This number is known before any forward pass.",
        'F.cross_entropy(…, ignore_index=pad_id, reduction="sum") adds up instead of taking the mean. It wants '
        "(N, V) and (N,).",
    ],
    solution="""
        def my_part_losses(logits, targets, pad_id):
            total = (targets != pad_id).sum()  # known before the first forward pass
            sums = [
                F.cross_entropy(
                    part.flatten(0, 1), wanted.flatten(), ignore_index=pad_id, reduction="sum"
                )
                for part, wanted in zip(logits, targets)
            ]
            return torch.stack(sums) / total
    """,
    in_package="lessons.parallel.ParallelTrainer",
)
