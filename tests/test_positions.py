"""lessons.positions against the paper's formulas written out one number at a time."""

import math

import pytest
import torch

from lessons.positions import (
    LearnedPositions,
    RotaryPositions,
    SinusoidalPositions,
    rotary_angles,
    rotate,
    sinusoids,
)


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


@pytest.mark.parametrize("d_model", [1, 2, 6, 7])
@pytest.mark.parametrize(("base", "offset"), [(10000.0, 0), (100.0, 3)])
def test_sinusoids_are_the_formula_of_the_paper(d_model, base, offset):
    table = sinusoids(5, d_model, base=base, offset=offset, dtype=torch.float64)
    assert table.shape == (5, d_model)
    for t in range(5):
        for feature in range(d_model):
            wave = math.cos if feature % 2 else math.sin
            expected = wave((t + offset) / base ** (2 * (feature // 2) / d_model))
            assert table[t, feature].item() == pytest.approx(expected, abs=1e-12)


def test_sinusoids_of_a_shifted_position_are_a_turn_of_those_before():
    """The paper's reason for them: PE(t + 4) is the same linear function of PE(t) at every t."""
    table = sinusoids(20, 6, dtype=torch.float64)
    turned = rotate(table.flip(-1), rotary_angles(1, 6, offset=4, dtype=torch.float64).flip(-1).expand(20, 3)).flip(-1)
    torch.testing.assert_close(turned[:16], table[4:])


@pytest.mark.parametrize("function", [sinusoids, rotary_angles])
def test_offset_continues_the_table(function):
    torch.testing.assert_close(function(4, 6, offset=3), function(7, 6)[3:], rtol=0, atol=0)


@pytest.mark.parametrize("function", [sinusoids, rotary_angles])
def test_type_of_the_table(function):
    assert function(3, 6).dtype == torch.get_default_dtype()
    assert function(3, 6, dtype=torch.float16).dtype == torch.float16
    assert function(3, 6, device="meta").is_meta
    assert function(0, 6).size(0) == 0


def test_angles_are_those_of_the_sinusoids():
    angles = rotary_angles(5, 6, base=50.0, offset=2, dtype=torch.float64)
    table = sinusoids(5, 6, base=50.0, offset=2, dtype=torch.float64)
    assert angles.shape == (5, 3)
    torch.testing.assert_close(angles.sin(), table[:, 0::2])
    torch.testing.assert_close(angles.cos(), table[:, 1::2])


def test_rotation_is_a_matrix_of_2_by_2_blocks():
    x, angles = torch.randn(2, 3, 5, 6, dtype=torch.float64), torch.randn(5, 3, dtype=torch.float64)
    ours = rotate(x, angles)
    for t in range(5):
        blocks = [
            torch.tensor([[math.cos(a), -math.sin(a)], [math.sin(a), math.cos(a)]], dtype=torch.float64)
            for a in angles[t].tolist()
        ]
        torch.testing.assert_close(ours[:, :, t], x[:, :, t] @ torch.block_diag(*blocks).T)


def test_rotation_is_a_product_of_complex_numbers():
    x, angles = torch.randn(2, 5, 6, dtype=torch.float64), rotary_angles(5, 6, dtype=torch.float64)
    pairs = torch.view_as_complex(x.unflatten(-1, (3, 2)))
    theirs = torch.view_as_real(pairs * torch.polar(torch.ones_like(angles), angles)).flatten(-2)
    torch.testing.assert_close(rotate(x, angles), theirs)


def test_scores_of_turned_vectors_depend_on_the_distance_alone():
    q, k = torch.randn(6, dtype=torch.float64), torch.randn(6, dtype=torch.float64)
    rotary = RotaryPositions(6)
    scores = rotary(q.expand(9, 6)) @ rotary(k.expand(9, 6)).T  # (9, 9)
    for i in range(8):
        torch.testing.assert_close(scores[i + 1, 1:], scores[i, :-1])
    assert not torch.isclose(scores[0, 1:], scores[0, 0]).any()


def test_rotation_keeps_the_length_and_leaves_position_zero_alone():
    x = torch.randn(2, 3, 5, 6, dtype=torch.float64)
    turned = RotaryPositions(6)(x)
    torch.testing.assert_close(turned.norm(dim=-1), x.norm(dim=-1))
    torch.testing.assert_close(turned[..., 0, :], x[..., 0, :])
    assert not torch.isclose(turned[..., 1:, :], x[..., 1:, :]).all(-1).any()


def test_gradient_of_the_rotation():
    x, angles = torch.randn(2, 5, 6, dtype=torch.float64, requires_grad=True), rotary_angles(5, 6).double()
    assert torch.autograd.gradcheck(lambda x: rotate(x, angles), x)


def test_half_precision_can_tell_far_positions_apart():
    rotary, x = RotaryPositions(6), torch.randn(2, 6)
    ours = rotary.half()(x.half(), offset=3001)
    torch.testing.assert_close(ours, RotaryPositions(6)(x, offset=3001).half(), rtol=5e-3, atol=5e-3)


def modules():
    return SinusoidalPositions(6, max_len=9), LearnedPositions(6, max_len=9), RotaryPositions(6)


@pytest.mark.parametrize("kind", range(3), ids=["sinusoids", "learned", "rotary"])
@pytest.mark.parametrize("offset", [0, 4])
def test_modules_give_each_token_its_position(kind, offset):
    module, x = modules()[kind].double(), torch.randn(2, 5, 6, dtype=torch.float64)
    whole = module(torch.cat([torch.zeros(2, offset, 6, dtype=torch.float64), x], dim=1))
    torch.testing.assert_close(module(x, offset=offset), whole[:, offset:])
    assert not torch.isclose(module(x, offset=offset)[:, 1:], x[:, 1:]).all(-1).any()


def test_sinusoidal_positions_add_the_sinusoids():
    x = torch.randn(2, 5, 6)
    torch.testing.assert_close(SinusoidalPositions(6, max_len=9, base=50.0)(x), x + sinusoids(5, 6, base=50.0))
    assert torch.equal(SinusoidalPositions(6, max_len=9).table, sinusoids(9, 6))


def test_rotary_positions_turn_by_the_angles():
    x = torch.randn(2, 3, 5, 6)
    torch.testing.assert_close(RotaryPositions(6, base=50.0)(x), rotate(x, rotary_angles(5, 6, base=50.0)))
    precise = rotate(x.double(), rotary_angles(5, 6, offset=3001, dtype=torch.float64))
    torch.testing.assert_close(RotaryPositions(6)(x.double(), offset=3001), precise)


def test_what_is_learned_and_saved():
    fixed, learned, rotary = modules()
    assert not list(fixed.parameters()) and not fixed.state_dict()
    assert not list(rotary.parameters()) and not rotary.state_dict()
    assert {name: tuple(x.shape) for name, x in learned.state_dict().items()} == {"table": (9, 6)}
    learned(torch.zeros(2, 5, 6), offset=1).sum().backward()
    torch.testing.assert_close(learned.table.grad.sum(-1), torch.tensor([0.0, 12, 12, 12, 12, 12, 0, 0, 0]))


def test_learned_positions_start_as_large_as_the_sinusoids():
    learned = LearnedPositions(64, max_len=300).table
    assert learned.square().mean().item() == pytest.approx(sinusoids(300, 64).square().mean().item(), rel=0.05)


def test_the_longest_sequence_fits():
    for module in modules():
        assert module(torch.zeros(2, 9, 6)).shape == (2, 9, 6)
        assert module(torch.zeros(2, 4, 6), offset=5).shape == (2, 4, 6)
    assert RotaryPositions(6)(torch.zeros(2, 90, 6)).shape == (2, 90, 6)


def test_rotary_positions_are_made_where_x_is():
    assert RotaryPositions(6)(torch.ones(2, 5, 6, device="meta")).is_meta


@pytest.mark.parametrize("kind", [0, 1], ids=["sinusoids", "learned"])
@pytest.mark.parametrize(
    ("shape", "offset", "message"),
    [
        ((2, 10, 6), 0, "x goes up to position 9; expected positions below max_len = 9"),
        ((2, 4, 6), 6, "x goes up to position 9; expected positions below max_len = 9"),
        ((2, 4, 5), 0, r"x has shape \(2, 4, 5\); expected \(B, T, 6\)"),
        ((4, 6), 0, r"x has shape \(4, 6\); expected \(B, T, 6\)"),
        ((2, 4, 6), -1, "offset is -1; expected a whole number, 0 or more"),
        ((2, 4, 6), 1.5, "offset is 1.5; expected a whole number, 0 or more"),
    ],
)
def test_modules_refuse_what_does_not_fit(kind, shape, offset, message):
    with pytest.raises(ValueError, match=message):
        modules()[kind](torch.ones(shape), offset=offset)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda: sinusoids(-1, 6), "num_positions is -1; expected a whole number, 0 or more"),
        (lambda: sinusoids(2.5, 6), "num_positions is 2.5; expected a whole number, 0 or more"),
        (lambda: sinusoids(3, 0), "d_model is 0; expected a whole number, 1 or more"),
        (lambda: sinusoids(3, 6, base=0), "base is 0; expected a number above 0"),
        (lambda: sinusoids(3, 6, offset=-2), "offset is -2; expected a whole number, 0 or more"),
        (lambda: rotary_angles(3, 7), "head_dim is 7; expected an even number"),
        (lambda: rotary_angles(3, 0), "head_dim is 0; expected a whole number, 1 or more"),
        (lambda: RotaryPositions(6, base=0), "base is 0; expected a number above 0"),
        (lambda: RotaryPositions(7), "head_dim is 7; expected an even number"),
        (lambda: RotaryPositions(6)(torch.ones(2, 3, 8)), r"x has shape \(2, 3, 8\); expected \(..., T, 6\)"),
        (lambda: rotate(torch.ones(3, 5), torch.ones(3, 2)), r"x has shape \(3, 5\); expected .* an even number"),
        (lambda: rotate(torch.ones(3, 9), torch.ones(3, 4)), r"x has shape \(3, 9\); expected .* an even number"),
        (lambda: rotate(torch.ones(3, 6), torch.ones(3, 6)), r"angles has shape \(3, 6\); expected .* \(3, 3\)"),
        (lambda: SinusoidalPositions(6, max_len=0), "max_len is 0; expected a whole number, 1 or more"),
        (lambda: LearnedPositions(6, max_len=0), "max_len is 0; expected a whole number, 1 or more"),
        (lambda: LearnedPositions(0), "d_model is 0; expected a whole number, 1 or more"),
    ],
)
def test_sizes_that_make_no_sense_are_refused(function, message):
    with pytest.raises(ValueError, match=message):
        function()
