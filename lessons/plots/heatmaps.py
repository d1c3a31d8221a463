"""Matrices as heatmaps, with numbers in the cells and named axes.

In weights and masks bright means large, or visible. Special cells never differ by color alone: × on hatched gray is a
blocked cell, −∞ is on black, NaN on cross-hatched white.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from lessons._checks import whole
from lessons.plots.arrays import as_array
from lessons.wording import marked, worded

WEIGHTS, SIGNED = "cividis", "PuOr"  # both are readable with the common forms of color blindness


def plot_matrix(
    values: Any,
    *,
    ax: Axes | None = None,
    rows: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    row_axis: str = marked("tokens"),
    column_axis: str = marked("features"),
    title: str = "",
    decimals: int | None = 2,
    blocked: Any = None,
    cmap: str = SIGNED,
    limits: tuple[float, float] | None = None,
) -> Axes:
    """Any matrix (R, C). blocked (R, C): bool, True = crossed out, whatever the number.

    decimals: of the numbers in the cells; None draws no numbers. limits: the values at both ends of the color map.
    Returns the Axes; a wrong shape or number of labels is a ValueError.
    """
    matrix = _matrix(values, "values")
    crossed = np.zeros(matrix.shape, dtype=bool) if blocked is None else _matrix(blocked, "blocked").astype(bool)
    if crossed.shape != matrix.shape:
        raise ValueError(f"blocked has shape {crossed.shape}; expected that of values, {matrix.shape}")
    rows = _labels(rows, matrix.shape[0], "rows")
    columns = _labels(columns, matrix.shape[1], "columns")
    special = crossed | ~np.isfinite(matrix)
    low, high = limits or _symmetric(matrix[~special])
    ax = ax or plt.subplots(figsize=_size(matrix.shape), layout="constrained")[1]
    cells = np.ma.masked_array(matrix.astype(float), special)
    ax.pcolormesh(cells, cmap=cmap, vmin=low, vmax=high, edgecolors="white")
    _name_cells(ax, rows, columns)
    if decimals is not None:
        whole(0, decimals=decimals)
        _write_numbers(ax, matrix, ~special, decimals)
    for row, column in np.argwhere(special).tolist():
        _mark(ax, row, column, matrix[row, column], crossed[row, column])
    ax.set(xlabel=f"{worded(column_axis)} →", ylabel=f"← {worded(row_axis)}", title=worded(title))
    return ax


def plot_scores(scores: Any, *, ax: Axes | None = None, title: str = marked("scores"), **options: Any) -> Axes:
    """Scores (Q, K) before the softmax: orange below zero, white at zero, purple above; −∞ where masked."""
    defaults: dict[str, Any] = {**_ATTENTION, "decimals": 2}
    return plot_matrix(scores, ax=ax, title=title, **{**defaults, **options})


def plot_weights(weights: Any, *, ax: Axes | None = None, title: str = marked("weights"), **options: Any) -> Axes:
    """Weights (Q, K) from 0, dark, to 1, bright."""
    defaults: dict[str, Any] = {**_ATTENTION, "cmap": WEIGHTS, "limits": (0.0, 1.0)}
    return plot_matrix(weights, ax=ax, title=title, **{**defaults, **options})


def plot_mask(allowed: Any, *, ax: Axes | None = None, title: str = marked("allowed"), **options: Any) -> Axes:
    """A mask (Q, K) of bools, True = may attend: bright with 1, or crossed out with ×."""
    matrix = _matrix(allowed, "allowed")
    if matrix.dtype != bool:
        raise ValueError(f"allowed contains {matrix.dtype}; expected bool, True = may attend")
    colors = {"cmap": WEIGHTS, "limits": (0.0, 1.0)}
    defaults: dict[str, Any] = {**_ATTENTION, **colors, "decimals": 0, "blocked": ~matrix}
    return plot_matrix(matrix.astype(float), ax=ax, title=title, **{**defaults, **options})


_ATTENTION: dict[str, Any] = {"row_axis": marked("queries"), "column_axis": marked("keys")}


def _matrix(values: Any, name: str) -> np.ndarray:
    matrix = as_array(values)
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise ValueError(f"{name} has shape {matrix.shape}; expected a matrix with rows and columns")
    return matrix


def _labels(labels: Sequence[str] | None, count: int, name: str) -> list[str]:
    labels = [str(i) for i in range(count)] if labels is None else list(labels)
    if len(labels) != count:
        raise ValueError(f"{name} contains {len(labels)} labels; expected {count}")
    return labels


def _symmetric(numbers: np.ndarray) -> tuple[float, float]:
    bound = float(np.abs(numbers).max(initial=0.0)) or 1.0
    return -1.5 * bound, 1.5 * bound


def _size(shape: tuple[int, int]) -> tuple[float, float]:
    return 1.6 + 0.62 * shape[1], 1.2 + 0.46 * shape[0]


def _name_cells(ax: Axes, rows: list[str], columns: list[str]) -> None:
    """The first row on top, and a name for each row and column; those of columns are upright where they overlap."""
    ax.spines[:].set_visible(False)
    ax.set(xlim=(0, len(columns)), ylim=(len(rows), 0))
    ax.set_xticks(np.arange(len(columns)) + 0.5, columns)
    ax.set_yticks(np.arange(len(rows)) + 0.5, rows, va="center")
    ax.tick_params(length=0)
    boxes = [name.get_window_extent() for name in ax.get_xticklabels()]
    if any(left.overlaps(right) for left, right in pairwise(boxes)):
        ax.tick_params(axis="x", rotation=90)


def _write_numbers(ax: Axes, matrix: np.ndarray, where: np.ndarray, decimals: int) -> None:
    mesh = ax.collections[0]
    for row, column in np.argwhere(where).tolist():
        value = matrix[row, column]
        color = mesh.to_rgba(np.array(float(value)))
        ink = "#ffffff" if _luminance(color) < 0.179 else "#000000"  # the color with the greater contrast
        text = f"{round(float(value), decimals) + 0.0:.{decimals}f}".replace("-", "−")
        ax.text(column + 0.5, row + 0.5, text, ha="center", va="center", color=ink)


def _luminance(color: np.ndarray) -> float:
    """Relative luminance from 0 to 1, as the Web Content Accessibility Guidelines define it, to within 0.001."""
    red, green, blue = (((c + 0.055) / 1.055) ** 2.4 for c in color[:3])
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _mark(ax: Axes, row: int, column: int, value: float, crossed: bool) -> None:
    if crossed:
        face, line, ink, hatch, text = "#c8c8c8", "#ffffff", "#333333", "////", "×"
    elif np.isnan(value):
        face, line, ink, hatch, text = "#ffffff", "#c8a0a0", "#a01010", "xx", "NaN"
    else:
        face, line, ink, hatch, text = "#111111", "#ffffff", "#ffffff", "", "−∞" if value < 0 else "+∞"
    ax.add_patch(Rectangle((column, row), 1, 1, facecolor=face, edgecolor=line, hatch=hatch))
    box = {"facecolor": face, "edgecolor": "none", "pad": 1.5}
    ax.text(column + 0.5, row + 0.5, text, ha="center", va="center", color=ink, bbox=box)
