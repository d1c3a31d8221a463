"""How a wrong result relates to the right one: a few simple relations, tried in turn and put into words."""

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

import torch
from torch import Tensor

from lessons.checking.comparing import equal, is_tensor
from lessons.wording import SENTENCES, counted, listed, marked, worded

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
            return worded("Yours is {name}.", name=name)
    if mine.shape != right.shape:
        return _first(SHAPED, mine, right)
    if not _of_one_kind(mine, right):
        return None
    if right.dtype == torch.bool:
        return _first(BOOLEAN, mine, right) if right.numel() > 1 else None
    if _close(mine.double(), right.double()):
        return worded("The numbers are the right ones.")
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
    return worded("Yours has the other sign, everywhere.") if _close(mine, -right) else None


def _multiple(mine: Tensor, right: Tensor) -> str | None:
    if not (mine.isfinite().all() and right.isfinite().all() and right.any() and mine.any()):
        return None
    place = right.abs().argmax()
    factor = mine.flatten()[place] / right.flatten()[place]
    if not _close(mine, factor * right):
        return None
    return worded("Yours is {factor} times what is expected, everywhere.", factor=named(factor.item()))


def named(factor: float) -> str:
    """The number; of a root or a fraction, also that: 0.5774, 1 / √3."""
    short = f"{factor:.4g}" if abs(factor - 1) > 1e-3 else f"{factor:.8g}"
    if math.isclose(factor, round(factor), rel_tol=1e-5):
        return short
    for form, whole in (("√{}", factor**2), ("1 / {}", 1 / factor), ("1 / √{}", 1 / factor**2)):
        if factor > 0 and 2 <= round(whole) <= 2048 and math.isclose(whole, round(whole), rel_tol=1e-5):
            exact = form.format(round(whole))
            return worded("{number}, which is {exact},", number=short, exact=exact)
    return short


def _shifted(mine: Tensor, right: Tensor) -> str | None:
    difference = mine - right
    if right.numel() == 1 or not difference.isfinite().all() or not _close(mine, right + difference.mean()):
        return None
    shift = difference.mean().item()
    if shift > 0:
        return worded("Yours is too large by {number:.4g}, everywhere.", number=shift)
    return worded("Yours is too small by {number:.4g}, everywhere.", number=-shift)


def _transposed(mine: Tensor, right: Tensor) -> str | None:
    if right.dim() < 2 or right.size(-1) != right.size(-2) or not _close(mine, right.mT):
        return None
    return worded("Yours is transposed: its rows are the expected columns.")


def _turned(mine: Tensor, right: Tensor) -> str | None:
    for axis in range(right.dim()):
        if right.size(axis) < 2:
            continue
        if _close(mine, right.flip(axis)):
            return worded("Yours is in the reverse order along axis {axis}.", axis=axis)
        for step, moved in ((1, ON), (-1, BACK)):
            if right.size(axis) > 2 and _close(mine, right.roll(step, axis)):
                return worded(moved, axis=axis)
    return None


ON = marked("Yours is moved on by one place along axis {axis}.")
BACK = marked("Yours is moved back by one place along axis {axis}.")


def _moved_and_cut(mine: Tensor, right: Tensor) -> str | None:
    for axis in range(right.dim()):
        size = right.size(axis)
        if size < 3:
            continue
        for moved, at, of in ((ON, slice(1, size), slice(0, size - 1)), (BACK, slice(0, size - 1), slice(1, size))):
            a, b = mine.movedim(axis, 0)[at], right.movedim(axis, 0)[of]
            if _close(a, b) and not _close(right.movedim(axis, 0)[at], b):
                return worded(moved, axis=axis)
    return None


FUNCTIONS: dict[str, Callable[[Tensor], Tensor]] = {
    marked("Yours is the square of what is expected."): torch.square,
    marked("Yours is the square root of what is expected."): torch.sqrt,
    marked("Yours is e to the power of what is expected."): torch.exp,
    marked("Yours is the logarithm of what is expected."): torch.log,
    marked("Yours is 1 over what is expected."): torch.reciprocal,
    marked("Yours is 1 minus what is expected."): lambda x: 1 - x,
    marked("Yours is the size, without the sign, of what is expected."): torch.abs,
    marked("Yours is the larger of 0 and what is expected."): torch.relu,
    marked("Yours is the softmax of what is expected."): lambda x: x.softmax(-1) if x.dim() else x,
}


def _function_of(mine: Tensor, right: Tensor) -> str | None:
    numbers = ~mine.isnan()  # NaN says nothing: the root of what is negative is NaN, and so is much else
    for story, function in FUNCTIONS.items():
        if _close(mine, function(right)) and not _close(mine[numbers], right[numbers]):
            return worded(story)
    return None


def _sums(mine: Tensor, right: Tensor) -> str | None:
    if right.dim() < 2 or not _close(right.sum(-1), torch.ones_like(right.sum(-1))):
        return None
    sums = mine.sum(-1)
    if not sums.isfinite().all() or _close(sums, torch.ones_like(sums)):
        return None
    if _close(mine.sum(-2), torch.ones_like(mine.sum(-2))):
        return worded("Each of your columns sums to 1; each row must.")
    return worded("Your rows sum to {range}; each must sum to 1.", range=_range(sums))


def _of_each(mine: Tensor, right: Tensor) -> str | None:
    """A number for each row, or for each column, that is multiplied or added."""
    if not (mine.isfinite().all() and right.isfinite().all()):
        return None
    for axis, off, times in ((-1, ROWS_OFF, ROWS_TIMES), (-2, COLUMNS_OFF, COLUMNS_TIMES)):
        if right.dim() < -axis or right.size(axis) < 3 or right.numel() == right.size(axis):
            continue
        difference = mine - right
        if _close(difference, difference.mean(axis, keepdim=True).expand_as(difference)):
            return worded(off, range=_range(difference.mean(axis)))
        factor = (mine * right).sum(axis, keepdim=True) / right.square().sum(axis, keepdim=True)
        if factor.isfinite().all() and (factor.abs() > 1e-3).all() and _close(mine, factor * right):
            return worded(times, range=_range(factor))
    return None


ROWS_OFF = marked("Each row of yours is off by a number of its own: {range}.")
ROWS_TIMES = marked("Each row of yours is the expected one times a number of its own: {range}.")
COLUMNS_OFF = marked("Each column of yours is off by a number of its own: {range}.")
COLUMNS_TIMES = marked("Each column of yours is the expected one times a number of its own: {range}.")


def _all_alike(mine: Tensor, right: Tensor) -> str | None:
    first = mine.flatten()[0]
    if (
        mine.numel() > 1
        and _close(mine, first.expand_as(mine))
        and not _close(right, right.flatten()[0].expand_as(right))
    ):
        return worded("All your numbers are {number:.4g}.", number=first.item() + 0.0)  # no -0
    if mine.dim() > 1 and mine.size(-2) > 1:
        if _alike(mine, -2) and not _alike(right, -2):
            return worded("All your rows are alike, and they should not be.")
        if _alike(mine, -1) and not _alike(right, -1):
            return worded("All your columns are alike, and they should not be.")
    return None


def _alike(table: Tensor, axis: int) -> bool:
    return _close(table, table.select(axis, 0).unsqueeze(axis).expand_as(table))


def _infinite(mine: Tensor, right: Tensor) -> str | None:
    blocked = right == -torch.inf
    open_there = mine[blocked & (mine != -torch.inf)]
    if len(open_there):
        return worded(
            "In {places} where -inf is expected, yours has {range}.",
            places=_places(len(open_there)),
            range=_range(open_there),
        )
    if (mine.isinf() & ~right.isinf()).any():
        return worded("Yours is infinite where it should not be.")
    return None


def _where(mine: Tensor, right: Tensor) -> str | None:
    """Which part alone is wrong, or alone is right."""
    same = mine == right if right.dtype == torch.bool else _same(mine, right)
    zero = right == 0
    if right.dtype != torch.bool and zero.any() and torch.equal(same, ~zero):
        return worded("It is wrong exactly where 0 is expected.")
    if right.dim() == 2 and right.size(0) == right.size(1) > 2:
        diagonal = torch.eye(len(right), dtype=torch.bool)
        if torch.equal(same, ~diagonal):
            return worded("Only the diagonal is wrong.")
    for axis in range(right.dim()):
        size = right.size(axis)
        if size < 2:
            continue
        fine = [bool(part.all()) for part in same.unbind(axis)]
        if not any(fine):
            continue
        wrong = [i for i, good in enumerate(fine) if not good]
        good = [i for i, good in enumerate(fine) if good]
        if len(wrong) <= len(good):
            return worded("It is wrong only in {places}.", places=_lines(axis, right.dim(), wrong))
        return worded("It is right throughout only in {places}.", places=_lines(axis, right.dim(), good))
    return None


def _lines(axis: int, axes: int, numbers: list[int]) -> str:
    count, which = len(numbers), _listed(numbers)
    if axes == 1:
        return counted("entry {numbers}", "entries {numbers}", count, numbers=which)
    if axes == 2 and axis == 0:
        return counted("row {numbers}", "rows {numbers}", count, numbers=which)
    if axes == 2:
        return counted("column {numbers}", "columns {numbers}", count, numbers=which)
    return counted("axis {axis}, place {numbers}", "axis {axis}, places {numbers}", count, axis=axis, numbers=which)


def _nearly(mine: Tensor, right: Tensor) -> str | None:
    if not (mine.isfinite().all() and right.isfinite().all()):
        return None
    off = ((mine - right).abs() / right.abs().max().clamp(min=1e-12)).max().item()
    return worded("It is close: off by {off:.2g} of the largest number, at most.", off=off) if off < 0.02 else None


def _rearranged(mine: Tensor, right: Tensor) -> str | None:
    if right.numel() > 2 and _close(mine.flatten().sort().values, right.flatten().sort().values):
        return worded("The numbers are the right ones, in other places.")
    return None


def spread(mine: Tensor, right: Tensor) -> str | None:
    """The smallest and the largest number, if there is nothing else to say."""
    if not (_ordinary(mine) and _ordinary(right) and right.is_floating_point() and right.numel() >= ENOUGH):
        return None
    if not (mine.isfinite().all() and right.isfinite().all()) or _range(mine) == _range(right):
        return None
    return worded("Your numbers: {mine}; expected: {right}.", mine=_range(mine), right=_range(right))


def whole_multiples(parts: Sequence[Sequence[int]], totals: Sequence[int]) -> list[int] | None:
    """How many of each part make the totals: the only whole numbers for which it is right in every row.

    parts: a row of sizes for each total. None if there are no such numbers, or if they aren't the only ones.
    """
    sizes, sums = torch.tensor(parts).double(), torch.tensor(totals).double()
    scale = sizes.amax(dim=1, keepdim=True)
    rows = sizes / scale
    if len(rows) <= len(rows[0]) or torch.linalg.matrix_rank(rows) < len(rows[0]):
        return None
    times = torch.linalg.lstsq(rows, sums[:, None] / scale).solution.round().flatten()
    return times.long().tolist() if torch.equal(sizes @ times, sums) else None


def _range(numbers: Tensor) -> str:
    low, high = numbers.min().item() + 0.0, numbers.max().item() + 0.0  # no -0
    return f"{low:.4g}" if f"{low:.4g}" == f"{high:.4g}" else worded("{low:.4g} to {high:.4g}", low=low, high=high)


def _listed(numbers: list[int]) -> str:
    if len(numbers) > 2 and all(b == a + 1 for a, b in pairwise(numbers)):
        return worded("{first} to {last}", first=numbers[0], last=numbers[-1])
    return listed(map(str, numbers))


def _inverted(mine: Tensor, right: Tensor) -> str | None:
    if not torch.equal(mine, ~right):
        return None
    return worded("Yours is inverted: True and False are swapped, everywhere.")


def _all_true_or_false(mine: Tensor, right: Tensor) -> str | None:
    if mine.any() and not mine.all():
        return None
    return worded("All of yours is {value}.", value=bool(mine.flatten()[0]))


def _transposed_mask(mine: Tensor, right: Tensor) -> str | None:
    return _transposed(mine.double(), right.double())


def _turned_mask(mine: Tensor, right: Tensor) -> str | None:
    return _turned(mine.double(), right.double())


def _one_way(mine: Tensor, right: Tensor) -> str | None:
    more, less = int((mine & ~right).sum()), int((right & ~mine).sum())
    if more and less:
        told = worded(
            "In {more} yours is True and should be False; in {less} the other way around.",
            more=_places(more),
            less=_places(less),
        )
    elif more:
        told = worded("Yours is True in {places} too many.", places=_places(more))
    else:
        told = worded("Yours is False in {places} too many.", places=_places(less))
    return listed([told, _where(mine, right) or ""], SENTENCES)


def _places(count: int) -> str:
    return counted("{count} place", "{count} places", count)


def _other_order_of_axes(mine: Tensor, right: Tensor) -> str | None:
    if right.dim() > 1 and mine.dim() == right.dim():
        if mine.shape == right.mT.shape and equal(mine, right.mT.to(mine)):
            return worded("The numbers are the right ones, but the last two axes are swapped.")
        for a in range(right.dim()):
            for b in range(a):
                if mine.shape == right.transpose(a, b).shape and equal(mine, right.transpose(a, b).to(mine)):
                    return worded("The numbers are the right ones, but the axes {a} and {b} are swapped.", a=b, b=a)
    return None


def _same_numbers(mine: Tensor, right: Tensor) -> str | None:
    if mine.numel() == right.numel() and equal(mine.flatten(), right.flatten().to(mine)):
        if abs(mine.dim() - right.dim()) == 1:
            return worded(
                "The numbers are the right ones, in the right order; only the shape has one axis more or less."
            )
        return worded("The numbers are the right ones, in the right order; only the shape has other axes.")
    return None


def _stretched(mine: Tensor, right: Tensor) -> str | None:
    try:
        shape = torch.broadcast_shapes(mine.shape, right.shape)
    except RuntimeError:
        return None
    if equal(mine.expand(shape), right.expand(shape).to(mine)):
        if mine.numel() < right.numel():
            return worded("The numbers are the right ones, stated once along an axis.")
        return worded("The numbers are the right ones, repeated along an axis.")
    return None


def _summed_up(mine: Tensor, right: Tensor) -> str | None:
    if right.dtype == torch.bool or mine.dtype == torch.bool:
        return None
    for axis in range(right.dim()):
        for story, smaller in ((SUM, right.double().sum(axis)), (MEAN, right.double().mean(axis))):
            if smaller.shape == mine.squeeze().shape and _close(mine.squeeze().double(), smaller):
                return worded(story, axis=axis)
    return None


SUM = marked("Yours is the sum of what is expected over axis {axis}: do not add that axis up.")
MEAN = marked("Yours is the mean of what is expected over axis {axis}: do not add that axis up.")


def _part_of(mine: Tensor, right: Tensor) -> str | None:
    if mine.dim() != right.dim():
        return None
    cut = [(i, m, r) for i, (m, r) in enumerate(zip(mine.shape, right.shape)) if m != r]
    if len(cut) != 1:
        return None
    axis, m, r = cut[0]
    if m < r:
        small, large, at_the_end, at_the_beginning = mine, right, MISSING_AT_THE_END, MISSING_AT_THE_BEGINNING
    else:
        small, large, at_the_end, at_the_beginning = right, mine, TOO_MANY_AT_THE_END, TOO_MANY_AT_THE_BEGINNING
    few, many = min(m, r), max(m, r)
    for start, story in ((0, at_the_end), (many - few, at_the_beginning)):
        if few and equal(small, large.narrow(axis, start, few).to(small)):
            return worded(story, count=many - few, axis=axis)
    return None


MISSING_AT_THE_END = marked("What is there is right; {count} missing at the end of axis {axis}.")
MISSING_AT_THE_BEGINNING = marked("What is there is right; {count} missing at the beginning of axis {axis}.")
TOO_MANY_AT_THE_END = marked("What is there is right; {count} too many at the end of axis {axis}.")
TOO_MANY_AT_THE_BEGINNING = marked("What is there is right; {count} too many at the beginning of axis {axis}.")

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
