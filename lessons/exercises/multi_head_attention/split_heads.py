"""Lesson 05, my_split_heads: deal the features of each token out to the heads."""

import torch
from torch import Tensor

from lessons.checking.edits import edited
from lessons.checking.engine import Case, Exercise, Mistake, numbers


def split_any(x: Tensor, num_heads: int) -> Tensor:
    """(…, T, H·d) -> (…, H, T, d), with any number of axes in front."""
    return x.unflatten(-1, (num_heads, -1)).transpose(-3, -2)


ONE, STACK = "one sentence, without a batch", "two axes in front"


def _split_cases(generator) -> list[Case]:
    counting = torch.arange(2 * 3 * 8).float().view(2, 3, 8)
    return [
        Case({"x": counting[:1, :, :4].contiguous(), "num_heads": 2}),
        Case({"x": counting, "num_heads": 4}),
        Case({"x": numbers(generator, 2, 5, 12), "num_heads": 3}),
        Case(
            {"x": numbers(generator, 2, 12, 5).transpose(1, 2), "num_heads": 3}, about="a tensor that is not contiguous"
        ),
        Case({"x": counting[0, :, :6], "num_heads": 3}, about=ONE),
        Case({"x": numbers(generator, 2, 3, 4, 6), "num_heads": 2}, about=STACK),
    ]


splitting = Exercise(
    lesson="05",
    name="my_split_heads",
    reference=split_any,
    cases=_split_cases,
    mistakes=[
        Mistake(
            lambda x, h: x.reshape(x.size(0), h, x.size(1), -1),
            "The shape is right, the numbers are not: you cut the sequence of numbers into H pieces, and each piece "
            "runs across several tokens. First make (B, T, H, d), which cuts each token's features; then swap T and H.",
            also=(lambda x, h: x.view(x.size(0), h, x.size(1), -1),),
        ),
        Mistake(
            edited(split_any, ".transpose(-3, -2)", ""),
            "The features are cut correctly, (B, T, H, d). Now bring the heads in front of the tokens.",
        ),
        Mistake(
            edited(split_any, "(num_heads, -1)).transpose(-3, -2)", "(-1, num_heads)).movedim(-1, -3)"),
            "You dealt the features out like cards: head 0 gets features 0, H, 2H, … It should get the first d in a "
            "row: cut the last axis into (H, d), not (d, H).",
        ),
        Mistake(
            edited(split_any, ".transpose(-3, -2)", ".movedim(-2, 0)"),
            "You moved the heads in front of the batch. The batch stays first: (B, H, T, d).",
        ),
        Mistake(
            edited(split_any, ".transpose(-3, -2)", ".transpose(-2, -1)"),
            "You swapped heads and features, the last two axes. Swap heads and tokens.",
        ),
        Mistake(
            edited(split_any, ".transpose(-3, -2)", ".transpose(1, 2)"),
            "With a batch it is right. With more axes or fewer in front, axes 1 and 2 are not tokens and heads. Count "
            "the axes from the end.",
            seen_in=ONE,
            also=(
                edited(split_any, ".transpose(-3, -2)", ".permute(0, 2, 1, 3)"),
                lambda x, h: x.reshape(x.size(0), x.size(1), h, x.size(-1) // h).transpose(1, 2),
                lambda x, h: x.reshape(x.size(0), x.size(1), h, -1).transpose(1, 2),
                lambda x, h: torch.stack(x.chunk(h, dim=-1), dim=1),
            ),
        ),
        Mistake(
            edited(split_any, ".transpose(-3, -2)", ".transpose(-3, -1)"),
            "You swapped tokens and features of a head, which gives (…, d, H, T). Swap tokens and heads.",
        ),
        Mistake(
            edited(
                split_any,
                "x.unflatten(-1, (num_heads, -1)).transpose(-3, -2)",
                "torch.stack(x.chunk(num_heads, dim=-2), dim=-3)",
            ),
            "You cut the axis of the tokens. Every head gets all tokens, and d features of each: cut the last axis.",
            also=(
                edited(
                    split_any, "x.unflatten(-1, (num_heads, -1)).transpose(-3, -2)", "x.unflatten(-2, (num_heads, -1))"
                ),
            ),
        ),
        Mistake(
            edited(split_any, "    return", "    _, _, _ = x.shape\n    return"),
            "With a batch it is right. But x may have two axes, or four: don't unpack three sizes. x.size(-1) is the "
            "last size of any x, and x.shape[:-1] are all others.",
            seen_in=ONE,
        ),
        Mistake(
            edited(split_any, "(num_heads, -1)", "(-1, num_heads)"),
            "You cut the last axis into (d, H), so the heads are last, and each got features 0, H, 2H, … Cut it into "
            "(H, d).",
        ),
        Mistake(
            lambda x, h: x.reshape(*x.shape[:-1], h, x.size(-1) / h).transpose(-3, -2),
            "/ gives a float, and a size is a whole number: divide with //.",
            also=(lambda x, h: x.view(*x.shape[:-1], h, x.size(-1) / h).transpose(-3, -2),),
        ),
        Mistake(
            lambda x, h: x.chunk(h, dim=-1),
            "Your result is a tuple of tensors, as x.chunk gives. torch.stack(…, dim=-3) puts them together, on an "
            "axis of the heads.",
        ),
        Mistake(
            edited(split_any, ".transpose(-3, -2)", ".transpose(0, 1)"),
            "You swapped the first two axes. With a batch in front, these are not tokens and heads. Count from the "
            "end: transpose(-3, -2).",
        ),
    ],
    hints=[
        "It takes two steps. First cut the last axis in two: (…, T, H·d) becomes (…, T, H, d).",
        "x.unflatten(-1, (num_heads, -1)) cuts the last axis, however many are in front of it.",
        "Then swap tokens and heads. How far from the end are these two axes?",
    ],
    solution="""
        def my_split_heads(x, num_heads):
            x = x.unflatten(-1, (num_heads, -1))  # (…, T, H, d)
            return x.transpose(-3, -2)
    """,
    in_package="lessons.attention.split_heads",
)
