"""What a wrong result has to do with the right one, in words."""

import math

import pytest
import torch

from lessons.checking import relations
from lessons.checking.relations import named, related, relation, spread, whole_multiples

torch.manual_seed(0)
X = torch.randn(3, 4)
SQUARE = torch.randn(4, 4)
WEIGHTS = torch.randn(3, 4).softmax(-1)
CAUSAL = torch.ones(4, 4, dtype=torch.bool).tril()
OTHER = torch.randn(3, 4)


def _changed(x, index, value):
    x = x.clone()
    x[index] = value
    return x


def _alone(x, index):
    """Right there alone."""
    return _changed(torch.full_like(x, 9.0), index, x[index])


POSITIVE = X.abs() + 0.5
RELATIONS = {
    "Yours has the other sign, everywhere.": (-X, X),
    "Yours is 3 times what is expected, everywhere.": (3 * X, X),
    "Yours is 0.5774, which is 1 / √3, times what is expected, everywhere.": (X / 3**0.5, X),
    "Yours is too large by 0.5, everywhere.": (X + 0.5, X),
    "Yours is too small by 2, everywhere.": (X - 2, X),
    "Yours is transposed: its rows are the expected columns.": (SQUARE.T, SQUARE),
    "Yours is in the reverse order along axis 1.": (X.flip(1), X),
    "Yours is moved on by one place along axis 1.": (X.roll(1, 1), X),
    "Yours is moved back by one place along axis 0.": (X.roll(-1, 0), X),
    "Yours is moved on by one place along axis 0.": (torch.cat([torch.zeros(1, 4), X[:-1]]), X),
    "Yours is the square of what is expected.": (X**2, X),
    "Yours is the square root of what is expected.": (POSITIVE.sqrt(), POSITIVE),
    "Yours is e to the power of what is expected.": (X.exp(), X),
    "Yours is the logarithm of what is expected.": (POSITIVE.log(), POSITIVE),
    "Yours is 1 over what is expected.": (1 / POSITIVE, POSITIVE),
    "Yours is 1 minus what is expected.": (1 - X, X),
    "Yours is the size, without the sign, of what is expected.": (X.abs(), X),
    "Yours is the larger of 0 and what is expected.": (X.relu(), X),
    "Yours is the softmax of what is expected.": (X.softmax(-1), X),
    "Each of your columns sums to 1; each row must.": (torch.randn(3, 4).softmax(0), WEIGHTS),
    "Your rows sum to 0.5 to 2; each must sum to 1.": (
        torch.randn(3, 4).softmax(-1) * torch.tensor([[0.5], [1.0], [2.0]]),
        WEIGHTS,
    ),
    "Each row of yours is off by a number of its own: -1 to 2.": (X + torch.tensor([[-1.0], [2.0], [0.5]]), X),
    "Each column of yours is off by a number of its own: 1 to 4.": (X + torch.arange(1.0, 5.0), X),
    "Each row of yours is the expected one times a number of its own: 2 to 4.": (
        X * torch.tensor([[2.0], [3.0], [4.0]]),
        X,
    ),
    "In 1 place where -inf is expected, yours has -1e+09.": (
        _changed(X, (0, 1), -1e9),
        _changed(X, (0, 1), -torch.inf),
    ),
    "Yours is infinite where it should not be.": (_changed(X, (0, 1), torch.inf), X),
    "All your numbers are 0.25.": (torch.full((3, 4), 0.25), X),
    "All your numbers are 0.": (torch.full((3, 4), -0.0), X),
    "All your rows are alike, and they should not be.": (OTHER[:1].expand(3, 4), X),
    "It is wrong only in row 2.": (_changed(X, 2, OTHER[2]), X),
    "It is right throughout only in column 0.": (_alone(X, (slice(None), 0)) + 0 * X, X),
    "It is wrong only in axis 0, place 1.": (_changed(torch.ones(2, 3, 4), 1, torch.randn(3, 4)), torch.ones(2, 3, 4)),
    "It is wrong only in rows 0, 2.": (_changed(_changed(SQUARE, 0, OTHER[0]), 2, OTHER[2]), SQUARE),
    "It is wrong only in axis 0, places 0, 2.": (
        _changed(torch.ones(4, 2, 3), [0, 2], torch.randn(2, 2, 3)),
        torch.ones(4, 2, 3),
    ),
    "It is wrong only in entries 1 to 3.": (_changed(X[0].clone().repeat(2), slice(1, 4), 7.0), X[0].repeat(2)),
    "Only the diagonal is wrong.": (SQUARE + torch.eye(4) * torch.tensor([1.0, 2.0, 3.0, 4.0]), SQUARE),
    "It is wrong exactly where 0 is expected.": (CAUSAL * SQUARE + ~CAUSAL * SQUARE.T, CAUSAL * SQUARE),
    "The numbers are the right ones.": (X.round().long(), X.round()),
    "The numbers are the right ones, in other places.": (X.flatten()[torch.randperm(12)].view(3, 4), X),
    "It is close: off by 0.001 of the largest number, at most.": (
        X + 0.001 * X.abs().max() * torch.sign(torch.randn(3, 4)),
        X,
    ),
    "Yours is inverted: True and False are swapped, everywhere.": (~CAUSAL, CAUSAL),
    "All of yours is True.": (torch.ones_like(CAUSAL), CAUSAL),
    "Yours is False in 4 places too many. Only the diagonal is wrong.": (CAUSAL.tril(-1), CAUSAL),
    "Yours is in the reverse order along axis 0.": (CAUSAL.flip(0), CAUSAL),
    "Yours is transposed: its rows are the expected columns. (True and False)": (CAUSAL.T, CAUSAL),
    "Yours is True in 2 places too many. It is right throughout only in column 2.": (
        torch.tensor([[True, True, False], [True, False, True]]),
        torch.tensor([[True, False, False], [False, False, True]]),
    ),
    "In 1 place yours is True and should be False; in 1 place the other way around. It is wrong only in row 0.": (
        torch.tensor([[True, False], [False, True], [True, True]]),
        torch.tensor([[False, True], [False, True], [True, True]]),
    ),
    "The numbers are the right ones, but the last two axes are swapped.": (X.T, X),
    "The numbers are the right ones, but the axes 0 and 1 are swapped.": (torch.ones(2, 3, 4), torch.ones(3, 2, 4)),
    "The numbers are the right ones, in the right order; only the shape has one axis more or less.": (X[None], X),
    "The numbers are the right ones, in the right order; only the shape has other axes.": (X.view(4, 3), X),
    "The numbers are the right ones, stated once along an axis.": (X[:1], X[:1].expand(3, 4)),
    "The numbers are the right ones, repeated along an axis.": (X[:1].expand(3, 4), X[:1]),
    "What is there is right; 1 missing at the end of axis 0.": (X[:-1], X),
    "What is there is right; 2 too many at the beginning of axis 1.": (torch.cat([OTHER[:, :2], X], dim=1), X),
    "Yours is the mean of what is expected over axis 0: do not add that axis up.": (X.mean(0), X),
    "Yours is the sum of what is expected over axis 1: do not add that axis up.": (X.sum(1, keepdim=True), X),
}


@pytest.mark.parametrize("story", RELATIONS)
def test_each_relation(story):
    mine, right = RELATIONS[story]
    assert relation(mine, right, {}) == story.removesuffix(" (True and False)")


@pytest.mark.parametrize(
    ("factor", "name"),
    [
        (2.0, "2"),
        (-2.0, "-2"),
        (1.7, "1.7"),
        (1.0002, "1.0002"),
        (math.sqrt(3), "1.732, which is √3,"),
        (0.25, "0.25, which is 1 / 4,"),
        (0.03, "0.03"),
        (40.3, "40.3"),
    ],
)
def test_a_factor_that_is_a_root_or_a_fraction(factor, name):
    assert named(factor) == name


def test_what_else_it_may_be():
    assert relation(X, OTHER, {"x, unchanged": X}) == "Yours is x, unchanged."
    assert relation(X, OTHER[:2], {"x": X, "y": 3}) == "Yours is x."
    assert relation(torch.ones(4, 4, dtype=torch.bool), CAUSAL, {"x": SQUARE}) == "All of yours is True."


def test_nan_alone_is_no_function_of_what_is_expected():
    assert relation(torch.full((3, 4), torch.nan), -POSITIVE, {}) == "All your numbers are nan."
    assert relation(X.sqrt(), X, {}) == "Yours is the square root of what is expected."


def test_no_relation():
    assert relation(OTHER, X, {}) is None
    assert relation(CAUSAL, SQUARE, {}) is None
    assert relation(torch.empty(0, 3), torch.empty(0, 4), {}) is None
    assert relation(X.to(torch.complex64), X, {}) is None
    assert relation(torch.tensor(False), torch.tensor(True), {}) is None  # what else could a wrong one be?


def test_few_numbers_must_agree_in_all_inputs():
    pairs = [(torch.tensor(4.0), torch.tensor(2.0)), (torch.tensor(6.0), torch.tensor(3.0))]
    assert related(pairs, {}) == "Yours is 2 times what is expected, everywhere."
    assert related(pairs[:1], {}) is None
    assert related([(X[:1, :2], X[0, :2])], {}) is not None  # its shape says enough
    assert related([pairs[0], (torch.tensor(6.0), torch.tensor(2.0))], {}) is None
    assert related([(X, 2 * X), (X, X + 1)], {}) == "Yours is 0.5, which is 1 / 2, times what is expected, everywhere."


def test_the_spread():
    lines = torch.tensor([0.0, 1.0, 5.0, -2.0]), torch.tensor([1.0, 1.0, 1.0, 1.0])
    assert spread(*lines) == "Your numbers: -2 to 5; expected: 1."
    assert spread(lines[0][:3], lines[1][:3]) is None
    assert spread(lines[0] / 0, lines[1]) is None


def test_of_what_a_count_has_too_many():
    parts = [[12, 4, 3], [10, 5, 2], [21, 3, 7], [4_000_000, 2_000, 2_000]]
    assert whole_multiples(parts, [12 - 8, 10 - 10, 21 - 6, 4_000_000 - 4_000]) == [1, -2, 0]
    assert whole_multiples(parts, [5, 0, 15, 3_996_000]) is None
    assert whole_multiples(parts[:3], [4, 0, 15]) is None  # too few rows to be sure
    assert whole_multiples([[row[0], row[1], row[1]] for row in parts], [4, 0, 15, 3_996_000]) is None


@pytest.mark.parametrize("group", ["SHAPED", "BOOLEAN", "NUMERICAL"])
def test_every_relation_is_tried(group, monkeypatch):
    """Without any one of them, what is said of the examples is another."""
    every = getattr(relations, group)
    for one in every:
        monkeypatch.setattr(relations, group, tuple(other for other in every if other is not one))
        assert any(
            relation(*pair, {}) != story.removesuffix(" (True and False)") for story, pair in RELATIONS.items()
        ), one.__name__
