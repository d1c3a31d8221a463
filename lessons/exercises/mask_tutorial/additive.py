"""Lesson 10, my_additive: a bool mask as 0 and -inf, to be added to scores."""

import torch
from torch import Tensor

from lessons.checking.edits import edited
from lessons.checking.engine import Case, Exercise, Mistake


def additive(allowed: Tensor, dtype: torch.dtype) -> Tensor:
    """bool, True = may attend -> 0 where it may attend, -inf where it may not; same shape, of the given dtype."""
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
        Case({"allowed": empty_row, "dtype": torch.float32}, about="a query with no open key"),
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
    mistakes=[
        Mistake(
            edited(additive, "~allowed", "allowed"),
            "Inverted: what should be open is hidden. masked_fill fills where its mask is True.",
            also=(lambda allowed, dtype: allowed.to(dtype) * -1e9,),
        ),
        Mistake(
            edited(additive, "-torch.inf", "-1e9"),
            "-1e9 is large, but not infinite: a row of nothing but -1e9 gives equal weights to all that is hidden. And"
            " it doesn't fit into half precision (float16), whose largest number is 65504.",
            also=(lambda allowed, dtype: torch.where(allowed, 0.0, -1e9).to(dtype),),
        ),
        Mistake(
            edited(additive, "-torch.inf", "torch.finfo(dtype).min"),
            "The smallest number of the type fits, but it is a finite number: a row of nothing else gives equal "
            "weights to all that is hidden, and if a bias is added it may overflow. Use -inf.",
        ),
        Mistake(
            edited(additive, "-torch.inf", "-1e4"),
            "-1e4 fits half precision, but it is a finite number: a row of nothing else gives equal weights to all "
            "that is hidden.",
        ),
        Mistake(
            lambda allowed, dtype: (~allowed).to(dtype) * -torch.inf,
            "0 times -inf is NaN, not 0. Use masked_fill or torch.where.",
            also=(lambda allowed, dtype: allowed.to(dtype) * -torch.inf,),
        ),
        Mistake(
            edited(additive, ".masked_fill(~allowed, -torch.inf)", ""),
            "All zeros: nothing is blocked. If you called masked_fill: it returns a new tensor, and doesn't change the"
            " old one.",
        ),
        Mistake(
            lambda allowed, dtype: allowed.to(dtype),
            "These are 1 and 0. Added to the scores they change them a little, and block nothing. e^s must become 0: "
            "for which s?",
        ),
        Mistake(
            lambda allowed, dtype: (~allowed).to(dtype),
            "These are 0 and 1. Added to the scores, the 1 gives the hidden keys even more weight. It must be -inf.",
        ),
        Mistake(
            edited(additive, "torch.zeros", "torch.ones"),
            "-inf is in the right places, but what is open gets 1. The mask is added to the scores, and an open key "
            "must not change: 0.",
        ),
    ],
    hints=[
        "Begin with zeros of the right shape and dtype.",
        "Then fill in -inf where allowed is False: masked_fill(~allowed, …).",
        "float('-inf') and -torch.inf fit every floating-point type from 16 bits up. -1e9 does not fit float16.",
    ],
    solution="""
        def my_additive(allowed, dtype):
            return torch.zeros(allowed.shape, dtype=dtype).masked_fill(~allowed, -torch.inf)
    """,
    in_package="lessons.masks.allowed_to_additive",
)
