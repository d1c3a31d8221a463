"""TrainingMonitor where no script runs: the loss as a chart, and tables of some of the points."""

import math

import torch
from matplotlib.figure import Figure
from torch import Tensor

from lessons import plots
from lessons.plots.curves import COLORS, LINES, MARKERS
from lessons.widgets.pictures import Drawing, Panel, format_number
from lessons.widgets.training_monitor.recording import Curve, Point, in_words, weights_of
from lessons.wording import worded

COLUMNS = 10  # of a table
WIDE, HIGH = 560, 220
LEFT, RIGHT, TOP, BOTTOM = 48, WIDE - 12, 12, HIGH - 36


def panels(points: list[Point], measures: dict[str, Curve], shown: dict | None, digits: int) -> list[Panel]:
    """Some of the losses, some of what was measured, and the weights."""
    rows = [(worded("loss"), points), *((in_words(name), curve.points) for name, curve in measures.items())]
    drawn = [_table(name, _some(line), digits) for name, line in rows if line]
    if shown is not None:
        title = worded("attention weights, step {step}", step=shown["step"])
        values = weights_of(shown)
        drawn.append(Panel("weights", title, shown["rows"], shown["columns"], values, decimals=digits))
    return drawn


def _table(name: str, points: list[Point], digits: int) -> Panel:
    numbers = torch.tensor([[float(point[1]) for point in points]], dtype=torch.float64)
    values, steps = _rounded(numbers, digits), [str(point[0]) for point in points]
    return Panel("values", name, [name], steps, values, row_axis="", column_axis=worded("step"), decimals=digits)


def _rounded(numbers: Tensor, digits: int) -> Tensor:
    """Equal where the table shows the same: so are their colors."""
    return numbers.round(decimals=digits)


def _some(points: list[Point]) -> list[Point]:
    """At most COLUMNS of them, evenly, with the first and the last."""
    if len(points) <= COLUMNS:
        return points
    return [points[round(i * (len(points) - 1) / (COLUMNS - 1))] for i in range(COLUMNS)]


def figure(
    steps: list[int], losses: list[float], measures: dict[str, list[tuple[int, float]]], shown: dict | None, log: bool
) -> Figure:
    """The loss, what was measured, and the weights, by lessons.plots."""
    count = 1 + bool(measures) + (shown is not None)
    picture = Figure(figsize=(5.6 * count, 3.6), layout="constrained")
    axes = iter(picture.subplots(1, count, squeeze=False)[0])
    loss = {worded("loss"): losses} if steps else {}
    plots.plot_curves(steps, loss, ax=next(axes), xlabel=worded("step"), ylabel=worded("loss"), log="y" * log)
    if measures:
        ax = next(axes)
        for i, (name, points) in enumerate(measures.items()):
            style = {"color": COLORS[i], "marker": MARKERS[i], "linestyle": LINES[i], "label": in_words(name)}
            ax.plot(*zip(*points), **style)
        ax.set(ylim=(-0.02, 1.02), xlabel=worded("step"), ylabel=worded("fraction"))
        ax.legend(frameon=False)
    if shown is not None:
        plots.plot_weights(weights_of(shown), ax=next(axes), rows=shown["rows"], columns=shown["columns"])
    return picture


def draw_loss(points: list[Point], total: int | None, log: bool, digits: int) -> Drawing | None:
    """The curve, to whole pixels. What the axis can't show is left out; words and tables contain it."""
    seen = [(step, float(loss)) for step, loss, _ in points]
    shown = [(step, loss) for step, loss in seen if math.isfinite(loss) and (loss > 0 or not log)]
    if not shown:
        return None
    low, high = _limits([loss for _, loss in shown], log, digits)
    height = (lambda y: math.log(y / low) / math.log(high / low)) if log else (lambda y: (y - low) / (high - low))
    far = max(total or 0, seen[-1][0], 1)
    places = " ".join(
        f"{LEFT + (RIGHT - LEFT) * step / far:.0f},{BOTTOM - (BOTTOM - TOP) * height(loss):.0f}" for step, loss in shown
    )
    middle = (TOP + BOTTOM) // 2
    name = worded("loss, logarithmic axis") if log else worded("loss")
    below = worded("step")
    svg = (
        f'<svg width="{WIDE}" height="{HIGH}" viewBox="0 0 {WIDE} {HIGH}" font-family="sans-serif" font-size="12">'
        f'<path d="M0 0h{WIDE}v{HIGH}H0z" fill="#fff"/>'
        f'<path d="M{LEFT} {TOP}V{BOTTOM}H{RIGHT}" fill="none" stroke="#666"/>'
        f'<polyline points="{places}" fill="none" stroke="#1c7ed6" stroke-width="2"/>'
        f'<g fill="#111"><text transform="translate(14 {middle}) rotate(-90)" text-anchor="middle">{name}</text>'
        f'<g text-anchor="end"><text x="{LEFT - 6}" y="{TOP + 5}">{format_number(high, digits)}</text>'
        f'<text x="{LEFT - 6}" y="{BOTTOM + 4}">{format_number(low, digits)}</text>'
        f'<text x="{RIGHT}" y="{BOTTOM + 16}">{far}</text></g>'
        f'<text x="{LEFT}" y="{BOTTOM + 16}">0</text>'
        f'<text x="{(LEFT + RIGHT) // 2}" y="{BOTTOM + 30}" text-anchor="middle">{below}</text></g></svg>'
    )
    first, last = (
        worded("{loss} at step {step}", loss=format_number(loss, digits), step=step)
        for step, loss in (seen[0], seen[-1])
    )
    return Drawing(svg, worded("Chart of the loss by step: from {first} to {last}.", first=first, last=last))


def _limits(losses: list[float], log: bool, digits: int) -> tuple[float, float]:
    """The limits of the axis, rounded so that a last digit changes nothing."""
    if not log:
        unit = 10**-digits
        low = math.floor(min(0.0, *losses) / unit) * unit
        return low, max(math.ceil(max(losses) / unit) * unit, low + unit)
    low, high = (10.0 ** power(math.log10(edge(losses))) for power, edge in ((math.floor, min), (math.ceil, max)))
    return low, high if high > low else 10 * low
