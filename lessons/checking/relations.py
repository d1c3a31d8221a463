"""How a wrong result relates to the right one: a few simple relations, tried in turn and put into words."""

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

import torch
from torch import Tensor

from lessons.checking.comparing import equal, is_tensor

ENOUGH = 4  # with fewer numbers a relation may hold by chance
MOST = 10**6  # with more, it takes too long


def related(pairs: Sequence[tuple[Tensor, Tensor]], others: Mapping[str, object]) -> str | None:
    """How my results relate to the right ones, as a sentence.

    pairs: mine and right, of each input that went wrong; the sentence is about the first. others: what else mine may
    be in the first, by name.
    """
    mine, right = pairs[0]
    found = relation(mine, right, others)
    if found is None or right.numel() >= ENOUGH:
        return found
    told = [relation(mine, right, {}) for mine, right in pairs]
    return found if mine.shape != right.shape or (len(told) > 1 and set(told) == {found}) else None


def relation(mine: Tensor, right: Tensor, others: Mapping[str, object]) -> str | None:
    """How one result relates to the right one."""
    if not (_ordinary(mine) and _ordinary(right)):
        return None
    for name, other in others.items():
        if is_tensor(other) and _ordinary(other) and _of_one_kind(mine, other) and equal(mine, other.to(mine)):
            return f"Yours is {name}."
    if mine.shape != right.shape:
        return _first(SHAPED, mine, right)
    if not _of_one_kind(mine, right):
        return None
    if right.dtype == torch.bool:
        return _first(BOOLEAN, mine, right)
    if _close(mine.double(), right.double()):
        return "The numbers are the right ones."
    return _first(NUMERICAL, mine.double(), right.double())


def _of_one_kind(mine: Tensor, other: Tensor) -> bool:
    """Whether they have one shape, and True and False are not compared with numbers."""
    return mine.shape == other.shape and (mine.dtype == torch.bool) == (other.dtype == torch.bool)


def _ordinary(tensor: Tensor) -> bool:
    return not tensor.is_complex() and 0 < tensor.numel() <= MOST


Relation = Callable[[Tensor, Tensor], str | None]


def _first(relations: Sequence[Relation], mine: Tensor, right: Tensor) -> str | None:
    return next((story for each in relations if (story := each(mine, right))), None)


def _close(mine: Tensor, right: Tensor) -> bool:
    return bool(_same(mine, right).all())


def _same(mine: Tensor, right: Tensor) -> Tensor:
    return torch.isclose(mine, right, rtol=1e-4, atol=1e-5, equal_nan=True)


def _other_sign(mine: Tensor, right: Tensor) -> str | None:
    return "Yours has the other sign, everywhere." if _close(mine, -right) else None


def _multiple(mine: Tensor, right: Tensor) -> str | None:
    if not (mine.isfinite().all() and right.isfinite().all() and right.any() and mine.any()):
        return None
    place = right.abs().argmax()
    factor = mine.flatten()[place] / right.flatten()[place]
    if not _close(mine, factor * right):
        return None
    return f"Yours is {named(factor.item())} times what is expected, everywhere."


def named(factor: float) -> str:
    """The number; of a root or a fraction, also that: 0.5774, 1 / √3."""
    short = f"{factor:.4g}" if abs(factor - 1) > 1e-3 else f"{factor:.8g}"
    if math.isclose(factor, round(factor), rel_tol=1e-5):
        return short
    for form, whole in (("√{}", factor**2), ("1 / {}", 1 / factor), ("1 / √{}", 1 / factor**2)):
        if factor > 0 and 2 <= round(whole) <= 2048 and math.isclose(whole, round(whole), rel_tol=2e-4):
            exact = form.format(round(whole))
            return f"{short}, which is {exact},"
    return short


def _shifted(mine: Tensor, right: Tensor) -> str | None:
    difference = mine - right
    if right.numel() == 1 or not difference.isfinite().all() or not _close(mine, right + difference.mean()):
        return None
    shift = difference.mean().item()
    return f"Yours is too {'large' if shift > 0 else 'small'} by {abs(shift):.4g}, everywhere."


def _transposed(mine: Tensor, right: Tensor) -> str | None:
    if right.dim() < 2 or right.size(-1) != right.size(-2) or not _close(mine, right.mT):
        return None
    return "Yours is transposed: its rows are the expected columns."


def _turned(mine: Tensor, right: Tensor) -> str | None:
    for axis in range(right.dim()):
        if right.size(axis) < 2:
            continue
        if _close(mine, right.flip(axis)):
            return f"Yours is in the reverse order along axis {axis}."
        for step, way in ((1, "on"), (-1, "back")):
            if right.size(axis) > 2 and _close(mine, right.roll(step, axis)):
                return f"Yours is moved {way} by one place along axis {axis}."
    return None


def _moved_and_cut(mine: Tensor, right: Tensor) -> str | None:
    for axis in range(right.dim()):
        size = right.size(axis)
        if size < 3:
            continue
        for way, at, of in (("on", slice(1, size), slice(0, size - 1)), ("back", slice(0, size - 1), slice(1, size))):
            a, b = mine.movedim(axis, 0)[at], right.movedim(axis, 0)[of]
            if _close(a, b) and not _close(right.movedim(axis, 0)[at], b):
                return f"Yours is moved {way} by one place along axis {axis}."
    return None


FUNCTIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "the square of": torch.square,
    "the square root of": torch.sqrt,
    "e to the power of": torch.exp,
    "the logarithm of": torch.log,
    "1 over": torch.reciprocal,
    "1 minus": lambda x: 1 - x,
    "the size, without the sign, of": torch.abs,
    "the larger of 0 and": torch.relu,
    "the softmax of": lambda x: x.softmax(-1) if x.dim() else x,
}


def _function_of(mine: Tensor, right: Tensor) -> str | None:
    for name, function in FUNCTIONS.items():
        if _close(mine, function(right)) and not _close(mine, right):
            return f"Yours is {name} what is expected."
    return None


def _sums(mine: Tensor, right: Tensor) -> str | None:
    if right.dim() < 2 or not _close(right.sum(-1), torch.ones_like(right.sum(-1))):
        return None
    sums = mine.sum(-1)
    if not sums.isfinite().all() or _close(sums, torch.ones_like(sums)):
        return None
    if _close(mine.sum(-2), torch.ones_like(mine.sum(-2))):
        return "Each of your columns sums to 1; each row must."
    return f"Your rows sum to {_range(sums)}; each must sum to 1."


def _of_each(mine: Tensor, right: Tensor) -> str | None:
    """A number for each row, or for each column, that is multiplied or added."""
    if not (mine.isfinite().all() and right.isfinite().all()):
        return None
    for axis, line in ((-1, "row"), (-2, "column")):
        if right.dim() < -axis or right.size(axis) < 3 or right.numel() == right.size(axis):
            continue
        difference = mine - right
        if _close(difference, difference.mean(axis, keepdim=True).expand_as(difference)):
            return f"Each {line} of yours is off by a number of its own: {_range(difference.mean(axis))}."
        factor = (mine * right).sum(axis, keepdim=True) / right.square().sum(axis, keepdim=True)
        if factor.isfinite().all() and (factor.abs() > 1e-3).all() and _close(mine, factor * right):
            return f"Each {line} of yours is the expected one times a number of its own: {_range(factor)}."
    return None


def _all_alike(mine: Tensor, right: Tensor) -> str | None:
    first = mine.flatten()[0]
    if (
        mine.numel() > 1
        and _close(mine, first.expand_as(mine))
        and not _close(right, right.flatten()[0].expand_as(right))
    ):
        return f"All your numbers are {first.flatten()[0].item():.4g}."
    if mine.dim() > 1 and mine.size(-2) > 1:
        for axis, line in ((-2, "rows"), (-1, "columns")):
            if _alike(mine, axis) and not _alike(right, axis):
                return f"All your {line} are alike, and they should not be."
    return None


def _alike(table: Tensor, axis: int) -> bool:
    return _close(table, table.select(axis, 0).unsqueeze(axis).expand_as(table))


def _infinite(mine: Tensor, right: Tensor) -> str | None:
    blocked = right == -torch.inf
    if blocked.any() and (mine[blocked] != -torch.inf).any():
        return f"Where -inf is expected, yours has {_range(mine[blocked & (mine != -torch.inf)])}."
    if (mine.isinf() & ~right.isinf()).any():
        return "Yours is infinite where it should not be."
    return None


def _where(mine: Tensor, right: Tensor) -> str | None:
    """Which part alone is wrong, or alone is right."""
    same = mine == right if right.dtype == torch.bool else _same(mine, right)
    zero = right == 0
    if right.dtype != torch.bool and zero.any() and torch.equal(same, ~zero):
        return "It is wrong exactly where 0 is expected."
    if right.dim() == 2 and right.size(0) == right.size(1) > 2:
        diagonal = torch.eye(len(right), dtype=torch.bool)
        if torch.equal(same, ~diagonal):
            return "Only the diagonal is wrong."
    for axis in range(right.dim()):
        size = right.size(axis)
        if size < 2:
            continue
        fine = [bool(part.all()) for part in same.unbind(axis)]
        if not any(fine):
            continue
        line = _line(axis, right.dim())
        wrong = [i for i, good in enumerate(fine) if not good]
        good = [i for i, good in enumerate(fine) if good]
        if len(wrong) <= len(good):
            return f"It is wrong only in {line} {_listed(wrong)}."
        return f"It is right only in {line} {_listed(good)}."
    return None


def _line(axis: int, axes: int) -> str:
    names = {1: ("entry",), 2: ("row", "column")}
    return names[axes][axis] if axes in names else f"axis {axis}, place"


def _nearly(mine: Tensor, right: Tensor) -> str | None:
    if not (mine.isfinite().all() and right.isfinite().all()):
        return None
    off = ((mine - right).abs() / right.abs().max().clamp(min=1e-12)).max().item()
    return f"It is close: off by {off:.2g} of the largest number, at most." if off < 0.02 else None


def _rearranged(mine: Tensor, right: Tensor) -> str | None:
    if right.numel() > 2 and _close(mine.flatten().sort().values, right.flatten().sort().values):
        return "The numbers are the right ones, in other places."
    return None


def spread(mine: Tensor, right: Tensor) -> str | None:
    """The smallest and the largest number, if there is nothing else to say."""
    if not (_ordinary(mine) and _ordinary(right) and right.is_floating_point() and right.numel() >= ENOUGH):
        return None
    if not (mine.isfinite().all() and right.isfinite().all()):
        return None
    return f"Your numbers: {_range(mine)}; expected: {_range(right)}."


def _range(numbers: Tensor) -> str:
    low, high = numbers.min().item(), numbers.max().item()
    return f"{low:.4g}" if f"{low:.4g}" == f"{high:.4g}" else f"{low:.4g} to {high:.4g}"


def _listed(numbers: list[int]) -> str:
    if len(numbers) > 2 and all(b == a + 1 for a, b in pairwise(numbers)):
        return f"{numbers[0]} to {numbers[-1]}"
    return ", ".join(map(str, numbers))


def _inverted(mine: Tensor, right: Tensor) -> str | None:
    return "Yours is inverted: True and False are swapped, everywhere." if torch.equal(mine, ~right) else None


def _all_true_or_false(mine: Tensor, right: Tensor) -> str | None:
    return f"All of yours is {bool(mine.flatten()[0])}." if mine.all() or not mine.any() else None


def _transposed_mask(mine: Tensor, right: Tensor) -> str | None:
    return _transposed(mine.double(), right.double())


def _turned_mask(mine: Tensor, right: Tensor) -> str | None:
    return _turned(mine.double(), right.double())


def _one_way(mine: Tensor, right: Tensor) -> str | None:
    more, less = int((mine & ~right).sum()), int((right & ~mine).sum())
    if more and less:
        told = f"In {_places(more)} yours is True and should be False; in {_places(less)} the other way around."
    else:
        told = f"Yours is {'True' if more else 'False'} in {_places(more or less)} too many."
    where = _where(mine, right)
    return f"{told} {where}" if where else told


def _places(count: int) -> str:
    return f"{count} place{'s' * (count != 1)}"


def _other_order_of_axes(mine: Tensor, right: Tensor) -> str | None:
    if right.dim() > 1 and mine.dim() == right.dim():
        if mine.shape == right.mT.shape and equal(mine, right.mT.to(mine)):
            return "The numbers are the right ones, but the last two axes are swapped."
        for a in range(right.dim()):
            for b in range(a):
                if mine.shape == right.transpose(a, b).shape and equal(mine, right.transpose(a, b).to(mine)):
                    return f"The numbers are the right ones, but the axes {b} and {a} are swapped."
    return None


def _same_numbers(mine: Tensor, right: Tensor) -> str | None:
    if mine.numel() == right.numel() and equal(mine.flatten(), right.flatten().to(mine)):
        more = "one axis more or less" if abs(mine.dim() - right.dim()) == 1 else "other axes"
        return f"The numbers are the right ones, in the right order; only the shape has {more}."
    return None


def _stretched(mine: Tensor, right: Tensor) -> str | None:
    try:
        shape = torch.broadcast_shapes(mine.shape, right.shape)
    except RuntimeError:
        return None
    if equal(mine.expand(shape), right.expand(shape).to(mine)):
        smaller = mine.numel() < right.numel()
        return f"The numbers are the right ones, {'stated once' if smaller else 'repeated'} along an axis."
    return None


def _summed_up(mine: Tensor, right: Tensor) -> str | None:
    if right.dtype == torch.bool or mine.dtype == torch.bool:
        return None
    for axis in range(right.dim()):
        for name, smaller in (("sum", right.double().sum(axis)), ("mean", right.double().mean(axis))):
            if smaller.shape == mine.squeeze().shape and _close(mine.squeeze().double(), smaller):
                return f"Yours is the {name} of what is expected over axis {axis}: do not add that axis up."
    return None


def _part_of(mine: Tensor, right: Tensor) -> str | None:
    if mine.dim() != right.dim():
        return None
    cut = [(i, m, r) for i, (m, r) in enumerate(zip(mine.shape, right.shape)) if m != r]
    if len(cut) != 1:
        return None
    axis, m, r = cut[0]
    small, large, which = (mine, right, "missing") if m < r else (right, mine, "too many")
    few, many = min(m, r), max(m, r)
    for start, where in ((0, "at the end"), (many - few, "at the beginning")):
        if few and equal(small, large.narrow(axis, start, few).to(small)):
            return f"What is there is right; {many - few} {which} {where} of axis {axis}."
    return None


SHAPED = (_other_order_of_axes, _same_numbers, _stretched, _part_of, _summed_up)
BOOLEAN = (_inverted, _transposed_mask, _all_true_or_false, _turned_mask, _one_way)
NUMERICAL = (
    _other_sign,
    _multiple,
    _shifted,
    _transposed,
    _turned,
    _function_of,
    _sums,
    _of_each,
    _infinite,
    _all_alike,
    _where,
    _moved_and_cut,
    _rearranged,
    _nearly,
)
