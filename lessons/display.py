"""What every notebook uses: figures with alternative text, the source of the package, and comparisons of tensors."""

import html
import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor

from lessons.plots.pictures import Picture, take_picture
from lessons.source import as_html
from lessons.wording import AND, listed, worded


@dataclass(frozen=True)
class Measured:
    """A table of timings or training results, whose numbers differ between machines."""

    caption: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]

    def __repr__(self) -> str:
        return worded("[Table, measured here: {caption}]", caption=self.caption)

    def _repr_html_(self) -> str:
        head = "".join(f"<th scope='col'>{html.escape(column)}</th>" for column in self.columns)
        body = "".join(f"<tr>{''.join(f'<td>{html.escape(str(x))}</td>' for x in row)}</tr>" for row in self.rows)
        table = f"<table><caption>{html.escape(self.caption)}</caption><tr>{head}</tr>{body}</table>"
        return f'<div class="measured">{table}</div>'


@dataclass(frozen=True)
class Source:
    """Source code, shown in the colors of the notebook's theme, at the width of the page."""

    text: str

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return as_html(self.text)


@dataclass(frozen=True)
class Branch:
    """A line of text with branches below it: a tree that folds, with its first two levels open."""

    text: str
    branches: Sequence["Branch"] = ()

    def __repr__(self) -> str:
        below = "\n".join(repr(branch) for branch in self.branches)
        return self.text + ("\n" + below).replace("\n", "\n    ") if self.branches else self.text

    def _repr_html_(self) -> str:
        return self._fold(open_levels=2)

    def _fold(self, open_levels: int) -> str:
        text = f'<span style="white-space: pre">{html.escape(self.text)}</span>'
        if not self.branches:
            return f'<div style="margin-left: 2.2em">{text}</div>'
        inside = "".join(branch._fold(open_levels - 1) for branch in self.branches)
        state = " open" if open_levels > 0 else ""
        return f'<details style="margin-left: 1em"{state}><summary>{text}</summary>{inside}</details>'


def show(drawn: Axes | Figure, *, alt: str, measured: bool = False) -> Picture:
    """Turn a figure into a picture with alternative text, and close the figure.

    measured: the figure shows timings or training results. They differ between machines, so the description in words
        leaves the numbers out.
    """
    if not alt.strip():
        raise ValueError("alt is empty; expected a sentence that says what the figure shows")
    figure = drawn.get_figure(root=True)
    if figure is None:
        raise ValueError("drawn belongs to no figure; expected an Axes or a Figure")
    return take_picture(figure, alt, measured=measured)


def show_measured(caption: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> Measured:
    """A table of timings or training results; `caption` says what it shows on any machine."""
    if not caption.strip():
        raise ValueError("caption is empty; expected a sentence that says what the table shows")
    for row in rows:
        if len(row) != len(columns):
            raise ValueError(f"rows contains {list(row)!r}; expected {len(columns)} entries, one for each column")
    return Measured(caption, columns, rows)


def show_source(*items: Any) -> Source:
    """The source code of functions or classes of the package."""
    return Source("\n\n\n".join(inspect.getsource(item).rstrip() for item in items))


def check_same(mine: Any, theirs: Any, *, tolerance: float = 1e-5) -> None:
    """Compare two tensors, or two tuples of tensors; a difference raises a ValueError that says where it is.

    Prints the shapes that were compared. Only values count, not types: True equals 1. None equals None, and NaN equals
    NaN. tolerance: relative and absolute.
    """
    mine, theirs = (list(side) if _holds_tensors(side) else [side] for side in (mine, theirs))
    if len(mine) != len(theirs):
        raise ValueError(f"not the same: {len(mine)} tensors vs. {len(theirs)}")
    pairs = list(zip(mine, theirs))
    shapes = []
    for a, b in pairs:
        if a is None and b is None:
            continue
        if a is None or b is None:
            raise ValueError(f"not the same: {_name(a)} vs. {_name(b)}")
        a, b = torch.as_tensor(a), torch.as_tensor(b)
        _require_same(a, b, tolerance)
        shapes.append(str(tuple(a.shape)))
    if not shapes:
        raise ValueError("mine and theirs contain no tensor; expected one or more to compare")
    print(worded("the same: {shapes}, to within {tolerance:g}", shapes=listed(shapes, AND), tolerance=tolerance))


def _holds_tensors(value: Any) -> bool:
    return isinstance(value, tuple | list) and any(item is None or isinstance(item, Tensor) for item in value)


def _name(value: Any) -> str:
    return "None" if value is None else f"a tensor of shape {tuple(torch.as_tensor(value).shape)}"


def _require_same(a: Tensor, b: Tensor, tolerance: float) -> None:
    if a.shape != b.shape:
        raise ValueError(f"not the same: shape {tuple(a.shape)} vs. {tuple(b.shape)}")
    different = ~torch.isclose(a.double(), b.double(), rtol=tolerance, atol=tolerance, equal_nan=True)
    if different.any():
        place = tuple(different.nonzero()[0].tolist())
        raise ValueError(
            f"not the same in {int(different.sum())} of {a.numel()} places; first at {list(place)}: "
            f"{a[place].item():.6g} vs. {b[place].item():.6g}"
        )
