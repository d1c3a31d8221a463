"""One call of what a learner wrote, on copies of the inputs; what it returns, raises or changes is recorded."""

import dis
import linecache
import re
import traceback
import warnings
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from types import CodeType, FunctionType, MethodType
from typing import Any

import numpy as np
import torch
from torch import Tensor

from lessons.checking import state
from lessons.checking.comparing import NOT_POSSIBLE, equal, gradients_of, is_tensor, untouched
from lessons.checking.limit import TooLong
from lessons.checking.reports import brief, shortened
from lessons.wording import listed, worded

PASS_ON = (KeyboardInterrupt, TooLong)
LARGE = 10**7  # results with more numbers than this are neither copied nor differentiated


@dataclass(frozen=True)
class Case:
    """One set of inputs. `about` says what is special about it; with `gradients`, these are compared too."""

    inputs: dict[str, Any]
    about: str = ""
    gradients: bool = False

    def describe(self) -> str:
        return listed(f"{name} {brief(value)}" for name, value in self.inputs.items())


@dataclass(frozen=True)
class Outcome:
    """What one call gave: the results and their gradients, or the exception."""

    results: tuple[Any, ...] = ()
    gradients: tuple[Tensor | str | None, ...] = ()  # NOT_POSSIBLE where torch could not take them
    changed: tuple[str, ...] = ()  # the arguments that the call altered in place
    error: BaseException | None = None
    error_text: str = ""
    settings: tuple[str, ...] = ()  # those that the call altered: they were put back
    returned: bool = False  # with an error: the function had returned, and what it gave was of no use

    def same_as(self, other: "Outcome") -> bool:
        if self.error is not None or other.error is not None:
            return type(self.error) is type(other.error) and self.error_text == other.error_text
        return (
            len(self.results) == len(other.results)
            and len(self.gradients) == len(other.gradients)
            and self.changed == other.changed
            and all(map(equal, self.results, other.results))
            and all(map(equal, self.gradients, other.gradients))
        )

    def gives(self, other: "Outcome", alike: Callable[[Any, Any], bool] = equal) -> bool | None:
        """Whether both gave the same floats; None if either gave anything else, NaN among it."""
        results = *self.results, *other.results
        floats = all(
            is_tensor(x) and x.is_floating_point() and x.numel() <= LARGE and not x.isnan().any() for x in results
        )
        if not results or not floats or len(self.results) != len(other.results):
            return None
        return all(map(alike, self.results, other.results))


def altered_copy(thing: Any) -> Any:
    """Another value of the same kind and shape, far from it; what is neither float nor bool stays as it is."""
    if is_tensor(thing) and thing.is_floating_point():
        more = torch.linspace(-1, 2, thing.numel(), dtype=thing.dtype).view(thing.shape)
        return thing.flip(tuple(range(thing.dim()))) + more
    if isinstance(thing, bool) or (is_tensor(thing) and thing.dtype == torch.bool):
        return not thing if isinstance(thing, bool) else ~thing
    return 1.5 * thing + 0.3 if isinstance(thing, float) else thing


def run(call: Callable[..., Any], candidate: Any, case: Case, outputs: int, like: Outcome | None = None) -> Outcome:
    """Call the candidate through `call`. like: for what a learner wrote, a right outcome, if there is one.

    One tensor in which results like these are stacked is split, and functions replaced in torch are put back.
    Whatever is raised becomes part of the outcome, but for an interrupt by the learner or by the time limit.
    """
    function = candidate if callable(candidate) else lambda: candidate
    returned: list[bool] = []
    if like is not None and not is_class(candidate):
        function = _examined(function, like.results, returned)
    inputs = [x.detach().clone() if is_tensor(x) else deepcopy(x) for x in case.inputs.values()]
    floats = [x for x in inputs if is_tensor(x) and x.is_floating_point()] if case.gradients else []
    for tensor in floats:
        tensor.requires_grad_()
    state.restart_random_numbers()
    before = state.read()
    settings: list[str] = []
    results, error = _guarded(lambda: call(function, *inputs), before, settings)
    if like is not None:
        settings += state.put_functions_back()
    if error is None:
        results, error = _guarded(lambda: _tidy(results, outputs, plain=not case.inputs), before, settings)
    if error is not None:
        text, _ = _guarded(lambda: shortened(str(error)), before, settings)
        text = worded("(its text cannot be shown)") if text is None else text
        return Outcome(error=error, error_text=text, settings=tuple(settings), returned=returned[-1:] == [True])
    small = [x for x in results if not is_tensor(x) or x.numel() <= LARGE]
    gradients, failed = _guarded(lambda: gradients_of(small, floats), before, settings)
    if failed is not None:  # in a backward that the learner wrote
        gradients = (NOT_POSSIBLE,) * len(floats)
    changed = tuple(name for (name, old), new in zip(case.inputs.items(), inputs) if not untouched(old, new))
    results = tuple(x.detach().clone() if is_tensor(x) and x.numel() <= LARGE else x for x in results)
    return Outcome(results, gradients, changed, settings=tuple(settings))


def _guarded(work: Callable[[], Any], before: list[Any], settings: list[str]) -> tuple[Any, BaseException | None]:
    """What the work gives, or raises. The settings that it changes are put back as before, and named in the list."""
    try:
        with warnings.catch_warnings(action="ignore"):
            return work(), None
    except PASS_ON:
        raise
    except BaseException as error:
        return None, error
    finally:
        settings += state.put_back(before)


def _examined(function: Callable[..., Any], wanted: Sequence[Any], returned: list[bool]) -> Callable[..., Any]:
    """The function, but what it gives is safe to hand to torch, and where several results are wanted and come
    stacked in one tensor or array, they come apart, as in `a, b = function(x)`. returned: whether each call did.
    """
    shapes = {tuple(x.shape) if is_tensor(x) else None for x in wanted}

    def call(*args: Any, **kwargs: Any) -> Any:
        returned.append(False)
        result = function(*args, **kwargs)
        returned[-1] = True
        _refuse_pretenders(result)
        if len(wanted) > 1 and type(result) in (Tensor, np.ndarray) and result.ndim and len(result) == len(wanted):
            return tuple(result) if shapes == {tuple(result.shape[1:])} else result
        return result

    call.__wrapped__ = function  # type: ignore[attr-defined]
    return call


def _refuse_pretenders(result: Any) -> None:
    parts = result if type(result) in (list, tuple) else [result]
    if any(isinstance(part, Tensor) and not is_tensor(part) for part in parts):
        raise TypeError(worded("the answer says that it is a tensor, and is none"))  # it would crash torch


def _tidy(result: Any, outputs: int, *, plain: bool) -> tuple[Any, ...]:
    """The results, each an ordinary tensor if it is a tensor. plain: an answer that may be a number or a list."""
    if plain:
        _refuse_pretenders(result)
        parts = result if type(result) in (list, tuple) else [result]
        rows = parts is result and len(parts) and all(map(is_tensor, parts))
        result = torch.stack(tuple(parts)) if rows else torch.as_tensor(result)
        if result.numel() > LARGE:
            raise ValueError(worded("the answer has the shape {shape}", shape=tuple(result.shape)))
        result = result.double()
    if outputs > 1 and issubclass(type(result), tuple | list):
        sequence = tuple if issubclass(type(result), tuple) else list
        return tuple(map(_ordinary, sequence.__iter__(result)))
    return (_ordinary(result),)


def _ordinary(result: Any) -> Any:
    if not is_tensor(result):
        return result
    with torch._C.DisableTorchFunctionSubclass():
        tensor = result if type(result) is Tensor else result.as_subclass(Tensor)
        if tensor.device.type != "cpu":
            raise TypeError(worded("the result is on {device}; expected the CPU, as the inputs", device=tensor.device))
        if tensor.layout != torch.strided or tensor.is_nested or tensor.is_quantized:
            raise TypeError(worded("the result is not an ordinary tensor (sparse, nested or quantized)"))
        return tensor


def is_class(candidate: Any) -> bool:
    return issubclass(type(candidate), type)


def code_of(candidate: Any) -> CodeType | None:
    """What the learner wrote: the body of the function, or of the class's own method forward."""
    if type(candidate) is MethodType:
        candidate = candidate.__func__
    if type(candidate) is not FunctionType:
        owner = candidate if is_class(candidate) else type(candidate)
        candidate = vars(owner).get("forward")
    return candidate.__code__ if type(candidate) is FunctionType else None


def line_that_raised(error: BaseException, candidate: Any) -> str:
    """The line of the learner's own code that raised, if it was raised there, and the shapes of what it names."""
    code = code_of(candidate)
    for frame, number in reversed(list(traceback.walk_tb(error.__traceback__))):
        if code is not None and frame.f_code.co_filename == code.co_filename:
            line = linecache.getline(code.co_filename, number).strip()
            said = worded("in line {number} of your cell: {line}", number=number, line=shortened(line))
            return f"\n{said}{_shapes(line, frame.f_locals)}"
    return ""


def _shapes(line: str, known: Mapping[str, Any]) -> str:
    """The shapes of the tensors that a line names, unless they have no axes."""
    names = dict.fromkeys(re.findall(r"(?<![\w.])[^\W\d]\w*", line))
    tensors = {name: known[name] for name in names if name in known and is_tensor(known[name]) and known[name].dim()}
    shapes = listed(f"{name} {brief(tensor)}" for name, tensor in tensors.items())
    return "\n" + worded("The shapes there: {shapes}.", shapes=shapes) if shapes else ""


def is_unattempted(candidate: Any) -> bool:
    """Whether the stub is still as it was: an answer that is `...` or None, or a function without a body."""
    if candidate is None or candidate is ...:
        return True
    code = code_of(candidate)
    idle = {"RESUME", "LOAD_CONST", "RETURN_VALUE", "RETURN_CONST", "NOP", "COPY_FREE_VARS"}
    steps = list(dis.get_instructions(code)) if code else []
    constants = [step.argval for step in steps if step.opname in ("LOAD_CONST", "RETURN_CONST")]
    return bool(steps) and {step.opname for step in steps} <= idle and constants[-1] in (None, ...)
