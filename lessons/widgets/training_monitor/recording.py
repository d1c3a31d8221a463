"""What TrainingMonitor stores of a run: a limited number of points, and the latest one."""

import math
import re
from collections.abc import Sequence
from typing import Any

import torch

from lessons.widgets.base import to_tensor
from lessons.wording import worded

MAX_POINTS = 200
MAX_MEASURES = 60  # points of one name
MAX_NAMES = 6
MAX_TOKENS = 32
ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")

Point = list[Any]  # [step, loss, learning rate or None]


class Curve:
    """Every `stride`-th point of a run, beginning with its first; and the latest."""

    def __init__(self, limit: int = MAX_POINTS):
        self.limit = limit
        self.stride = 1
        self.count = 0
        self.kept: list[Point] = []
        self.latest: Point | None = None

    def add(self, point: Point) -> None:
        if self.count % self.stride == 0:
            self.kept = [*self.kept, point]
        if len(self.kept) > self.limit:
            self.kept = self.kept[::2]
            self.stride *= 2
        self.count += 1
        self.latest = point

    def replace(self, point: Point) -> None:
        """Another one in the place of the latest."""
        if self.kept[-1] is self.latest:
            self.kept = [*self.kept[:-1], point]
        self.latest = point

    @property
    def points(self) -> list[Point]:
        """The kept ones and, at the end, always the latest."""
        if self.latest is None or self.kept[-1] is self.latest:
            return self.kept
        return [*self.kept, self.latest]


def shorten(x: float) -> float | str:
    """Six digits; JSON has no infinity and no NaN, so they become text."""
    return float(f"{x:.6g}") if math.isfinite(x) else str(x)


def read_progress(progress: Any, before: int | None) -> Point:
    """The point of one report. before: the step of the last one."""
    if not hasattr(progress, "step") or not hasattr(progress, "loss"):
        raise ValueError(f"progress is {progress!r}; expected something that has .step and .loss")
    step = progress.step
    if not isinstance(step, int) or isinstance(step, bool) or step < 0:
        raise ValueError(f"step is {step!r}; expected a whole number from 0 on")
    if before is not None and step <= before:
        raise ValueError(
            f"step is {step}; expected more than {before}, the last step of the run shown: "
            "monitor.clear() removes that run"
        )
    rate = getattr(progress, "learning_rate", None)
    return [step, _number(progress.loss, "loss"), None if rate is None else _number(rate, "learning_rate")]


def _number(value: Any, name: str) -> float | str:
    try:
        return shorten(float(value.detach() if isinstance(value, torch.Tensor) else value))
    except (TypeError, ValueError, RuntimeError):
        raise ValueError(f"{name} is {value!r}; expected a number") from None


def read_measure(name: str, value: Any) -> float:
    number = _number(value, name)
    if isinstance(number, str) or not 0 <= number <= 1:
        raise ValueError(f"{name} is {value!r}; expected a number from 0 to 1")
    return number


def in_words(name: str) -> str:
    """The name as it is shown: held_out becomes “held out”."""
    return worded(name.replace("_", " "))


def read_weights(weights: Any, rows: Sequence[str] | None, columns: Sequence[str] | None, step: int) -> dict:
    """One matrix (T, S) with the names of its rows and columns."""
    matrix = to_tensor(weights, "weights")
    if matrix.dim() != 2 or not all(1 <= size <= MAX_TOKENS for size in matrix.shape):
        raise ValueError(f"weights has shape {tuple(matrix.shape)}; expected (T, S), each from 1 to {MAX_TOKENS}")
    names = [
        _read_names(given, name, size) for given, name, size in zip((rows, columns), ("rows", "columns"), matrix.shape)
    ]
    values = [[shorten(round(x, 6)) for x in line] for line in matrix.double().tolist()]
    return {"step": step, "rows": names[0], "columns": names[1], "values": values}


def _read_names(given: Sequence[str] | None, name: str, size: int) -> list[str]:
    if given is None:
        return [str(i) for i in range(size)]
    if isinstance(given, str) or not all(isinstance(token, str) for token in given) or len(given) != size:
        raise ValueError(f"{name} is {given!r}; expected a list of {size} texts, one for each of the {name} of weights")
    return list(given)


def weights_of(shown: dict) -> torch.Tensor:
    return torch.tensor([[float(x) for x in line] for line in shown["values"]])


def say_error(error: BaseException) -> str:
    """One short line, the same in every run."""
    text = " ".join(f"{type(error).__name__}: {error}".removesuffix(": ").split())
    text = ADDRESS.sub("", text)
    return text if len(text) <= 200 else f"{text[:199]}…"
