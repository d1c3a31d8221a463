"""A longer answer, step by step: the first step that differs from the reference is named."""

import inspect
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from torch import nn

from lessons.checking.comparing import equal, is_tensor, places_that_differ, wrong_form
from lessons.checking.relations import relation
from lessons.checking.reports import brief
from lessons.wording import SENTENCES, listed, worded

Step = tuple[str, Any]  # "the input of norm1", and that input
Record = Callable[[str, Any], None]


def first_difference(mine: Sequence[Step], right: Sequence[Step], inputs: Mapping[str, Any]) -> str | None:
    """The first step of the reference that is missing or different in mine; None if there are no steps."""
    my_steps, right_steps = _numbered(mine), _numbered(right)
    before = dict(inputs)
    fine = ""
    for name, expected in right_steps.items():
        if name not in my_steps:
            lost = worded("Your code does not get to {step}.", step=name)
            return listed([_so_far(fine, right_steps), lost], SENTENCES)
        if not equal(my_steps[name], expected):
            story = _difference(my_steps[name], expected, before)
            early = next((step for step in my_steps if step == name or step not in before), name)
            if story is None and early != name and early in right_steps:
                swapped = worded("Your code comes to {early} before {step}.", early=early, step=name)
                return listed([_so_far(fine, right_steps), swapped], SENTENCES)
            differs = worded(
                "{step} differs: {story}",
                step=_capital(name),
                story=story or places_that_differ(my_steps[name], expected),
            )
            return listed([_so_far(fine, right_steps), differs], SENTENCES)
        before[name] = expected
        fine = name
    more = [name for name in my_steps if name not in right_steps]
    if more:
        return worded("Right up to {step}. But there is one step too many: {extra}.", step=fine, extra=more[0])
    return worded("Right up to {step}. It goes wrong after that.", step=fine) if fine else None


def _so_far(fine: str, steps: Mapping[str, Any]) -> str:
    if fine:
        return worded("Right up to {step}.", step=fine)
    return worded("The very first step is wrong.") if len(steps) > 1 else ""


def _capital(name: str) -> str:
    return name[0].upper() + name[1:]


def _difference(mine: Any, right: Any, others: Mapping[str, Any]) -> str | None:
    if not is_tensor(mine) or not is_tensor(right):
        return worded("yours is {mine}; expected {right}.", mine=brief(mine), right=brief(right))
    story = relation(mine, right, others)
    if form := wrong_form(worded("it"), mine, right):
        return listed([form, story or ""], SENTENCES)
    return story[0].lower() + story[1:] if story else None


def _numbered(steps: Sequence[Step]) -> dict[str, Any]:
    """The steps by name; a name that occurs again gets a number."""
    times: Counter[str] = Counter()
    numbered: dict[str, Any] = {}
    for name, value in steps:
        times[name] += 1
        numbered[name if times[name] == 1 else worded("{step}, call {number}", step=name, number=times[name])] = value
    return numbered


def record_inputs(layer: nn.Module, record: Record) -> None:
    """From now on, record the input of each of the innermost layers, in the order in which they are called."""
    for path, inner in layer.named_modules():
        if not [*inner.children()] and path:

            def note(module: nn.Module, args: tuple, kwargs: dict, path: str = path) -> None:
                given = (*args, *kwargs.values())
                step = worded("the input of {layer}", layer=path)
                record(step, given[0].detach().clone() if given and is_tensor(given[0]) else None)

            inner.register_forward_pre_hook(note, with_kwargs=True)


def recorded(name: str, function: Callable[..., Any], record: Record) -> Callable[..., Any]:
    """The function, which records what it is called with."""
    signature = inspect.signature(function)

    def call(*args: Any, **kwargs: Any) -> Any:
        given = signature.bind(*args, **kwargs).arguments
        for parameter, value in given.items():
            if len(signature.parameters) == 1:
                step = worded("the input of {layer}", layer=name)
            else:
                step = worded("the {parameter} of {layer}", parameter=parameter, layer=name)
            record(step, value.detach().clone() if is_tensor(value) else value)
        return function(*args, **kwargs)

    return call


def unrecorded(stages: Callable[..., Any]) -> Callable[..., Any]:
    """An `Exercise.call` that does the same, and records nothing."""
    return lambda candidate, *inputs: stages(lambda name, value: None, candidate, *inputs)
