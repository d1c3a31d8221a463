"""A longer answer, step by step: the first step that differs from the reference is named."""

import inspect
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from torch import Tensor, nn

from lessons.checking.comparing import equal, is_tensor, where_it_differs, wrong_form
from lessons.checking.relations import relation
from lessons.checking.reports import brief

Step = tuple[str, Any]  # "the input of norm1", and that input
Record = Callable[[str, Any], None]


def first_difference(mine: Sequence[Step], right: Sequence[Step], inputs: Mapping[str, Any]) -> str | None:
    """The first step of the reference that is missing or different in mine; None if there are no steps."""
    my_steps, right_steps = _numbered(mine), _numbered(right)
    before = dict(inputs)
    fine = ""
    for name, expected in right_steps.items():
        if name not in my_steps:
            return f"{_so_far(fine)}Your code does not get to {name}."
        if not equal(my_steps[name], expected):
            story = _difference(my_steps[name], expected, before)
            early = next((step for step in my_steps if step == name or step not in before), name)
            if story is None and early != name and early in right_steps:
                return f"{_so_far(fine)}Your code comes to {early} before {name}."
            return f"{_so_far(fine)}{_capital(name)} differs: {story or _numbers(my_steps[name], expected)}"
        before[name] = expected
        fine = name
    more = [name for name in my_steps if name not in right_steps]
    if more:
        return f"Right up to {fine}. But there is one step too many: {more[0]}."
    return f"Right up to {fine}. It goes wrong after that." if fine else None


def _so_far(fine: str) -> str:
    return f"Right up to {fine}. " if fine else "The very first step is wrong. "


def _capital(name: str) -> str:
    return name[0].upper() + name[1:]


def _difference(mine: Any, right: Any, others: Mapping[str, Any]) -> str | None:
    if not is_tensor(mine) or not is_tensor(right):
        return f"yours is {brief(mine)}; expected {brief(right)}."
    story = relation(mine, right, others)
    form = wrong_form("it", mine, right)
    if form:
        return f"{form} {story}" if story else form
    return story[0].lower() + story[1:] if story else None


def _numbers(mine: Tensor, right: Tensor) -> str:
    return where_it_differs("it", mine, right).removeprefix("Values: it differs ")


def _numbered(steps: Sequence[Step]) -> dict[str, Any]:
    """The steps by name; a name that occurs again gets a number."""
    times: Counter[str] = Counter()
    numbered: dict[str, Any] = {}
    for name, value in steps:
        times[name] += 1
        numbered[name if times[name] == 1 else f"{name}, call {times[name]}"] = value
    return numbered


def record_inputs(layer: nn.Module, record: Record) -> None:
    """From now on, record the input of each of the innermost layers, in the order in which they are called."""
    for path, inner in layer.named_modules():
        if not [*inner.children()] and path:

            def note(module: nn.Module, args: tuple, kwargs: dict, name: str = f"the input of {path}") -> None:
                given = (*args, *kwargs.values())
                record(name, given[0].detach().clone() if given and is_tensor(given[0]) else None)

            inner.register_forward_pre_hook(note, with_kwargs=True)


def recorded(name: str, function: Callable[..., Any], record: Record) -> Callable[..., Any]:
    """The function, which records what it is called with."""
    signature = inspect.signature(function)

    def call(*args: Any, **kwargs: Any) -> Any:
        given = signature.bind(*args, **kwargs).arguments
        for parameter, value in given.items():
            step = f"the input of {name}" if len(signature.parameters) == 1 else f"the {parameter} of {name}"
            record(step, value.detach().clone() if is_tensor(value) else value)
        return function(*args, **kwargs)

    return call


def unrecorded(stages: Callable[..., Any]) -> Callable[..., Any]:
    """An `Exercise.call` that does the same, and records nothing."""
    return lambda candidate, *inputs: stages(lambda name, value: None, candidate, *inputs)
