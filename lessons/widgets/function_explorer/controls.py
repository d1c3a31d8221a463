"""The controls above a function: ipywidgets' own, chosen by ipywidgets' own rules, with clear errors."""

import inspect
import math
from collections.abc import Callable, Mapping
from typing import Any

import ipywidgets
from ipywidgets import ValueWidget

WANTED = "(lowest, highest), with a step if need be, a list of choices, True or False, a text, or one of ipywidgets"
NOTHING = inspect.Parameter.empty


def make_controls(function: Callable[..., Any], given: Mapping[str, Any]) -> dict[str, ValueWidget]:
    """A control for each parameter that is given one; the others keep their defaults."""
    if not callable(function):
        raise ValueError(f"function is {function!r}; expected a function")
    if not given:
        raise ValueError("controls are missing; expected one or more, such as d=(1, 256)")
    starts = _starts(function, given)
    return {name: _make(name, value, starts.get(name, NOTHING)) for name, value in given.items()}


def name_of(function: Callable[..., Any]) -> str:
    return getattr(function, "__name__", type(function).__name__)


def _starts(function: Callable[..., Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """The defaults of the parameters; a control without a parameter is an error, and so is the reverse."""
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return {}
    takes_all = any(x.kind is x.VAR_KEYWORD for x in parameters.values())
    named = {name: x.default for name, x in parameters.items() if x.kind in (x.POSITIONAL_OR_KEYWORD, x.KEYWORD_ONLY)}
    shown = f"{name_of(function)}({', '.join(parameters)})"
    for name, value in given.items():
        if name not in named and not takes_all:
            raise ValueError(f"{name} is {value!r}; expected a parameter of {shown}")
    for name, default in named.items():
        if default is NOTHING and name not in given:
            raise ValueError(f"{name} has no control; expected one, because {shown} has no default for it")
    return named


def _make(name: str, given: Any, start: Any) -> ValueWidget:
    known = isinstance(given, tuple | list | dict | str | bool | ValueWidget) and given not in ((), [], {})
    try:
        control: Any = ipywidgets.interactive.widget_from_abbrev(given) if known else None
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} is {given!r}; expected {WANTED} ({error})") from None
    if control is None:
        raise ValueError(f"{name} is {given!r}; expected {WANTED}")
    control.description = control.description or name
    control.style.description_width = "initial"  # room for the whole name
    if isinstance(control, ipywidgets.FloatSlider) and isinstance(given, tuple):
        _refine(control, given)
    if start is not NOTHING and control is not given:
        _start(control, name, start)
    return control


def _refine(slider: Any, given: tuple[float, ...]) -> None:
    """At least ten steps, each a power of ten, and the digits that tell them apart."""
    if len(given) == 2:
        slider.step = 10.0 ** math.floor(math.log10((slider.max - slider.min) / 10))
    slider.readout_format = f".{max(0, math.ceil(-math.log10(slider.step)))}f"


def _start(control: Any, name: str, start: Any) -> None:
    """Begin with the function's default."""
    before = control.value
    try:
        control.value = start
    except Exception:
        control.value = before
    if control.value != start:
        raise ValueError(f"{name} has the default {start!r}; expected one that its control can show")
