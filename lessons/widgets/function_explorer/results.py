"""One call of the learner's function: what it returns, draws and prints, as a page shows it and in words."""

import html
import io
from collections.abc import Callable, Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass, replace
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.font_manager import FontProperties
from PIL import Image
from torch import Tensor

from lessons.plots import plot_mask, plot_matrix
from lessons.plots.pictures import DPI, Picture, draw, take_picture, with_palette
from lessons.widgets.shared.errors import cut
from lessons.wording import worded

MOST_ROWS = 64  # of a heatmap
MOST_NUMBERS = 16  # in a row of a heatmap, to be read
EVERY = 8  # so many columns of a wide heatmap have one name
LIGHT = 14_000  # bytes of a picture to be stored; as text they are a third more
PALETTES = (256, 64, 32)
WIDEST, HIGHEST = 9.0, 7.0  # inches
PRE = '<pre style="white-space: pre-wrap">'


class NoResult(Exception):
    """The function has returned nothing that can be shown."""


@dataclass(frozen=True)
class Result:
    """What a call gave; picture: only if it was a figure or a tensor."""

    html: str
    text: str
    picture: Picture | None = None


def run(function: Callable[..., Any], values: Mapping[str, Any], said: str, random: Tensor) -> Result:
    """Call the function and read its result. said: the call in words; random: torch's state, which is restored.

    Every figure that the function has opened is closed. Its exceptions get through.
    """
    before = set(plt.get_fignums())
    printed = io.StringIO()
    try:
        with torch.random.fork_rng(devices=[]), redirect_stdout(printed):
            torch.set_rng_state(random)
            result = function(**values)
            drawn = [number for number in plt.get_fignums() if number not in before]
            if result is None and drawn:
                result = plt.figure(drawn[-1])
            read = _read(result, said, _about(function), bool(printed.getvalue()))
    finally:
        for number in set(plt.get_fignums()) - before:
            plt.close(number)
    return _with_print(read, cut(printed.getvalue()))


def _about(function: Callable[..., Any]) -> str:
    """The first line of what the function says of itself."""
    lines = (function.__doc__ or "").strip().splitlines()
    return lines[0] if lines else ""


def _read(result: Any, said: str, about: str, printed: bool) -> Result:
    if isinstance(result, Axes | SubFigure | Figure):
        figure = result.get_figure(root=True)
        assert figure is not None
        return _of_picture(take_picture(figure, _named(worded("The figure that {call} gives", call=said), about)))
    if isinstance(result, Picture):
        return _of_picture(replace(result, alt=_named(said, result.alt)))
    if isinstance(result, Tensor | np.ndarray) and result.ndim:
        alt = _named(worded("The numbers that {call} gives", call=said), about)
        return _of_picture(take_picture(_heatmap(result), alt))
    if result is None or result is ...:
        if printed:
            return Result("", "")
        raise NoResult(worded("It gives None: it isn't written yet, or it doesn't end with `return`."))
    as_html = getattr(result, "_repr_html_", None)
    if callable(as_html):
        return Result(str(as_html()), repr(result))
    text = _in_words(result)
    return Result(f"{PRE}{html.escape(text)}</pre>", text)


def _named(name: str, about: str) -> str:
    return worded("{where}: {what}", where=name, what=about) if about else name


def _of_picture(picture: Picture) -> Result:
    return Result(picture.to_html(), repr(picture), picture)


def _in_words(result: Any) -> str:
    if isinstance(result, Tensor | np.ndarray | np.generic):
        result = result.item()
    if isinstance(result, float):
        return f"{result:.4g}".replace("-", "−")
    return result if isinstance(result, str) else repr(result)


def _heatmap(numbers: Tensor | np.ndarray) -> Figure:
    """One or two axes of numbers or bools; axes of length 1 in front don't count."""
    shape = tuple(numbers.shape)
    while numbers.ndim > 2 and numbers.shape[0] == 1:
        numbers = numbers[0]
    matrix = numbers[None] if numbers.ndim == 1 else numbers
    if matrix.ndim != 2 or not 0 < max(matrix.shape) <= MOST_ROWS or 0 in matrix.shape:
        said = worded(
            "It gives a tensor of shape {shape}; expected rows and columns, at most {most} of each.",
            shape=shape,
            most=MOST_ROWS,
        )
        raise NoResult(said)
    rows, columns = matrix.shape
    size = min(1.6 + 0.62 * columns, WIDEST), min(1.2 + 0.46 * rows, HIGHEST)
    options: dict[str, Any] = {
        "ax": plt.subplots(figsize=size, layout="constrained")[1],
        "rows": _names(rows),
        "columns": _names(columns),
        "row_axis": worded("row"),
        "column_axis": worded("column"),
    }
    wide = max(matrix.shape) > MOST_NUMBERS
    if str(matrix.dtype).endswith("bool"):
        drawn = plot_mask(matrix, **options, title="", **({"decimals": None} if wide else {}))
    else:
        drawn = plot_matrix(matrix, **options, decimals=None if wide else 2)
    figure = drawn.get_figure(root=True)
    assert figure is not None
    return figure


def _names(count: int) -> list[str]:
    return [str(i) if count <= MOST_NUMBERS or i % EVERY == 0 else "" for i in range(count)]


def _with_print(result: Result, printed: str) -> Result:
    if not printed:
        return result
    lines = "\n".join(filter(None, [result.text, printed]))
    return replace(result, html=f"{result.html}{PRE}{html.escape(printed)}</pre>", text=lines)


def with_caption(picture: Picture, caption: str) -> bytes:
    """The picture with a line of text above it, in fewer colors if it is large."""
    below = Image.open(io.BytesIO(picture.png)).convert("RGB")
    figure = Figure(figsize=(below.width / DPI, 0.3))
    figure.text(0.02, 0.5, caption, va="center", fontproperties=FontProperties(family="monospace", size=9))
    above = draw(figure)
    whole = Image.new("RGB", (below.width, above.height + below.height), "white")
    whole.paste(above, (0, 0))
    whole.paste(below, (0, above.height))
    pngs = [with_palette(whole, colors) for colors in PALETTES]
    return next((png for png in pngs if len(png) <= LIGHT), pngs[-1])
