"""The probe sees what moves, all of it and nothing else."""

import pytest
import torch

from lessons.attention import attend
from lessons.masks import causal
from lessons.probes import influence, leaks, true_lets_look

X = torch.randn(4, 3, generator=torch.Generator().manual_seed(0))
LOWER = torch.ones(4, 4, dtype=torch.bool).tril()


def shifted(x):
    return torch.cat([x[1:], x[:1]])


@pytest.mark.parametrize(
    ("function", "moved"),
    [
        (lambda x: 2 * x, torch.eye(4, dtype=torch.bool)),
        (lambda x: x.cumsum(dim=0), LOWER),
        (lambda x: -x.cumsum(dim=0), LOWER),
        (lambda x: x[:, -1:].cumsum(dim=0), LOWER),
        (lambda x: 1e-3 * x.cumsum(dim=0), LOWER),
        (lambda x: torch.zeros(4, 1), torch.zeros(4, 4, dtype=torch.bool)),
        (shifted, torch.eye(4, dtype=torch.bool).roll(1, dims=1)),
        (lambda x: attend(x, x, x, causal(4))[0], LOWER),
        (lambda x: x.cumsum(dim=0).sum(dim=1, keepdim=True).expand(4, 6).unflatten(1, (2, 3)), LOWER),
        (lambda x: torch.full((4, 1), torch.nan), torch.zeros(4, 4, dtype=torch.bool)),
        (lambda x: x + 1e-9 * x.sum(), torch.eye(4, dtype=torch.bool)),
        (lambda x: x.sum(dim=1), torch.eye(4, dtype=torch.bool)),
        (lambda x: torch.nn.functional.layer_norm(x, (3,)).cumsum(dim=0), LOWER),
    ],
)
def test_influence(function, moved):
    before = X.clone()
    assert torch.equal(influence(function, X), moved)
    assert torch.equal(X, before)


def test_leaks_are_the_pairs_of_an_output_and_a_later_token():
    assert leaks(lambda x: x.cumsum(dim=0), X) == []
    assert leaks(shifted, X) == [(0, 1), (1, 2), (2, 3)]
    assert leaks(lambda x: x + x[2], X) == [(0, 2), (1, 2)]


def test_influence_takes_no_gradients():
    seen = []
    influence(lambda x: seen.append(torch.is_grad_enabled()) or x, X)
    assert not any(seen)


def test_bad_input():
    with pytest.raises(ValueError, match=r"x has shape \(3,\); expected \(T, D\)"):
        influence(lambda x: x, X[0])
    with pytest.raises(ValueError, match="function gave 3 outputs for 4 tokens; expected one each"):
        influence(lambda x: x[:3], X)


def attention(*, true_looks, fill=-torch.inf, empty=None):
    def attend_by_hand(x, mask):
        hidden = ~mask if true_looks else mask
        weights = (x @ x.T).masked_fill(hidden, fill).softmax(dim=-1)
        return (weights if empty is None else weights.masked_fill(hidden.all(dim=-1, keepdim=True), empty)) @ x

    return attend_by_hand


@pytest.mark.parametrize("true_looks", [True, False])
@pytest.mark.parametrize("habits", [{}, {"empty": 0.0}, {"fill": -1e9}], ids=["NaN", "0", "even share"])
def test_what_true_means(true_looks, habits):
    assert true_lets_look(attention(true_looks=true_looks, **habits), X) is true_looks


def test_what_true_means_in_torch():
    module = torch.nn.MultiheadAttention(3, 1, batch_first=True)

    def function(x, mask):
        return torch.nn.functional.scaled_dot_product_attention(x, x, x, attn_mask=mask)

    assert true_lets_look(function, X)
    assert not true_lets_look(lambda x, mask: module(x[None], x[None], x[None], attn_mask=mask)[0][0], X)


def test_a_mask_that_decides_nothing():
    with pytest.raises(ValueError, match="output 0 moves with the last token, mask or no mask; expected that the mask"):
        true_lets_look(lambda x, mask: attend(x, x, x)[0], X)
    with pytest.raises(ValueError, match="output 0 does not move with the last token"):
        true_lets_look(lambda x, mask: x, X)
    with pytest.raises(ValueError, match=r"x has shape \(1, 3\); expected \(T, D\) with two tokens or more"):
        true_lets_look(attention(true_looks=True), X[:1])
