"""Lesson 05, my_split_heads: deal the features of each token out to the heads."""

import torch

from lessons.attention import split_heads
from lessons.checking.edits import edited
from lessons.checking.engine import Case, Exercise, Mistake, numbers


def _split_cases(generator) -> list[Case]:
    counting = torch.arange(2 * 3 * 8).float().view(2, 3, 8)
    return [
        Case({"x": counting[:1, :, :4].contiguous(), "num_heads": 2}),
        Case({"x": counting, "num_heads": 4}),
        Case({"x": numbers(generator, 2, 5, 12), "num_heads": 3}),
        Case(
            {"x": numbers(generator, 2, 12, 5).transpose(1, 2), "num_heads": 3}, about="a tensor that is not contiguous"
        ),
    ]


splitting = Exercise(
    lesson="05",
    name="my_split_heads",
    reference=split_heads,
    cases=_split_cases,
    mistakes=[
        Mistake(
            lambda x, h: x.reshape(x.size(0), h, x.size(1), -1),
            "The shape is right, the numbers are not: you cut the sequence of numbers into H pieces, and each piece "
            "runs across several tokens. First make (B, T, H, d), which cuts each token's features; then swap T and H.",
            also=(lambda x, h: x.view(x.size(0), h, x.size(1), -1),),
        ),
        Mistake(
            edited(split_heads, ".transpose(1, 2)", ""),
            "The features are cut correctly, (B, T, H, d). Now bring the heads in front of the tokens.",
        ),
        Mistake(
            edited(split_heads, "(num_heads, -1)).transpose(1, 2)", "(-1, num_heads)).movedim(-1, 1)"),
            "You dealt the features out like cards: head 0 gets features 0, H, 2H, … It should get the first d in a "
            "row: cut the last axis into (H, d), not (d, H).",
        ),
        Mistake(
            edited(split_heads, ".transpose(1, 2)", ".permute(2, 0, 1, 3)"),
            "You moved the heads in front of the batch. The batch stays first: (B, H, T, d).",
        ),
        Mistake(
            edited(split_heads, ".transpose(1, 2)", ".transpose(2, 3)"),
            "You swapped heads and features, axes 2 and 3. Swap heads and tokens, axes 1 and 2.",
        ),
    ],
    hints=[
        "It takes two steps. First cut the last axis in two: (B, T, H·d) becomes (B, T, H, d).",
        "Then swap axes 1 and 2.",
    ],
    solution="""
        def my_split_heads(x, num_heads):
            batch, length, features = x.shape
            x = x.reshape(batch, length, num_heads, features // num_heads)  # (B, T, H, d)
            return x.transpose(1, 2)
    """,
    in_package="lessons.attention.split_heads",
)
