"""Lesson 03, fixed_attention: find out what True means in a mask, and fix the leak."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor

from lessons import masks
from lessons.attention import attend
from lessons.checking.edits import edited
from lessons.checking.engine import Case, Exercise, Mistake, numbers


def causal_attention(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """q (..., T, d), k (..., T, d), v (..., T, d_v) -> output (..., T, d_v); no position sees a later one."""
    return attend(q, k, v, masks.causal(q.size(-2)))[0]


def _shipped(q, k, v):
    hidden = torch.triu(torch.ones(q.size(-2), q.size(-2), dtype=torch.bool), diagonal=1)
    return F.scaled_dot_product_attention(q, k, v, attn_mask=hidden)


bug_hunt = Exercise(
    lesson="03",
    name="fixed_attention",
    reference=causal_attention,
    cases=lambda generator: [
        Case({name: numbers(generator, *shape) for name, shape in zip("qkv", shapes)})
        for shapes in [((3, 2), (3, 2), (3, 4)), ((2, 5, 3), (2, 5, 3), (2, 5, 7)), ((1, 4), (1, 4), (1, 2))]
    ],
    outputs=("output",),
    mistakes=[
        Mistake(
            _shipped,
            "The bug is still there. A symptom: change the last token, and the output of the first one moves.",
        ),
        Mistake(
            edited(_shipped, ", diagonal=1", ""),
            "Now each token sees itself and the future. It should see itself and the past.",
        ),
        Mistake(
            edited(_shipped, "triu", "tril"),
            "This is the right triangle, with one diagonal too many: each token but the last still sees the next one. "
            "(diagonal=1 was right for triu.)",
        ),
        Mistake(
            edited(_shipped, ", dtype=torch.bool", ""),
            "A float mask is added to the scores: 1 above the diagonal nudges the future up, and blocks nothing.",
        ),
        Mistake(
            edited(_shipped, (", dtype=torch.bool", ""), ("diagonal=1)", "diagonal=1) * -torch.inf")),
            "Every row is NaN: from 0 times -inf, or from a softmax of nothing but -inf. Fill -inf into a table of "
            "zeros, or use a bool mask.",
        ),
        Mistake(
            edited(_shipped, ("triu", "tril"), ("diagonal=1", "diagonal=-1")),
            "This is the right triangle, but the diagonal is missing: a token may attend to itself.",
        ),
        Mistake(
            edited(_shipped, ("triu", "tril"), (", dtype=torch.bool", ""), (", diagonal=1", "")),
            "A float mask is added to the scores: ones and zeros nudge them, and block nothing. Make it bool.",
        ),
        Mistake(
            lambda q, k, v: (q @ k.mT / math.sqrt(q.size(-1))).softmax(dim=-1).tril() @ v,
            "You masked after the softmax: the future took part in the sum of each row but the last, so these rows sum "
            "to less than 1, and still leak. Mask the scores.",
        ),
        Mistake(
            edited(_shipped, "=hidden", "=hidden, is_causal=True"),
            "Give torch a mask or is_causal=True, not both: its documentation calls that an error. Leave the mask out.",
        ),
        Mistake(
            edited(_shipped, "q.size(-2), q.size(-2)", "q.size(-1), q.size(-1)"),
            "Your mask has one row for each feature, q.size(-1). It needs one for each token, q.size(-2).",
            also=(
                edited(_shipped, ("q.size(-2), q.size(-2)", "q.size(-1), q.size(-1)"), ("triu", "tril"), ("=1", "=0")),
            ),
        ),
        Mistake(
            edited(_shipped, ", attn_mask=hidden", ""),
            "Without a mask, or with one that is True everywhere, every token sees every other, the future included.",
        ),
        Mistake(
            lambda q, k, v: torch.tril(q @ k.mT / math.sqrt(q.size(-1))).softmax(dim=-1) @ v,
            "The blocked scores are 0 here, and a score of 0 still gets weight. They must be -inf.",
        ),
        Mistake(
            edited(_shipped, "diagonal=1", "diagonal=-1"),
            "Still the triangle of the future, with the token before as well. The past is the other triangle.",
        ),
        Mistake(
            lambda q, k, v: (q @ k.mT).masked_fill(~masks.causal(q.size(-2)), -torch.inf).softmax(dim=-1) @ v,
            "The mask is right now, but the scores are not divided by √d, which torch's function does.",
        ),
    ],
    hints=[
        "Print the mask for 3 tokens. Which keys are True in the first row?",
        "What does True mean in F.scaled_dot_product_attention? Its documentation says: takes part in attention.",
        "Three fixes: invert the mask with ~, build the other triangle, or pass is_causal=True in place of the mask.",
    ],
    solution="""
        def fixed_attention(q, k, v):
            length = q.size(-2)
            mask = torch.ones(length, length, dtype=torch.bool).tril()  # True = may attend
            return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    """,
    in_package="lessons.masks.causal",
)
