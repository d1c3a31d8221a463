"""Lesson 05, my_join_heads: put the features of all heads back into one axis."""

import torch

from lessons.attention import join_heads
from lessons.checking.edits import edited
from lessons.checking.engine import Case, Exercise, Mistake, numbers

joining = Exercise(
    lesson="05",
    name="my_join_heads",
    reference=join_heads,
    cases=lambda generator: [
        Case({"x": torch.arange(12).float().view(1, 2, 3, 2)}),
        Case({"x": numbers(generator, 2, 3, 5, 4)}),
        Case({"x": numbers(generator, 3, 4, 4, 2)}),
    ],
    mistakes=[
        Mistake(
            lambda x: x.reshape(x.size(0), x.size(2), -1),
            "The shape is right, the numbers are not: a row of your result mixes different tokens. Bring the heads "
            "next to their features first: swap axes 1 and 2.",
        ),
        Mistake(
            edited(join_heads, ".transpose(1, 2)", ".permute(0, 2, 3, 1)"),
            "Each token has its own numbers, but in the wrong order: the heads' features are interleaved. All of head "
            "0's come first, then head 1's.",
        ),
        Mistake(
            edited(join_heads, ".flatten(-2)", ""),
            "The heads are next to their features now, (B, T, H, d). Now merge the last two axes.",
        ),
        Mistake(
            edited(join_heads, ".flatten(-2)", ".view(x.size(0), x.size(2), -1)"),
            "After this transpose the numbers are no longer in order in memory, and view refuses. Use reshape, or "
            "contiguous() before view; then check that the numbers are the right ones.",
        ),
        Mistake(
            lambda x: x.flatten(1, 2),
            "You merged heads and tokens: (B, H·T, d). Merge heads and features.",
            also=(edited(join_heads, ".flatten(-2)", ".flatten(1, 2)"),),
        ),
        Mistake(
            lambda x: x.mT.reshape(x.size(0), x.size(2), -1),
            "You swapped tokens and features, axes 2 and 3. Swap heads and tokens, axes 1 and 2.",
        ),
        Mistake(
            lambda x: x.flatten(2).transpose(1, 2),
            "You flattened tokens and features of a head together. Bring the heads behind the tokens first, then "
            "flatten the last two axes.",
        ),
        Mistake(
            edited(join_heads, ".flatten(-2)", ".flatten(1)"),
            "You merged the tokens as well, (B, T·H·d). Merge the last two axes alone: flatten(-2), or flatten(2).",
        ),
        Mistake(
            lambda x: x.sum(dim=1),
            "You added the heads up, or averaged them, and can no longer tell them apart. Put their features "
            "next to each other.",
            also=(lambda x: x.mean(dim=1),),
        ),
        Mistake(
            edited(join_heads, ".transpose(1, 2)", ".transpose(1, 3)"),
            "You swapped heads and features, axes 1 and 3. Swap heads and tokens, axes 1 and 2.",
        ),
        Mistake(
            lambda x: torch.cat(list(x), dim=-1),
            "You took x apart along the batch: a loop over x gives one sentence after the other. The heads are axis 1.",
        ),
        Mistake(
            lambda x: x.transpose(1, 2).reshape(x.size(0), x.size(1), -1),
            "The sizes are mixed up: x is (B, H, T, d), in this order, and the result has T rows.",
        ),
        Mistake(
            lambda x: x.permute(2, 0, 1, 3).reshape(x.size(0), x.size(2), -1),
            "You brought the tokens in front of the batch. The batch stays first: swap axes 1 and 2 alone.",
            also=(edited(join_heads, ".transpose(1, 2)", ".permute(2, 0, 1, 3)"),),
        ),
        Mistake(
            lambda x: join_heads(x.flip(1)),
            "The heads are in the reverse order: the features of head 0 come first.",
        ),
        Mistake(
            lambda x: x.flatten(2),
            "You merged tokens and features: (B, H, T·d). Merge heads and features: swap axes 1 and 2 first.",
        ),
    ],
    hints=[
        "This is splitting in reverse: undo the two steps, the last one first.",
        "(B, H, T, d) → (B, T, H, d) → (B, T, H·d).",
    ],
    solution="""
        def my_join_heads(x):
            batch, num_heads, length, head_dim = x.shape
            x = x.transpose(1, 2)  # (B, T, H, d)
            return x.reshape(batch, length, num_heads * head_dim)
    """,
    in_package="lessons.attention.join_heads",
)
