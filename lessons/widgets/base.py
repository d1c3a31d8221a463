"""What every widget shares: state on both sides, clear errors, and a picture of itself where nothing runs."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anywidget
import numpy as np
import torch
from matplotlib.figure import Figure
from torch import Tensor
from traitlets import Any as AnyTrait
from traitlets import TraitError

from lessons.widgets import pictures

FOLDER = Path(__file__).parent
IMPORT = re.compile(r'^import [^;]*? from "(?P<path>\.[^"]+)";\n', flags=re.MULTILINE)


def front_end(name: str) -> str:
    """The JavaScript of a widget as one module: view.js and all that it imports, each file after those it needs.

    anywidget loads one module, so the imports give way to what they import.
    """
    return "\n".join(
        IMPORT.sub("", path.read_text(encoding="utf-8")) for path in _with_imports(FOLDER / name / "view.js")
    )


def _with_imports(path: Path) -> list[Path]:
    found: list[Path] = []
    for imported in IMPORT.finditer(path.read_text(encoding="utf-8")):
        found += _with_imports((path.parent / imported["path"]).resolve())
    return list(dict.fromkeys([*found, path.resolve()]))


def style(name: str = "") -> str:
    """The style sheet that all widgets share, and that of the widget of this name, if it has one."""
    sheets = [FOLDER / "shared" / "grid.css", FOLDER / name / "style.css"]
    return "\n".join(sheet.read_text(encoding="utf-8") for sheet in sheets if sheet.exists())


def to_json(numbers: Tensor, _: Any = None) -> Any:
    """Numbers in their shortest form, nested as the axes are; JSON has no infinity and no NaN, they go as text."""
    if not isinstance(numbers, Tensor):
        return numbers  # what the browser sent, before it is validated
    array = numbers.detach().cpu()
    array = array.numpy() if array.dtype == torch.float64 else array.float().numpy()
    return _shorten(array)


def _shorten(array: np.ndarray) -> Any:
    if array.ndim == 0:
        return float(str(array)) if np.isfinite(array) else str(array)
    return [_shorten(part) for part in array]


def from_json(numbers: Any, _: Any = None) -> Any:
    if isinstance(numbers, list):
        return [from_json(part) for part in numbers]
    return float(numbers) if numbers in ("inf", "-inf", "nan") else numbers


class BadValue(TraitError, ValueError):
    """A value that is refused: for those who set it a ValueError; for traitlets a reason to take all changes back."""


class Shared(AnyTrait):
    """A trait whose validator raises ValueErrors."""

    def _cross_validate(self, obj: Any, value: Any) -> Any:
        try:
            return super()._cross_validate(obj, value)
        except ValueError as error:
            raise BadValue(str(error)) from None


def synced(**options: Any) -> Shared:
    """A trait of both sides. The browser's messages arrive in order and need no echo."""
    return Shared(**options).tag(sync=True, echo_update=False)


def synced_tensor() -> Shared:
    """A tensor, which the browser has as nested lists."""
    return synced().tag(to_json=to_json, from_json=from_json)


def one_of(choices: Sequence[str], value: Any, name: str) -> str:
    if value not in choices:
        raise ValueError(f"{name} is {value!r}; expected one of {', '.join(map(repr, choices))}")
    return value


def whole_number(value: Any, name: str, low: int, high: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise ValueError(f"{name} is {value!r}; expected a whole number from {low} to {high}")
    return value


def to_tensor(value: Any, name: str, wanted: str = "a matrix of numbers") -> Tensor:
    """A detached float tensor on the CPU, of a tensor, an array or nested lists."""
    try:
        numbers = torch.as_tensor(value)
        numbers = numbers if numbers.is_floating_point() else numbers.float()
    except (TypeError, ValueError, RuntimeError):
        raise ValueError(f"{name} is {value!r}; expected {wanted}") from None
    return numbers.detach().cpu()


class LessonWidget(anywidget.AnyWidget):
    """A widget of the course.

    A subclass has traits, made by `synced` and `synced_tensor`; `_esm = front_end("its_folder")`; `panels()`, what
    there is to draw where no script runs; and `__repr__`, what it shows in one line. It may have `note()`, a
    warning in words, `lines()`, an ordered list, and `answer(question)`, what the browser gets for
    `model.send({ask: question})`.
    """

    _css = style()

    def __init__(self, **state: Any):
        self._replaying = False
        super().__init__(**state)
        self.on_msg(self._receive)

    def panels(self) -> list[pictures.Panel]:
        """What is drawn where no script runs."""
        raise NotImplementedError

    def note(self) -> str:
        """A warning in words, or nothing."""
        return ""

    def lines(self) -> list[str]:
        """An ordered list of what the panels do not say, or nothing."""
        return []

    def drawing(self) -> pictures.Drawing | None:
        """A chart that stands above the panels, or nothing."""
        return None

    def answer(self, question: Any) -> dict[str, Any]:
        """What the browser is told when it asks."""
        raise ValueError(f"question is {question!r}; expected none: {type(self).__name__} answers no questions")

    def figure(self) -> Figure:
        """What the widget shows, as a figure of matplotlib."""
        return pictures.figure(self.panels())

    def to_html(self) -> str:
        """A page of its own that needs no script: tables with the same marks, and each cell in words."""
        said = self.note(), self.lines(), self.drawing()
        return pictures.page(type(self).__name__, repr(self), self.panels(), *said)

    def _repr_mimebundle_(self, **options: Any) -> tuple[dict, dict]:
        data, metadata = super()._repr_mimebundle_(**options)
        picture = pictures.compact(repr(self), self.panels(), self.note(), self.lines(), self.drawing())
        return {**data, "text/plain": repr(self), "text/html": picture}, metadata

    # The browser

    def _receive(self, _: Any, content: dict, buffers: Any) -> None:
        """What the browser sends by `model.send`: unlike its own updates, these stay in order with the next cell."""
        if "set" in content:
            self._take({name: value for name, value in content["set"].items() if name in self.keys})
        if "ask" in content:
            self.send(self.answer(content["ask"]))

    def _take(self, state: dict[str, Any]) -> None:
        """Set what the browser has set; what is refused is put back there, and the reason is shown."""
        try:
            with self._replay():
                self.set_state(state)
        except BadValue as error:
            self.send({"problem": str(error)})
            self.send_state([*state])

    def _restore(self, **state: Any) -> None:
        with self._replay(), self.hold_sync():
            for name, value in state.items():
                setattr(self, name, value)

    @contextmanager
    def _replay(self) -> Iterator[None]:
        """Changes made within are not the learner's own: nothing is remembered of them."""
        before, self._replaying = self._replaying, True
        try:
            yield
        finally:
            self._replaying = before
