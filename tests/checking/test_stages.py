"""A whole looked at step by step: the first step that differs is named."""

import pytest
import torch
from torch import nn

from lessons.checking.calls import LayerLike
from lessons.checking.engine import Case, Exercise
from lessons.checking.stages import first_difference, recorded, unrecorded

X = torch.tensor([[1.0, -2.0, 3.0], [4.0, 5.0, -6.0]])
OTHER = torch.tensor([[7.0, 1.0, 0.0], [2.0, -9.0, 3.0]])
RIGHT = [("the first", X), ("the second", 2 * X), ("the third", 3 * X)]
STORIES = {
    "Right up to the third. It goes wrong after that.": RIGHT,
    "Right up to the third. But there is one step too many: the fourth.": [*RIGHT, ("the fourth", X)],
    "Right up to the third. But there is one step too many: the first, call 2.": [*RIGHT, ("the first", X)],
    "Right up to the first. Your code does not get to the second.": [RIGHT[0]],
    "The very first step is wrong. Your code does not get to the first.": [],
    "Right up to the first. The second differs: yours is 1.5 times what is expected, everywhere.": [
        RIGHT[0],
        ("the second", 3 * X),
    ],
    "Right up to the first. The second differs: yours is the first.": [RIGHT[0], ("the second", X)],
    "Right up to the first. The second differs: yours is `y`, unchanged.": [RIGHT[0], ("the second", OTHER)],
    "The very first step is wrong. The first differs: in 6 of 6 places, first at [0, 0]: yours 6, expected 1.": [
        ("the first", OTHER - 1)
    ],
    "The very first step is wrong. Your code comes to the second before the first.": [
        ("the second", 2 * OTHER),
        ("the first", OTHER - 1),
    ],
    "The very first step is wrong. The first differs: Shape: it is (1, 2, 3); expected (2, 3). The numbers are the "
    "right ones, in the right order; only the shape has one axis more or less.": [("the first", X[None])],
    "The very first step is wrong. The first differs: yours is None; expected (2, 3).": [("the first", None)],
}


@pytest.mark.parametrize("story", STORIES)
def test_the_first_step_that_differs(story):
    assert first_difference(STORIES[story], RIGHT, {"`y`, unchanged": OTHER}) == story


def test_a_single_step_has_no_first():
    assert first_difference([("the first", OTHER)], RIGHT[:1], {}).startswith("The first differs: in 6 of 6 places")
    assert first_difference([], RIGHT[:1], {}) == "Your code does not get to the first."


def test_no_steps():
    assert first_difference([], [], {}) is None


class Two(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.inner = nn.Sequential(nn.Linear(size, size), nn.Tanh())
        self.last = nn.Linear(size, size)

    def forward(self, x):
        return self.last(self.inner(x))


class Doubled(Two):
    def forward(self, x):
        return self.last(input=2 * self.inner(x))


class Bare(Two):
    def forward(self, x):
        return self.inner(x) @ self.last.weight


class Stops(Two):
    def forward(self, x):
        raise ValueError(self.inner(x).shape)


layer = LayerLike(Two, "MyTwo", sizes=1)
exercise = Exercise(
    "MyTwo", Two, lambda g: [Case({"size": 3, "x": X})], [], [], call=layer, stages=layer.stages, outputs=("y",)
)


@pytest.mark.parametrize(
    ("candidate", "story"),
    [
        (
            Doubled,
            "Right up to the input of inner.1. The input of last differs: yours is 2 times what is expected",
        ),
        (Bare, "Right up to the input of inner.1. Your code does not get to the input of last."),
        (Stops, "Right up to the input of inner.1. Your code does not get to the input of last."),
    ],
)
def test_a_layer_with_inner_layers(candidate, story):
    assert story in exercise.check(candidate).message


def test_functions_record_what_they_are_called_with():
    seen = []

    def stages(record, candidate, x):
        return candidate(
            recorded("one", lambda x: 2 * x, record), recorded("two", lambda x, mask=None: x + 1, record), x
        )

    stages(lambda *step: seen.append(step), lambda one, two, x: two(one(x), mask=None), X)
    assert [name for name, _ in seen] == ["the input of one", "the x of two", "the mask of two"]
    assert torch.equal(seen[1][1], 2 * X)
    assert seen[2][1] is None
    assert torch.equal(unrecorded(stages)(lambda one, two, x: two(one(x)), X), 2 * X + 1)


def test_no_step_is_named_where_only_gradients_are_wrong():
    class Cut(Two):
        def forward(self, x):
            return self.last(self.inner(x.detach()))

    case = Case({"size": 3, "x": X}, gradients=True)
    message = Exercise("MyTwo", Two, lambda g: [case], [], [], call=layer, stages=layer.stages).check(Cut).message
    assert message.startswith("The numbers are right, but their gradients are not")
    assert "Right up to" not in message


def test_no_step_is_named_where_only_an_argument_is_changed():
    class Leaves(Two):
        def forward(self, x):
            return super().forward(x) + 0 * x.add_(1)

    message = exercise.check(Leaves).message
    assert message.startswith("The results aside, your code changed its argument x.")
    assert "Right up to" not in message


def test_no_step_is_named_where_a_relation_is_found():
    class Negative(Two):
        def forward(self, x):
            return -super().forward(x)

    message = exercise.check(Negative).message
    assert "Yours has the other sign, everywhere." in message
    assert "Right up to" not in message
