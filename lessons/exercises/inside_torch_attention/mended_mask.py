"""Lesson 13, mended_mask: a mask for each sentence, handed to all of its heads."""

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
    name="mended_mask",
    reference=sentence_mask,
    cases=lambda generator: [
        Case({"blocked": some_blocked(generator, batch, length, keys), "num_heads": heads})
        for batch, heads, length, keys in [(2, 3, 4, 5), (4, 2, 3, 6), (3, 3, 3, 3)]
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
            "The bug is still there, and now True and False are exchanged as well. nn.MultiheadAttention blocks where "
            "its mask is True: that part was right.",
        ),
        Mistake(
            edited(sentence_mask, "return blocked", "return ~blocked"),
            "The bug is gone. But nn.MultiheadAttention blocks where attn_mask is True, and you turned it around.",
        ),
        Mistake(
            lambda blocked, h: blocked,
            "These are B masks; the module wants B·H, one for each head of each sentence.",
        ),
        Mistake(
            lambda blocked, h: blocked.any(dim=0),
            "One mask for all sentences: now each is given the blocks of all the others. Each sentence has its own.",
        ),
        Mistake(
            lambda blocked, h: blocked.unsqueeze(1).expand(-1, h, -1, -1),
            "The order is right, but nn.MultiheadAttention knows no four axes: reshape (B, H, L, S) to (B·H, L, S).",
        ),
        Mistake(
            lambda blocked, h: sentence_mask(blocked, h).float(),
            "True became 1. A float mask is added to the scores: 1 blocks nothing. Leave it bool.",
        ),
        Mistake(
            _expanded_behind,
            "The axis of the heads belongs right behind that of the sentences: (B, H, L, S). You put it behind the "
            "queries, so that rows of queries and heads are mixed.",
        ),
    ],
    hints=[
        "Try it with two sentences and two heads: which sentence does each of the four rows of the mask belong to?",
        "The module counts sentence 0 for all of its heads, then sentence 1.",
        "repeat lays down the whole again; repeat_interleave repeats each row on the spot.",
    ],
)
