"""The base class of all widgets: state on both sides, clear errors, and a picture where nothing runs."""

import reprlib
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any

import anywidget
import numpy as np
import torch
from matplotlib.figure import Figure
from torch import Tensor
from traitlets import Any as AnyTrait
from traitlets import TraitError

from lessons.widgets import pictures
from lessons.widgets.front_end import style, wording_of

LONGEST_PROBLEM = 400  # characters


def to_json(numbers: Tensor, _: Any = None) -> Any:
    """Numbers in their shortest form, nested like the axes; JSON has no infinity and no NaN, so they become text."""
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
    """A refused value: a ValueError for the caller, and for traitlets a reason to undo all changes."""


class Shared(AnyTrait):
    """A trait whose validator raises a ValueError for a bad value; any other exception refuses the value as well."""

    allow_none = False  # the validator decides about None

    def _cross_validate(self, obj: Any, value: Any) -> Any:
        try:
            return super()._cross_validate(obj, value)
        except ValueError as error:
            raise BadValue(str(error)) from None
        except Exception as error:
            raise BadValue(f"{self.name} is {reprlib.repr(value)}; expected what fits the rest ({error})") from error


class Computed(Shared):
    """A trait that is computed from the others: only the widget sets it, in `_compute`."""

    def validate(self, obj: Any, value: Any) -> Any:
        if not obj._computing:
            raise BadValue(f"{self.name} is {reprlib.repr(value)}; expected no one to set it: the widget does")
        return value


def synced(**options: Any) -> Any:
    """A trait that Python and the browser both set. The browser's messages arrive in order, so they need no echo."""
    return Shared(**options).tag(sync=True, echo_update=False)


def computed() -> Any:
    """A computed trait that is sent to the browser."""
    return Computed().tag(sync=True, echo_update=False)


def as_tensor(trait: Any) -> Any:
    """The same trait, of a tensor, which the browser has as nested lists."""
    return trait.tag(to_json=to_json, from_json=from_json)


def to_tensor(value: Any, name: str, wanted: str = "a matrix of numbers") -> Tensor:
    """A detached float tensor on the CPU, from a tensor, an array or nested lists."""
    try:
        numbers = torch.as_tensor(value)
        numbers = numbers if numbers.is_floating_point() else numbers.float()
    except (TypeError, ValueError, RuntimeError, OverflowError):
        raise ValueError(f"{name} is {reprlib.repr(value)}; expected {wanted}") from None
    return numbers.detach().cpu()


class LessonWidget(anywidget.AnyWidget):
    """A widget of the course.

    A subclass has traits, made by `synced` and `computed`; `_esm = front_end("its_folder")`; `panels()`, what there
    is to draw where no script runs; and `__repr__`, what it shows in one line. It may have `note()`, a warning in
    words, `lines()`, an ordered list, `answer(question)`, what the browser gets for `model.send({ask: question})`, and
    `alone()`, what it needs in addition where there is no Python. A view speaks the language that was current when its
    widget was last shown.
    """

    _esm: str
    _css = style()
    wording = computed()
    _computing = _replaying = False
    _beside: tuple[str, ...] = ()  # attributes that change with the traits, and are restored with them

    def __init__(self, following: Mapping[str, Any] | None = None, /, **state: Any):
        """following: the computed traits and their first values."""
        with self._as_computed():
            following = following or {}
            for name in following.keys() & state.keys():
                raise BadValue(f"{name} is {reprlib.repr(state[name])}; expected no one to set it: the widget does")
            super().__init__(wording=wording_of(self._esm), **following, **state)
        self.on_msg(self._receive)

    def panels(self) -> list[pictures.Panel]:
        """The panels drawn where no script runs."""
        raise NotImplementedError

    def note(self) -> str:
        """A warning in words, or nothing."""
        return ""

    def lines(self) -> list[str]:
        """An ordered list of what the panels don't say, or nothing."""
        return []

    def drawing(self) -> pictures.Drawing | None:
        """A chart above the panels, or nothing."""
        return None

    def answer(self, question: Any) -> dict[str, Any]:
        """The answer to a question from the browser."""
        raise ValueError(f"question is {question!r}; expected none: {type(self).__name__} answers no questions")

    def alone(self) -> dict[str, Any]:
        """What the browser needs besides the traits where there is no Python."""
        return {}

    def figure(self) -> Figure:
        """What the widget shows, as a matplotlib figure."""
        return pictures.figure(self.panels())

    def to_html(self) -> str:
        """A separate page that needs no script: tables with the same symbols, and each cell in words."""
        said = self.note(), self.lines(), self.drawing()
        return pictures.page(type(self).__name__, repr(self), self.panels(), *said)

    def _repr_mimebundle_(self, **options: Any) -> tuple[dict, dict]:
        self._compute(wording=wording_of(self._esm))
        data, metadata = super()._repr_mimebundle_(**options) or ({}, {})
        said = repr(self)
        picture = pictures.compact(said, self.panels(), self.note(), self.lines(), self.drawing())
        return {**data, "text/plain": said, "text/html": picture}, metadata

    # Computed traits

    def _compute(self, **values: Any) -> None:
        """Set computed traits, and send all of them to the browser at once."""
        with self._as_computed(), self.hold_sync():
            for name, value in values.items():
                setattr(self, name, value)

    @contextmanager
    def _as_computed(self) -> Generator[None]:
        before, self._computing = self._computing, True
        try:
            yield
        finally:
            self._computing = before

    # The browser. It may send anything: it gets an answer, nothing is raised, and a refused value changes nothing.

    def _handle_msg(self, msg: dict) -> None:
        if msg["content"]["data"].get("buffer_paths"):
            self._refuse(ValueError("the message has buffers; expected none"))
        else:
            super()._handle_msg(msg)

    def _receive(self, _: Any, content: Any, buffers: Any) -> None:
        """A message from the browser's `model.send`: unlike its updates, it stays in order with the next cell."""
        try:
            if not isinstance(content, dict) or not content.keys() & {"set", "ask"}:
                raise ValueError(f"the message is {reprlib.repr(content)}; expected one that sets or asks")
            if "set" in content:
                self.set_state(content["set"])
            if "ask" in content:
                self.send(self.answer(content["ask"]))
        except Exception as error:
            self._refuse(error)

    def set_state(self, sync_data: Any) -> None:
        """Set what the browser has set; a refused value is restored on both sides, and the reason is shown."""
        names = [name for name, trait in self.traits().items() if isinstance(trait, Shared)]
        before = {name: getattr(self, name) for name in names}
        beside = {name: getattr(self, name) for name in self._beside}
        self._check_names(sync_data)
        try:
            with self._replay():
                super().set_state(sync_data)
                self._check_again(sync_data)
        except Exception as error:
            changed = [name for name in names if name in sync_data or getattr(self, name) is not before[name]]
            self._trait_values.update(before)
            vars(self).update(beside)
            self._refuse(error)
            self.send_state(changed)

    def _check_names(self, state: Any) -> None:
        if not isinstance(state, dict):
            raise ValueError(f"what is set is {reprlib.repr(state)}; expected values by their names")
        for name, value in state.items():
            if not isinstance(self.traits().get(name), Shared):
                raise ValueError(f"{name} is {reprlib.repr(value)}; expected a name that {type(self).__name__} has")

    def _check_again(self, state: dict[str, Any]) -> None:
        """Check again when all are set: traitlets treats False and 0 as equal, and checks one by one."""
        for name in state:
            self.traits()[name]._cross_validate(self, getattr(self, name))

    def _refuse(self, error: Exception) -> None:
        known = isinstance(error, ValueError)
        text = str(error) if known else f"expected values that fit together ({type(error).__name__}: {error})"
        self.send({"problem": text if len(text) <= LONGEST_PROBLEM else f"{text[: LONGEST_PROBLEM - 1]}…"})

    def _restore(self, **state: Any) -> None:
        with self._replay(), self.hold_sync():
            for name, value in state.items():
                setattr(self, name, value)

    @contextmanager
    def _replay(self) -> Generator[None]:
        """Changes made inside `with` are not the learner's own, and can't be undone."""
        before, self._replaying = self._replaying, True
        try:
            yield
        finally:
            self._replaying = before
