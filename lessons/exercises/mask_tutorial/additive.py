"""Lesson 10, my_additive: a bool mask and a bias for each head, as one mask that is added to scores."""

import torch
from torch import Tensor

from lessons.checking.edits import edited
from lessons.checking.engine import Case, Exercise, Mistake, numbers
from lessons.wording import worded


def additive(allowed: Tensor, bias: Tensor) -> Tensor:
    """allowed (B, 1, Q, K), True = may attend, and bias (H, Q, K) -> (B, H, Q, K), of the bias's dtype.

    The bias where a query may attend, -inf where it may not. ALiBi (arXiv 2108.12409) has such a bias.
    """
    return torch.where(allowed, bias, -torch.inf)


def _right_dtype(case: Case, results: tuple) -> str | None:
    got, wanted = results[0].dtype, case.inputs["bias"].dtype
    if got == wanted:
        return None
    return worded("Kind of float: the mask is {got}; expected {wanted}, the type of the bias.", got=got, wanted=wanted)


def _additive_cases(generator: torch.Generator) -> list[Case]:
    def case(batch, heads, queries, keys, dtype=torch.float32, about=""):
        allowed = torch.rand(batch, 1, queries, keys, generator=generator) > 0.4
        bias = numbers(generator, heads, queries, keys).to(dtype)
        return Case({"allowed": allowed, "bias": bias}, about=about)

    empty_row = torch.tensor([[True, False, True], [False, False, False]])[None, None]
    return [
        case(1, 2, 2, 3),
        case(2, 3, 4, 5),
        Case({"allowed": empty_row, "bias": numbers(generator, 2, 2, 3)}, about="a query with no open key"),
        case(2, 3, 2, 4, torch.float16, about="half precision"),
        case(2, 2, 2, 2, torch.float64, about="double precision"),
    ]


made_additive = Exercise(
    lesson="10",
    name="my_additive",
    reference=additive,
    cases=_additive_cases,
    outputs=("additive",),
    laws=[_right_dtype],
    mistakes=[
        Mistake(
            edited(additive, "allowed, bias, -torch.inf", "allowed, -torch.inf, bias"),
            "Inverted: what should be open is hidden. In torch.where the second argument is taken where the first is "
            "True.",
        ),
        Mistake(
            lambda allowed, bias: bias.expand(len(allowed), *bias.shape).masked_fill(~allowed, -1e9),
            "-1e9 is large, but not infinite: a row of nothing but -1e9 gives equal weights to all that is hidden. And"
            " half precision (float16) has no such number: its largest is 65504.",
            also=[
                edited(additive, "-torch.inf", "-1e9"),
                lambda allowed, bias: bias + (~allowed).to(bias.dtype) * -1e9,
                lambda allowed, bias: bias + torch.zeros(allowed.shape, dtype=bias.dtype).masked_fill(~allowed, -1e9),
            ],
        ),
        Mistake(
            edited(additive, "-torch.inf", "torch.finfo(bias.dtype).min"),
            "The smallest number of the type fits, but it is a finite number: a row of nothing else gives equal "
            "weights to all that is hidden. Use -inf.",
        ),
        Mistake(
            edited(additive, "-torch.inf", "-1e4"),
            "-1e4 fits half precision, but it is a finite number: a row of nothing else gives equal weights to all "
            "that is hidden.",
        ),
        Mistake(
            lambda allowed, bias: bias + (~allowed).to(bias.dtype) * -torch.inf,
            "0 times -inf is NaN, not 0. Use masked_fill or torch.where.",
        ),
        Mistake(
            lambda allowed, bias: bias.expand(len(allowed), *bias.shape),
            "Nothing is blocked: that is the bias alone. If you called masked_fill: it returns a new tensor, and "
            "doesn't change the old one.",
        ),
        Mistake(
            lambda allowed, bias: torch.zeros_like(bias).masked_fill(~allowed, -torch.inf),
            "-inf is in the right places, but the bias is lost: what is open gets 0, not its bias.",
            also=[lambda allowed, bias: torch.zeros(allowed.shape).masked_fill(~allowed, -torch.inf)],
        ),
        Mistake(
            edited(additive, "-torch.inf", "torch.inf"),
            "What is hidden gets +inf, and a softmax makes NaN of such a row. It must be -inf.",
        ),
        Mistake(
            lambda allowed, bias: allowed * bias,
            "Multiplied by False, a bias becomes 0, and 0 added to a score hides nothing. It must be -inf.",
        ),
        Mistake(
            lambda allowed, bias: bias + allowed,
            "True counts as 1 in a sum. Added to the scores it changes them a little, and hides nothing.",
        ),
        Mistake(
            lambda allowed, bias: bias + torch.zeros(allowed.shape).masked_fill(~allowed, -torch.inf),
            "In half precision your mask is float32, and scores with such a mask added are float32 as well. The zeros "
            "and −inf that you add to the bias are float32, torch's default, and a sum has the wider type. Take the "
            "bias itself: torch.where(allowed, bias, -torch.inf).",
            seen_in="half precision",
        ),
    ],
    hints=[
        "(B, 1, Q, K) and (H, Q, K) broadcast to (B, H, Q, K): torch lines up the axes from the right.",
        "torch.where(condition, a, b) takes a where the condition is True, else b; b may be a number.",
        "float('-inf') and -torch.inf fit every floating-point type from 16 bits up. -1e9 does not fit float16.",
    ],
    solution="""
        def my_additive(allowed, bias):
            return torch.where(allowed, bias, -torch.inf)
    """,
)
