"""lessons.language_model.parts beside torch's own modules, and beside the paper's parts where they must agree."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from lessons.attention import MultiHeadAttention
from lessons.language_model import (
    GroupedQueryAttention,
    RMSNorm,
    Rotary,
    SwiGLU,
    halves_to_neighbors,
    rotate_halves,
    rotate_neighbors,
)
from lessons.language_model.parts import make_feed_forward, make_norm
from lessons.layers import FeedForward
from lessons.masks import causal, sliding_window
from lessons.positions import RotaryPositions, rotary_angles, rotate

# Every size is different: B 2, T 5, D 12, H 6, H_kv 3, d 2 or 4, F 20.


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


def scrambled(module):
    for x in module.double().parameters():
        nn.init.normal_(x, std=0.5)
    return module


def draw(*size):
    return torch.randn(*size, dtype=torch.float64)


@pytest.mark.parametrize("eps", [1e-5, 0.5])
def test_rms_norm_is_that_of_torch(eps):
    ours, x = scrambled(RMSNorm(12, eps)), draw(2, 5, 12)
    torch.testing.assert_close(ours(x), F.rms_norm(x, (12,), ours.weight, eps))


def test_rms_norm_subtracts_no_mean():
    x = torch.full((1, 4), 3.0)
    torch.testing.assert_close(RMSNorm(4)(x), torch.ones(1, 4))
    assert not nn.LayerNorm(4)(x).any()


def test_rms_norm_in_half_precision_does_not_overflow():
    x = torch.full((1, 4), 1000.0, dtype=torch.float16)  # its square is above the largest number
    found = RMSNorm(4).half()(x)
    assert found.dtype == torch.float16
    torch.testing.assert_close(found, torch.ones(1, 4, dtype=torch.float16))


@pytest.mark.parametrize("bias", [True, False])
def test_swiglu_by_hand(bias):
    part, x = scrambled(SwiGLU(12, 20, True) if bias else SwiGLU(12, 20)), draw(2, 5, 12)
    zero = torch.zeros((), dtype=x.dtype)
    gate, up, down = ((p.weight, p.bias if bias else zero) for p in (part.gate_proj, part.up_proj, part.down_proj))
    z = x @ gate[0].T + gate[1]
    hidden = z * z.sigmoid() * (x @ up[0].T + up[1])
    torch.testing.assert_close(part(x), hidden @ down[0].T + down[1])
    assert sum(p.numel() for p in part.parameters()) == 3 * 12 * 20 + bias * (20 + 20 + 12)


@pytest.mark.parametrize("activation", ["relu", "gelu"])
def test_the_feed_forward_of_2017_is_that_of_the_layers(activation):
    theirs, x = scrambled(FeedForward(12, 20, activation=activation)), draw(2, 5, 12)
    ours = make_feed_forward(activation, 12, 20, bias=True).double()
    ours.load_state_dict(theirs.state_dict())
    torch.testing.assert_close(ours(x), theirs(x))


@pytest.mark.parametrize(
    ("name", "activation"),
    [("relu", F.relu), ("gelu", F.gelu), ("gelu_tanh", lambda x: F.gelu(x, approximate="tanh"))],
)
def test_the_feed_forward_of_2017_without_biases(name, activation):
    part, x = scrambled(make_feed_forward(name, 12, 20, bias=False)), draw(2, 5, 12)
    assert {n: tuple(p.shape) for n, p in part.named_parameters()} == {
        "linear1.weight": (20, 12),
        "linear2.weight": (12, 20),
    }
    torch.testing.assert_close(part(x), activation(x @ part.linear1.weight.T) @ part.linear2.weight.T)


def test_each_norm_has_its_eps_and_its_bias():
    assert make_norm("layer", 12, bias=True, eps=0.1).bias is not None
    assert make_norm("layer", 12, bias=False, eps=0.1).bias is None
    assert {make_norm(norm, 12, bias=False, eps=0.1).eps for norm in ("layer", "rms")} == {0.1}


@pytest.mark.parametrize("base", [10000.0, 500000.0])
def test_neighbors_are_rotated_as_in_the_lessons(base):
    x, positions = draw(2, 3, 5, 8), torch.arange(7, 12)
    expected = rotate(x, rotary_angles(5, 8, base=base, offset=7, dtype=torch.float64))
    torch.testing.assert_close(rotate_neighbors(x, positions, base), expected)


@pytest.mark.parametrize("base", [10000.0, 500000.0])
def test_halves_are_rotated_as_complex_numbers(base):
    x, positions = draw(2, 3, 5, 8), torch.tensor([4, 0, 9, 1, 2])
    angles = positions[:, None] / base ** (torch.arange(4).double() / 4)
    turned = torch.complex(x[..., :4], x[..., 4:]) * torch.exp(1j * angles)
    torch.testing.assert_close(rotate_halves(x, positions, base), torch.cat([turned.real, turned.imag], dim=-1))


def test_the_order_that_makes_one_pairing_the_other():
    assert halves_to_neighbors(6).tolist() == [0, 3, 1, 4, 2, 5]
    x, positions, order = draw(2, 3, 5, 8), torch.arange(5), halves_to_neighbors(8)
    torch.testing.assert_close(rotate_neighbors(x[..., order], positions), rotate_halves(x, positions)[..., order])
    torch.testing.assert_close(
        rotate_neighbors(x[..., order], positions)[..., order.argsort()], rotate_halves(x, positions)
    )


def test_rows_in_the_other_order_make_the_other_pairing_give_the_same_attention():
    halves, neighbors = (
        scrambled(GroupedQueryAttention(12, 3, 1, rotary=Rotary(4, pairs=p))) for p in ("halves", "neighbors")
    )
    neighbors.load_state_dict(halves.state_dict())
    x, order = draw(2, 5, 12), halves_to_neighbors(4)
    for name in ("q_proj", "k_proj"):
        weight = getattr(halves, name).weight.detach()
        getattr(neighbors, name).weight.data = weight.unflatten(0, (-1, 4))[:, order].flatten(0, 1)
    (output, weights), (other, other_weights) = (part(x, causal(5), need_weights=True) for part in (halves, neighbors))
    torch.testing.assert_close(weights, other_weights)
    torch.testing.assert_close(output, other)


@pytest.mark.parametrize("rotate", [rotate_halves, rotate_neighbors])
def test_scores_depend_on_the_distance_of_the_positions_alone(rotate):
    q, k = draw(2, 3, 5, 8), draw(2, 3, 5, 8)
    here, there = torch.arange(5), torch.arange(100, 105)
    scores = [rotate(q, at) @ rotate(k, at).mT for at in (here, there)]
    torch.testing.assert_close(*scores)
    assert not torch.allclose(scores[0], q @ k.mT)


@pytest.mark.parametrize("rotate", [rotate_halves, rotate_neighbors])
def test_one_head_is_rotated_as_among_others(rotate):
    x, positions = draw(2, 3, 5, 8), torch.arange(5)
    torch.testing.assert_close(rotate(x[1, 2], positions), rotate(x, positions)[1, 2])


def test_each_sentence_may_have_its_own_positions():
    x, positions, rotary = draw(2, 3, 5, 8), torch.tensor([[0, 1, 2, 3, 4], [0, 0, 0, 1, 2]]), Rotary(8)
    found = rotary(x, positions)
    for b in range(2):
        torch.testing.assert_close(found[b], rotary(x[b : b + 1], positions[b])[0])


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("rotary", [True, False])
def test_with_a_key_head_for_each_query_head_it_is_multi_head_attention(bias, rotary):
    theirs = scrambled(MultiHeadAttention(12, 3, bias=bias, rotary=RotaryPositions(4) if rotary else None))
    ours = GroupedQueryAttention(12, 3, bias=bias, rotary=Rotary(4, pairs="neighbors") if rotary else None).double()
    ours.load_state_dict(theirs.state_dict())
    x = draw(2, 5, 12)
    found, weights = ours(x, causal(5), need_weights=True)
    expected, their_weights = theirs(x, allowed=causal(5))
    torch.testing.assert_close(found, expected)
    torch.testing.assert_close(weights, their_weights)
    assert ours(x)[1] is None


@pytest.mark.parametrize("num_kv_heads", [1, 2, 3, 6])
def test_grouped_heads_are_multi_head_attention_with_repeated_keys(num_kv_heads):
    ours, x = scrambled(GroupedQueryAttention(12, 6, num_kv_heads)), draw(2, 5, 12)
    many = MultiHeadAttention(12, 6, bias=False).double()
    state = ours.state_dict()
    for name in ("k_proj.weight", "v_proj.weight"):  # head h uses key head h // group
        heads = state[name].unflatten(0, (num_kv_heads, 2))
        state[name] = torch.cat([heads[h * num_kv_heads // 6] for h in range(6)])
    many.load_state_dict(state)
    for need_weights in (True, False):
        found, weights = ours(x, causal(5), need_weights=need_weights)
        expected, their_weights = many(x, allowed=causal(5), need_weights=need_weights)
        torch.testing.assert_close(found, expected)
        torch.testing.assert_close(weights, their_weights)


def test_a_grouped_attention_gives_the_gradients_of_torch():
    ours, x = scrambled(GroupedQueryAttention(12, 6, 2)), draw(2, 5, 12).requires_grad_()
    q = (x @ ours.q_proj.weight.T).unflatten(-1, (6, 2)).transpose(1, 2)
    k, v = ((x @ p.weight.T).unflatten(-1, (2, 2)).transpose(1, 2) for p in (ours.k_proj, ours.v_proj))
    theirs = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True).transpose(1, 2).flatten(-2)
    theirs = theirs @ ours.out_proj.weight.T
    gradient, wanted = draw(2, 5, 12), [x, *ours.parameters()]
    torch.testing.assert_close(ours(x, causal(5))[0], theirs)
    found = torch.autograd.grad(ours(x, causal(5))[0], wanted, gradient)
    torch.testing.assert_close(found, torch.autograd.grad(theirs, wanted, gradient))


def test_queries_and_keys_are_normalized_before_they_are_rotated():
    norm, rotary = nn.RMSNorm(4, eps=0.1).double(), Rotary(4)
    ours, x = scrambled(GroupedQueryAttention(12, 3, 1, rotary=rotary, query_key_norm=True, eps=0.1)), draw(2, 5, 12)
    q = (x @ ours.q_proj.weight.T).unflatten(-1, (3, 4)).transpose(1, 2)
    k = (x @ ours.k_proj.weight.T).unflatten(-1, (1, 4)).transpose(1, 2)
    q, k = (
        rotary(norm(q) * ours.query_norm.weight, torch.arange(5)),
        rotary(norm(k) * ours.key_norm.weight, torch.arange(5)),
    )
    torch.testing.assert_close(ours(x, need_weights=True)[1], (q @ k.mT / 2).softmax(dim=-1))


def test_the_eps_of_the_norms_unless_told_otherwise():
    norms = RMSNorm(4), GroupedQueryAttention(12, 3, query_key_norm=True).query_norm
    assert [norm.eps for norm in norms] == [1e-5, 1e-5]


def test_a_head_may_have_a_size_of_its_own():
    part = GroupedQueryAttention(12, 3, 1, head_dim=8, bias=True)
    assert [tuple(p.shape) for p in part.parameters()] == [
        (24, 12),
        (24,),
        (8, 12),
        (8,),
        (8, 12),
        (8,),
        (12, 24),
        (12,),
    ]
    assert part(torch.randn(2, 5, 12))[0].shape == (2, 5, 12)


def test_a_window_hides_what_is_too_far_back():
    part, x = scrambled(GroupedQueryAttention(12, 3, window=2)), draw(2, 5, 12)
    weights = part(x, causal(5), need_weights=True)[1]
    assert torch.equal(weights > 0, (causal(5) & sliding_window(5, 2)).expand(2, 3, 5, 5))
    assert torch.equal(part(x, need_weights=True)[1] > 0, sliding_window(5, 2).expand(2, 3, 5, 5))


def test_positions_are_handed_to_rotary():
    part, x = scrambled(GroupedQueryAttention(12, 3, rotary=Rotary(4))), draw(2, 5, 12)
    plain, same = part(x)[0], part(x, positions=torch.arange(9, 14))[0]
    torch.testing.assert_close(plain, same)
    assert not torch.allclose(plain, part(x, positions=torch.tensor([0, 1, 2, 0, 1]))[0])


X = torch.zeros(2, 5, 12)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: RMSNorm(0), "d_model is 0; expected a whole number"),
        (lambda: RMSNorm(4, 0), "eps is 0; expected a number above 0"),
        (lambda: RMSNorm(4)(X), r"x has shape \(2, 5, 12\); expected \(\.\.\., 4\)"),
        (lambda: SwiGLU(0, 6), "d_model is 0; expected a whole number"),
        (lambda: SwiGLU(4, 0), "d_ff is 0; expected a whole number"),
        (lambda: SwiGLU(4, 6)(X), r"x has shape \(2, 5, 12\); expected \(\.\.\., 4\)"),
        (lambda: make_norm("batch", 4, bias=True, eps=1e-5), "norm is 'batch'; expected one of"),
        (lambda: make_feed_forward("silu", 4, 6, bias=True), "feed_forward is 'silu'; expected one of"),
        (lambda: halves_to_neighbors(5), "n is 5; expected an even number"),
        (lambda: rotate_halves(X[..., :3], torch.arange(5)), r"x has shape \(2, 5, 3\); expected \(\.\.\., T, an even"),
        (lambda: rotate_halves(X[0, 0], torch.arange(12)), r"x has shape \(12,\); expected \(\.\.\., T, an even"),
        (lambda: rotate_halves(X, torch.arange(4)), r"positions has shape \(4,\); expected \(\.\.\., 5\)"),
        (lambda: rotate_halves(X, torch.ones(5)), "positions is a tensor of torch.float32; expected a tensor of whole"),
        (lambda: rotate_halves(X, torch.arange(5), -1.0), "base is -1.0; expected a number above 0"),
        (lambda: Rotary(3), "head_dim is 3; expected an even number"),
        (lambda: Rotary(4, pairs="thirds"), "pairs is 'thirds'; expected one of"),
        (lambda: Rotary(4, base=0), "base is 0; expected a number above 0"),
        (lambda: GroupedQueryAttention(0, 6), "d_model is 0; expected a whole number, 1 or more"),
        (lambda: GroupedQueryAttention(12, 0), "num_heads is 0; expected a whole number, 1 or more"),
        (lambda: GroupedQueryAttention(12, 6, 0), "num_kv_heads is 0; expected a whole number, 1 or more, or None"),
        (lambda: GroupedQueryAttention(12, 5), "d_model is 12; expected a multiple of num_heads = 5, or a head_dim"),
        (lambda: GroupedQueryAttention(12, 6, 4), "num_kv_heads is 4; expected a divisor of num_heads = 6"),
        (
            lambda: GroupedQueryAttention(12, 6, head_dim=0),
            "head_dim is 0; expected a whole number, 1 or more, or None",
        ),
        (lambda: GroupedQueryAttention(12, 6, window=0), "window is 0; expected a whole number, 1 or more, or None"),
        (lambda: GroupedQueryAttention(8, 2)(X), r"x has shape \(2, 5, 12\); expected \(B, T, 8\)"),
        (lambda: GroupedQueryAttention(12, 6)(X, causal(4)), r"allowed has shape \(4, 4\)"),
        (
            lambda: GroupedQueryAttention(12, 6)(X, causal(5).expand(6, 5, 5)),
            r"allowed has shape \(6, 5, 5\); expected \(Q, K\) or four axes",
        ),
        (lambda: GroupedQueryAttention(12, 6, window=2)(X, causal(5).float()), "allowed is a tensor of torch.float32"),
    ],
)
def test_bad_input_is_named(wrong, message):
    with pytest.raises(ValueError, match=message):
        wrong()
