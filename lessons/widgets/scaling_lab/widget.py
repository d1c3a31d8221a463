"""ScalingLab: what d, the √d and a temperature do to scores, weights, entropy and gradient."""

import math
import reprlib
from typing import Any

import torch
from matplotlib.figure import Figure
from torch import Tensor
from traitlets import observe, validate

from lessons import plots
from lessons._checks import between, switch, whole
from lessons.widgets.base import LessonWidget, from_json, synced, to_json, to_tensor
from lessons.widgets.front_end import front_end, style
from lessons.widgets.pictures import Panel, format_number
from lessons.widgets.scaling_lab import scaling
from lessons.widgets.scaling_lab.constants import LINE_NAMES, MAX_FEATURES, MAX_KEYS, NUM_QUERIES
from lessons.wording import listed, marked, worded

MEASURES = {"entropy": marked("entropy"), "gradient": marked("gradient"), "stuck": marked("stuck")}
GREATEST = 1e6  # of the learner's own features
MAX_OWN = 64  # queries


def _own_to_json(own: Any, _: Any = None) -> Any:
    return own and [to_json(matrix) for matrix in own] if isinstance(own, tuple) else own


class ScalingLab(LessonWidget):
    """Queries and keys of d features -> scores -> weights, their entropy and their gradient.

    d: the head dimension; the first d features are used. num_keys: the first num_keys keys are used.
    scaled: True = q·k is divided by √d. temperature: divides it as well.
    query: the one that is shown by itself. seed: of the random queries and keys.
    q (Q, d), k (K, d): your own, in their place; q may also be a single query (d,).

    `scores`, `weights`, `entropy`, `jacobian`, `gradient` belong to the one query, `curves()` to all of them; torch
    computes them.
    """

    _esm = front_end("scaling_lab")
    _css = style("scaling_lab")

    own: Any = synced().tag(to_json=_own_to_json, from_json=from_json)
    d, num_keys, scaled, temperature, query, seed = (synced() for _ in range(6))
    _beside = ("_limits",)

    def __init__(
        self,
        d: int | None = None,
        num_keys: int | None = None,
        scaled: bool = True,
        temperature: float = 1.0,
        query: int = 0,
        seed: int = 1,
        q: Any = None,
        k: Any = None,
        **options: Any,
    ):
        own = None if q is None and k is None else _read_own(q, k)
        self._limits = _limits(own)
        super().__init__(
            own=own,
            d=(64 if own is None else self._limits["d"]) if d is None else d,
            num_keys=(8 if own is None else self._limits["num_keys"]) if num_keys is None else num_keys,
            scaled=scaled,
            temperature=temperature,
            query=query,
            seed=seed,
            **options,
        )

    def use(self, q: Any = None, k: Any = None) -> None:
        """Use these queries (Q, d) and keys (K, d); without arguments, random ones again."""
        self.own = None if q is None and k is None else (q, k)

    # What the state means

    @property
    def divisor(self) -> float:
        """The divisor of q·k."""
        return (math.sqrt(self.d) if self.scaled else 1.0) * self.temperature

    def vectors(self, d: int | None = None) -> tuple[Tensor, Tensor]:
        """All queries (N, d), and the keys of each (N, K, d)."""
        d = self.d if d is None else d
        if self.own is None:
            q, k = scaling.draw_vectors(self.seed, self.num_keys)
            return q[:, :d], k[..., :d]
        q, k = self.own
        return q[:, :d], k[: self.num_keys, :d].expand(len(q), -1, -1)

    @property
    def all_scores(self) -> Tensor:
        """(N, K), the scores of all queries as they go into the softmax."""
        return scaling.multiply(*self.vectors()) / self.divisor

    @property
    def scores(self) -> Tensor:
        """(K,), q·k divided by the divisor: as they go into the softmax."""
        return self.all_scores[self.query]

    @property
    def weights(self) -> Tensor:
        """(K,)"""
        return self.scores.softmax(dim=-1)

    @property
    def entropy(self) -> float:
        """Of the weights, in nats: 0 if one key gets everything, ln K if all get the same."""
        return scaling.spread(self.weights).item()

    @property
    def jacobian(self) -> Tensor:
        """(K, K), ∂weights/∂scores: how each weight moves with each score that goes into the softmax."""
        return scaling.by_scores(self.weights)

    @property
    def gradient(self) -> Tensor:
        """(K, d), ∂weights/∂q: how each weight moves with each feature of the query."""
        return scaling.by_query(self.weights, self.vectors()[1][self.query], self.divisor)

    @property
    def gradient_size(self) -> float:
        """The root of the sum of its squares."""
        return self.gradient.square().sum().sqrt().item()

    def curves(self) -> dict[str, dict[str, list[float]]]:
        """By measure, "entropy" (mean), "gradient" (median), "stuck" (fraction), then by scaling, per size."""
        curves = {measure: {name: [] for name in LINE_NAMES.values()} for measure in MEASURES}
        for d in self.sizes:
            q, k = self.vectors(d)
            for scaled, name in LINE_NAMES.items():
                divisor = (math.sqrt(d) if scaled else 1.0) * self.temperature
                for measure, number in scaling.summarize(q, k, divisor).items():
                    curves[measure][name].append(number)
        return curves

    @property
    def sizes(self) -> list[int]:
        """The head dimensions at which the curves are drawn."""
        return scaling.sizes(self.d, self._limits["d"])

    # Validation

    @observe("own")
    def _fit(self, change: dict) -> None:
        """Other sizes: all features and keys are taken; random ones have enough of them."""
        own = change["new"]
        if not isinstance(own, tuple | None) or _limits(own) == self._limits:
            return  # a list comes from the browser and was refused
        self._limits = _limits(own)
        if own is not None:
            self.d, self.num_keys = self._limits["d"], self._limits["num_keys"]
        self.query = min(self.query, self._limits["query"])

    @validate("own")
    def _check_own(self, proposal: dict) -> tuple[Tensor, Tensor] | None:
        own = proposal["value"]
        if own is None:
            return None
        if not isinstance(own, tuple | list) or len(own) != 2:
            raise ValueError(f"own is {reprlib.repr(own)}; expected None, or a pair of q (Q, d) and k (K, d)")
        return _read_own(*own)

    @validate("d", "num_keys", "query", "seed")
    def _check_whole(self, proposal: dict) -> int:
        name, value = proposal["trait"].name, proposal["value"]
        whole(int(name in ("d", "num_keys")), self._limits[name], **{name: value})
        return value

    @validate("scaled")
    def _check_scaled(self, proposal: dict) -> bool:
        switch(scaled=proposal["value"])
        return proposal["value"]

    @validate("temperature")
    def _check_temperature(self, proposal: dict) -> float:
        between(0.01, 100, temperature=proposal["value"])
        return float(proposal["value"])

    # What is shown

    def panels(self) -> list[Panel]:
        """Scores, weights and Jacobian of the one query, and the curves of all queries."""
        keys, row = [f"k{i}" for i in range(self.num_keys)], [f"q{self.query}"]
        lines = {
            listed([worded(MEASURES[measure]), worded(name)]): line
            for measure, both in self.curves().items()
            for name, line in both.items()
        }
        scores = worded("scores, q·k ÷ {divisor}", divisor=format_number(self.divisor))
        axes = worded("weight"), worded("score")
        return [
            Panel("scores", scores, row, keys, self.scores[None]),
            Panel("weights", worded("weights"), row, keys, self.weights[None], main=True),
            Panel("values", worded("∂weights/∂scores"), keys, keys, self.jacobian, None, *axes),
            Panel(
                "values",
                worded(
                    "{queries}: mean entropy (nats), median gradient, fraction with over 99 % on a single key",
                    queries=self._all(),
                ),
                list(lines),
                [str(d) for d in self.sizes],
                torch.tensor(list(lines.values())),
                row_axis=worded("measure"),
                column_axis="d",
            ),
        ]

    def _all(self) -> str:
        count = NUM_QUERIES if self.own is None else len(self.own[0])
        return worded("all {count} queries", count=count) if count > 1 else worded("the one query")

    def figure(self) -> Figure:
        """All scores, the weights of the one query, and both curves, by lessons.plots."""
        picture = Figure(figsize=(11, 7), layout="constrained")
        (scores, weights), (entropy, gradient) = picture.subplots(2, 2)
        name = listed([worded(LINE_NAMES[self.scaled]), worded("temperature {number}", number=f"{self.temperature:g}")])
        title = worded("Scores of {queries}, d = {d}: {name}", queries=self._all(), d=self.d, name=name)
        plots.plot_histograms({name: self.all_scores}, ax=scores, xlabel=worded("score"), title=title)
        keys = [f"k{i}" for i in range(self.num_keys)]
        plots.plot_weights(self.weights[None], ax=weights, rows=[f"q{self.query}"], columns=keys)
        names = {"entropy": worded("mean entropy (nats)"), "gradient": worded("median size of the gradient")}
        for ax, (measure, curves) in zip((entropy, gradient), self.curves().items()):
            lines = {worded(line): numbers for line, numbers in curves.items()}
            plots.plot_curves(self.sizes, lines, ax=ax, log="x", xlabel="d", ylabel=names[measure])
        return picture

    def __repr__(self) -> str:
        return worded(
            "ScalingLab: d = {d}, √d = {root}, {scaled}, temperature {temperature}, {keys} keys; query {query}: "
            "entropy {entropy} of {most} nats, largest weight {largest}, size of the gradient {gradient}",
            d=self.d,
            root=f"{math.sqrt(self.d):.2f}",
            scaled=worded(LINE_NAMES[self.scaled]),
            temperature=f"{self.temperature:g}",
            keys=self.num_keys,
            query=self.query,
            entropy=f"{self.entropy:.2f}",
            most=f"{math.log(self.num_keys):.2f}",
            largest=f"{self.weights.max().item():.2f}",
            gradient=f"{self.gradient_size:.2f}",
        )


def _limits(own: tuple[Tensor, Tensor] | None) -> dict[str, int]:
    """The greatest value of each whole number."""
    if own is None:
        limits = {"d": MAX_FEATURES, "num_keys": MAX_KEYS, "query": NUM_QUERIES - 1}
    else:
        q, k = own
        limits = {"d": q.size(1), "num_keys": k.size(0), "query": q.size(0) - 1}
    return {**limits, "seed": 2**31 - 1}


def _read_own(q: Any, k: Any) -> tuple[Tensor, Tensor]:
    q, k = (_read_features(value, name) for value, name in ((q, "q"), (k, "k")))
    q = q[None] if q.dim() == 1 else q
    for matrix, name, most in ((q, "q", MAX_OWN), (k, "k", MAX_KEYS)):
        if matrix.dim() != 2 or not 1 <= len(matrix) <= most or not 1 <= matrix.size(1) <= MAX_FEATURES:
            limits = f"1 to {most} rows of 1 to {MAX_FEATURES} features"
            raise ValueError(f"{name} has shape {tuple(matrix.shape)}; expected {limits}")
    if q.size(1) != k.size(1):
        raise ValueError(f"k has shape {tuple(k.shape)}; expected (K, {q.size(1)}), as many features as q has")
    return q, k


def _read_features(value: Any, name: str) -> Tensor:
    matrix = to_tensor(value, name)
    if not (matrix.abs() <= GREATEST).all():
        number = matrix[~(matrix.abs() <= GREATEST)][0].item()
        raise ValueError(f"{name} has an entry {number:g}; expected numbers from −1e6 to 1e6")
    return torch.tensor(to_json(matrix), dtype=torch.float64)  # as the browser has it, digit by digit
