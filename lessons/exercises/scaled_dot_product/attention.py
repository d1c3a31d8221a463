"""Lesson 02, my_attention: scaled scores, softmax and weighted average in one function."""

import math

from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention as fused_attention

from lessons.checking.edits import edited
from lessons.checking.engine import Case, Exercise, Mistake, numbers, small_numbers
from lessons.exercises.scaled_dot_product.scaled_scores import scaled_scores
from lessons.exercises.scaled_dot_product.shared import attention_cases


def attention(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """q (..., Q, d), k (..., K, d), v (..., K, d_v) -> output (..., Q, d_v)."""
    return scaled_scores(q, k).softmax(dim=-1) @ v


def _attention_cases_with_gradients(generator) -> list[Case]:
    inputs = {n: numbers(generator, *s) for n, s in zip("qkv", [(3, 2), (4, 2), (4, 5)])}
    large = {n: 16 * small_numbers(generator, *s) for n, s in zip("qkv", [(3, 4), (5, 4), (5, 2)])}
    return [
        *attention_cases(generator),
        Case(inputs, about="gradients", gradients=True),
        Case(large, about="scores of a hundred and more"),
    ]


def _by_powers(q, k, v):
    powers = (q @ k.mT / math.sqrt(q.size(-1))).exp()
    return powers / powers.sum(dim=-1, keepdim=True) @ v


def in_one_line(q, k, v):
    return (q @ k.mT / math.sqrt(q.size(-1))).softmax(dim=-1) @ v


whole = Exercise(
    lesson="02",
    name="my_attention",
    reference=attention,
    cases=_attention_cases_with_gradients,
    mistakes=[
        Mistake(
            edited(in_one_line, "dim=-1", "dim=-2"),
            "Your columns sum to 1, not your rows: the softmax runs over the queries. The keys are on the last axis.",
        ),
        Mistake(
            edited(in_one_line, "dim=-1", "dim=1"),
            "Right for a table; but with a batch in front, axis 1 is no longer the keys. Use dim=-1.",
        ),
        Mistake(
            edited(in_one_line, " / math.sqrt(q.size(-1))", ""),
            "The scores are not scaled: divide them by √d before the softmax.",
        ),
        Mistake(
            lambda q, k, v: (q @ k.mT).softmax(dim=-1) / math.sqrt(q.size(-1)) @ v,
            "You divided by √d after the softmax, so each row sums to 1/√d. Divide the scores, before the softmax.",
        ),
        Mistake(
            edited(in_one_line, ".softmax(dim=-1)", ""),
            "There is no softmax: you weighted the values by their scores, which can be negative and don't sum to 1.",
        ),
        Mistake(
            edited(in_one_line, "math.sqrt(q.size(-1))", "q.size(-1)"),
            "In all, you divided by d: at once, or by √d twice. (torch's function and attend divide by √d themselves.) "
            "Divide by √d, once.",
        ),
        Mistake(
            edited(in_one_line, "/", "*"),
            "You multiplied by √d. Divide.",
        ),
        Mistake(
            edited(in_one_line, " @ v", ""),
            "These are the weights. One step is left: mix the values by them.",
        ),
        Mistake(
            edited(in_one_line, "q.size(-1)", "v.size(-1)"),
            "You divided by the root of the number of features of a value. d is that of a query or a key.",
        ),
        Mistake(
            edited(in_one_line, "q.size(-1)", "k.size(-2)"),
            "You divided by the root of the number of keys. d is the number of features of a key.",
        ),
        Mistake(
            edited(in_one_line, "q.size(-1)", "q.size(-2)"),
            "You divided by the root of the number of queries. d is the number of features of a query.",
        ),
        Mistake(
            edited(in_one_line, "q.size(-1)", "q.size(1)"),
            "Right for a table, where axis 1 is the features. With a batch in front it isn't: use q.size(-1).",
            also=(edited(in_one_line, "q.size(-1)", "k.size(1)"),),
        ),
        Mistake(
            edited(in_one_line, "k.mT", "k.T"),
            ".T reverses all axes, the batch too. Swap the last two: k.transpose(-2, -1), or k.mT.",
        ),
        Mistake(
            edited(in_one_line, "k.mT", "k.transpose(1, 2)"),
            "Which axes of k you swap depends on how many are in front: there may be none, or several. Count from the "
            "end: k.transpose(-2, -1), or k.mT.",
            also=(
                edited(in_one_line, "k.mT", "k.transpose(0, 1)"),
                edited(in_one_line, "k.mT", "k.permute(0, 2, 1)"),
            ),
        ),
        Mistake(
            lambda q, k, v: (scaled_scores(q, k) @ v).softmax(dim=-1),
            "You mixed the values by their scores, and took the softmax of that. The softmax comes first: it turns the "
            "scores into weights.",
        ),
        Mistake(
            edited(in_one_line, ("return (q", "return v @ (q"), (" @ v", "")),
            "The other way around: the weights go on the left, so their K columns meet the K rows of v.",
        ),
        Mistake(
            edited(in_one_line, "@ v", "* v"),
            "You multiplied weights and values entry by entry. A row of the output is a sum over the keys: @, not *.",
        ),
        Mistake(
            edited(in_one_line, ".softmax(dim=-1)", ".sigmoid()"),
            "The sigmoid looks at each score alone, so a row need not sum to 1. Softmax divides by the row's sum.",
        ),
        Mistake(
            edited(in_one_line, "@ v", "@ k"),
            "You averaged the keys. Keys only decide the weights; average the values.",
        ),
        Mistake(
            _by_powers,
            "The formula is right, but e^100 is too large for a float: inf / inf is NaN. Subtract the row's maximum "
            "from the scores first, as in my_softmax.",
            seen_in="scores of a hundred and more",
        ),
        Mistake(
            edited(in_one_line, "k.mT", "v.mT"),
            "The scores were made with the values. Queries are compared with keys: q @ kᵀ.",
            also=(edited(in_one_line, ("k.mT", "v.mT"), ("@ v", "@ k")),),
        ),
        Mistake(
            lambda q, k, v: fused_attention(q, k, v, is_causal=True),
            "A causal mask hides keys here: the first query saw only the first key. This attention has no mask.",
        ),
        Mistake(
            edited(in_one_line, ".softmax(dim=-1)", ".softmax(dim=-1).softmax(dim=-1)"),
            "You took the softmax twice. The second one evens the weights out.",
        ),
        Mistake(
            edited(in_one_line, "softmax(dim=-1)", "log_softmax(dim=-1)"),
            "You mixed with the logarithms of the weights (log_softmax), which are negative. Mix with the weights "
            "themselves.",
        ),
        Mistake(
            lambda q, k, v: v.gather(-2, (q @ k.mT).argmax(dim=-1, keepdim=True).expand(*q.shape[:-1], v.size(-1))),
            "You took only the value of the best key. Every value counts, according to its weight.",
        ),
        Mistake(
            edited(in_one_line, ".softmax(dim=-1)", ".softmax(dim=-1).mT"),
            "Your weights are (K, Q), a row for each key. They must be (Q, K): their K columns meet the K rows of v.",
        ),
    ],
    hints=[
        "Three steps: scaled scores, softmax over the keys, weighted average of the values.",
        "You have written all three already, here and in lesson 01.",
    ],
    solution="""
        def my_attention(q, k, v):
            scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
            weights = scores.softmax(dim=-1)
            return weights @ v
    """,
    in_package="lessons.attention.attend",
)
