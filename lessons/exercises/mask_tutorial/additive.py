"""Lesson 10, my_additive: a bool mask as 0 and -inf, to be added to scores."""

import torch
from torch import Tensor

from lessons import masks
from lessons.checking.edits import edited
from lessons.checking.engine import Case, Exercise, Mistake


def additive(allowed: Tensor, dtype: torch.dtype) -> Tensor:
    """bool, True = may look -> 0 where it may look, -inf where it may not; same shape, of the given dtype."""
    return torch.zeros(allowed.shape, dtype=dtype).masked_fill(~allowed, -torch.inf)


def _right_dtype(case: Case, results: tuple) -> str | None:
    got, wanted = results[0].dtype, case.inputs["dtype"]
    if got == wanted:
        return None
    return f"Kind of float: the mask is {got}; expected {wanted}, the type that was asked for."


def _additive_cases(generator: torch.Generator) -> list[Case]:
    some = [torch.rand(*shape, generator=generator) > 0.4 for shape in [(2, 3), (2, 1, 3, 4), (3, 3)]]
    empty_row = torch.tensor([[True, False, True], [False, False, False]])
    return [
        Case({"allowed": some[0], "dtype": torch.float32}),
        Case({"allowed": some[1], "dtype": torch.float32}),
        Case({"allowed": empty_row, "dtype": torch.float32}, about="a query that may look at nothing"),
        Case({"allowed": some[1], "dtype": torch.float16}, about="half precision"),
        Case({"allowed": some[2], "dtype": torch.float64}, about="double precision"),
    ]


made_additive = Exercise(
    lesson="10",
    name="my_additive",
    reference=additive,
    cases=_additive_cases,
    outputs=("additive",),
    laws=[_right_dtype],
    solution=(additive, masks.allowed_to_additive),
    mistakes=[
        Mistake(
            edited(additive, "~allowed", "allowed"),
            "Turned around: what may look is hidden. masked_fill fills where its mask is True.",
            also=(lambda allowed, dtype: allowed.to(dtype) * -1e9,),
        ),
        Mistake(
            edited(additive, "-torch.inf", "-1e9"),
            "-1e9 is large, but not infinite: a row of nothing but -1e9 becomes an even share of what is hidden. And "
            "in half precision, whose largest number is 65504, it does not even fit.",
            also=(lambda allowed, dtype: torch.where(allowed, 0.0, -1e9).to(dtype),),
        ),
        Mistake(
            edited(additive, "-torch.inf", "torch.finfo(dtype).min"),
            "The smallest number of the type fits, but it is a number: a row of nothing else becomes an even share of "
            "what is hidden, and a bias added to it may overflow. -inf is what you want.",
        ),
        Mistake(
            edited(additive, "-torch.inf", "-1e4"),
            "-1e4 fits half precision, but it is a number like others: a row of nothing else becomes an even share of "
            "what is hidden.",
        ),
        Mistake(
            lambda allowed, dtype: (~allowed).to(dtype) * -torch.inf,
            "0 times -inf is NaN, not 0. Fill, or choose by torch.where.",
            also=(lambda allowed, dtype: allowed.to(dtype) * -torch.inf,),
        ),
        Mistake(
            edited(additive, ".masked_fill(~allowed, -torch.inf)", ""),
            "All zeros: nothing is blocked. If you called masked_fill: it returns a new tensor, and keeps the old one.",
        ),
        Mistake(
            lambda allowed, dtype: allowed.to(dtype),
            "These are 1 and 0. Added to the scores they nudge, and block nothing. e^s must become 0: which s is that?",
        ),
        Mistake(
            lambda allowed, dtype: (~allowed).to(dtype),
            "These are 0 and 1. Added to the scores, the 1 makes the hidden keys even heavier. It must be -inf.",
        ),
        Mistake(
            edited(additive, "torch.zeros", "torch.ones"),
            "-inf is in the right places, but what may look gets 1. It is added to the scores, so that it should "
            "change nothing: 0.",
        ),
    ],
    hints=[
        "Begin with zeros of the right shape and dtype.",
        "Then fill in -inf where allowed is False: masked_fill(~allowed, …).",
        "float('-inf') and torch.inf fit every floating-point type. -1e9 does not.",
    ],
)
