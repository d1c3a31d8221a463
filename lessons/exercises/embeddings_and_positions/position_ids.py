"""Lesson 06, my_position_ids: the position of each token where the padding comes first."""

import torch
from torch import Tensor

from lessons.checking.edits import edited
from lessons.checking.engine import Case, Exercise, Mistake


def position_ids(real: Tensor) -> Tensor:
    """real (B, T) bool, True = a token, padding on the left -> int64 (B, T): 0 for the first token and for padding."""
    return (real.long().cumsum(dim=-1) - 1).clamp(min=0)


def _padded_left(lengths: list[int], size: int) -> Tensor:
    return torch.arange(size) >= size - torch.tensor(lengths)[:, None]


def _slots(real):
    return torch.arange(real.size(1)).expand(real.size(0), -1)


def _slots_minus_padding(real):
    return torch.arange(real.size(1)) - (~real).sum(dim=-1, keepdim=True)


left_padding = Exercise(
    lesson="06",
    name="my_position_ids",
    reference=position_ids,
    cases=lambda generator: [
        Case({"real": _padded_left([4, 2], 4)}),
        Case({"real": _padded_left([3, 6, 1], 7)}),
        Case({"real": _padded_left([2, 5, 3, 4], 5)}),
        Case({"real": _padded_left([3, 3], 3)}, about="no padding at all"),
        Case({"real": _padded_left([3], 5)}, about="a batch of one"),
    ],
    outputs=("positions",),
    mistakes=[
        Mistake(
            _slots,
            "You numbered the places of the batch, padding included. A sentence then has other positions when it is "
            "batched with a longer one. Its first token is at position 0.",
        ),
        Mistake(
            edited(position_ids, " - 1", ""),
            "The first token got position 1. Positions start at 0: subtract 1 from the count.",
        ),
        Mistake(
            edited(position_ids, ".clamp(min=0)", ""),
            "Padding got position -1. As an index, -1 is the last row of the table: no error, but not what you want. "
            "Padding gets 0 here.",
        ),
        Mistake(
            _slots_minus_padding,
            "The tokens are right, but padding got negative positions. As an index, they count from the end of the "
            "table: no error, but not what you want. Padding gets 0 here.",
        ),
        Mistake(
            lambda real: (real.long().cumsum(dim=-1) - 1).masked_fill(~real, 1),
            "The tokens are right, and padding got 1, as in the transformers library. That does no harm, since nothing "
            "attends to padding, but here padding gets 0.",
        ),
        Mistake(
            edited(position_ids, "dim=-1", "dim=0"),
            "You counted down the batch. Count along each sentence: the last axis.",
            also=(
                edited(position_ids, ("dim=-1", "dim=0"), (".clamp(min=0)", "")),
                edited(position_ids, ("dim=-1", "dim=0"), (".clamp(min=0)", ".masked_fill(~real, 0)")),
            ),
        ),
        Mistake(
            edited(position_ids, "real.long()", "(~real).long()"),
            "You counted the padding. A token's position is the number of *tokens* before it.",
        ),
        Mistake(
            lambda real: (real.long().flip(-1).cumsum(dim=-1).flip(-1) - 1).clamp(min=0),
            "You counted from the end: the last token got 0. The first token is at position 0.",
        ),
        Mistake(
            lambda real: _slots(real) * real,
            "The tokens still have the numbers of their places in the batch. A token's position is the number of "
            "tokens before it.",
        ),
        Mistake(
            lambda real: _slots(real) * (_slots(real) < real.sum(dim=-1, keepdim=True)),
            "You numbered the first places of each row, as if the padding were on the right. Here it is on the left: "
            "the tokens are at the end of the row.",
            also=(lambda real: _slots(real).minimum(real.sum(dim=-1, keepdim=True) - 1),),
        ),
        Mistake(
            lambda real: (real.flatten().cumsum(0).view_as(real) - 1) * real,
            "The count runs on from one sentence into the next. Each sentence starts at 0: cumsum(dim=-1) counts each "
            "row on its own.",
            also=(
                lambda real: real.flatten().cumsum(0).view_as(real) - 1,
                lambda real: (real.flatten().cumsum(0).view_as(real) - 1).clamp(min=0),
            ),
        ),
        Mistake(
            lambda real: (_slots(real) - real.sum(dim=-1, keepdim=True)).clamp(min=0),
            "You subtracted the number of tokens. Subtract the number of places before the first token: the padding, "
            "(~real).sum(dim=-1, keepdim=True).",
            also=(lambda real: _slots(real) - real.sum(dim=-1, keepdim=True),),
        ),
        Mistake(
            lambda real: real.long(),
            "Those are 1 for each token and 0 for padding. Count the tokens from left to right, with cumsum.",
        ),
        Mistake(
            lambda real: position_ids(real)[:1].expand(real.shape),
            "Every sentence got the positions of the first. Each has its own padding: count along each row.",
        ),
        Mistake(
            edited(_slots_minus_padding, ", keepdim=True", ""),
            "A number for each sentence is (B,), and broadcasting lines it up with the T places of a row. keepdim=True "
            "makes (B, 1) of it: one number for each row.",
        ),
        Mistake(
            edited(position_ids, "real.long()", "real.float()"),
            "The numbers are right, but they are floats. Positions are indices, whole numbers: real.long(), or "
            "torch.zeros(…, dtype=torch.long).",
        ),
        Mistake(
            edited(position_ids, ".clamp(min=0)", ".clamp(min=0).bool()"),
            "Your table is bool, as torch.zeros_like(real) is, so each position became True or False. "
            "torch.zeros(real.shape, dtype=torch.long) holds whole numbers.",
        ),
    ],
    hints=[
        "A token's position is the number of tokens before it.",
        "real.long() makes 1 of True and 0 of False. cumsum(dim=-1) adds them up from left to right.",
        "The first token then has 1, and the padding 0. Subtract 1, and keep the padding at 0: clamp(min=0).",
    ],
    solution="""
        def my_position_ids(real):
            tokens_so_far = real.long().cumsum(dim=-1)  # 1 at the first token
            return (tokens_so_far - 1).clamp(min=0)  # padding: 0 instead of -1
    """,
)
