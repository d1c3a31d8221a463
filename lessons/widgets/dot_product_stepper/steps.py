"""What DotProductStepper computes, without a widget: one query and one key, step by step, in words and numbers."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

TITLES = ("dot product", "scale", "mask", "e to the power", "weight", "contribution", "output")
MOST_NUMBERS = 20  # so many are written out in a sum of rows
SAFE_POWER = 700  # beyond it, e to the power is ∞ or loses its digits


@dataclass(frozen=True)
class Cell:
    """One query and one key, and all that the weight between them depends on."""

    query: str
    key: str
    q: list[float]  # (d,)
    k: list[float]  # (d,)
    column: int  # which of the keys it is
    scaled: bool
    may: bool | None  # True = may look; None = there is no mask
    empty: bool  # the query may look at nothing
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
    return [(title, *write(cell)) for title, write in zip(TITLES, written)]


def powers(masked: Sequence[float]) -> tuple[list[float], float]:
    """e to the power of each of a row of scores, and what is subtracted from all of them first, so that they fit."""
    most = math.nan if any(map(math.isnan, masked)) else max(masked)
    shift = most if SAFE_POWER < abs(most) < math.inf else 0.0
    return [_exp(score - shift) for score in masked], shift


def short(x: float) -> str:
    """Three decimals, more for what is near 0; a number that needs fewer is shown with fewer."""
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


def quote(token: str, limit: int = 12) -> str:
    """A token on one line, cut where it is long, in quotation marks."""
    token = re.sub(r"[ \t\r\n]+", " ", token)
    return f"“{token if len(token) <= limit else token[: limit - 1] + '…'}”"


def _factor(x: float) -> str:
    return f"({short(x)})" if x < 0 else short(x)


def _dot_product(cell: Cell) -> tuple[str, str]:
    terms = " + ".join(f"{_factor(a)}·{_factor(b)}" for a, b in zip(cell.q, cell.k))
    text = (
        f"Multiply the query of {quote(cell.query)} and the key of {quote(cell.key)} feature by feature, "
        "and add up: the score."
    )
    return text, f"{terms} = {short(cell.score)}"


def _scale(cell: Cell) -> tuple[str, str]:
    if not cell.scaled:
        return "The division by √d is switched off: the score stays as it is.", f"stays {short(cell.score)}"
    size = len(cell.q)
    text = f"Divide by √d; d is {size}, the number of features of a query or key."
    return text, f"{short(cell.score)} / √{size} = {short(cell.scaled_score)}"


def _mask(cell: Cell) -> tuple[str, str]:
    score = short(cell.scaled_score)
    if cell.may is None:
        return "There is no mask: every query may look at every key.", f"stays {score}"
    if cell.may:
        return f"{quote(cell.query)} may look at {quote(cell.key)}: the score stays.", f"may look: stays {score}"
    text = f"{quote(cell.query)} may not look at {quote(cell.key)}: −∞ takes the place of the score."
    return text, f"blocked: {score} becomes −∞"


def _power(cell: Cell) -> tuple[str, str]:
    score = cell.masked[cell.column]
    power = _exp(score)
    text = "Raise e to it. The result is positive, and a larger score gives a larger result."
    if not math.isfinite(score):
        text = f"e to the power {short(score)} is {short(power)}."
    elif power in (0.0, math.inf):
        text = (
            f"e to this power is too {'large' if power else 'small'} for the computer, which makes it {short(power)}."
        )
    return text, f"e^{short(score)} = {short(power)}"


def _weight(cell: Cell) -> tuple[str, str]:
    if cell.empty:
        text = f"{quote(cell.query)} may look at nothing. 0 / 0 is no number; all its weights are set to 0."
        return text, "0 / 0: set to 0"
    if math.isnan(cell.weights[cell.column]):
        return _why_nan(cell), "NaN"
    row, shift = powers(cell.masked)
    text = (
        f"Divide by the sum of the row, so that the weights of {quote(cell.query)} sum to 1. "
        "(Code subtracts the row's largest score from all of them first: the weights are the same, nothing overflows.)"
    )
    if shift:
        text = (
            "In this row, e to the power is too large or too small for the computer. So softmax subtracts the row's "
            f"largest score, {short(shift)}, from all of them first, which changes no weight."
        )
    return text, _share(row, cell.column, cell.weights[cell.column])


def _share(row: list[float], column: int, weight: float) -> str:
    part, total = short(row[column]), short(sum(row))
    if len(row) == 1:
        return f"{part} / {total} = {short(weight)}"
    return f"{part} / ({' + '.join(map(short, row))}) = {part} / {total} = {short(weight)}"


def _why_nan(cell: Cell) -> str:
    if any(map(math.isnan, cell.masked)):
        return "A score of this row is NaN. So is the sum of the row, and every weight that is divided by it."
    if math.inf in cell.masked:
        return (
            "A score of this row is ∞. Softmax subtracts the row's largest score from all of them first, "
            "and ∞ − ∞ is NaN: so is the whole row."
        )
    return f"Every score that {quote(cell.query)} may look at is −∞. 0 / 0 is NaN, and so is the whole row."


def _contribution(cell: Cell) -> tuple[str, str]:
    weight = cell.weights[cell.column]
    text = f"Take that share of the value of {quote(cell.key)}."
    if weight == 0:
        text = f"Nothing is taken of the value of {quote(cell.key)}."
        if not all(map(math.isfinite, cell.value)):
            text = "A weight of 0 does not hide a value that is no number: 0 × ∞ and 0 × NaN are NaN."
    return text, f"{short(weight)} × {vector(cell.value)} = {vector(cell.contributions[cell.column])}"


def _output(cell: Cell) -> tuple[str, str]:
    others = len(cell.contributions) - 1
    if len(cell.contributions) * len(cell.value) <= MOST_NUMBERS:
        parts = " + ".join(map(vector, cell.contributions))
    else:
        parts = f"{vector(cell.contributions[cell.column])} + {others} more"
    text = f"Add up the contributions of all keys: the output of {quote(cell.query)}."
    if not others:
        text = f"There is no other key: its contribution is the output of {quote(cell.query)}."
    if cell.empty and not any(cell.output):
        text = f"{quote(cell.query)} may look at nothing: every contribution is 0, and so is the output."
    return text, f"{parts} = {vector(cell.output)}" if others else vector(cell.output)


def _exp(x: float) -> float:
    try:
        return math.exp(x)
    except OverflowError:
        return math.inf
