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
            "next to their features first, by exchanging axes 1 and 2.",
        ),
        Mistake(
            edited(join_heads, ".transpose(1, 2)", ".permute(0, 2, 3, 1)"),
            "Each token has its own numbers, but in the wrong order: the heads' features are interleaved. Head 0's "
            "come first, all of them, then head 1's.",
        ),
        Mistake(
            edited(join_heads, ".flatten(-2)", ""),
            "The heads are next to their features now, (B, T, H, d). The last two axes must still become one.",
        ),
        Mistake(
            edited(join_heads, ".flatten(-2)", ".view(x.size(0), x.size(2), -1)"),
            "After a transpose the numbers no longer lie in order in memory, and view refuses. Use reshape, or "
            "contiguous() before view; then see whether the numbers are the right ones.",
        ),
        Mistake(
            lambda x: x.flatten(1, 2),
            "You merged heads and tokens: (B, H·T, d). It is the heads and the features that become one axis.",
        ),
        Mistake(
            lambda x: x.mT.reshape(x.size(0), x.size(2), -1),
            "You exchanged tokens and features, axes 2 and 3. It is heads and tokens, axes 1 and 2.",
        ),
    ],
    hints=[
        "It is the way back from splitting: undo the steps in the opposite order.",
        "(B, H, T, d) → (B, T, H, d) → (B, T, H·d).",
    ],
)
