"""Widgets without a kernel: their state, what Python would compute when it changes, and their JavaScript in files."""

import ast
import hashlib
import html
import itertools
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from lessons import widgets
from lessons.decoding import Cached
from lessons.pretrained import load_translator
from lessons.widgets.attention_explorer.constants import AVERAGE
from lessons.widgets.base import LessonWidget
from lessons.widgets.front_end import FOLDER, front_end, source, style
from lessons.widgets.shared.alone import as_script, state_of
from lessons.wording import worded

SENTENCE = "They go."
IN_A_FILE = ("weights",)  # traits that a page asks for when its widget comes to life


@dataclass(frozen=True)
class Rule:
    """What Python computes when the browser changes a widget: the traits `gives`, from all values of the others.

    needs: what the state must have; without it, only Python knows the rest.
    """

    of: dict[str, Callable[[Any], range]] = field(default_factory=dict)
    gives: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()


def _heads(widget: Any) -> range:
    return range(AVERAGE, widget.maps["heads"])


# The widgets whose JavaScript can do without Python.
ALIVE = {
    "AttentionExplorer": Rule(
        {
            "layer": lambda widget: range(len(widget.names)),
            "sentence": lambda widget: range(widget.maps["of"]),
            "hide_special": lambda _: range(2),
            "head": _heads,
        },
        ("maps", "shown"),
    ),
    "DecodingExplorer": Rule(needs=("weights",)),
    "DotProductStepper": Rule(),
    "HeadSplitter": Rule(),
    "MaskStudio": Rule(),
    "ModelStudio": Rule(),
    "PositionLab": Rule(),
    "ScalingLab": Rule(),
    "ShapeTour": Rule(
        {
            "step": lambda widget: range(len(widget.way)),
            "sentence": lambda widget: range(widget.sizes[0]),
            "head": lambda widget: range(widget.sizes[1]),
        },
        ("shown",),
    ),
}


def folder(widget: LessonWidget) -> str:
    """The name of the folder that the widget lives in."""
    return type(widget).__module__.split(".")[-2]


def example(name: str) -> LessonWidget:
    """One that lives: without arguments, or with the shipped translator."""
    made = getattr(widgets, name)
    if name != "DecodingExplorer":
        return made()
    model, task = load_translator()
    src = torch.tensor([task.encode(SENTENCE)])
    return made(lambda: Cached(model, src), task.tgt_vocab, join=task.writing("tgt").join)


def about(name: str) -> str:
    """The first line of what the widget's docstring says."""
    return worded((getattr(widgets, name).__doc__ or "").partition("\n")[0])


def says(name: str) -> str:
    """What the gallery says of its example, or nothing."""
    if name != "DecodingExplorer":
        return ""
    return worded(
        "Here the shipped translator reads “{sentence}” It has never learned “go”, and has to guess: which words does "
        "it try, and when does another method write another sentence?",
        sentence=SENTENCE,
    )


def made_by(source: str) -> LessonWidget | None:
    """The widget that a cell makes out of nothing but constants; None where it needs what a lesson has computed."""
    last = ast.parse(source).body[-1:]
    call = last[0].value if last and isinstance(last[0], ast.Expr) else None
    if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in ALIVE):
        return None
    try:
        arguments = [ast.literal_eval(argument) for argument in call.args]
        options = {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in call.keywords}
    except ValueError:
        return None
    widget = getattr(widgets, call.func.id)(*arguments, **options)
    return widget if set(ALIVE[call.func.id].needs) <= state_of(widget).keys() else None


def embedded(widget: LessonWidget, picture: str, *, waits: bool = False) -> str:
    """HTML: the picture, and the data with which host.js puts the widget in its place.

    waits: not when the picture is scrolled to, but in a dialog, when a button in the picture is pressed.
    """
    state = state_of(widget)
    files = {trait: _file_of(state.pop(trait)) for trait in IN_A_FILE if trait in state}
    told = as_script({"widget": folder(widget), "state": state, "files": files, "computed": _computed(widget)})
    name = html.escape(type(widget).__name__)
    return (
        f'<div class="course-widget{" course-waits" if waits else ""}" role="group" aria-label="{name}">'
        f'<div class="course-picture">{picture}</div><script type="application/json">{told}</script></div>'
    )


def _file_of(text: str) -> str:
    """The same for the same text: two widgets of one model share it."""
    return f"{hashlib.sha256(text.encode()).hexdigest()[:12]}.txt"


def _computed(widget: LessonWidget) -> dict[str, Any]:
    rule = ALIVE[type(widget).__name__]
    start = {name: getattr(widget, name) for name in rule.of}
    found = {}
    for values in itertools.product(*(values(widget) for values in rule.of.values())) if rule.of else ():
        places = {name: type(start[name])(value) for name, value in zip(rule.of, values)}
        with widget.hold_trait_notifications():
            for name, value in places.items():
                setattr(widget, name, value)
        now = state_of(widget)
        found[json.dumps(list(places.values()), separators=(",", ":"))] = {name: now[name] for name in rule.gives}
    for name, value in start.items():
        setattr(widget, name, value)
    return {"of": list(rule.of), "values": found}


def write_scripts(static: Path) -> None:
    """The JavaScript of each widget as one module, and the style of all."""
    sheets = []
    for name in ALIVE:
        widget = example(name)
        path = static / "widgets" / f"{folder(widget)}.js"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(front_end(path.stem), encoding="utf-8")
        state = state_of(widget)
        for text in (state[trait] for trait in IN_A_FILE if trait in state):
            path.with_name(_file_of(text)).write_text(text, encoding="ascii")
        sheets += [style(), style(path.stem).removeprefix(style())]
    (static / "widgets" / "alone.js").write_text(source(FOLDER / "shared" / "alone.js"), encoding="utf-8")
    (static / "widgets.css").write_text("\n".join(dict.fromkeys(sheets)), encoding="utf-8")
