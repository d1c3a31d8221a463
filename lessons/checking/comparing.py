"""Results compared: whether they are equal, and if not, what is wrong with them, in words."""

from collections.abc import Sequence
from types import GeneratorType
from typing import Any, TypeGuard

import torch
from torch import Tensor

from lessons.checking.reports import number
from lessons.wording import SENTENCES, counted, listed, worded

TOLERANCES = {torch.float16: 2e-2, torch.bfloat16: 5e-2}
NOT_POSSIBLE = "not possible"


def is_tensor(thing: Any) -> TypeGuard[Tensor]:
    """Whether it really is a tensor, whatever its `__class__` says."""
    return issubclass(type(thing), Tensor)


def equal(mine: Any, right: Any) -> bool:
    """Same shape, same kind of numbers, same values to within the rounding of `right`; NaN equals NaN."""
    if not is_tensor(mine) or not is_tensor(right):
        return type(mine) is type(right)
    if mine.shape != right.shape or kind(mine) != kind(right) or coarser(mine, right):
        return False
    if not mine.is_floating_point():
        return torch.equal(mine.long(), right.long())
    if mine.dtype == right.dtype and torch.equal(mine, right):
        return True
    tolerance = TOLERANCES.get(right.dtype, 1e-4)
    return torch.allclose(mine.double(), right.double(), rtol=tolerance, atol=tolerance / 10, equal_nan=True)


def untouched(old: Any, new: Any) -> bool:
    """Whether an argument is exactly as it was: arguments are compared without tolerance, unlike results."""
    if not is_tensor(old):
        return True
    if type(new) is not type(old) or old.shape != new.shape or new.layout != old.layout or new.device != old.device:
        return False
    return torch.equal(old, new) or bool(((old == new) | (old.isnan() & new.isnan())).all())


def kind(tensor: Tensor) -> str:
    if tensor.dtype == torch.bool:
        return worded("True and False")
    if tensor.is_complex():
        return worded("complex numbers")
    return worded("floats") if tensor.is_floating_point() else worded("integers")


def coarser(mine: Tensor, right: Tensor) -> bool:
    """Whether my numbers have fewer digits, as in float16 compared with float32."""
    if not mine.is_floating_point() or not right.is_floating_point():
        return False
    return torch.finfo(mine.dtype).eps > torch.finfo(right.dtype).eps


def wrong_number(function: str, results: tuple, outputs: Sequence[str]) -> str:
    if len(results) == 1 and results[0] is None:
        return worded("{function} returned None. Does it end with `return`?", function=function)
    if len(results) == 1 and type(results[0]) in (GeneratorType, map):
        return worded(
            "{function} returned a {type}, which computes nothing until it is asked; expected {expected} things: "
            "{outputs}. Put tuple(…) around it.",
            function=function,
            type=type(results[0]).__name__,
            expected=len(outputs),
            outputs=listed(outputs),
        )
    return counted(
        "{function} returned one thing; expected {expected}: {outputs}.",
        "{function} returned {count} things; expected {expected}: {outputs}.",
        len(results),
        function=function,
        expected=len(outputs),
        outputs=listed(outputs),
    )


def wrong_form(name: str, mine: Any, right: Any) -> str | None:
    if right is None:
        if mine is None:
            return None
        return worded("None: {name} is a {type}; expected None.", name=name, type=type(mine).__name__)
    if mine is None:
        return worded(
            "None: {name} is None; does your function end with `return`, and return all that it should?", name=name
        )
    if mine is ...:
        return worded("{name} is still `...`: that part is not written yet.", name=name)
    if not is_tensor(mine):
        if is_tensor(right) and right.dtype == torch.bool and not right.dim() and type(mine) is not bool:
            return worded("Type: {name} is a {type}; expected True or False.", name=name, type=type(mine).__name__)
        story = worded("Type: {name} is a {type}; expected a tensor.", name=name, type=type(mine).__name__)
        entries: Any = mine if type(mine) in (tuple, list) else ()
        place = next((i for i, entry in enumerate(entries) if is_tensor(entry) and equal(entry, right)), None)
        if place is None:
            return story
        return listed(
            [story, worded("Its entry [{place}] is the right one: return that alone.", place=place)], SENTENCES
        )
    if mine.shape != right.shape:
        return worded(
            "Shape: {name} is {shape}; expected {expected}.",
            name=name,
            shape=tuple(mine.shape),
            expected=tuple(right.shape),
        )
    if kind(mine) != kind(right):
        return worded(
            "Kind of number: {name} holds {kind} ({dtype}); expected {right_kind} ({right_dtype}).",
            name=name,
            kind=kind(mine),
            dtype=mine.dtype,
            right_kind=kind(right),
            right_dtype=right.dtype,
        )
    if coarser(mine, right):
        return worded(
            "Kind of number: {name} is in {dtype}, and has lost digits; expected {right_dtype}.",
            name=name,
            dtype=mine.dtype,
            right_dtype=right.dtype,
        )
    if mine.isnan().any() and not right.isnan().any():
        nans = mine.isnan()
        return worded(
            "NaN: {name} has it in {count} of {total} places, first at {place}.",
            name=name,
            count=int(nans.sum()),
            total=nans.numel(),
            place=first_place(nans),
        )
    return None


def where_it_differs(name: str, mine: Tensor, right: Tensor) -> str:
    if right.dim() == 0:
        one, other = number(mine, right), number(right, mine)
        return worded("Values: {name} differs: yours {mine}, expected {right}.", name=name, mine=one, right=other)
    return worded(
        "Values: {name} differs in {count} of {total} places, first at {place}: yours {mine}, expected {right}.",
        name=name,
        **_differing(mine, right),
    )


def places_that_differ(mine: Tensor, right: Tensor) -> str:
    """The same, after a colon."""
    return worded(
        "in {count} of {total} places, first at {place}: yours {mine}, expected {right}.", **_differing(mine, right)
    )


def _differing(mine: Tensor, right: Tensor) -> dict[str, Any]:
    if not mine.is_floating_point():
        different = mine.long() != right.long()
    else:
        different = ~torch.isclose(mine.double(), right.double(), rtol=1e-4, atol=1e-5, equal_nan=True)
    place = tuple(different.nonzero()[0].tolist())
    return {
        "count": int(different.sum()),
        "total": mine.numel(),
        "place": list(place),
        "mine": number(mine[place], right[place]),
        "right": number(right[place], mine[place]),
    }


def first_place(mask: Tensor) -> list[int]:
    return mask.nonzero()[0].tolist()


def gradients_of(results: Sequence[Any], inputs: list[Tensor]) -> tuple[Tensor | str | None, ...]:
    """The gradients of a fixed mixture of the results, so that no two cells weigh alike."""
    total = torch.zeros(())
    for result in results:
        if is_tensor(result) and result.is_floating_point() and result.requires_grad:
            total = total + (result * torch.linspace(0.5, 1.5, result.numel()).view(result.shape)).sum()
    if not total.requires_grad:
        return (None,) * len(inputs)
    try:
        return torch.autograd.grad(total, inputs, allow_unused=True)
    except RuntimeError:
        return (NOT_POSSIBLE,) * len(inputs)
