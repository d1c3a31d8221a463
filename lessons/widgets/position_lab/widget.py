"""PositionLab: sinusoids, two positions and their distance, and the rotated pairs of rotary positions."""

import math
from typing import Any

import torch
from matplotlib.figure import Figure
from torch import Tensor
from traitlets import observe, validate

from lessons import plots
from lessons._checks import one_of, whole
from lessons.positions import rotary_angles, rotate, sinusoids
from lessons.widgets.base import LessonWidget, synced
from lessons.widgets.front_end import front_end, style
from lessons.widgets.pictures import Panel
from lessons.widgets.position_lab.constants import BASES, LIMITS
from lessons.wording import worded


class PositionLab(LessonWidget):
    """Rows of sinusoids; the dot product of two of them by distance; a query and a key that are rotated.

    num_positions 2–32, d_model 2–24: the size of the table. base: one of 10, 100, 1000, 10000.
    first, second: the two positions. pair: which pair of features is drawn as arrows.

    `table`, `products`, `product`, `angles` and `arrows` are computed by torch, from `lessons.positions`.
    """

    _esm = front_end("position_lab")
    _css = style("position_lab")

    num_positions, d_model, base, first, second, pair = (synced() for _ in range(6))

    def __init__(self, num_positions: int = 16, d_model: int = 8, base: int = 10000, **options: Any):
        for name, value in (("num_positions", num_positions), ("d_model", d_model)):
            whole(*LIMITS[name], **{name: value})
        start = {"first": min(2, num_positions - 1), "second": min(5, num_positions - 1), "pair": 0, **options}
        super().__init__(num_positions=num_positions, d_model=d_model, base=base, **start)

    @property
    def table(self) -> Tensor:
        """(T, D), the sinusoids."""
        return sinusoids(self.num_positions, self.d_model, base=self.base, dtype=torch.float64)

    @property
    def products(self) -> Tensor:
        """(T,), the dot product of `first` with every position."""
        return self.table @ self.table[self.first]

    @property
    def product(self) -> float:
        """The dot product of `first` and `second`."""
        return float(self.products[self.second])

    @property
    def angles(self) -> Tensor:
        """(T, pairs), in radians, of the rotary positions of the same size; the last feature of an odd D has none."""
        even = self.d_model - self.d_model % 2
        return rotary_angles(self.num_positions, even, base=self.base, dtype=torch.float64)

    @property
    def arrows(self) -> Tensor:
        """(2, 2): the pair (1, 0), rotated as a query at `first` and as a key at `second`."""
        angles = self.angles[[self.first, self.second], self.pair][:, None]
        return rotate(torch.tensor([[1.0, 0.0]] * 2, dtype=torch.float64), angles)

    # Validation

    @validate("num_positions", "d_model")
    def _check_size(self, proposal: dict) -> int:
        name, value = proposal["trait"].name, proposal["value"]
        whole(*LIMITS[name], **{name: value})
        return value

    @validate("base")
    def _check_base(self, proposal: dict) -> int:
        one_of(BASES, base=proposal["value"])
        return int(proposal["value"])

    @validate("first", "second", "pair")
    def _check_place(self, proposal: dict) -> int:
        name, value = proposal["trait"].name, proposal["value"]
        size = self.d_model // 2 if name == "pair" else self.num_positions
        whole(0, size - 1, **{name: value})
        return value

    @observe("num_positions", "d_model")
    def _fit(self, _: dict) -> None:
        """A smaller table: positions and pairs outside it move to its end."""
        self.first, self.second = (min(x, self.num_positions - 1) for x in (self.first, self.second))
        self.pair = min(self.pair, self.d_model // 2 - 1)

    # Pictures

    def panels(self) -> list[Panel]:
        rows, columns = ([str(i) for i in range(n)] for n in (self.num_positions, self.d_model))
        sizes = {"positions": self.num_positions, "features": self.d_model, "base": self.base}
        title = worded("sinusoids({positions}, {features}), base {base}", **sizes)
        axes = worded("position"), worded("feature")
        return [Panel("values", title, rows, columns, self.table, None, *axes, main=True)]

    def figure(self) -> Figure:
        """The table, and the dot product by position."""
        picture = Figure(figsize=(12, 1.6 + 0.3 * self.num_positions), layout="constrained")
        left, right = picture.subplots(1, 2, width_ratios=[3, 2])
        names: dict[str, Any] = {"row_axis": worded("position"), "column_axis": worded("feature")}
        plots.plot_matrix(self.table, ax=left, title=self.panels()[0].title, decimals=None, **names)
        curve = {worded("with position {position}", position=self.first): self.products}
        labels = {"xlabel": worded("position"), "ylabel": worded("dot product")}
        plots.plot_curves(range(self.num_positions), curve, ax=right, **labels)
        return picture

    def lines(self) -> list[str]:
        apart = self.second - self.first
        degrees = math.degrees(float(self.angles[self.second, self.pair] - self.angles[self.first, self.pair]))
        return [
            worded(
                "positions {first} and {second}, {apart} apart: dot product {product}",
                first=self.first,
                second=self.second,
                apart=abs(apart),
                product=f"{self.product:.2f}",
            ),
            worded(
                "pair {pair}, rotated by rotary positions: the key is {degrees}° ahead of the query, "
                "their dot product is {product}",
                pair=self.pair,
                degrees=f"{degrees:.0f}",
                product=f"{float(self.arrows[0] @ self.arrows[1]):.2f}",
            ),
        ]

    def __repr__(self) -> str:
        return worded(
            "PositionLab: {positions} positions × {features} features, base {base}; "
            "positions {first} and {second}: dot product {product}",
            positions=self.num_positions,
            features=self.d_model,
            base=self.base,
            first=self.first,
            second=self.second,
            product=f"{self.product:.2f}",
        )
