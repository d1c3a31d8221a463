"""lessons.layers against formulas written out.

That whole layers are those of torch.nn, in values and gradients, stands in test_parity.py.
"""

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from lessons.attention import MultiHeadAttention
from lessons.fast import Linear
from lessons.layers import DecoderLayer, EncoderLayer, FeedForward, Residual
from lessons.masks import causal, combine, padding_from_lengths
from lessons.positions import RotaryPositions
from lessons.probes import influence, leaks

every_order = pytest.mark.parametrize("norm_first", [False, True])
every_rotary = pytest.mark.parametrize("rotary", [None, RotaryPositions(4)], ids=["plain", "rotary"])
both_paths = pytest.mark.parametrize("need_weights", [True, False])


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


def draw(*size):
    return torch.randn(*size, dtype=torch.float64, requires_grad=True)


def layer(kind, **options):
    return kind(12, 3, 20, **options).double()


# --- FeedForward and Residual ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("activation", "function"), [("relu", torch.relu), ("gelu", F.gelu)])
def test_feed_forward_is_equation_2(activation, function):
    module, x = FeedForward(12, 20, activation=activation).double(), draw(2, 5, 12)
    w1, b1, w2, b2 = module.parameters()
    torch.testing.assert_close(module(x), function(x @ w1.T + b1) @ w2.T + b2)


def test_feed_forward_treats_each_token_by_itself():
    module, x = FeedForward(12, 20).double(), draw(5, 12).detach()
    torch.testing.assert_close(influence(lambda x: module(x[None])[0], x), torch.eye(5, dtype=torch.bool))


@every_order
def test_residual_is_its_formula(norm_first):
    module, x, output = Residual(12, norm_first=norm_first).double(), draw(2, 5, 12), draw(2, 5, 12)
    norm = F.layer_norm
    before = norm(x, (12,)) if norm_first else x
    after = x + output if norm_first else norm(x + output, (12,))
    torch.testing.assert_close(module.before(x), before)
    torch.testing.assert_close(module.after(x, output), after)
    assert not Residual(12).norm_first


# --- EncoderLayer and DecoderLayer ------------------------------------------------------------------------------


def test_the_encoder_layer_of_the_paper_written_out():
    module, x = layer(EncoderLayer), draw(2, 7, 12)
    norm1, norm2 = module.self_attn_residual.norm, module.feed_forward_residual.norm
    attended = norm1(x + module.self_attn(x)[0])
    torch.testing.assert_close(module(x)[0], norm2(attended + module.feed_forward(attended)))


def test_with_the_norm_first_x_passes_through_untouched():
    module, x = layer(DecoderLayer, norm_first=True), draw(2, 5, 12)
    for last in (module.self_attn.out_proj, module.cross_attn.out_proj, module.feed_forward.linear2):
        nn.init.zeros_(last.weight)
        nn.init.zeros_(last.bias)
    torch.testing.assert_close(module(x, draw(2, 7, 12))[0], x, rtol=0, atol=0)


MASKS = {
    "none": (None, None),
    "padding & causal": (combine(padding_from_lengths([3, 5]), causal(5)), padding_from_lengths([7, 4])),
    "an empty sentence": (combine(padding_from_lengths([0, 5], max_len=5), causal(5)), padding_from_lengths([7, 0])),
}


def run(kind, module, inputs, masks, **options):
    return module(inputs[0], masks[0], **options) if kind is EncoderLayer else module(*inputs, *masks, **options)


@pytest.mark.parametrize("kind", [EncoderLayer, DecoderLayer])
@pytest.mark.parametrize("masks", MASKS)
@every_order
@every_rotary
def test_both_paths_agree_in_values_and_gradients(kind, masks, norm_first, rotary):
    module = layer(kind, norm_first=norm_first, rotary=rotary)
    inputs = [draw(2, 5, 12), draw(2, 7, 12)]
    outputs = [run(kind, module, inputs, MASKS[masks], need_weights=need) for need in (True, False)]
    torch.testing.assert_close(outputs[0][0], outputs[1][0])
    gradient = torch.randn_like(outputs[0][0])
    wanted = [*inputs[: 1 if kind is EncoderLayer else 2], *module.parameters()]
    found, expected = (torch.autograd.grad(output, wanted, gradient) for output, _ in outputs)
    torch.testing.assert_close(found, expected)
    assert all(x.isfinite().all() for x in found)
    assert outputs[1][1] is None


@pytest.mark.parametrize("masks", MASKS)
def test_weights_are_those_of_the_attentions(masks):
    encoder, decoder = layer(EncoderLayer), layer(DecoderLayer)
    x, memory = draw(2, 5, 12), draw(2, 7, 12)
    self_allowed, cross_allowed = MASKS[masks]
    found = encoder(x, self_allowed, need_weights=True)[1]
    assert found.keys() == {"self_attn"}
    torch.testing.assert_close(found["self_attn"], encoder.self_attn(x, allowed=self_allowed)[1])
    found = decoder(x, memory, self_allowed, cross_allowed, need_weights=True)[1]
    assert found.keys() == {"self_attn", "cross_attn"}
    output, weights = decoder.self_attn(x, allowed=self_allowed)
    torch.testing.assert_close(found["self_attn"], weights)
    inner = decoder.self_attn_residual.after(x, output)
    torch.testing.assert_close(found["cross_attn"], decoder.cross_attn(inner, memory, allowed=cross_allowed)[1])
    assert found["cross_attn"].shape == (2, 3, 5, 7)


@pytest.mark.parametrize("kind", [EncoderLayer, DecoderLayer])
def test_no_weights_are_made_unless_they_are_asked_for(kind):
    module, made = layer(kind), []
    for part in module.modules():
        if isinstance(part, MultiHeadAttention):
            part.register_forward_hook(lambda _part, _inputs, output: made.append(output[1]))
    assert run(kind, module, [draw(2, 5, 12), draw(2, 7, 12)], (None, None))[1] is None
    assert made and all(weights is None for weights in made)


@pytest.mark.parametrize("kind", [EncoderLayer, DecoderLayer])
def test_every_product_takes_the_quick_way(kind):
    assert {type(part) for part in layer(kind).modules() if isinstance(part, nn.Linear)} == {Linear}


@pytest.mark.parametrize("kind", [EncoderLayer, DecoderLayer])
@every_rotary
def test_rotary_positions_tell_the_layer_the_order(kind, rotary):
    module, x, memory = layer(kind, rotary=rotary), draw(2, 5, 12), draw(2, 7, 12)
    shuffled = run(kind, module, (x.flip(1), memory), (None, None))[0]
    assert torch.allclose(shuffled, run(kind, module, (x, memory), (None, None))[0].flip(1)) == (rotary is None)


def test_rotary_positions_turn_queries_and_keys_alike():
    """So that only distances count: a sentence that is moved to the right by padding before it stays the same."""
    module, x = layer(EncoderLayer, rotary=RotaryPositions(4)), draw(2, 5, 12)
    moved = module(F.pad(x, (0, 0, 2, 0)), torch.arange(7) >= 2 + torch.zeros(7, 1))[0]
    torch.testing.assert_close(moved[:, 2:], module(x)[0])


@every_rotary
@pytest.mark.parametrize("train", [True, False])
def test_with_a_causal_mask_no_output_depends_on_a_later_token(rotary, train):
    module, memory = layer(DecoderLayer, rotary=rotary).train(train), draw(1, 7, 12)
    x = draw(5, 12).detach()
    assert not leaks(lambda x: module(x[None], memory, causal(5))[0][0], x)
    assert len(leaks(lambda x: module(x[None], memory)[0][0], x)) == 10


@pytest.mark.parametrize("kind", [EncoderLayer, DecoderLayer])
def test_dropout_reaches_every_place(kind):
    module = layer(kind, dropout=0.25)
    attentions = 2 if kind is DecoderLayer else 1
    shares = [part.p for part in module.modules() if isinstance(part, nn.Dropout)]
    assert shares == [0.25] * (attentions + 2)  # each residual, and the feed-forward network
    assert module.self_attn.dropout == 0.25
    assert kind is EncoderLayer or module.cross_attn.dropout == 0.25


def test_dropout_of_the_parts():
    x, output = draw(2, 50, 12), draw(2, 50, 12)
    residual = Residual(12, dropout=0.3, norm_first=True).double()
    dropped = residual.after(x, output) == x
    assert abs(dropped.double().mean() - 0.3) < 0.06
    torch.testing.assert_close(residual.after(torch.zeros_like(x), torch.ones_like(x)).unique()[-1].item(), 1 / 0.7)
    module = FeedForward(12, 20, dropout=0.5).double()
    nn.init.eye_(module.linear2.weight)  # what comes out is the first 12 hidden features, plus the bias
    hidden, seen = F.relu(module.linear1(x))[..., :12], module(x) - module.linear2.bias
    kept = seen.abs() > 1e-6
    torch.testing.assert_close(seen[kept], 2 * hidden[kept])
    assert abs(kept[hidden > 1e-6].double().mean() - 0.5) < 0.08


@pytest.mark.parametrize("kind", [EncoderLayer, DecoderLayer])
@both_paths
def test_dropout_acts_in_training_only(kind, need_weights):
    module, without = layer(kind, dropout=0.5), layer(kind)
    without.load_state_dict(module.state_dict())
    inputs = [draw(2, 5, 12), draw(2, 7, 12)]
    expected = run(kind, without, inputs, (None, None), need_weights=need_weights)
    torch.testing.assert_close(run(kind, module.eval(), inputs, (None, None), need_weights=need_weights), expected)
    assert not torch.allclose(run(kind, module.train(), inputs, (None, None))[0], expected[0])


@pytest.mark.parametrize("kind", [EncoderLayer, DecoderLayer])
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"d_model": 0}, "d_model is 0; expected a whole number, 1 or more"),
        ({"num_heads": 0}, "num_heads is 0; expected a whole number, 1 or more"),
        ({"num_heads": 5}, "d_model is 12; expected a multiple of num_heads = 5"),
        ({"d_ff": 0}, "d_ff is 0; expected a whole number, 1 or more"),
        ({"dropout": 1.0}, "dropout is 1.0; expected a fraction from 0 up to, but not including, 1"),
        ({"activation": "tanh"}, "activation is 'tanh'; expected one of 'relu', 'gelu'"),
    ],
)
def test_bad_options_are_refused(kind, change, message):
    with pytest.raises(ValueError, match=message):
        kind(**{"d_model": 12, "num_heads": 3, "d_ff": 20} | change)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: FeedForward(0, 20), "d_model is 0; expected a whole number, 1 or more"),
        (lambda: FeedForward(12, -1), "d_ff is -1; expected a whole number, 1 or more"),
        (lambda: FeedForward(12, 20, dropout=-0.5), "dropout is -0.5; expected a fraction from 0"),
        (lambda: Residual(12, dropout=1.5), "dropout is 1.5; expected a fraction from 0"),
        (lambda: Residual(0), "d_model is 0; expected a whole number, 1 or more"),
    ],
)
def test_bad_options_of_the_parts_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize(
    ("sizes", "masks", "message"),
    [
        (((2, 5, 8), (2, 7, 12)), {}, r"x has shape \(2, 5, 8\); expected \(B, length, 12\)"),
        (((2, 5, 12), (2, 7, 8)), {}, r"key has shape \(2, 7, 8\); expected \(B, length, 12\)"),
        (((2, 5, 12), (3, 7, 12)), {}, "expected one batch size"),
        (((2, 5, 12), (2, 7, 12)), {"tgt_allowed": (5, 7)}, r"\(5, 7\); expected one that broadcasts to \(2, 3, 5, 5"),
        (((2, 5, 12), (2, 7, 12)), {"cross_allowed": (5, 5)}, r"\(5, 5\); expected .* \(2, 3, 5, 7\)"),
        (((2, 5, 12), (2, 7, 12)), {"tgt_allowed": (2, 5, 5)}, r"\(2, 5, 5\); expected \(Q, K\) or four axes"),
    ],
)
@every_order
def test_inputs_that_do_not_fit_are_refused(sizes, masks, message, norm_first):
    masks = {name: torch.ones(size, dtype=torch.bool) for name, size in masks.items()}
    inputs = [torch.ones(size, dtype=torch.float64) for size in sizes]
    with pytest.raises(ValueError, match=message):
        layer(DecoderLayer, norm_first=norm_first)(*inputs, **masks)


@pytest.mark.parametrize("part", [FeedForward(12, 20), Residual(12).before, EncoderLayer(12, 3, 20)])
@pytest.mark.parametrize("shape", [(2, 5, 8), (5, 12)])
def test_x_of_another_shape_is_refused(part, shape):
    with pytest.raises(ValueError, match=r"x has shape \(.*\); expected \(B, length, 12\)"):
        part(torch.ones(shape))


def test_a_float_mask_is_refused():
    with pytest.raises(ValueError, match=r"allowed is a tensor of torch\.float32; expected a bool tensor"):
        EncoderLayer(12, 3, 20)(torch.ones(2, 5, 12), torch.ones(5, 5))
