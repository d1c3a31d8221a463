"""A widget where no script runs: tables with the same symbols, and a figure."""

import html
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any
from urllib.parse import quote

import matplotlib
import torch
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap, to_hex, to_rgb
from matplotlib.figure import Figure
from torch import Tensor

from lessons import plots, wording
from lessons.plots.heatmaps import SIGNED, WEIGHTS
from lessons.widgets.shared.constants import HEADS
from lessons.wording import SENTENCES, listed, worded

LIMIT = 20_000  # bytes, the maximum of a stored picture
LEAST_CELL = len('<td style="background:#fff;color:#fff"></td>')
HATCH = "repeating-linear-gradient(45deg,#c8c8c8 0 4px,#dcdcdc 4px 6px)"
PAGE_STYLE = """body { font: 14px/1.5 system-ui, sans-serif; margin: 2em; color: #1a1a1a; background: #fff }
table { border-collapse: collapse; margin: 0 0 2em; font-variant-numeric: tabular-nums }
caption { text-align: left; font-weight: 600; padding: .3em 0 }
th, td { padding: 4px 7px; text-align: center; border: 1px solid #fff; font-weight: normal }"""


@dataclass(frozen=True)
class Panel:
    """One matrix to draw. tone: "mask", "scores", "weights", "values", "ids" or "homes", for colors and symbols.

    "homes" colors and labels each cell by the head that its number belongs to; there "blocked" means out of place.
    If there is room for one panel only, it is the main one. cut: some columns are left out, so that the sums of rows of
    weights would be wrong and aren't shown.
    """

    tone: str
    title: str
    rows: list[str]
    columns: list[str]
    values: Tensor  # (R, C)
    blocked: Tensor | None = None  # (R, C) bool, True = may not attend
    row_axis: str = field(default_factory=lambda: worded("query"))
    column_axis: str = field(default_factory=lambda: worded("key"))
    main: bool = False
    groups: Tensor = field(default_factory=lambda: torch.empty(0, 0))  # (R, C) of heads, from 0 to 7, of "homes"
    decimals: int = 2
    cut: bool = False

    @property
    def hidden(self) -> Tensor:
        return torch.zeros(self.values.shape, dtype=torch.bool) if self.blocked is None else self.blocked


@dataclass(frozen=True)
class Drawing:
    """A chart, for what a table shows badly."""

    svg: str
    words: str

    def in_page(self) -> str:
        return f'<p role="img" aria-label="{html.escape(self.words)}">{self.svg}</p>'

    def as_image(self) -> str:
        """As an image, because JupyterLab shows images even where it doesn't trust SVG."""
        named = self.svg.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1)
        return f'<p><img alt="{html.escape(self.words)}" src="data:image/svg+xml,{quote(named, safe=" /=:,-")}"></p>'


def figure(drawn: list[Panel]) -> Figure:
    """The panels side by side, by lessons.plots."""
    widths = [1.6 + 0.62 * panel.values.size(1) for panel in drawn]
    height = 1.4 + 0.46 * max(panel.values.size(0) for panel in drawn)
    picture = Figure(figsize=(sum(widths), height), layout="constrained")
    axes = picture.subplots(1, len(drawn), width_ratios=widths, squeeze=False)[0]
    for ax, panel in zip(axes, drawn):
        options: dict[str, Any] = {"ax": ax, "rows": panel.rows, "columns": panel.columns, "title": panel.title}
        if panel.tone == "mask":
            plots.plot_mask(~panel.hidden, **options)
        elif panel.tone == "scores":
            plots.plot_scores(panel.values, **options)
        elif panel.tone == "weights":
            plots.plot_weights(panel.values, blocked=panel.hidden & (panel.values == 0), **options)
        elif panel.tone == "homes":
            _plot_homes(panel, **options)
        else:
            plots.plot_matrix(panel.values, row_axis=panel.row_axis, column_axis=panel.column_axis, **options)
    return picture


def _plot_homes(panel: Panel, ax: Axes, **options: Any) -> None:
    colors: Any = ListedColormap(HEADS, name="heads")
    limits = (-0.5, len(HEADS) - 0.5)
    axes = {"row_axis": panel.row_axis, "column_axis": panel.column_axis}
    plots.plot_matrix(panel.groups, ax=ax, cmap=colors, limits=limits, decimals=None, **axes, **options)
    for row, column in panel.values.new_ones(panel.values.shape).nonzero().tolist():
        ax.text(column + 0.5, row + 0.5, _home_text(panel, row, column), ha="center", va="center", fontsize=8)


def _home_text(panel: Panel, row: int, column: int) -> str:
    mark = "× " if panel.hidden[row, column] else ""
    return f"{mark}{format_whole(panel.values[row, column].item())} h{int(panel.groups[row, column])}"


def page(
    name: str, title: str, drawn: list[Panel], note: str, lines: Sequence[str] = (), drawing: Drawing | None = None
) -> str:
    """A self-contained HTML page."""
    tables = "\n".join(_table(panel, words=True) for panel in drawn)
    chart = drawing.in_page() if drawing else ""
    crossed = any(panel.hidden.any() for panel in drawn)
    homes = any(panel.tone == "homes" for panel in drawn)
    legend = worded("× out of place") if homes else worded("× may not attend") if crossed else ""
    return (
        f'<!doctype html>\n<html lang="{wording.tag()}">\n'
        f'<head><meta charset="utf-8"><title>{html.escape(title)}</title>\n'
        f"<style>\n{PAGE_STYLE}\n</style></head>\n<body>\n<h1>{html.escape(name)}</h1>\n<p>{html.escape(title)}</p>\n"
        f"<p>{html.escape(note)}</p>\n{_list(lines)}\n{chart}\n{tables}\n<p>{legend}</p>\n</body>\n</html>\n"
    )


def compact(
    title: str, drawn: list[Panel], note: str, lines: Sequence[str] = (), drawing: Drawing | None = None
) -> str:
    """At most LIMIT bytes, stored with a notebook: the larger the matrices, the less of them is shown."""
    head = f"<p>{html.escape(title)}</p>{f'<p>{html.escape(note)}</p>' if note else ''}{_list(lines)}"
    drawn_first = drawing.as_image() if drawing else ""
    for body in _bodies(drawn):
        picture = f"<div>{head}{drawn_first}{body}</div>"
        if len(picture.encode()) <= LIMIT:
            return picture
    return f"<div>{head[: LIMIT // 8]}</div>"


def _bodies(drawn: list[Panel]) -> Iterator[str]:
    """From the most detail to the least; what can't fit isn't built."""
    main = [next((panel for panel in drawn if panel.main), drawn[0])] if drawn else []
    for panels in (drawn, main):
        if sum(panel.values.numel() for panel in panels) * LEAST_CELL <= LIMIT:
            yield "".join(map(_table, panels))
    yield "".join(_coarse(panel) for panel in main if panel.tone == "weights")


def _list(lines: Sequence[str]) -> str:
    return f"<ol>{''.join(f'<li>{html.escape(line)}</li>' for line in lines)}</ol>" if lines else ""


def _table(panel: Panel, *, words: bool = False) -> str:
    sums = panel.tone == "weights" and not panel.cut
    heads = "".join(f'<th scope="col">{_short(name)}</th>' for name in panel.columns)
    total = worded("sum")
    heads += f'<th scope="col">{total}</th>' if sums else ""
    lines = [f"<tr><td>{panel.row_axis} ↓ {panel.column_axis} →</td>{heads}</tr>"]
    bound = _bound(panel)
    for row, name in enumerate(panel.rows):
        cells = "".join(_cell(panel, row, column, bound, words) for column in range(len(panel.columns)))
        total = f"<td>{row_sum(float(panel.values[row].sum()))}</td>" if sums else ""
        lines.append(f'<tr><th scope="row">{_short(name)}</th>{cells}{total}</tr>')
    return f"<table><caption>{html.escape(panel.title)}</caption>{''.join(lines)}</table>"


def _cell(panel: Panel, row: int, column: int, bound: float, words: bool) -> str:
    if panel.tone == "homes":
        return _home_cell(panel, row, column, words)
    value, blocked = panel.values[row, column].item(), bool(panel.hidden[row, column])
    crossed = blocked and (panel.tone == "mask" or (panel.tone == "weights" and value == 0))
    text = cell_text(panel.tone, value, crossed, panel.decimals)
    ground, ink = _colors(panel.tone, float(value), crossed, bound)
    style = f"background:{ground};color:{ink}"
    if not words:
        return f'<td style="{style}">{text}</td>'
    if crossed:
        style = f"background:{HATCH};color:{ink}"
    where = worded(
        "{rowAxis} {r} “{row}”, {columnAxis} {c} “{column}”",
        rowAxis=panel.row_axis,
        r=row,
        row=panel.rows[row],
        columnAxis=panel.column_axis,
        c=column,
        column=panel.columns[column],
    )
    what = worded("blocked, {text}", text=text) if blocked else text
    label = worded("{where}: {what}", where=where, what=what)
    return f'<td style="{style}" aria-label="{html.escape(label)}" title="{html.escape(label)}">{text}</td>'


def _home_cell(panel: Panel, row: int, column: int, words: bool) -> str:
    text, head = _home_text(panel, row, column), int(panel.groups[row, column])
    style = f"background:{HEADS[head]};color:#000"
    if not words:
        return f'<td style="{style}">{text}</td>'
    number = format_whole(panel.values[row, column].item())
    said = {"row": panel.rows[row], "axis": panel.column_axis, "column": column, "number": number, "head": head}
    if panel.hidden[row, column]:
        label = worded("{row}, {axis} {column}: {number} of head {head}, out of place", **said)
    else:
        label = worded("{row}, {axis} {column}: {number} of head {head}", **said)
    return f'<td style="{style}" aria-label="{html.escape(label)}" title="{html.escape(label)}">{text}</td>'


def cell_text(tone: str, value: float | bool, crossed: bool, decimals: int = 2) -> str:
    """The text of a cell."""
    if tone == "mask":
        number = str(value) if isinstance(value, bool) else format_number(value, 0)
        return f"× {number}" if crossed else number
    if tone == "ids":
        return f"{value:.0f}"
    return "×" if crossed else format_number(value, decimals)


def format_number(value: float, decimals: int = 2) -> str:
    """Two decimals, with a true minus; very large numbers by their power of ten."""
    if value != value:
        return "NaN"
    if abs(value) == float("inf"):
        return "∞" if value > 0 else "−∞"
    if abs(value) >= 1000:
        mantissa, _, exponent = f"{value:.0e}".partition("e")
        return f"{mantissa}e{int(exponent)}".replace("-", "−")
    text = f"{value:.{decimals}f}"
    return text.replace("-", "−") if float(text) else text.removeprefix("-")


def format_whole(value: float) -> str:
    """Whole numbers of up to five digits unchanged, others by `format_number`."""
    return format_number(value, 2) if value % 1 or not abs(value) < 1e5 else f"{value + 0:.0f}".replace("-", "−")


def row_sum(total: float) -> str:
    """The sum of a row of weights, followed by “≠ 1” if it isn't 1."""
    text = format_number(total)
    return text if abs(total - 1) < 1e-4 else f"{text} ≠ 1"


def _bound(panel: Panel) -> float:
    ordinary = panel.values[panel.values.isfinite()].double().abs()
    ordinary = ordinary[ordinary < 1e6]
    return (float(ordinary.max()) if len(ordinary) else 0.0) or 1.0


def _colors(tone: str, value: float, crossed: bool, bound: float) -> tuple[str, str]:
    """Background and text color, as in lessons.plots."""
    if crossed:
        return "#c8c8c8", "#222"
    if value != value:
        return "#fff", "#a01010"
    if abs(value) == float("inf") or value < -1e6:
        return "#111", "#fff"
    if tone == "mask":
        fraction, name = 1.0, WEIGHTS
    elif tone == "weights":
        fraction, name = min(max(value, 0.0), 1.0), WEIGHTS
    else:
        fraction, name = 0.5 + value / (3 * bound), SIGNED
    return _shade(name, round(16 * fraction))


@cache
def _shade(name: str, sixteenths: int) -> tuple[str, str]:
    ground = to_hex(matplotlib.colormaps[name](sixteenths / 16))
    return ground, _ink(ground)


def _ink(ground: str) -> str:
    red, green, blue = (x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in to_rgb(ground))
    return "#000" if 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.179 else "#fff"


def _short(name: str, limit: int = 12) -> str:
    return html.escape(name if len(name) <= limit else name[: limit - 1] + "…")


def _coarse(panel: Panel) -> str:
    """A character for each pair: × blocked, otherwise the weight in tenths, 9 for all above."""
    lines = []
    for values, blocked in zip(panel.values.tolist(), panel.hidden.tolist()):
        cells = ("×" if hidden and not x else _tenth(x) for x, hidden in zip(values, blocked))
        lines.append("".join(cells))
    said = [worded("Weights: a row for each query, a character for each key; × blocked, else the weight in tenths.")]
    if not panel.values.isfinite().all():
        said.append(worded("? is NaN or infinite."))
    legend = listed(said, SENTENCES)
    return f"<p>{legend}</p><pre>{chr(10).join(lines)}</pre>"


def _tenth(x: float) -> str:
    return str(max(0, min(9, int(10 * x)))) if math.isfinite(x) else "?"
