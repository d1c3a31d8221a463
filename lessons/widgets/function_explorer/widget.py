"""explore: the learner's own function under sliders and menus.

The controls are ipywidgets' own, by the rules of its `interact`. What `interact` lacks is here: after an error the last
good result stays, with the learner's line above it; figures are closed; each call starts with the same random numbers;
the first result is stored with the notebook; and a screen reader hears the names of the sliders.

ipywidgets sends one change of a control at a time, and of those that come while Python is busy only the newest.
"""

import base64
import html
import os
from collections.abc import Callable
from typing import Any

import anywidget
import torch
from ipywidgets import VBox
from traitlets import Dict, Unicode, default

from lessons.plots.pictures import STORED_EDITION
from lessons.widgets.front_end import front_end, style, wording_of
from lessons.widgets.function_explorer.controls import make_controls, name_of
from lessons.widgets.function_explorer.results import NoResult, Result, run, with_caption
from lessons.widgets.shared.errors import explain
from lessons.wording import worded


class Shown(anywidget.AnyWidget):
    """The last good result, and what was wrong with a later call, if anything."""

    _esm = front_end("function_explorer")
    _css = style("function_explorer")
    result = Unicode().tag(sync=True)
    problem = Unicode().tag(sync=True)
    wording = Dict(read_only=True).tag(sync=True)

    @default("wording")
    def _current_wording(self) -> dict[str, Any]:
        return wording_of(self._esm)


class Explorer(VBox):
    """Controls, and below them what the function gives for their values.

    controls: the ipywidgets by the names of the parameters; who sets the value of one calls the function.
    """

    def __init__(self, function: Callable[..., Any], /, **controls: Any):
        self.function = function
        self.controls = make_controls(function, controls)
        self._random = torch.get_rng_state()
        self._result = Result("", "")
        # A message could get lost: anywidget drops those to a widget that a busy page does not load within 2 s.
        self._shown = Shown(**self._try())
        super().__init__([*self.controls.values(), self._shown])
        self.add_class("fe-box")
        for control in self.controls.values():
            control.observe(self._call, "value")

    @property
    def call(self) -> str:
        """The call in words, such as `f(d=64, scaled=True)`."""
        values = (f"{name}={_short(control)}" for name, control in self.controls.items())
        return f"{name_of(self.function)}({', '.join(values)})"

    @property
    def problem(self) -> str:
        """What was wrong with the last call, or nothing."""
        return self._shown.problem

    def __repr__(self) -> str:
        if self.problem:
            return f"explore: {self.call}\n{self.problem}"
        return self._result.text if self._result.picture else f"explore: {self.call}\n{self._result.text}"

    def _call(self, _: Any) -> None:
        """Show what the function gives now."""
        with self._shown.hold_sync():
            for name, value in self._try().items():
                setattr(self._shown, name, value)

    def _try(self) -> dict[str, str]:
        """What the function gives now: the traits of Shown that change."""
        values = {name: _exact(control.value) for name, control in self.controls.items()}
        try:
            self._result = run(self.function, values, self.call, self._random)
            return {"result": self._result.html, "problem": ""}
        except NoResult as error:
            return {"problem": worded("{where}: {what}", where=self.call, what=error)}
        except (Exception, SystemExit, KeyboardInterrupt) as error:
            return {"problem": worded("{where}: {what}", where=self.call, what=explain(error))}

    def _repr_mimebundle_(self, **options: Any) -> Any:
        """For where no script runs: the call, and a picture or a text.

        The stored edition gets a PNG with the call above it, because many viewers let no HTML through.
        """
        data: dict[str, Any] = {**(super()._repr_mimebundle_(**options) or {}), "text/plain": repr(self)}
        picture = None if self.problem else self._result.picture
        if picture and os.environ.get(STORED_EDITION):
            data["image/png"] = base64.b64encode(with_caption(picture, self.call)).decode()
            return data, {"image/png": {"alt": picture.alt, "width": picture.width}}
        below = f"<p>{html.escape(self.problem)}</p>" if self.problem else self._result.html
        data["text/html"] = f"<div><p><code>{html.escape(self.call)}</code></p>{below}</div>"
        return data, {}


def _exact(value: Any) -> Any:
    """The number that a slider means: its steps add up to -5.6e-17 where it shows 0."""
    return round(value, 12) + 0.0 if isinstance(value, float) else value


def _short(control: Any) -> str:
    """A value as code, a float without the digits that only a computer adds; else the menu's word for it."""
    value = _exact(control.value)
    if isinstance(value, float):
        return f"{value:g}"
    return repr(value) if isinstance(value, str | int) else str(getattr(control, "label", value))


def explore(function: Callable[..., Any], /, **controls: Any) -> Explorer:
    """Call `function` again whenever a control is moved, and show what it gives.

    A control for each parameter, by ipywidgets' rules: `d=(1, 256)` is a slider of whole numbers, `tau=(0.0, 2.0)` one
    of floats, `(low, high, step)` has steps, `scaled=True` is a checkbox, a list or a dict a menu, a text a field; or
    one of ipywidgets' own controls. A parameter without a control keeps its default, and a default is where its control
    starts.

    The function gives a figure, Axes, what `show` gives, a tensor of one or two axes, a number or a text; a figure
    that it draws without returning it is shown, too, and so is what it prints. A control that does not fit is a
    ValueError; what the function itself raises is shown, with its line.
    """
    return Explorer(function, **controls)
