"""Lesson 13, my_weights: the weights of all heads, with an additive mask."""

import torch
from torch import Tensor

from lessons.checking.edits import edited
from lessons.checking.engine import Case, Exercise, Mistake, numbers, rows_sum_to_one
from lessons.exercises.inside_torch_attention.shared import some_blocked
from lessons.torch_attention import attention_weights, to_additive


def _weights_cases(generator: torch.Generator) -> list[Case]:
    def case(heads, length, keys, d, mask, **options):
        return Case(
            {"q": numbers(generator, heads, length, d), "k": numbers(generator, heads, keys, d), "mask": mask},
            **options,
        )

    def hidden(*shape):
        return to_additive(some_blocked(generator, *shape), torch.float32)

    large = case(2, 3, 4, 3, hidden(2, 3, 4), about="scores of a hundred and more")
    large.inputs["q"] *= 100
    return [
        case(6, 3, 4, 2, hidden(6, 3, 4)),
        case(4, 4, 4, 4, hidden(4, 4, 4)),
        case(6, 3, 4, 5, hidden(1, 3, 4), about="one mask for all heads"),
        case(6, 3, 4, 5, hidden(6, 1, 4), about="padding only: one row of the mask for all queries"),
        case(6, 3, 4, 2, None, about="no mask"),
        case(6, 3, 4, 3, 2 * numbers(generator, 6, 3, 4), about="a mask that holds a bias"),
        case(2, 3, 4, 3, hidden(2, 3, 4), about="gradients", gradients=True),
        large,
        case(6, 1, 4, 3, hidden(6, 1, 4), about="a single query"),
    ]


def _zero_afterwards(q: Tensor, k: Tensor, mask: Tensor | None) -> Tensor:
    weights = attention_weights(q, k, None)
    return weights if mask is None else weights.masked_fill(mask == -torch.inf, 0.0)


weighing = Exercise(
    lesson="13",
    name="my_weights",
    reference=attention_weights,
    cases=_weights_cases,
    outputs=("weights",),
    laws=[rows_sum_to_one()],
    mistakes=[
        Mistake(
            edited(attention_weights, "torch.baddbmm(mask, q, k.mT)", "torch.bmm(q, k.mT) * mask"),
            "You multiplied by the mask. Then 0, which means allowed, wipes out its score, and -inf times a negative "
            "score is +inf, which makes the softmax NaN. baddbmm adds.",
        ),
        Mistake(
            edited(attention_weights, " / math.sqrt(q.size(-1))", ""),
            "The scores are not divided by the square root of head_dim.",
        ),
        Mistake(
            edited(attention_weights, "math.sqrt(q.size(-1))", "math.sqrt(k.size(1))"),
            "You divided by the square root of the number of keys. head_dim is the last axis of q and k.",
        ),
        Mistake(
            edited(attention_weights, "math.sqrt(q.size(-1))", "math.sqrt(q.size(0))"),
            "You divided by the square root of B·H, the number of rows. head_dim is the last axis of q and k.",
        ),
        Mistake(
            edited(attention_weights, "math.sqrt(q.size(-1))", "math.sqrt(q.size(1))"),
            "You divided by the square root of the number of queries. head_dim is the last axis of q and k.",
        ),
        Mistake(
            edited(attention_weights, "torch.bmm(q, k.mT) if mask is None else ", ""),
            "Without a mask, mask is None, and nothing can be added: use torch.bmm there.",
            also=[
                edited(
                    attention_weights,
                    "torch.bmm(q, k.mT) if mask is None else torch.baddbmm(mask, q, k.mT)",
                    "torch.bmm(q, k.mT) + mask",
                )
            ],
            seen_in="no mask",
        ),
        Mistake(
            edited(attention_weights, "math.sqrt(q.size(-1))", "q.size(-1)"),
            "You divided by head_dim. Divide by its square root: that keeps the scores near 1 in size.",
        ),
        Mistake(
            edited(
                attention_weights,
                (" / math.sqrt(q.size(-1))", ""),
                ("scores.softmax", "(scores / math.sqrt(q.size(-1))).softmax"),
            ),
            "You divided after adding the mask, so the mask is divided too. For -inf that makes no difference, for a "
            "bias it does. Divide q first, as torch does.",
            seen_in="a mask that holds a bias",
        ),
        Mistake(
            edited(attention_weights, "dim=-1", "dim=-2"),
            "The softmax runs over the queries. Each query distributes its weight over the keys: the last axis.",
        ),
        Mistake(
            edited(attention_weights, " if mask is None else torch.baddbmm(mask, q, k.mT)", ""),
            "The mask is not used: hidden keys have weight.",
        ),
        Mistake(
            _zero_afterwards,
            "You set weights to 0 after the softmax. The hidden keys have taken part in the sum, so the rows no longer"
            " sum to 1. Add the mask before the softmax.",
        ),
        Mistake(
            edited(
                attention_weights,
                "torch.baddbmm(mask, q, k.mT)",
                "torch.bmm(q, k.mT).masked_fill(mask == -torch.inf, -torch.inf)",
            ),
            "What the mask blocks is hidden, but its other numbers are lost. Add the whole mask to the scores, before "
            "the softmax: it may contain a bias.",
            seen_in="a mask that holds a bias",
        ),
        Mistake(
            edited(
                attention_weights,
                "torch.baddbmm(mask, q, k.mT)",
                "torch.bmm(q, k.mT).masked_fill(mask != 0, -torch.inf)",
            ),
            "You read the mask as if it were bool, so whatever is not 0 blocks. It is additive: each of its numbers is"
            " added to a score.",
            seen_in="a mask that holds a bias",
        ),
        Mistake(
            edited(
                attention_weights, "scores.softmax(dim=-1)", "scores.exp() / scores.exp().sum(dim=-1, keepdim=True)"
            ),
            "The exponential of a large score is inf, and inf / inf is NaN. Subtract each row's largest score first, "
            "or call softmax, which does that.",
            seen_in="scores of a hundred and more",
        ),
        Mistake(
            edited(
                attention_weights,
                "torch.baddbmm(mask, q, k.mT)",
                "torch.bmm(q, k.mT).masked_fill(mask, -torch.inf)",
            ),
            "masked_fill wants a bool mask. This one is additive, with 0 and -inf in it: add it to the scores.",
        ),
        Mistake(
            edited(attention_weights, "mask is None", "not mask"),
            "torch can't say whether a whole tensor is true. Ask whether there is one: if mask is not None.",
        ),
        Mistake(
            edited(
                attention_weights, ("torch.bmm(q, k.mT)", "q @ k.T"), ("torch.baddbmm(mask, q, k.mT)", "q @ k.T + mask")
            ),
            "k.T reverses all three axes: (B·H, S, d) becomes (d, S, B·H). Only the last two are swapped: k.mT, or "
            "k.transpose(-2, -1).",
        ),
        Mistake(
            lambda q, k, mask: attention_weights(q, k, None) + (0 if mask is None else mask),
            "You added the mask to the weights, after the softmax, so they become -inf. Add it to the scores.",
        ),
        Mistake(
            edited(attention_weights, "baddbmm(mask", "baddbmm(-mask"),
            "You subtracted the mask: minus -inf is +inf. Add it.",
        ),
        Mistake(
            edited(attention_weights, "torch.baddbmm(mask, q, k.mT)", "torch.bmm(q, k.mT) + (mask != 0)"),
            "You converted the mask to bool before adding it, so it adds 1 where it should add -inf.",
        ),
    ],
    hints=[
        "Divide q by the square root of its last size.",
        "torch.baddbmm(mask, q, k.mT) computes mask + q kᵀ for all B·H rows at once. Without a mask, use torch.bmm.",
        "Then the softmax over the keys, the last axis.",
    ],
    solution="""
        def my_weights(q, k, mask):
            scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
            if mask is not None:
                scores = scores + mask
            return scores.softmax(dim=-1)
    """,
    in_package="lessons.torch_attention.attention_weights",
)
