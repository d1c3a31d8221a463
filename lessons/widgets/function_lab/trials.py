"""Calls the learner's function and examines its result; no exception of it gets through."""

import inspect
import io
import math
import time
import warnings
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from lessons.widgets.function_lab.constants import EXAMPLES
from lessons.widgets.shared.errors import cut, explain, line_of
from lessons.wording import AND, SENTENCES, listed, marked, worded

INPUTS = ("q", "k", "v", "scores", "allowed")
GIVES = (marked("weights"), marked("output"))
HAS_NAN = {
    "weights": marked("NaN in {count} of {total} cells of the weights, first at {place}."),
    "output": marked("NaN in {count} of {total} cells of the output, first at {place}."),
}


@dataclass(frozen=True)
class Plug:
    """A function and how to call it: its inputs, and what its result is if it is a single tensor."""

    name: str
    function: Callable[..., Any]
    takes: tuple[str, ...]
    gives: str
    by_name: bool

    def __call__(self, inputs: dict[str, Tensor]) -> Any:
        if self.by_name:
            return self.function(**{name: inputs[name] for name in self.takes})
        return self.function(*(inputs[name] for name in self.takes))

    @property
    def title(self) -> str:
        """The name: an example's in the current language, the learner's as it is."""
        return worded(self.name) if self.name in EXAMPLES else self.name

    def shapes(self, inputs: dict[str, Tensor]) -> str:
        return ", ".join(f"{name} {tuple(inputs[name].shape)}" for name in self.takes)


@dataclass(frozen=True)
class Trial:
    """The result of a call: weights (Q, K) or output (Q, d_v) or both; else the problem, in words.

    seconds: of the processor; on a busy machine a call takes longer by the clock.
    """

    weights: Tensor | None = None
    output: Tensor | None = None
    problem: str = ""
    notes: tuple[str, ...] = ()
    printed: str = ""
    seconds: float = 0.0


def plug_in(name: str, function: Any, takes: Sequence[str] | None = None, gives: str | None = None) -> Plug:
    """Find out how to call a function: by the names of its parameters, or in the order that `takes` says."""
    if not callable(function):
        raise ValueError(f"function is {function!r}; expected a function, or a dict of functions by their names")
    names = _parameters(name, function) if takes is None else tuple(takes)
    gives = gives or ("output" if "v" in names else "weights")
    return Plug(name, function, names, gives, by_name=takes is None)


def _parameters(name: str, function: Callable) -> tuple[str, ...]:
    advice = 'say which inputs it gets, in their order: takes=("q", "k", "v", "allowed")'
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        raise ValueError(f"function is {name}, whose parameters cannot be read; {advice}") from None
    variable = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    required = [x.name for x in parameters if x.default is x.empty and x.kind not in variable]
    known = tuple(x.name for x in parameters if x.name in INPUTS)
    if not known or not set(required) <= set(known):
        shown = ", ".join(x.name for x in parameters)
        raise ValueError(
            f"function is {name}({shown}); expected parameters among {', '.join(INPUTS)}, or else {advice}"
        )
    return known


def prepare(q: Tensor, k: Tensor, v: Tensor, allowed: Tensor) -> dict[str, Tensor]:
    """All possible arguments of a function."""
    scores = (q / math.sqrt(q.size(-1))) @ k.transpose(-2, -1)  # (Q, K)
    return {"q": q, "k": k, "v": v, "scores": scores, "allowed": allowed}


def try_out(plug: Plug, inputs: dict[str, Tensor]) -> Trial:
    """Call the function twice, on copies of the inputs; the random numbers of the notebook stay as they were."""
    with torch.random.fork_rng(devices=[]):
        first = _call(plug, inputs)
        if first.problem:
            return first
        second = _call(plug, inputs)
    if second.problem:
        return replace(
            second, problem=worded("Called a second time with the same inputs: {problem}", problem=second.problem)
        )
    seconds = min(first.seconds, second.seconds)
    if same(first.weights, second.weights) and same(first.output, second.output):
        return replace(first, seconds=seconds)
    note = worded(
        "Two calls with the same inputs gave different results: it contains something random, such as dropout."
    )
    return replace(first, seconds=seconds, notes=(note, *first.notes))


def _call(plug: Plug, inputs: dict[str, Tensor]) -> Trial:
    given = {name: inputs[name].clone() for name in plug.takes}
    stdout = io.StringIO()
    start = time.thread_time()
    try:
        with redirect_stdout(stdout), warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            weights, output = (x if x is None else x.detach().cpu() for x in read_result(plug, plug(given), inputs))
            seconds = time.thread_time() - start
    except (Exception, SystemExit, KeyboardInterrupt) as error:
        called = worded("It was called with {inputs}.", inputs=plug.shapes(inputs))
        problem = listed([_explain(plug, error), called], SENTENCES)
        return Trial(problem=problem, printed=cut(stdout.getvalue()))
    notes = [worded("A warning: {message}", message=cut(str(warning.message))) for warning in warned[:1]]
    changed = [name for name, old in inputs.items() if name in given and not same(old, given[name])]
    if changed:
        note = worded(
            "It changed its input {names} in place, but the caller still needs it. "
            "Work on a copy (x.clone()), or use functions without a trailing underscore.",
            names=listed(changed, AND),
        )
        notes.append(note)
    for name, x in (("weights", weights), ("output", output)):
        if x is not None and x.isnan().any():
            row, column = x.isnan().nonzero()[0].tolist()
            found = {"count": int(x.isnan().sum()), "total": x.numel(), "place": place(name, row, column)}
            notes.append(worded(HAS_NAN[name], **found))
    return Trial(weights, output, notes=tuple(notes), printed=cut(stdout.getvalue()), seconds=seconds)


class Unreadable(Exception):
    """The function's result is not what was expected; the message has a gap for its {name}."""

    def __init__(self, message: str, **values: Any):
        super().__init__(message)
        self.values = values

    def of(self, name: str) -> str:
        return worded(str(self), name=name, **self.values)


def read_result(plug: Plug, result: Any, inputs: dict[str, Tensor]) -> tuple[Tensor | None, Tensor | None]:
    """Weights (Q, K) and output (Q, d_v) from the function's result; one of them may be missing."""
    if result is None or result is ...:
        raise Unreadable(marked("{name} gives None: it is not written yet, or does not end with `return`."))
    if isinstance(result, tuple | list):
        if len(result) != 2:
            message = marked("{name} gives {count} things; expected (output, weights), or one of them alone.")
            raise Unreadable(message, count=len(result))
        output, weights = result
    else:
        output, weights = (result, None) if plug.gives == "output" else (None, result)
    queries, keys = inputs["scores"].shape
    shapes = {"weights": (queries, keys), "output": (queries, inputs["v"].size(1))}
    if isinstance(result, tuple | list) and output is None:
        raise Unreadable(marked("{name} gives None in the place of its output; expected (output, weights)."))
    return _read_tensor(weights, "weights", shapes["weights"]), _read_tensor(output, "output", shapes["output"])


def _read_tensor(x: Any, name: str, shape: tuple[int, int]) -> Tensor | None:
    if x is None:
        return None
    said = {"what": worded(name)}
    if not isinstance(x, Tensor):
        kind = f"{type(x).__module__}.{type(x).__name__}".removeprefix("builtins.")
        raise Unreadable(marked("{name} gives a {kind} as its {what}; expected a torch tensor."), kind=kind, **said)
    if x.layout != torch.strided or x.device.type == "meta":
        message = marked("{name} gives {what} that are no ordinary tensor: it is sparse, nested or without data.")
        raise Unreadable(message, **said)
    if tuple(x.shape) != shape:
        axes = worded("(queries, keys)") if name == "weights" else worded("(queries, features of a value)")
        message = marked("{name} gives {what} of shape {shape}; expected {wanted}, {axes}.")
        raise Unreadable(message, shape=tuple(x.shape), wanted=shape, axes=axes, **said)
    if not x.is_floating_point():
        raise Unreadable(marked("{name} gives {what} of {dtype}; expected floats."), dtype=x.dtype, **said)
    return x.clone()


def _explain(plug: Plug, error: BaseException) -> str:
    """What went wrong, with the line of the learner's code."""
    name = plug.title
    if isinstance(error, Unreadable):
        return error.of(name)
    if isinstance(error, NotImplementedError):
        said = worded("{name} raises NotImplementedError: it is not written yet.", name=name)
    elif isinstance(error, KeyboardInterrupt):
        said = worded("{name} was interrupted.", name=name)
    else:
        return worded("{name} raises {problem}", name=name, problem=say_error(error))
    return listed([said, *line_of(error)], SENTENCES)


def say_error(error: BaseException) -> str:
    """An exception, and the learner's line that caused it."""
    if isinstance(error, Unreadable):
        return error.of(worded("It"))
    return explain(error)


def same(one: Tensor | None, other: Tensor | None) -> bool:
    if one is None or other is None:
        return one is other
    return one.shape == other.shape and bool(((one == other) | (one.isnan() & other.isnan())).all())


def place(name: str, row: int, column: int) -> str:
    if name == "weights":
        return worded("query {row}, key {column}", row=row, column=column)
    return worded("query {row}, feature {column}", row=row, column=column)
