"""The computation of DotProductStepper: one query and one key, step by step, in words and numbers."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

from lessons.widgets.dot_product_stepper.constants import (
    MOST_LETTERS,
    MOST_NUMBERS,
    NUMBERS,
    SAFE_POWER,
    SAYS,
    TITLES,
)
from lessons.wording import worded


@dataclass(frozen=True)
class Cell:
    """One query and one key, and everything that the weight between them depends on."""

    query: str
    key: str
    q: list[float]  # (d,)
    k: list[float]  # (d,)
    column: int  # which of the keys it is
    scaled: bool
    may: bool | None  # True = may attend; None = there is no mask
    empty: bool  # the query has no allowed key
    score: float
    scaled_score: float
    masked: list[float]  # (K,), the whole row
    weights: list[float]  # (K,)
    contributions: list[list[float]]  # (K, d_v)
    value: list[float]  # (d_v,)
    output: list[float]  # (d_v,)


def write_steps(cell: Cell) -> list[tuple[str, str, str]]:
    """Title, text and numbers of each step."""
    written = (_dot_product, _scale, _mask, _power, _weight, _contribution, _output)
    return [(worded(title), *write(cell)) for title, write in zip(TITLES, written)]


def powers(masked: Sequence[float]) -> tuple[list[float], float]:
    """e to the power of each score of a row, and what is subtracted from all of them first to avoid overflow."""
    most = math.nan if any(map(math.isnan, masked)) else max(masked)
    shift = most if SAFE_POWER < abs(most) < math.inf else 0.0
    return [_exp(score - shift) for score in masked], shift


def short(x: float) -> str:
    """Three decimals, more for numbers near 0, without trailing zeros."""
    if math.isnan(x):
        return "NaN"
    if math.isinf(x):
        return "∞" if x > 0 else "−∞"
    x = float(f"{x:.10g}")
    size = abs(x)
    if size and (size < 1e-3 or size >= 1e6):
        return _exponent(Decimal(x))
    exact = Decimal(x).quantize(Decimal("0.0001" if 0 < size < 0.01 else "0.001"), ROUND_HALF_UP)
    text = str(exact)
    text = text.rstrip("0").rstrip(".") if float(exact) == x else text
    return "0" if not x else text.replace("-", "−")


def _exponent(x: Decimal) -> str:
    power = x.adjusted()
    digits = x.scaleb(-power).quantize(Decimal("0.1"), ROUND_HALF_UP)
    if abs(digits) == 10:
        digits, power = digits / 10, power + 1
    return f"{digits:.1f}e{power}".replace("-", "−")


def vector(numbers: Sequence[float]) -> str:
    return f"({', '.join(map(short, numbers))})"


def quote(token: str, limit: int = MOST_LETTERS) -> str:
    """A token on one line, shortened if it is long, in quotes."""
    token = re.sub(r"[ \t\r\n]+", " ", token)
    return f"“{token if len(token) <= limit else token[: limit - 1] + '…'}”"


def _factor(x: float) -> str:
    return f"({short(x)})" if x < 0 else short(x)


def _dot_product(cell: Cell) -> tuple[str, str]:
    terms = " + ".join(f"{_factor(a)}·{_factor(b)}" for a, b in zip(cell.q, cell.k))
    return _say("product", cell), f"{terms} = {short(cell.score)}"


def _say(name: str, cell: Cell, **values: object) -> str:
    """One of the sentences, filled in with the tokens of this cell."""
    return worded(SAYS[name], query=quote(cell.query), key=quote(cell.key), **values)


def _scale(cell: Cell) -> tuple[str, str]:
    if not cell.scaled:
        return _say("not scaled", cell), worded(NUMBERS["stays"], score=short(cell.score))
    size = len(cell.q)
    return _say("scaled", cell, size=size), f"{short(cell.score)} / √{size} = {short(cell.scaled_score)}"


def _mask(cell: Cell) -> tuple[str, str]:
    says, number = {None: ("no mask", "stays"), True: ("may attend",) * 2, False: ("blocked",) * 2}[cell.may]
    return _say(says, cell), worded(NUMBERS[number], score=short(cell.scaled_score))


def _power(cell: Cell) -> tuple[str, str]:
    score = cell.masked[cell.column]
    power = _exp(score)
    name = "power"
    if not math.isfinite(score):
        name = "power of no number"
    elif power in (0.0, math.inf):
        name = "power too large" if power else "power too small"
    return _say(name, cell, score=short(score), power=short(power)), f"e^{short(score)} = {short(power)}"


def _weight(cell: Cell) -> tuple[str, str]:
    if cell.empty:
        return _say("weight of nothing", cell), worded(NUMBERS["nothing"])
    if math.isnan(cell.weights[cell.column]):
        return _say(_why_nan(cell.masked), cell), "NaN"
    row, shift = powers(cell.masked)
    text = _say("weight shifted" if shift else "weight", cell, shift=short(shift))
    return text, _share(row, cell.column, cell.weights[cell.column])


def _share(row: list[float], column: int, weight: float) -> str:
    part, total = short(row[column]), short(sum(row))
    if len(row) == 1:
        return f"{part} / {total} = {short(weight)}"
    return f"{part} / ({' + '.join(map(short, row))}) = {part} / {total} = {short(weight)}"


def _why_nan(masked: list[float]) -> str:
    if any(map(math.isnan, masked)):
        return "NaN among scores"
    return "∞ among scores" if math.inf in masked else "all scores −∞"


def _contribution(cell: Cell) -> tuple[str, str]:
    weight = cell.weights[cell.column]
    name = "contribution"
    if weight == 0:
        name = "no contribution" if all(map(math.isfinite, cell.value)) else "value not hidden"
    return _say(name, cell), f"{short(weight)} × {vector(cell.value)} = {vector(cell.contributions[cell.column])}"


def _output(cell: Cell) -> tuple[str, str]:
    others = len(cell.contributions) - 1
    if len(cell.contributions) * len(cell.value) <= MOST_NUMBERS:
        parts = " + ".join(map(vector, cell.contributions))
    else:
        parts = worded(NUMBERS["more"], first=vector(cell.contributions[cell.column]), others=others)
    nothing = cell.empty and not any(cell.output)
    text = _say("output of nothing" if nothing else "output" if others else "output of one", cell)
    return text, f"{parts} = {vector(cell.output)}" if others else vector(cell.output)


def _exp(x: float) -> float:
    try:
        return math.exp(x)
    except OverflowError:
        return math.inf
