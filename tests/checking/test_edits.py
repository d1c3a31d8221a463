"""Mistakes written as the edit of the right answer."""

import copy
import functools
import inspect
import traceback

import pytest
import torch
from torch import nn

from lessons.checking.edits import Edited, edited
from lessons.checking.engine import Case, Exercise, Mistake

FACTOR = 3


def scaled(x, by=2):
    """The sum of each row, scaled."""
    return FACTOR * by * x.sum(dim=-1)


@torch.no_grad()
def without_gradients(x):
    return x.sum(dim=-1)


class Scaled(nn.Linear):
    def __init__(self):
        super().__init__(2, 2)
        self.by = 2

    @staticmethod
    def name():
        return "scaled"

    def forward(self, x):
        return super().forward(x) * self.by

    def fail(self):
        raise RuntimeError("at the end")


X = torch.tensor([[1.0, 2.0], [3.0, 5.0]])


def test_a_function():
    wrong = edited(scaled, "dim=-1", "dim=0")
    assert wrong(X).tolist() == [24, 42]
    assert wrong(X, by=1).tolist() == [12, 21]
    assert scaled(X).tolist() == [18, 48]
    assert wrong.__name__ == "scaled"
    assert inspect.getsource(wrong.made) == wrong.source == inspect.getsource(scaled).replace("dim=-1", "dim=0")


def test_decorators_stay():
    wrong = edited(without_gradients, "dim=-1", "dim=0")
    result = wrong(X.clone().requires_grad_())
    assert result.tolist() == [4, 7]
    assert not result.requires_grad


def test_a_class_and_its_super():
    wrong = edited(Scaled, "self.by = 2", "self.by = 0")
    layer = wrong()
    assert isinstance(layer, nn.Linear) and type(layer) is wrong.made and type(layer).__name__ == "Scaled"
    assert layer(X).tolist() == [[0, 0], [0, 0]]
    assert wrong.name() == "scaled"
    assert inspect.getsource(wrong.made.forward) == inspect.getsource(Scaled.forward)
    assert wrong.source == inspect.getsource(Scaled).replace("self.by = 2", "self.by = 0")


def test_an_edited_class_has_subclasses():
    class Sub(edited(Scaled, "self.by = 2", "self.by = 0")):
        pass

    assert issubclass(Sub, nn.Linear) and not Sub()(X).any()


def test_a_method_by_itself():
    assert edited(Scaled.fail, "at the end", "early").source.startswith("def fail(self):")


def test_several_edits_are_made_at_the_same_time():
    assert edited(scaled, ("FACTOR", "by"), ("by * x", "FACTOR * x.T")).source.endswith(
        "return by * FACTOR * x.T.sum(dim=-1)\n"
    )


def test_an_edit_of_an_edit():
    wrong = edited(edited(scaled, "dim=-1", "dim=0"), "dim=0", "dim=(0, 1)")
    assert wrong(X).item() == 66


def test_a_traceback_shows_the_line():
    wrong = edited(Scaled, "at the end", "early")
    with pytest.raises(RuntimeError, match="early") as caught:
        wrong().fail()
    shown = "".join(traceback.format_exception(caught.value))
    assert "Scaled with 'early' for 'at the end'" in shown
    assert 'raise RuntimeError("early")' in shown


def test_nothing_is_compiled_before_it_is_needed(monkeypatch):
    monkeypatch.setattr(inspect, "getsource", lambda thing: pytest.fail("read too early"))
    edited(scaled, "does not", "occur")


def test_copies():
    assert copy.deepcopy(edited(scaled, "dim=-1", "dim=0"))(X).tolist() == [24, 42]


def made_here():
    offset = 1

    def closure(x):
        return x + offset

    class Closing:
        def forward(self, x):
            return x + offset

    return closure, Closing


@pytest.mark.parametrize(
    ("original", "edits", "said"),
    [
        (scaled, ("dim=1", "dim=0"), "scaled with 'dim=0' for 'dim=1': 'dim=1' occurs 0 times; expected exactly once"),
        (scaled, ("by", "to"), "'by' occurs 2 times; expected exactly once"),
        (scaled, (("FACTOR", "2"), ("TOR *", "TOR +")), "may not overlap"),
        (scaled, ("x.sum(", "x.sum"), "the result cannot be defined: SyntaxError"),
        (scaled, ("def scaled", "def other"), "the result cannot be defined: KeyError"),
        (made_here()[0], ("x + offset", "x - offset"), "a closure over offset; expected a function without one"),
        (made_here()[1], ("x + offset", "x - offset"), "a closure over offset; expected a function without one"),
        (Scaled.forward, ("* self", "+ self"), "a closure over __class__"),
        (edited(scaled, "dim=-1", "dim=0"), ("dim=-1", "dim=0"), "'dim=-1' occurs 0 times"),
    ],
)
def test_edits_that_cannot_be_made(original, edits, said):
    wrong = edited(original, *edits)
    with pytest.raises(ValueError) as caught:
        wrong(X)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("original", "edits", "argument"),
    [
        (lambda x: x, ("x", "y"), "original"),
        (torch.sum, ("x", "y"), "original"),
        (functools.partial(scaled, by=3), ("x", "y"), "original"),
        (scaled, (), "edits"),
        (scaled, ("x",), "edits"),
        (scaled, ("x", 3), "edits"),
        (scaled, (("x", "y"), "z"), "edits"),
    ],
)
def test_bad_arguments_are_refused_at_once(original, edits, argument):
    with pytest.raises(ValueError, match=f"^{argument}: .*; expected"):
        edited(original, *edits)


class Doubled(nn.Module):
    def forward(self, x):
        return 2 * x


@pytest.mark.parametrize(
    ("reference", "old", "call"),
    [
        (scaled, "dim=-1", lambda function, x: function(x)),
        (Doubled, "2 * x", lambda module, x: module()(x) if isinstance(module, type) else None),
    ],
)
def test_a_mistake_that_is_an_edit_is_named(reference, old, call):
    mistake = Mistake(edited(reference, old, {"dim=-1": "dim=0", "2 * x": "3 * x"}[old]), "edited")
    exercise = Exercise("f", reference, lambda generator: [Case({"x": X})], [mistake], [], call=call)
    assert exercise.check(reference).passed
    assert type(mistake.wrong) is Edited
    assert exercise.check(mistake.wrong).mistake is mistake
