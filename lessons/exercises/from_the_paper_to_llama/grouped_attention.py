"""Lesson 16, my_grouped_attention: several query heads use the same keys and values."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor

from lessons.checking.edits import edited
from lessons.checking.engine import Case, Exercise, Mistake, numbers


def grouped_attention(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Causal attention: q (H, T, d), k and v (H_kv, T, d) -> (H, T, d). H / H_kv neighboring heads form a group."""
    group = q.size(0) // k.size(0)
    k = k.repeat_interleave(group, dim=0)  # (H, T, d): heads 0, 0, …, 1, 1, …
    v = v.repeat_interleave(group, dim=0)
    scores = q @ k.mT / math.sqrt(q.size(-1))  # (H, T, T)
    allowed = torch.ones(q.size(1), q.size(1), dtype=torch.bool).tril()
    return scores.masked_fill(~allowed, -torch.inf).softmax(dim=-1) @ v


def _grouped_cases(generator) -> list[Case]:
    def case(heads, kv_heads, t, d, about="", gradients=False):
        inputs = {
            "q": numbers(generator, heads, t, d),
            "k": numbers(generator, kv_heads, t, d),
            "v": numbers(generator, kv_heads, t, d),
        }
        return Case(inputs, about, gradients)

    return [
        case(4, 2, 2, 3),
        case(6, 2, 4, 5),
        case(6, 3, 5, 4),
        case(4, 1, 3, 5, "one head of keys and values for all"),
        case(3, 3, 4, 2, "as many heads of keys as of queries"),
        case(4, 2, 3, 6, "gradients", gradients=True),
        case(1, 1, 3, 4, "a single head"),
    ]


def _queries_averaged(q, k, v):
    return grouped_attention(q.unflatten(0, (k.size(0), -1)).mean(dim=1), k, v)


K, V = "k.repeat_interleave(group, dim=0)", "v.repeat_interleave(group, dim=0)"

grouping = Exercise(
    lesson="16",
    name="my_grouped_attention",
    reference=grouped_attention,
    cases=_grouped_cases,
    mistakes=[
        Mistake(
            edited(grouped_attention, (K, "k.repeat(group, 1, 1)"), (V, "v.repeat(group, 1, 1)")),
            "The groups are mixed up: repeat gives the heads 0, 1, 0, 1, so query head 1 gets keys 1. Heads 0 and 1 "
            "are one group: they need 0, 0, 1, 1, which is repeat_interleave.",
        ),
        Mistake(
            edited(grouped_attention, K, "k.repeat(group, 1, 1)"),
            "The keys are in the order 0, 1, 0, 1, the values in the order 0, 0, 1, 1. Both need repeat_interleave.",
        ),
        Mistake(
            edited(grouped_attention, V, "v.repeat(group, 1, 1)"),
            "The values are in the order 0, 1, 0, 1, the keys in the order 0, 0, 1, 1. Both need repeat_interleave.",
        ),
        Mistake(
            edited(grouped_attention, (K, "k"), (V, "v")),
            "There are fewer heads of keys and values than of queries, so a product with them doesn't fit. Repeat "
            "both: k.repeat_interleave(group, dim=0), and v in the same way.",
            also=[lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True)],
        ),
        Mistake(
            edited(grouped_attention, "q.size(0) // k.size(0)", "k.size(0)"),
            "You repeat each head as often as there are heads of keys. That fits 4 query heads and 2 of keys. A group "
            "has H / H_kv query heads: q.size(0) // k.size(0).",
        ),
        Mistake(
            edited(grouped_attention, "k.mT", "k.T"),
            "k.T reverses all three axes: (H, T, d) becomes (d, T, H). Only the last two are swapped: k.mT, or "
            "k.transpose(-2, -1).",
        ),
        Mistake(
            edited(grouped_attention, (K, "k[:1].expand_as(q)"), (V, "v[:1].expand_as(q)")),
            "All query heads use the first head of keys and values. Each group has its own.",
        ),
        Mistake(
            edited(
                grouped_attention,
                (K, "k.mean(dim=0).expand_as(q)"),
                (V, "v.mean(dim=0).expand_as(q)"),
            ),
            "You averaged the heads of keys and values. They stay apart: each belongs to one group of query heads.",
        ),
        Mistake(
            _queries_averaged,
            "You averaged the queries of each group, so only as many heads come out as there are heads of keys. "
            "Every query head asks for itself.",
        ),
        Mistake(
            edited(grouped_attention, "scores.masked_fill(~allowed, -torch.inf)", "scores"),
            "The causal mask is missing: tokens see what comes after them.",
        ),
        Mistake(
            edited(grouped_attention, ".tril()", ".triu()"),
            "The mask is the wrong way around: each token sees itself and what comes *after* it.",
        ),
        Mistake(
            edited(grouped_attention, ".tril()", ".tril(-1)"),
            "A token may not attend to itself in your mask. Keep the diagonal.",
        ),
        Mistake(
            edited(grouped_attention, " / math.sqrt(q.size(-1))", ""),
            "The scores are not divided by √d.",
        ),
        Mistake(
            edited(grouped_attention, "math.sqrt(q.size(-1))", "q.size(-1)"),
            "You divided by d. Divide by its root.",
        ),
        Mistake(
            edited(grouped_attention, "~allowed", "allowed"),
            "masked_fill writes −∞ where its mask is True: yours blocks the past and the token itself, so that nothing "
            "is left for the last one. Block what is *not* allowed.",
        ),
        Mistake(
            edited(grouped_attention, "scores.masked_fill(~allowed, -torch.inf)", "scores.tril()"),
            "You set blocked scores to 0. That is a score like any other, and gets a weight; −∞ gets none.",
            also=[edited(grouped_attention, "-torch.inf", "0.0")],
        ),
        Mistake(
            edited(grouped_attention, "q.size(-1))  #", "q.size(-1) * q.size(0))  #"),
            "You divided by the root of d_model = H · d. Divide by √d, the features of one head.",
        ),
        Mistake(
            edited(grouped_attention, "softmax(dim=-1)", "softmax(dim=0)"),
            "The softmax is over the heads. It is over the keys: dim=-1.",
        ),
        Mistake(
            edited(grouped_attention, "softmax(dim=-1)", "softmax(dim=-2)"),
            "The softmax is over the queries. It is over the keys: dim=-1.",
        ),
        Mistake(
            edited(grouped_attention, ".tril()", ".tril(1)"),
            "Your mask lets each token see the next one. Its last allowed key is the token itself: tril().",
        ),
        Mistake(
            edited(
                grouped_attention,
                "scores.masked_fill(~allowed, -torch.inf).softmax(dim=-1)",
                "(scores.softmax(dim=-1) * allowed)",
            ),
            "You masked after the softmax, so the weights of every token but the last no longer sum to 1. Mask the "
            "scores, with −∞.",
        ),
    ],
    hints=[
        "H / H_kv query heads use the same keys. Which keys does query head 1 use, with 4 query heads and 2 of keys?",
        "k.repeat_interleave(group, dim=0) gives each head `group` times in a row; then all is as in lesson 05.",
        "For the rest there is F.scaled_dot_product_attention(q, k, v, is_causal=True).",
    ],
    solution="""
        def my_grouped_attention(q, k, v):
            group = q.size(0) // k.size(0)
            k = k.repeat_interleave(group, dim=0)  # (H, T, d): heads 0, 0, …, 1, 1, …
            v = v.repeat_interleave(group, dim=0)
            return F.scaled_dot_product_attention(q, k, v, is_causal=True)
    """,
    in_package="lessons.language_model.GroupedQueryAttention",
)
