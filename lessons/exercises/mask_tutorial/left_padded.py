"""Lesson 10, my_left_padded: mask and positions of a batch that is padded on the left."""

import torch
from torch import Tensor

from lessons.checking.edits import edited
from lessons.checking.engine import Case, Exercise, Mistake


def left_padded(ids: Tensor, pad_id: int) -> tuple[Tensor, Tensor]:
    """ids (B, T), padded on the left -> allowed (B, 1, T, T), True = may attend, and positions (B, T).

    A token may attend to itself and to earlier tokens, padding to itself alone. The first real token is at position
    0, and so is all padding.
    """
    real = ids != pad_id  # (B, T)
    length = ids.size(1)
    causal = torch.ones(length, length, dtype=torch.bool).tril()
    allowed = (causal & real[:, None, None, :]) | torch.eye(length, dtype=torch.bool)
    positions = (real.long().cumsum(dim=1) - 1).clamp(min=0)
    return allowed, positions


def _left_cases(generator) -> list[Case]:
    def case(lengths, width, pad_id=0, about=""):
        ids = torch.randint(3, 9, (len(lengths), width), generator=generator)
        missing = width - torch.tensor(lengths)
        return Case({"ids": ids.masked_fill(torch.arange(width) < missing[:, None], pad_id), "pad_id": pad_id}, about)

    return [
        case([3], 4),
        case([2, 5], 5, about="one sentence with padding and one without"),
        case([4, 1, 3], 6, pad_id=1, about="another pad_id than 0"),
        case([3, 2, 4, 1], 4, about="as many sentences as tokens"),
        case([4, 2], 5),
    ]


from_the_left = Exercise(
    lesson="10",
    name="my_left_padded",
    reference=left_padded,
    cases=_left_cases,
    outputs=("allowed", "positions"),
    mistakes=[
        Mistake(
            edited(left_padded, " | torch.eye(length, dtype=torch.bool)", ""),
            "positions are right, and so are the rows of the tokens. But the rows of the padding are empty: the causal "
            "rule leaves them nothing but padding. Let padding attend to itself.",
        ),
        Mistake(
            edited(left_padded, "(real.long().cumsum(dim=1) - 1).clamp(min=0)", "torch.arange(length).expand_as(ids)"),
            "allowed is right. The positions count the padding, too: the first token of a short sentence is then not "
            "at 0, and the model has learned it there.",
        ),
        Mistake(
            edited(left_padded, "cumsum(dim=1) - 1", "cumsum(dim=1)"),
            "allowed is right. The positions are one too high: cumsum counts the first token as 1.",
        ),
        Mistake(
            edited(left_padded, "(real.long().cumsum(dim=1) - 1).clamp(min=0)", "torch.arange(length) * real"),
            "allowed is right, and padding is at 0. But the tokens still count the padding before them: the first one "
            "of each sentence must be at 0.",
        ),
        Mistake(
            edited(left_padded, "cumsum(dim=1)", "cumsum(dim=0)"),
            "allowed is right. The positions are counted down the batch, over the sentences. Count along each "
            "sentence: dim=1.",
        ),
        Mistake(
            edited(left_padded, "cumsum(dim=1)", "flip(1).cumsum(dim=1).flip(1)"),
            "allowed is right. The positions are counted from the end of the sentence: its last token gets 0, not its "
            "first.",
        ),
        Mistake(
            edited(left_padded, "torch.eye(length, dtype=torch.bool)", "(torch.arange(length) == 0)"),
            "No row is empty: you opened the first key for all. But in a sentence with padding that key is padding, "
            "and the tokens attend to it. Open the diagonal.",
        ),
        Mistake(
            edited(left_padded, ".clamp(min=0)", ""),
            "allowed is right. The padding is at position −1. A table of positions then gives its last row, without an "
            "error.",
        ),
        Mistake(
            edited(
                left_padded, "(causal & real[:, None, None, :]) |", "causal[None, None].expand(len(ids), 1, -1, -1) |"
            ),
            "The tokens attend to the padding on their left. It comes earlier, so the causal rule allows it: hide "
            "it by a rule of its own.",
        ),
        Mistake(
            edited(left_padded, "torch.eye(length, dtype=torch.bool)", "~real[:, None, :, None]"),
            "Padding attends to everything, the future included. That does no harm, but the task lets it attend to "
            "itself alone: its rows then contain one True.",
        ),
        Mistake(
            edited(left_padded, "torch.eye(length, dtype=torch.bool)", "(causal & ~real[:, None, :, None])"),
            "Padding attends to all the padding before it. That does no harm, but the task lets it attend to itself "
            "alone.",
        ),
        Mistake(
            edited(left_padded, "causal & real", "real"),
            "positions are right, and padding is hidden. But each token attends to the later ones: the causal rule is "
            "missing.",
        ),
        Mistake(
            edited(left_padded, "causal & real", "causal.mT & real"),
            "The triangle is the wrong way round: each token attends to the later ones.",
        ),
        Mistake(
            edited(left_padded, "real[:, None, None, :]", "real[:, None, :, None]"),
            "You hid padding as a query. It must be hidden as a key: its *column* is False, but for the diagonal.",
        ),
        Mistake(
            edited(left_padded, "ids != pad_id", "ids != 0"),
            "You compared with 0. The padding id is the one that the caller passes: pad_id.",
            seen_in="another pad_id than 0",
        ),
        Mistake(
            edited(left_padded, "return allowed,", "return allowed[:, 0],"),
            "allowed has three axes. It needs one for the heads: (B, 1, T, T).",
        ),
        Mistake(
            edited(left_padded, "return allowed,", "return ~allowed,"),
            "allowed is inverted: here True = may attend.",
        ),
        Mistake(
            edited(left_padded, "real[:, None, None, :]", "real"),
            "real is (B, T), and meets the triangle (T, T) with the sentences where the queries are. With as many "
            "sentences as tokens, or with one, there is not even an error. Hide padding as a key: (B, 1, 1, T).",
            also=[edited(left_padded, "causal & real[:, None, None, :]", "real & causal")],
        ),
        Mistake(
            edited(left_padded, ") | torch", ") & torch"),
            "positions are right. But only the diagonal is open: each & takes something away. The diagonal is an "
            "exception for padding, so it is joined with |.",
        ),
    ],
    hints=[
        "Three parts: the causal rule (T, T), padding hidden as a key (B, 1, 1, T), and the diagonal, which is always "
        "open. Two are joined with &, one with |.",
        "torch.eye(T, dtype=torch.bool) is the diagonal.",
        "real.cumsum(dim=1) counts the tokens up to each place. What must you subtract? What is left for the padding?",
    ],
    solution="""
        def my_left_padded(ids, pad_id):
            real = ids != pad_id
            diagonal = torch.eye(ids.size(1), dtype=torch.bool)
            allowed = (masks.causal(ids.size(1)) & real[:, None, None, :]) | diagonal
            positions = (real.cumsum(dim=1) - 1).clamp(min=0)
            return allowed, positions
    """,
)
