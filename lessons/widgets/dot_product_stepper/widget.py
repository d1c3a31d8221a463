"""DotProductStepper: one query and one key, from their features to what the key adds to the output."""

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from traitlets import validate

from lessons._checks import switch, whole
from lessons.attention import masked_softmax
from lessons.widgets.base import LessonWidget, as_tensor, from_json, synced, to_json, to_tensor
from lessons.widgets.dot_product_stepper import steps
from lessons.widgets.dot_product_stepper.constants import ALSO_0, NOT_0, TABLES, TITLES
from lessons.widgets.front_end import front_end, style
from lessons.widgets.pictures import Panel
from lessons.widgets.shared.rules import read_tokens
from lessons.wording import listed, worded

MOST = 12  # queries, keys, features
TOKENS = ["the", "cat", "sat", "down"]
Q = [[2.0, 0.0, 1.0], [1.0, 1.0, 1.0], [1.0, 1.0, 0.0], [1.0, 2.0, 1.0]]
K = [[0.0, 1.0, 1.0], [1.0, 0.0, 2.0], [1.0, 1.0, 1.0], [2.0, 0.0, 3.0]]
V = [[3.0, 0.0, 1.0], [1.0, 1.0, 0.0], [2.0, 1.0, 1.0], [1.0, 2.0, 0.0]]
EXAMPLE = {"q": Q, "k": K, "v": V, "query_tokens": TOKENS, "key_tokens": TOKENS, "row": 1, "column": 3}
AXES = {"q": "(Q, d)", "k": "(K, d)", "v": "(K, d_v)"}


class DotProductStepper(LessonWidget):
    """Choose a query and a key, and go from q · k to the weight to the output, with all the numbers.

    q (Q, d), k (K, d), v (K, d_v): tensors or nested lists, 1 to 12 queries, keys and features; all three, or none:
    then it is the example of lesson 01. allowed (Q, K) bool, True = may attend; None = no mask.
    query_tokens, key_tokens: texts or lists of tokens; numbers unless given.

    `row` and `column` choose the query and the key, `step` is 0 to 6, `scaled` says whether scores are divided by √d.
    All traits can be set from code; the sizes stay. `scores`, `scaled_scores`, `masked`, `exponentials`, `weights`
    and `output` are computed by torch, in double precision. `steps()` says what the steps say.
    """

    _esm = front_end("dot_product_stepper")
    _css = style("dot_product_stepper")

    row, column, step, scaled, query_tokens, key_tokens = (synced() for _ in range(6))
    q, k, v = (as_tensor(synced()) for _ in range(3))
    allowed = synced().tag(to_json=lambda value, _: value.tolist() if isinstance(value, Tensor) else value)

    def __init__(
        self,
        q: Any = None,
        k: Any = None,
        v: Any = None,
        allowed: Any = None,
        query_tokens: Any = None,
        key_tokens: Any = None,
        **options: Any,
    ):
        given = {"q": q, "k": k, "v": v}
        missing = [name for name, matrix in given.items() if matrix is None]
        if 0 < len(missing) < 3:
            raise ValueError(f"{missing[0]} is None; expected q, k and v, or none of them")
        matrices = {name: _to_matrix(EXAMPLE[name] if missing else matrix, name) for name, matrix in given.items()}
        self._shapes = _fitting_shapes(matrices)
        state: dict[str, Any] = {"row": 0, "column": 0, "step": 0, "scaled": True}
        state |= {"query_tokens": self._shapes["q"][0], "key_tokens": self._shapes["k"][0]}
        state |= EXAMPLE if missing else {}
        tokens = {"query_tokens": query_tokens, "key_tokens": key_tokens}
        state |= {name: value for name, value in tokens.items() if value is not None}
        super().__init__(**state | matrices | {"allowed": allowed} | options)

    # What the state means

    @property
    def scores(self) -> Tensor:
        """(Q, K)"""
        return _exact(self.q) @ _exact(self.k).T

    @property
    def scaled_scores(self) -> Tensor:
        """(Q, K), divided by √d if `scaled`."""
        return self.scores / math.sqrt(self.q.size(-1)) if self.scaled else self.scores

    @property
    def masked(self) -> Tensor:
        """(Q, K), −inf where a query may not attend."""
        return self.scaled_scores.masked_fill(~self._may, -torch.inf)

    @property
    def exponentials(self) -> Tensor:
        """(Q, K), e to the power `masked`, nothing subtracted: inf above 709, where `weights` are still correct."""
        return self.masked.exp()

    @property
    def weights(self) -> Tensor:
        """(Q, K), the softmax of each row; 0 for a query with no allowed key."""
        return masked_softmax(self.scaled_scores, self._may)

    @property
    def output(self) -> Tensor:
        """(Q, d_v)"""
        return self.weights @ _exact(self.v)

    @property
    def empty_rows(self) -> list[int]:
        """The queries with no allowed key."""
        return (~self._may.any(dim=-1)).nonzero()[:, 0].tolist()

    def steps(self) -> list[tuple[str, str, str]]:
        """Title, text and numbers of each step for the chosen query and key."""
        row, column = self.row, self.column
        weights, v = self.weights[row], _exact(self.v)
        cell = steps.Cell(
            query=self.query_tokens[row],
            key=self.key_tokens[column],
            q=_exact(self.q)[row].tolist(),
            k=_exact(self.k)[column].tolist(),
            column=column,
            scaled=self.scaled,
            may=None if self.allowed is None else bool(self.allowed[row, column]),
            empty=row in self.empty_rows,
            score=self.scores[row, column].item(),
            scaled_score=self.scaled_scores[row, column].item(),
            masked=self.masked[row].tolist(),
            weights=weights.tolist(),
            contributions=(weights[:, None] * v).tolist(),
            value=v[column].tolist(),
            output=self.output[row].tolist(),
        )
        return steps.write_steps(cell)

    @property
    def _may(self) -> Tensor:
        """(Q, K) bool, True = may attend."""
        if self.allowed is None:
            return torch.ones(self.q.size(0), self.k.size(0), dtype=torch.bool)
        return self.allowed

    # Validation

    @validate("q", "k", "v")
    def _check_matrix(self, proposal: dict) -> Tensor:
        name = proposal["trait"].name
        matrix = _to_matrix(proposal["value"], name)
        if tuple(matrix.shape) != self._shapes[name]:
            wanted = f"{self._shapes[name]}: the sizes of a widget stay as they are"
            raise ValueError(f"{name} has shape {tuple(matrix.shape)}; expected {wanted}")
        return matrix

    @validate("allowed")
    def _check_allowed(self, proposal: dict) -> Tensor | None:
        value = proposal["value"]
        if value is None:
            return None
        wanted = (self._shapes["q"][0], self._shapes["k"][0])
        try:
            allowed = torch.as_tensor(value).detach().cpu()
        except (TypeError, ValueError, RuntimeError):
            raise ValueError(f"allowed is {value!r}; expected bool of shape {wanted}, True = may attend") from None
        if allowed.dtype != torch.bool:
            raise ValueError(f"allowed is a tensor of {allowed.dtype}; expected bool, True = may attend")
        if allowed.shape != wanted:
            raise ValueError(f"allowed has shape {tuple(allowed.shape)}; expected {wanted}, queries × keys")
        return allowed

    @validate("query_tokens", "key_tokens")
    def _check_tokens(self, proposal: dict) -> list[str]:
        name = proposal["trait"].name
        tokens = read_tokens(proposal["value"], name)
        count = self._shapes["q" if name == "query_tokens" else "k"][0]
        if len(tokens) != count:
            raise ValueError(f"{name} is {proposal['value']!r}, {len(tokens)} tokens; expected {count}")
        return tokens

    @validate("row", "column", "step")
    def _check_place(self, proposal: dict) -> int:
        name, value = proposal["trait"].name, proposal["value"]
        counts = {"row": self._shapes["q"][0], "column": self._shapes["k"][0], "step": len(TITLES)}
        whole(0, counts[name] - 1, **{name: value})
        return value

    @validate("scaled")
    def _check_scaled(self, proposal: dict) -> bool:
        switch(scaled=proposal["value"])
        return proposal["value"]

    # What is shown

    def panels(self) -> list[Panel]:
        """The whole table at the current step, and the numbers that go into it."""
        return [self._table(), self._bench()]

    def _table(self) -> Panel:
        scaled = worded(TABLES["scaled"], size=self.q.size(-1)) if self.scaled else worded(TABLES["not scaled"])
        tone, title, values = (
            ("scores", worded(TABLES["product"]), self.scores),
            ("scores", scaled, self.scaled_scores),
            ("scores", worded(TABLES["masked"]), self.masked),
            ("values", worded(TABLES["powers"]), self.exponentials),
            ("weights", worded(TABLES["weights"]), self.weights),
        )[min(self.step, 4)]
        blocked = ~self._may if self.step >= 2 else None
        return Panel(tone, title, self.query_tokens, self.key_tokens, values, blocked, main=True)

    def _bench(self) -> Panel:
        row, column = self.row, self.column
        query, key = self.query_tokens[row], self.key_tokens[column]
        if self.step <= 2:
            q, k = _exact(self.q)[row], _exact(self.k)[column]
            rows, values = [f"q {query}", f"k {key}", worded("product")], torch.stack([q, k, q * k])
            title = worded("q of {query}, k of {key}", query=steps.quote(query), key=steps.quote(key))
            return _features(title, rows, values)
        if self.step <= 4:
            return self._row_of_weights(row)
        weights, v = self.weights[row], _exact(self.v)
        if self.step == 5:
            rows, values = [f"v {key}", worded("× weight")], torch.stack([v[column], weights[column] * v[column]])
            return _features(worded("the value of {key}, times its weight", key=steps.quote(key)), rows, values)
        values = torch.cat([weights[:, None] * v, self.output[row : row + 1]])
        title = worded("what {query} takes, and their sum", query=steps.quote(query))
        return _features(title, [*self.key_tokens, worded("output")], values)

    def _row_of_weights(self, row: int) -> Panel:
        title = worded("the row of {query}", query=steps.quote(self.query_tokens[row]))
        masked, columns = self.masked[row], list(self.key_tokens)
        if self.step == 3:
            rows, values = [worded("score"), worded("e^score")], torch.stack([masked, masked.exp()])
        else:
            powers, shift = steps.powers(masked.tolist())
            rows = [worded("e^(s−max)") if shift else worded("e^score"), worded("weight")]
            values = torch.stack([torch.tensor(powers, dtype=torch.float64), self.weights[row]])
            values, columns = torch.cat([values, values.sum(-1, keepdim=True)], dim=-1), [*columns, worded("sum")]
        return Panel("values", title, rows, columns, values, row_axis=worded("row"), column_axis=worded("key"))

    def lines(self) -> list[str]:
        """The steps so far."""
        return [
            worded("{title}: {numbers}", title=title, numbers=numbers)
            for title, _, numbers in self.steps()[: self.step + 1]
        ]

    def note(self) -> str:
        """In words: which queries have no allowed key, and what happens to them; empty if there are none."""
        empty = self.empty_rows
        names = listed(f"{row} {steps.quote(self.query_tokens[row])}" for row in empty)
        all_0 = not self.output[empty].any()
        return worded(ALSO_0 if all_0 else NOT_0, names=names) if empty else ""

    def __repr__(self) -> str:
        (queries, size), (keys, _) = self._shapes["q"], self._shapes["k"]
        query, key = steps.quote(self.query_tokens[self.row]), steps.quote(self.key_tokens[self.column])
        title, _, numbers = self.steps()[self.step]
        return worded(
            "DotProductStepper: {queries} queries × {keys} keys, d = {size}; query {row} {query}, key {column} {key}; "
            "step {step} of {count}, {title}: {numbers}",
            queries=queries,
            keys=keys,
            size=size,
            row=self.row,
            query=query,
            column=self.column,
            key=key,
            step=self.step + 1,
            count=len(TITLES),
            title=title,
            numbers=numbers,
        )


def _features(title: str, rows: Sequence[str], values: Tensor) -> Panel:
    columns = [str(i) for i in range(values.size(-1))]
    return Panel("values", title, list(rows), columns, values, row_axis=worded("row"), column_axis=worded("feature"))


def _exact(matrix: Tensor) -> Tensor:
    """In double precision, as in the browser: 0.1 stays 0.1."""
    return torch.tensor(from_json(to_json(matrix)), dtype=torch.float64)


def _to_matrix(value: Any, name: str) -> Tensor:
    matrix = to_tensor(value, name)
    if matrix.dim() != 2 or not all(1 <= size <= MOST for size in matrix.shape):
        raise ValueError(f"{name} has shape {tuple(matrix.shape)}; expected {AXES[name]}, each from 1 to {MOST}")
    return matrix


def _fitting_shapes(matrices: dict[str, Tensor]) -> dict[str, tuple[int, ...]]:
    """The shapes, if q fits k and k fits v."""
    q, k, v = matrices.values()
    if q.size(1) != k.size(1):
        raise ValueError(f"q has {q.size(1)} features and k has {k.size(1)}; expected the same number")
    if k.size(0) != v.size(0):
        raise ValueError(f"there are {k.size(0)} keys and {v.size(0)} values; expected one value for each key")
    return {name: tuple(matrix.shape) for name, matrix in matrices.items()}
