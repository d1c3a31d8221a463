"""lessons.probes: the mask that a function really has, found by changing one token at a time."""

import pytest
import torch
from torch.nn.functional import layer_norm

from lessons.probes import influence, leaks

T, D = 4, 3
X = torch.randn(T, D, generator=torch.Generator().manual_seed(0))
EYE = torch.eye(T, dtype=torch.bool)
ALL = torch.ones(T, T, dtype=torch.bool)
CAUSAL = ALL.tril()
NAN_ROW = torch.tensor([[0.0], [float("nan")], [0.0], [0.0]])


@pytest.mark.parametrize(
    ("function", "mask"),
    [
        (lambda x: x, EYE),
        (lambda x: x.cumsum(dim=0), CAUSAL),
        (lambda x: x.flip(0).cumsum(dim=0).flip(0), CAUSAL.T),
        (lambda x: x.roll(1, dims=0), EYE.roll(1, dims=0)),  # output i is token i - 1
        (lambda x: x.sum(dim=0).expand(T, D), ALL),
        (torch.zeros_like, ~ALL),
        (lambda x: x[:, -1:], EYE),  # the last feature alone
        (lambda x: torch.cat([torch.zeros(T, 5), x[:, -1:]], dim=1), EYE),
        (lambda x: x[:, :1], EYE),
        (lambda x: x[:, :, None].expand(T, D, 2), EYE),
        (lambda x: (x[:, None, :, None] + torch.zeros(T, 2, D, 2)).cumsum(dim=0), CAUSAL),
        (lambda x: torch.full_like(x, float("nan")), ~ALL),
        (lambda x: x + NAN_ROW, EYE & NAN_ROW.isfinite()),  # NaN before and after: not moved
        (lambda x: x / (x < 1e9), EYE),
        (lambda x: torch.where(x > X + 0.5, float("nan"), x), EYE),  # becomes NaN: moved
        (lambda x: torch.where(x > X + 0.5, x, float("nan")), EYE),  # was NaN: moved
        (lambda x: x > X + 0.5, EYE),  # True and False
        (lambda x: (x > X + 0.5).long(), EYE),
        (lambda x: X[:, :1] @ x[:1], EYE[:1].expand(T, T)),  # only the first token counts
        (lambda x: x.new_zeros(T, 0), ~ALL),
    ],
)
def test_influence_of_known_functions(function, mask):
    found = influence(function, X)
    assert found.dtype == torch.bool
    assert torch.equal(found, mask), found


@pytest.mark.xfail(strict=True, reason="flatten(1) needs two axes")
def test_one_number_for_each_token():
    assert torch.equal(influence(lambda x: x.sum(dim=1), X), EYE)


@pytest.mark.xfail(strict=True, reason="all features of a token grow by the same amount, which a layer norm takes away")
def test_what_depends_on_differences_of_features_alone():
    assert torch.equal(influence(lambda x: layer_norm(x, (D,)).cumsum(dim=0), X), CAUSAL)


def test_influence_reads_outputs_in_rows_and_tokens_in_columns():
    found = influence(lambda x: torch.stack([x[2], *x[1:] * 0]), X)
    assert found.nonzero().tolist() == [[0, 2]]


@pytest.mark.parametrize(("size", "seen"), [(1.0, True), (1e-3, True), (2e-5, True), (1e-7, False), (0.0, False)])
def test_small_influences_are_seen_and_rounding_is_not(size, seen):
    found = influence(lambda x: torch.cat([size * x[1:2], torch.zeros(T - 1, D)]), torch.zeros(T, D))
    assert found.nonzero().tolist() == ([[0, 1]] if seen else [])


def test_rounding_is_measured_beside_large_outputs():
    def add(part):
        return lambda x: x[:1].expand(T, D) * 0 + 1000 + part * x

    assert not influence(add(0.01), X).any()
    assert torch.equal(influence(add(0.5), X), EYE)


def test_leaks_are_the_pairs_above_the_diagonal():
    assert leaks(lambda x: x.cumsum(dim=0), X) == []
    assert leaks(lambda x: x.sum(dim=0).expand(T, D), X) == [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    assert leaks(lambda x: torch.stack([x[1], x[0], x[3], x[2]]), X) == [(0, 1), (2, 3)]
    assert leaks(lambda x: x, X) == []
    assert all(type(i) is int for pair in leaks(lambda x: x.flip(0), X) for i in pair)


def test_x_stays_as_it_was():
    x = X.clone()
    influence(lambda x: x.cumsum(dim=0), x)
    leaks(lambda x: x * 2, x)
    assert torch.equal(x, X)
    assert not x.requires_grad and x.grad is None


def test_no_gradients_are_needed_or_made():
    seen = []

    def function(x):
        seen.append((torch.is_grad_enabled(), x.clone()))
        return x.detach() * 1

    x = X.clone().requires_grad_()
    assert torch.equal(influence(function, x), EYE)
    assert not any(enabled for enabled, _ in seen) and torch.is_grad_enabled()
    assert torch.equal(seen[0][1], X)
    for j, (_, changed) in enumerate(seen[1:]):  # one token each, all its features
        assert (changed != X).nonzero().tolist() == [[j, feature] for feature in range(D)]
    assert len(seen) == T + 1


def test_the_parameters_of_a_layer_are_left_alone():
    layer = torch.nn.Linear(D, 2)
    assert torch.equal(influence(layer, X), EYE)
    assert layer.weight.grad is None


@pytest.mark.parametrize(
    ("function", "x", "message"),
    [
        (lambda x: x, X[0], r"x has shape \(3,\); expected \(T, D\)"),
        (lambda x: x, X[None], r"x has shape \(1, 4, 3\); expected \(T, D\)"),
        (lambda x: x[1:], X, "function gave 3 outputs for 4 tokens; expected one each"),
        (lambda x: x.T, X, "function gave 3 outputs for 4 tokens; expected one each"),
        (lambda x: x[None], X, "function gave 1 outputs for 4 tokens; expected one each"),
    ],
)
@pytest.mark.parametrize("probe", [influence, leaks])
def test_what_is_refused(probe, function, x, message):
    with pytest.raises(ValueError, match=f"^{message}$"):
        probe(function, x)
