"""Lesson 13, fixed_mask: a mask for each sentence, handed to all of its heads."""

from torch import Tensor

from lessons.checking.edits import edited
from lessons.checking.engine import Case, Exercise, Mistake
from lessons.exercises.inside_torch_attention.shared import some_blocked


def sentence_mask(blocked: Tensor, num_heads: int) -> Tensor:
    """blocked (B, L, S), True = blocked, one mask for each sentence -> attn_mask (B·H, L, S)."""
    return blocked.repeat_interleave(num_heads, dim=0)


def _expanded_behind(blocked: Tensor, num_heads: int) -> Tensor:
    batch, length, keys = blocked.shape
    return blocked.reshape(batch, length, 1, keys).expand(-1, -1, num_heads, -1).reshape(-1, length, keys)


bug_hunt = Exercise(
    lesson="13",
    name="fixed_mask",
    reference=sentence_mask,
    cases=lambda generator: [
        Case({"blocked": some_blocked(generator, batch, length, keys), "num_heads": heads}, about=about)
        for batch, heads, length, keys, about in [
            (2, 3, 4, 5, ""),
            (4, 2, 3, 6, ""),
            (3, 3, 3, 3, ""),
            (2, 3, 1, 5, "a single query"),
        ]
    ],
    outputs=("attn_mask",),
    mistakes=[
        Mistake(
            edited(sentence_mask, "repeat_interleave(num_heads, dim=0)", "repeat(num_heads, 1, 1)"),
            "The bug is still there. A symptom: with two sentences in the batch, change only what is blocked for the "
            "second, and the output for the first changes.",
        ),
        Mistake(
            edited(sentence_mask, "blocked.repeat_interleave(num_heads, dim=0)", "~blocked.repeat(num_heads, 1, 1)"),
            "The bug is still there, and now True and False are swapped as well. nn.MultiheadAttention blocks where "
            "its mask is True; that part was right.",
        ),
        Mistake(
            edited(sentence_mask, "return blocked", "return ~blocked"),
            "The bug is gone. But nn.MultiheadAttention blocks where attn_mask is True, and you inverted the mask.",
        ),
        Mistake(
            lambda blocked, h: blocked,
            "You return B masks. The module expects B·H, one for each head of each sentence.",
        ),
        Mistake(
            lambda blocked, h: blocked.any(dim=0),
            "You made one mask for all sentences, so each sentence also gets the blocks of the others. Each needs its "
            "own.",
            also=[lambda blocked, h: blocked.any(dim=0).expand(h * len(blocked), -1, -1)],
        ),
        Mistake(
            lambda blocked, h: blocked.unsqueeze(1).expand(-1, h, -1, -1),
            "The order is right, but nn.MultiheadAttention does not accept four axes: reshape (B, H, L, S) to (B·H, L,"
            " S).",
        ),
        Mistake(
            lambda blocked, h: sentence_mask(blocked, h).float(),
            "True became 1. A float mask is added to the scores: 1 blocks nothing. Leave it bool.",
        ),
        Mistake(
            _expanded_behind,
            "The axis of the heads belongs right after that of the sentences: (B, H, L, S). You put it after the "
            "queries, which mixes the rows of queries and heads.",
        ),
        Mistake(
            lambda blocked, h: sentence_mask(blocked, h).mT.reshape(-1, *blocked.shape[1:]),
            "The rows are in the right order now, but inside each mask queries and keys are mixed up: a transpose, and "
            "then a reshape. Leave the last two axes alone.",
        ),
        Mistake(
            lambda blocked, h: blocked.repeat(h, 1, 1).mT.reshape(-1, *blocked.shape[1:]),
            "The bug is still there, and inside each mask queries and keys are now mixed up as well: a transpose, and "
            "then a reshape. Leave the last two axes alone.",
        ),
        Mistake(
            lambda blocked, h: blocked[:1].expand(h * len(blocked), -1, -1),
            "Every sentence gets the mask of the first one. Each needs its own, for all of its heads.",
        ),
    ],
    hints=[
        "Try it with two sentences and two heads. Which sentence does each of the four rows of the mask belong to?",
        "The module expects all heads of sentence 0 first, then all heads of sentence 1.",
        "repeat copies the whole batch again and again; repeat_interleave copies each row in place.",
    ],
    solution="""
        def fixed_mask(blocked, num_heads):
            # All heads of sentence 0 first, then all heads of sentence 1, …
            return blocked.repeat_interleave(num_heads, dim=0)
    """,
)
