"""lessons.parity: our modules and those of torch.nn with the same weights, in values and in all gradients."""

import pytest
import torch
from torch import nn

from lessons.attention import MultiHeadAttention, set_key_size
from lessons.config import TransformerConfig
from lessons.layers import DecoderLayer, EncoderLayer, FeedForward
from lessons.masks import allowed_to_blocked, causal, combine, padding_from_lengths
from lessons.parity import from_torch, from_torch_names, load_from_torch, to_torch, to_torch_names
from lessons.positions import RotaryPositions
from lessons.pretrained import SentenceEncoder
from lessons.transformer import Decoder, Encoder, Transformer

# Every size is different: B 2, S 7, T 5, D 12, H 3, d 4, F 20, 2 encoder and 3 decoder layers.
SIZES = {"d_model": 12, "num_heads": 3, "d_ff": 20}
SRC, TGT = padding_from_lengths([7, 4]), padding_from_lengths([3, 5])
TGT_AND_CAUSAL = combine(TGT, causal(5))

every_order = pytest.mark.parametrize("norm_first", [False, True])
every_end = pytest.mark.parametrize("final_norm", [False, True])
every_activation = pytest.mark.parametrize("activation", ["relu", "gelu"])
every_mode = pytest.mark.parametrize("train", [True, False])
every_mask = pytest.mark.parametrize("masked", [True, False])


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


def model(final_norm=None, **options):
    config = TransformerConfig(
        11, 13, num_layers=2, num_decoder_layers=3, dropout=0.0, final_norm=final_norm, **SIZES, **options
    )
    return scrambled(Transformer(config))


def scrambled(module):
    """In double precision, with every parameter drawn at random: no norm at 1, no bias at 0."""
    for x in module.double().parameters():
        nn.init.normal_(x, std=0.5)
    return module


def draw(*size):
    return torch.randn(*size, dtype=torch.float64, requires_grad=True)


def blocked_keys(allowed):
    return allowed_to_blocked(allowed)[:, 0, 0]


def assert_same(ours, theirs, our_output, their_output, inputs):
    """The outputs, and the gradients of all inputs and of each parameter under torch's name."""
    gradient = torch.randn_like(our_output)
    our_names, their_names = (dict(module.named_parameters()) for module in (ours, theirs))
    found = torch.autograd.grad(our_output, [*inputs, *our_names.values()], gradient)
    expected = torch.autograd.grad(their_output, [*inputs, *their_names.values()], gradient)
    assert_near(our_output, their_output)
    assert_near(found[: len(inputs)], expected[: len(inputs)])
    ours = to_torch_names(dict(zip(our_names, found[len(inputs) :])))
    assert_near(ours, dict(zip(their_names, expected[len(inputs) :])))


def assert_near(ours, theirs):
    torch.testing.assert_close(ours, theirs, rtol=1e-10, atol=1e-10)


@every_order
@every_activation
@every_mode
@every_mask
def test_encoder_layer(norm_first, activation, train, masked):
    ours = scrambled(EncoderLayer(**SIZES, norm_first=norm_first, activation=activation)).train(train)
    theirs = to_torch(ours)
    x = draw(2, 7, 12)
    our_output = ours(x, SRC if masked else None)[0]
    their_output = theirs(x, src_key_padding_mask=blocked_keys(SRC) if masked else None)
    assert_same(ours, theirs, our_output, their_output, [x])


@every_order
@every_activation
@every_mode
@every_mask
def test_decoder_layer(norm_first, activation, train, masked):
    ours = scrambled(DecoderLayer(**SIZES, norm_first=norm_first, activation=activation)).train(train)
    theirs = to_torch(ours)
    inputs = draw(2, 5, 12), draw(2, 7, 12)
    if masked:
        our_output = ours(*inputs, TGT_AND_CAUSAL, SRC)[0]
        their_output = theirs(*inputs, **their_decoder_masks())
    else:
        our_output, their_output = ours(*inputs)[0], theirs(*inputs)
    assert_same(ours, theirs, our_output, their_output, inputs)


def their_decoder_masks():
    return {
        "tgt_mask": allowed_to_blocked(causal(5)),
        "tgt_key_padding_mask": blocked_keys(TGT),
        "memory_key_padding_mask": blocked_keys(SRC),
    }


@pytest.mark.one_of(3)
@every_order
@every_end
@every_activation
@every_mode
def test_encoder(norm_first, final_norm, activation, train):
    ours = model(norm_first=norm_first, final_norm=final_norm, activation=activation).train(train).encoder
    theirs, x = to_torch(ours), draw(2, 7, 12)
    their_output = theirs(x, src_key_padding_mask=blocked_keys(SRC))
    assert_same(ours, theirs, ours(x, SRC)[0], their_output, [x])


@pytest.mark.one_of(3)
@every_order
@every_end
@every_activation
@every_mode
def test_decoder(norm_first, final_norm, activation, train):
    ours = model(norm_first=norm_first, final_norm=final_norm, activation=activation).train(train).decoder
    theirs, inputs = to_torch(ours), (draw(2, 5, 12), draw(2, 7, 12))
    their_output = theirs(*inputs, **their_decoder_masks())
    assert_same(ours, theirs, ours(*inputs, TGT_AND_CAUSAL, SRC)[0], their_output, inputs)


class TheirTransformer(nn.Module):
    """nn.Transformer between our embeddings and our projection onto the vocabulary."""

    def __init__(self, ours):
        super().__init__()
        self.inner = to_torch(ours)
        self.src_embedding, self.tgt_embedding, self.out_proj = ours.src_embedding, ours.tgt_embedding, ours.out_proj

    def forward(self, src, tgt):
        masks = {"src_key_padding_mask": blocked_keys(SRC), **their_decoder_masks()}
        return self.out_proj(self.inner(self.src_embedding(src), self.tgt_embedding(tgt), **masks))


def padded_ids():
    src, tgt = torch.randint(1, 11, (2, 7)), torch.randint(2, 13, (2, 5))
    src[~SRC[:, 0, 0]], tgt[~TGT[:, 0, 0]] = 0, 1
    return src, tgt


@pytest.mark.one_of(5)
@every_order
@every_end
@every_mode
@pytest.mark.parametrize("positions", ["sinusoids", "learned", None])
def test_transformer(norm_first, final_norm, train, positions):
    ours = model(norm_first=norm_first, final_norm=final_norm, positions=positions, tgt_pad_id=1).train(train)
    theirs, ids = TheirTransformer(ours), padded_ids()
    our_output, their_output = ours(*ids)[0], theirs(*ids)
    shared = [x for name, x in ours.named_parameters() if "embedding" in name or name.startswith("out_proj")]
    gradient = torch.randn_like(our_output)
    assert_near(our_output, their_output)
    found, expected = (torch.autograd.grad(y, shared, gradient, retain_graph=True) for y in (our_output, their_output))
    assert_near(found, expected)
    inner = {name: x for name, x in ours.named_parameters() if name.startswith(("encoder.", "decoder."))}
    found = dict(zip(inner, torch.autograd.grad(our_output, list(inner.values()), gradient)))
    their_inner = dict(theirs.inner.named_parameters())
    expected = dict(zip(their_inner, torch.autograd.grad(their_output, list(their_inner.values()), gradient)))
    assert_near(to_torch_names(found), expected)


their_warning = pytest.mark.filterwarnings("ignore:enable_nested_tensor is True:UserWarning")


@every_order
@their_warning
def test_a_plain_nn_transformer_loads_into_ours(norm_first):
    theirs = nn.Transformer(12, 3, 2, 3, 20, dropout=0.0, batch_first=True, norm_first=norm_first, dtype=torch.float64)
    ours = model(norm_first=norm_first, final_norm=True, tgt_pad_id=1)
    outside = ours.out_proj.weight.clone()
    load_from_torch(ours, theirs)
    wrapped, ids = TheirTransformer(ours), padded_ids()
    wrapped.inner = theirs
    assert_near(ours(*ids)[0], wrapped(*ids))
    assert_near(ours.out_proj.weight, outside)


MODULES = {
    "attention": lambda: MultiHeadAttention(12, 3, dropout=0.3),
    "attention without bias": lambda: MultiHeadAttention(12, 3, bias=False),
    "attention of other sizes": lambda: MultiHeadAttention(12, 3, key_dim=8, value_dim=10),
    "encoder layer": lambda: EncoderLayer(**SIZES, dropout=0.3),
    "encoder layer, norm first": lambda: EncoderLayer(**SIZES, norm_first=True, activation="gelu"),
    "decoder layer": lambda: DecoderLayer(**SIZES, dropout=0.3),
    "decoder layer, norm first": lambda: DecoderLayer(**SIZES, norm_first=True, activation="gelu"),
    "encoder": lambda: model().encoder,
    "encoder, norm first": lambda: model(norm_first=True).encoder,
    "encoder with a final norm": lambda: model(final_norm=True).encoder,
    "decoder without a final norm": lambda: model(norm_first=True, final_norm=False).decoder,
    "decoder": lambda: model().decoder,
    "decoder, norm first": lambda: model(norm_first=True).decoder,
}


@pytest.mark.one_of(3)
@pytest.mark.parametrize("name", MODULES)
@every_mode
def test_there_and_back(name, train):
    ours = scrambled(MODULES[name]()).train(train)
    back = from_torch(to_torch(ours))
    assert str(back) == str(ours)  # the sizes of all layers, and the shares of dropout
    attentions = [[part.dropout for part in x.modules() if isinstance(part, MultiHeadAttention)] for x in (ours, back)]
    assert attentions[0] == attentions[1]
    assert back.training == ours.training
    assert back.state_dict().keys() == ours.state_dict().keys()
    torch.testing.assert_close(back.state_dict(), ours.state_dict(), rtol=0, atol=0)
    inputs = [x.detach() for x in (draw(2, 5, 12), draw(2, 7, 12))]
    if isinstance(ours, MultiHeadAttention):
        inputs = [inputs[0], *(torch.randn(2, 7, layer.in_features).double() for layer in (ours.k_proj, ours.v_proj))]
    inputs = inputs[:1] if isinstance(ours, EncoderLayer | Encoder) else inputs
    ours, back = ours.eval(), back.eval()
    torch.testing.assert_close(ours(*inputs, need_weights=True), back(*inputs, need_weights=True), rtol=0, atol=0)


def test_names_there_and_back():
    state = model().state_dict()
    back = from_torch_names(to_torch_names(state))
    assert back.keys() == state.keys()
    torch.testing.assert_close(back, dict(state), rtol=0, atol=0)


def test_theirs_say_what_they_are():
    """torch asks these attributes; the numbers don't depend on them."""
    theirs = to_torch(model())
    assert (theirs.d_model, theirs.nhead, theirs.batch_first) == (12, 3, True)
    assert theirs.encoder.enable_nested_tensor is False
    assert to_torch(MultiHeadAttention(12, 3)).batch_first is True


def test_a_model_of_one_layer_has_its_counterpart():
    sizes = {"d_model": 12, "num_heads": 3, "num_layers": 1, "d_ff": 20}
    for part in (Encoder, Decoder):
        assert len(to_torch(part(TransformerConfig(11, 13, **sizes))).layers) == 1


def test_modules_are_made_where_theirs_is():
    with torch.device("meta"):
        ours = EncoderLayer(**SIZES)
    theirs = to_torch(ours)
    assert all(x.is_meta for module in (theirs, from_torch(theirs)) for x in module.parameters())


def test_the_weights_are_copies():
    ours = scrambled(EncoderLayer(**SIZES))
    theirs = to_torch(ours)
    before = {name: x.clone() for name, x in ours.state_dict().items()}
    with torch.no_grad():
        for x in theirs.parameters():
            x.add_(1)
    torch.testing.assert_close(dict(ours.state_dict()), before, rtol=0, atol=0)


def their_encoder_of(*layers):
    encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(12, 3, 20, batch_first=True), len(layers))
    encoder.layers = nn.ModuleList(layers)
    return encoder


def with_keys_of_size_2(module):
    set_key_size(module, 2)
    return module


def with_other_heads(transformer):
    transformer.decoder.layers[1].cross_attn = MultiHeadAttention(12, 2)
    return transformer


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda: to_torch(FeedForward(12, 20)), "ours is a FeedForward; expected one of the modules that torch.nn has"),
        (lambda: from_torch(nn.Linear(2, 3)), "theirs is a Linear; expected one of the modules of torch.nn"),
        (lambda: from_torch(nn.Transformer(12, 3, 1, 1, 20, batch_first=True)), "theirs is a Transformer; expected"),
        (
            lambda: to_torch(EncoderLayer(**SIZES, rotary=RotaryPositions(4))),
            "^ours has rotary positions; expected none: torch.nn has no rotary positions$",
        ),
        (lambda: to_torch(MultiHeadAttention(12, 3, head_dim=5)), r"outputs are \[15, 15, 12\]; expected d_model = 12"),
        (lambda: to_torch(MultiHeadAttention(12, 3, out_dim=5)), r"outputs are \[12, 12, 5\]; expected d_model = 12"),
        (
            lambda: to_torch(with_keys_of_size_2(MultiHeadAttention(12, 3))),
            r"^the sizes of queries, values and outputs are \[6, 12, 12\]; expected d_model = 12, as always in",
        ),
        (lambda: to_torch(with_keys_of_size_2(model())), r"outputs are \[6, 12, 12\]; expected d_model = 12"),
        (
            lambda: to_torch(SentenceEncoder(TransformerConfig(11, 13, num_layers=2, **SIZES)).encoder),
            r"^the eps of ours is 1e-12 in layers.0.self_attn_residual.norm; expected 1e-05, nn.LayerNorm's default$",
        ),
        (
            lambda: to_torch(with_other_heads(model())),
            r"^num_heads of theirs is 3 in decoder.layers.1.multihead_attn; expected 2, as in ours$",
        ),
        (
            lambda: from_torch(their_encoder_of(nn.Linear(12, 12))),
            "a layer of theirs is a Linear; expected one of torch.nn's own layers",
        ),
        (
            lambda: from_torch(nn.TransformerEncoderLayer(12, 3, 20, activation=torch.tanh, batch_first=True)),
            "the activation of theirs is .*tanh.*; expected F.relu or F.gelu",
        ),
        (
            lambda: from_torch(nn.TransformerEncoderLayer(12, 3, 20, bias=False, batch_first=True)),
            r"feed_forward.linear1.bias is absent in theirs; expected \(20,\), as in ours",
        ),
        (
            lambda: load_from_torch(EncoderLayer(12, 3, 20), nn.TransformerEncoderLayer(12, 3, 21, batch_first=True)),
            r"feed_forward.linear1.bias is \(21,\) in theirs; expected \(20,\), as in ours",
        ),
        (
            lambda: from_torch(nn.TransformerEncoderLayer(12, 3, 20, layer_norm_eps=1e-3, batch_first=True)),
            "the eps of theirs is 0.001 in norm1; expected 1e-05, nn.LayerNorm's default",
        ),
        (
            lambda: from_torch(nn.MultiheadAttention(12, 3, add_zero_attn=True)),
            "^add_zero_attn is True in theirs; expected False, as in ours$",
        ),
        (
            lambda: load_from_torch(EncoderLayer(12, 3, 20), nn.TransformerDecoderLayer(12, 3, 20, batch_first=True)),
            r"cross_attn.k_proj.bias is \(12,\) in theirs; expected absent, as in ours",
        ),
        (
            lambda: load_from_torch(MultiHeadAttention(12, 3), nn.MultiheadAttention(12, 4, batch_first=True)),
            "^num_heads of theirs is 4; expected 3, as in ours$",
        ),
        (
            lambda: load_from_torch(EncoderLayer(**SIZES), nn.TransformerEncoderLayer(12, 2, 20, batch_first=True)),
            "^num_heads of theirs is 2 in self_attn; expected 3, as in ours$",
        ),
        (
            lambda: load_from_torch(
                EncoderLayer(**SIZES), nn.TransformerEncoderLayer(12, 3, 20, norm_first=True, batch_first=True)
            ),
            "^norm_first of theirs is True; expected False, as in ours$",
        ),
        (
            lambda: load_from_torch(
                DecoderLayer(**SIZES), nn.TransformerDecoderLayer(12, 3, 20, activation="gelu", batch_first=True)
            ),
            "^activation of theirs is 'gelu'; expected 'relu', as in ours$",
        ),
        (
            lambda: load_from_torch(
                EncoderLayer(**SIZES, rotary=RotaryPositions(4)), nn.TransformerEncoderLayer(12, 3, 20)
            ),
            "^ours has rotary positions; expected none: torch.nn has no rotary positions$",
        ),
        (
            lambda: from_torch(
                their_encoder_of(
                    nn.TransformerEncoderLayer(12, 3, 20, batch_first=True),
                    nn.TransformerEncoderLayer(12, 3, 20, batch_first=True, norm_first=True),
                )
            ),
            "^norm_first of theirs is True in layers.1; expected False, as in ours$",
        ),
    ],
)
@their_warning
def test_what_has_no_counterpart_is_refused(function, message):
    with pytest.raises(ValueError, match=message):
        function()
