"""Lesson 05, fixed_heads: find the bug on the way out of the heads, and fix it."""

from torch import Tensor

from lessons.attention import attend, join_heads, split_heads
from lessons.checking.edits import edited
from lessons.checking.engine import Case, Exercise, Mistake, numbers


def heads_attend(q: Tensor, k: Tensor, v: Tensor, num_heads: int) -> Tensor:
    """q (B, Q, D), k (B, K, D), v (B, K, D) -> (B, Q, D): split into heads, attend in each, join."""
    return join_heads(attend(*(split_heads(x, num_heads) for x in (q, k, v)))[0])


def _shipped(q, k, v, num_heads):
    heads = attend(*(split_heads(x, num_heads) for x in (q, k, v)))[0]
    return heads.reshape(q.shape)


bug_hunt = Exercise(
    lesson="05",
    name="fixed_heads",
    reference=heads_attend,
    cases=lambda generator: [
        Case({name: numbers(generator, b, n, d) for name, n in zip("qkv", (q, k, k))} | {"num_heads": h})
        for b, q, k, d, h in [(1, 2, 3, 4, 2), (2, 5, 7, 12, 3), (3, 4, 4, 8, 4)]
    ],
    outputs=("output",),
    mistakes=[
        Mistake(
            _shipped,
            "The bug is still there. A symptom: change the last query, and an earlier output changes.",
        ),
        Mistake(
            edited(_shipped, "heads.reshape", "heads.permute(0, 2, 3, 1).reshape"),
            "Each token has its own numbers now, but the features of the heads are interleaved. Swap axes 1 and 2 "
            "only.",
        ),
        Mistake(
            edited(_shipped, "split_heads(x, num_heads)", "x.reshape(x.size(0), num_heads, x.size(1), -1)"),
            "Now splitting is wrong in the same way as joining. The shapes fit, but the heads see pieces of different "
            "tokens.",
        ),
        Mistake(
            edited(heads_attend, "split_heads(x, num_heads)", "x.reshape(x.size(0), num_heads, x.size(1), -1)"),
            "Joining is right now. But you replaced split_heads, which was right: a reshape alone gives each head "
            "pieces of different tokens.",
        ),
        Mistake(
            lambda q, k, v, num_heads: (
                heads_attend(q, k, v, num_heads).unflatten(-1, (num_heads, -1)).mean(-2).repeat(1, 1, num_heads)
            ),
            "You averaged the heads. Concatenate them: each output has all of head 0's features, then head 1's.",
        ),
        Mistake(
            edited(_shipped, "heads.reshape", "heads.mT.reshape"),
            "You swapped tokens and features. The heads must come behind the tokens: swap axes 1 and 2.",
        ),
        Mistake(
            lambda q, k, v, num_heads: attend(q, k, v)[0],
            "There are no heads any more: that is one large head, with one table of weights. Split, attend, then join.",
        ),
        Mistake(
            edited(_shipped, "heads.reshape(q.shape)", "heads.mean(dim=1)"),
            "You took the mean over the heads, which has d features. Put the features of all heads next to each other: "
            "H·d.",
        ),
        Mistake(
            edited(_shipped, "heads.reshape(q.shape)", "heads.sum(dim=1)"),
            "You added the heads up. Put the features of all heads next to each other: H·d.",
        ),
        Mistake(
            edited(_shipped, "heads.reshape(q.shape)", "heads.flatten(1, 2)"),
            "You merged heads and tokens: (B, H·Q, d). Merge heads and features.",
        ),
        Mistake(
            edited(_shipped, "heads.reshape", "heads.transpose(0, 1).reshape"),
            "You swapped the batch and the heads. The heads must come behind the tokens: swap axes 1 and 2.",
        ),
        Mistake(
            lambda q, k, v, num_heads: join_heads(attend(split_heads(q, num_heads), k, v)[0]),
            "The queries are split, the keys are not. Keys and values need the same heads.",
        ),
        Mistake(
            edited(_shipped, "heads.reshape", "heads.transpose(1, 2).view"),
            "After this transpose a token's numbers are apart in memory, and view never copies. Use reshape; then "
            "check that the numbers are the right ones.",
        ),
        Mistake(
            edited(_shipped, "heads.reshape(q.shape)", "heads.transpose(1, 2)"),
            "The heads are next to their features now, (B, Q, H, d). Merge the last two axes.",
        ),
        Mistake(
            edited(heads_attend, "[0])", ")"),
            "attend returns two things, output and weights. Join the first.",
        ),
        Mistake(
            edited(heads_attend, "split_heads(x, num_heads)", "split_heads(x, x.size(-1) // num_heads)"),
            "num_heads and head_dim are swapped: split_heads takes the number of heads.",
        ),
        Mistake(
            edited(_shipped, "heads.reshape", "heads.transpose(1, 3).reshape"),
            "You swapped heads and features, so each row mixes tokens. The heads must come behind the tokens: swap "
            "axes 1 and 2.",
        ),
        Mistake(
            edited(_shipped, "heads.reshape(q.shape)", "join_heads(heads.transpose(1, 2))"),
            "join_heads swaps axes 1 and 2 by itself. You swapped them before, too, so they are back where they were.",
        ),
    ],
    hints=[
        "With num_heads = 1 there is no bug. What does reshape do to (B, H, T, d) when H is 2?",
        "Feed it numbers that show which token they come from: v = torch.arange(T) repeated along the features.",
        "What does the package's join_heads do that this code does not?",
    ],
    solution="""
        def fixed_heads(q, k, v, num_heads):
            output, _ = attend(
                split_heads(q, num_heads), split_heads(k, num_heads), split_heads(v, num_heads)
            )
            return join_heads(output)  # swaps the axes before it reshapes
    """,
)
