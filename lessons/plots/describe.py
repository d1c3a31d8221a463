"""Describes drawn Axes in words and numbers, so that a changed figure is a changed text."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh
from matplotlib.patches import StepPatch
from matplotlib.text import Annotation, Text

from lessons.wording import worded


def describe(ax: Axes) -> str:
    """Title and axes, then every cell of a heatmap, or every point, bar and histogram."""
    xlabel, ylabel = (
        worded("{label} (logarithmic)", label=label) if scale == "log" else label
        for label, scale in ((ax.get_xlabel(), ax.get_xscale()), (ax.get_ylabel(), ax.get_yscale()))
    )
    heading = " | ".join(part for part in (ax.get_title(), ylabel, xlabel) if part)
    is_heatmap = any(isinstance(collection, QuadMesh) for collection in ax.collections)
    return "\n".join([heading, *(_cells(ax) if is_heatmap else [*_points(ax), *_histograms(ax), *_notes(ax)])])


def _cells(ax: Axes) -> list[str]:
    mesh = next(collection for collection in ax.collections if isinstance(collection, QuadMesh))
    numbers = np.ma.asarray(mesh.get_array())
    lines = [worded("columns: {names}", names="  ".join(label.get_text() for label in ax.get_xticklabels()))]
    for row, name in enumerate(label.get_text() for label in ax.get_yticklabels()):
        written = {int(cell.get_position()[0]): cell.get_text() for cell in ax.texts if _row(cell) == row}
        colored = {i: f"{number:.1f}" for i, number in enumerate(numbers[row]) if i not in written}
        lines.append(f"{name}: " + "  ".join(text for _, text in sorted({**written, **colored}.items())))
    low, high = mesh.get_clim()
    colors = worded("colors: {name} from {low:.2g} to {high:.2g}", name=mesh.get_cmap().name, low=low, high=high)
    return [*lines, colors]


def _row(cell: Text) -> int:
    return int(cell.get_position()[1])


def _points(ax: Axes) -> list[str]:
    lines = []
    for line in ax.get_lines():
        label = str(line.get_label())
        if not label.startswith("_"):
            points = zip(np.asarray(line.get_xdata(), float), np.asarray(line.get_ydata(), float))
            lines.append(f"{label}: " + ", ".join(f"({x:.3g}, {y:.2g})" for x, y in points))
    return lines


def _histograms(ax: Axes) -> list[str]:
    lines = []
    for stairs in (patch for patch in ax.patches if isinstance(patch, StepPatch)):
        fractions, edges, _ = stairs.get_data()
        middle = (edges[1:] + edges[:-1]) / 2
        mean = (fractions * middle).sum()
        spread = np.sqrt((fractions * (middle - mean) ** 2).sum())
        name = stairs.get_label()
        lines.append(
            worded(
                "{name}: mean {mean:.1f}, standard deviation {spread:.1f}",
                name=name,
                mean=round(mean, 1) + 0.0,
                spread=spread,
            )
        )
    return lines


def _notes(ax: Axes) -> list[str]:
    """The texts above the ticks, such as the mean of a bar."""
    names = {place: label.get_text() for place, label in zip(ax.get_xticks(), ax.get_xticklabels())}
    notes = [text for text in ax.texts if isinstance(text, Annotation)]
    lines: list[str] = []
    for note in notes:
        name = names.get(note.xy[0], worded("at {place}", place=note.xy))
        lines.append(f"{name}: {note.get_text()}")
    return lines
