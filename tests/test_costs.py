"""Costs are counted on layers small enough to count on paper."""

import re
from functools import partial

import pytest
import torch
from torch import nn

from lessons import fast
from lessons.attention import MultiHeadAttention, attend
from lessons.costs import cpu_seconds, hops, longest_chain, multiply_adds, peak_bytes
from lessons.layers import EncoderLayer, FeedForward
from lessons.tiled import tiled_attention


def states(cell, x):
    """x (T, D) -> the state after the last token (1, D)."""
    state = None
    for token in x:
        state = cell(token[None], state)
    return state


def test_multiply_adds_of_a_matrix_product(capsys):
    counted = multiply_adds(lambda: torch.ones(2, 3) @ torch.ones(3, 5))
    assert counted == 2 * 3 * 5 and isinstance(counted, int)
    assert capsys.readouterr().out == ""


def test_multiply_adds_of_attention_are_those_of_the_formula():
    n, d = 10, 16
    layer = MultiHeadAttention(d, 4)
    assert multiply_adds(lambda: layer(torch.randn(1, n, d))) == 4 * n * d * d + 2 * n * n * d


@pytest.mark.parametrize("n", [1, 5, 400])
def test_a_recurrent_layer_waits_once_for_each_token(n):
    assert longest_chain(states(nn.RNNCell(4, 4), torch.randn(n, 4))) == n


def test_attention_waits_four_times_at_any_length():
    layer = MultiHeadAttention(8, 2)
    assert [longest_chain(layer(torch.randn(1, n, 8))[0]) for n in (2, 9)] == [4, 4]


def test_products_beside_one_another_do_not_wait():
    a, b = torch.ones(3, 3, requires_grad=True), torch.ones(3, 3)
    assert longest_chain(a @ b + a @ b) == 1
    assert longest_chain((a @ b) @ (a @ b)) == 2


@pytest.fixture(params=[False, True], ids=["MKL", "oneDNN"])
def _either_processor(request, monkeypatch):
    monkeypatch.setattr(fast, "ONEDNN_IS_FASTER", request.param and torch.backends.mkldnn.is_available())


@pytest.mark.usefixtures("_either_processor")
def test_the_costs_of_a_large_layer_are_the_same_on_each_processor():
    feed_forward, x = FeedForward(512, 2048), torch.randn(1, 64, 512)
    assert multiply_adds(lambda: feed_forward(x)) == 64 * 2 * 512 * 2048
    assert multiply_adds(lambda: feed_forward(x).sum().backward()) == 64 * 5 * 512 * 2048  # none for the gradient of x
    assert longest_chain(feed_forward(x)) == 2
    with torch.no_grad():
        assert peak_bytes(lambda: feed_forward(x)) == 4 * 64 * 2 * 2048  # before and after the activation


@pytest.mark.usefixtures("_either_processor")
@pytest.mark.parametrize("need_weights", [False, True])
@pytest.mark.parametrize("learns", [False, True])
def test_fused_attention_costs_as_many_products(need_weights, learns):
    q, k, v = (torch.randn(2, n, d, requires_grad=learns) for n, d in ((3, 4), (5, 4), (5, 6)))
    assert multiply_adds(lambda: attend(q, k, v, need_weights=need_weights)) == 2 * 3 * 5 * (4 + 6)
    layer, x = EncoderLayer(64, 4, 128), torch.randn(1, 5, 64)
    counted = 5 * (4 * 64 * 64 + 2 * 64 * 128) + 2 * 5 * 5 * 64
    assert multiply_adds(lambda: layer(x, need_weights=need_weights)) == counted
    assert longest_chain(layer(x, need_weights=need_weights)[0]) == 6


def test_attention_in_tiles_waits_twice():
    q = torch.randn(5, 4, requires_grad=True)
    attention = partial(tiled_attention, query_block=2, key_block=2)
    assert longest_chain(attention(q, q, q)) == longest_chain(attend(q, q, q, need_weights=False)[0]) == 2
    assert multiply_adds(lambda: attention(q, q, q)) == 2 * 5 * 5 * 4


def test_longest_chain_needs_a_record():
    with pytest.raises(
        ValueError, match=r"^result has no grad_fn; expected what a layer computed with gradients switched on$"
    ):
        longest_chain(torch.ones(2))


@pytest.mark.parametrize(("n", "expected"), [(2, 1), (5, 4), (14, 13)])
def test_a_convolution_of_width_3_goes_one_token_a_hop(n, expected):
    kernel = nn.Conv1d(8, 8, 3, padding=1)
    assert hops([lambda x: kernel(x.T).T], torch.randn(n, 8)) == expected


def test_dilation_makes_hops_longer():
    kernels = [nn.Conv1d(8, 8, 3, dilation=3**i, padding=3**i) for i in range(4)]
    layers = [partial(lambda kernel, x: kernel(x.T).T, kernel) for kernel in kernels]
    assert [hops(layers, torch.randn(n, 8)) for n in (5, 14, 41)] == [2, 3, 4]


def test_attention_needs_one_hop():
    layer = MultiHeadAttention(8, 2)
    assert hops([lambda x: layer(x[None])[0][0]], torch.randn(20, 8)) == 1


def test_hops_that_lead_nowhere_are_refused():
    with pytest.raises(ValueError, match="does not lead from the first token to the last within 4 hops"):
        hops([lambda x: 2 * x], torch.randn(5, 3))


def test_no_more_hops_are_tried_than_there_are_steps():
    with pytest.raises(ValueError, match="within 2 hops"):
        hops([lambda x: 2 * x, lambda x: 2 * x, lambda x: x + x.sum(0)], torch.randn(3, 3))


@pytest.mark.parametrize(("layers", "shape"), [([], (5, 3)), ([torch.tanh], (1, 3)), ([torch.tanh], (5,))])
def test_hops_refuses_what_has_no_way(layers, shape):
    given = f"layers has {len(layers)}, x has shape {shape}"
    expected = "expected one layer or more, and two tokens or more, (T, D)"
    with pytest.raises(ValueError, match=f"^{re.escape(f'{given}; {expected}')}$"):
        hops(layers, torch.randn(shape))


def test_cpu_seconds_is_the_median_and_leaves_the_first_run_out(monkeypatch):
    clock = iter([0.0, 5.0, 5.0, 6.0, 6.0, 8.0])  # 5, 1 and 2 seconds
    monkeypatch.setattr("lessons.costs.time.process_time", lambda: next(clock))
    calls = []
    assert cpu_seconds(lambda: calls.append(1), repeats=3) == 2.0
    assert len(calls) == 4


def test_cpu_seconds_runs_nine_times_and_once_before():
    calls = []
    cpu_seconds(lambda: calls.append(1))
    assert len(calls) == 10


def test_cpu_seconds_refuses_no_repeats():
    with pytest.raises(ValueError, match="repeats is 0"):
        cpu_seconds(lambda: None, repeats=0)


def test_peak_bytes_counts_what_is_there_at_one_time():
    def three(keep):
        made = []
        for _ in range(3):
            made = [*made, torch.zeros(100)] if keep else [torch.zeros(100)]
        return made

    def one_goes():
        large, small = torch.zeros(100), torch.zeros(10)
        del large
        return small, torch.zeros(50)

    x = torch.zeros(10)
    assert peak_bytes(lambda: torch.zeros(1000)) == 4000
    assert peak_bytes(one_goes) == 440
    assert peak_bytes(lambda: three(keep=True)) == 1200
    assert peak_bytes(lambda: three(keep=False)) == 800  # the new one is made before the old one goes
    assert peak_bytes(lambda: x.view(2, 5)) == peak_bytes(lambda: x.add_(1)) == 0
    assert peak_bytes(lambda: (x + 1).view(2, 5) + 1) == 80
    assert peak_bytes(lambda: torch.empty(10**12, device="meta")) == 4 * 10**12


def test_the_memory_of_attention_grows_with_the_square_and_in_tiles_with_the_length():
    def grows(attention):
        short, long = (torch.randn(n, 8) for n in (1024, 2048))
        return peak_bytes(lambda: attention(long, long, long)) / peak_bytes(lambda: attention(short, short, short))

    assert grows(lambda q, k, v: attend(q, k, v)[0]) > 3.9
    assert grows(tiled_attention) < 2


def test_peak_bytes_with_a_backward_pass():
    q = torch.randn(200, 4, requires_grad=True)
    tiles = peak_bytes(lambda: tiled_attention(q, q, q, query_block=20, key_block=20).sum().backward())
    assert 0 < tiles < 200 * 200 * 4 < peak_bytes(lambda: attend(q, q, q)[0].sum().backward())
