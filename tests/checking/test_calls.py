"""The ways to call an answer: what they accept, and what they say about the rest."""

import re

import pytest
import torch
from torch import nn

from lessons.checking.calls import LayerLike, whole_number


class Scaled(nn.Module):
    def __init__(self, size, factor):
        super().__init__()
        self.linear = nn.Linear(size, size)
        self.factor = factor

    def forward(self, x):
        return self.linear(x) * self.factor


class Renamed(Scaled):
    def __init__(self, size, factor):
        super().__init__(size, factor)
        self.projection = self.linear
        del self.linear


class Misspelled(nn.Module):
    def foward(self, x):
        return x


call = LayerLike(Scaled, "MyLayer", sizes=2)


@pytest.mark.parametrize("answer", [12, torch.tensor(12)])
def test_a_whole_number_in_each_form(answer):
    assert torch.equal(whole_number(lambda n: answer, 3), torch.tensor(12))


def test_no_number_is_no_error():
    assert whole_number(lambda n: None, 3) is None


@pytest.mark.parametrize("answer", [12.5, "12", True])
def test_what_is_no_whole_number_is_refused(answer):
    with pytest.raises(TypeError, match=f"^expected a whole number, got {answer!r}$"):
        whole_number(lambda n: answer, 3)


def test_a_float_is_told_how_to_become_whole():
    with pytest.raises(TypeError, match=r"^expected a whole number, got the float 12\.0: / gives a float, //"):
        whole_number(lambda n: 12.0, 3)


def test_a_layer_gets_the_weights_of_the_reference():
    class Learners(Scaled):
        def __init__(self, size, factor):
            torch.randn(5)  # other random numbers than the reference draws
            super().__init__(size, factor)

    x = torch.randn(4, 3)
    assert torch.equal(call(Learners, 3, 2.0, x), call(Scaled, 3, 2.0, x))
    assert not torch.equal(call(Learners, 3, 2.0, x), call(Scaled, 3, 1.0, x))


def test_the_random_numbers_go_on_as_if_nothing_had_happened():
    torch.manual_seed(1)
    expected = torch.rand(3)
    torch.manual_seed(1)
    call(Scaled, 3, 2.0, torch.ones(1, 3))
    assert torch.equal(torch.rand(3), expected)


@pytest.mark.parametrize(
    ("candidate", "error", "story"),
    [
        (Scaled(3, 2.0), TypeError, "expected the class MyLayer itself, not one object made of it"),
        (Misspelled, AttributeError, "the class has no method forward: look at its name, and at its indentation"),
        (Renamed, AttributeError, "linear: keep the layers of __init__ as they were named"),
    ],
    ids=["object", "no forward", "renamed"],
)
def test_what_is_no_such_layer_is_refused(candidate, error, story):
    with pytest.raises(error, match=f"^{re.escape(story)}$"):
        call(candidate, 3, 2.0, torch.ones(1, 3))
