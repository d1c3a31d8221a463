"""lessons.transformer: shapes, masks, padding, leaks, options, errors. Parity with torch.nn is in test_parity.py."""

from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from lessons.attention import MultiHeadAttention
from lessons.config import PAPER_BASE, PAPER_BIG, TransformerConfig
from lessons.layers import FeedForward, Residual
from lessons.masks import causal, combine, padding
from lessons.positions import sinusoids
from lessons.transformer import Embedding, Transformer, count_parameters

POSITIONS = ["sinusoids", "learned", "rotary", None]
SRC_PAD, TGT_PAD = 0, 1
# Every size is different: B 2, S 7, T 5, D 12, H 3, d 4, F 20, V 11 and 13, 2 encoder and 3 decoder layers.
CONFIG = TransformerConfig(
    11, 13, d_model=12, num_heads=3, num_layers=2, num_decoder_layers=3, d_ff=20, dropout=0.0, max_len=9,
    tgt_pad_id=TGT_PAD,
)  # fmt: skip

every_positions = pytest.mark.parametrize("positions", POSITIONS)
every_order = pytest.mark.parametrize("norm_first", [False, True])
every_mode = pytest.mark.parametrize("train", [True, False])
both_paths = pytest.mark.parametrize("need_weights", [True, False])


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


def model(**options):
    return Transformer(replace(CONFIG, **options)).double()


def draw(src_lengths=(7, 4), tgt_lengths=(3, 5), src_len=7, tgt_len=5):
    """Ids without padding up to each length, then padding: src (B, S) and tgt (B, T)."""
    src, tgt = torch.randint(1, 11, (len(src_lengths), src_len)), torch.randint(2, 13, (len(tgt_lengths), tgt_len))
    for b, (src_length, tgt_length) in enumerate(zip(src_lengths, tgt_lengths)):
        src[b, src_length:], tgt[b, tgt_length:] = SRC_PAD, TGT_PAD
    return src, tgt


def ones(*size):
    return torch.ones(size, dtype=torch.long)


# --- what comes out --------------------------------------------------------------------------------------------


@every_positions
@every_order
def test_shapes_and_names(positions, norm_first):
    logits, weights = model(positions=positions, norm_first=norm_first)(*draw(), need_weights=True)
    assert logits.shape == (2, 5, 13)
    expected = {f"encoder.{i}.self_attn": (2, 3, 7, 7) for i in range(2)}
    for i in range(3):
        expected |= {f"decoder.{i}.self_attn": (2, 3, 5, 5), f"decoder.{i}.cross_attn": (2, 3, 5, 7)}
    assert {name: tuple(x.shape) for name, x in weights.items()} == expected


def test_the_model_is_the_sum_of_its_parts():
    module, (src, tgt) = model(), draw()
    x = module.src_embedding.tokens.weight[src] * 12**0.5 + sinusoids(7, 12).double()
    src_allowed = (src != SRC_PAD)[:, None, None]
    for layer in module.encoder.layers:
        x = layer(x, src_allowed)[0]
    y = module.tgt_embedding.tokens.weight[tgt] * 12**0.5 + sinusoids(5, 12).double()
    tgt_allowed = (tgt != TGT_PAD)[:, None, None] & torch.ones(5, 5, dtype=torch.bool).tril()
    for layer in module.decoder.layers:
        y = layer(y, x, tgt_allowed, src_allowed)[0]
    torch.testing.assert_close(module(src, tgt)[0], y @ module.out_proj.weight.T + module.out_proj.bias)


@every_mode
def test_encode_and_decode_are_forward_in_two_steps(train):
    module, (src, tgt) = model(norm_first=True).train(train), draw()
    memory = module.encode(src)
    assert memory.shape == (2, 7, 12)
    torch.testing.assert_close(module.decode(tgt, memory, src), module(src, tgt)[0])


@pytest.mark.one_of(5)
@every_positions
@every_order
@pytest.mark.parametrize("lengths", [((7, 4), (3, 5)), ((0, 7), (5, 0)), ((0, 0), (0, 0))])
def test_both_paths_agree_and_nothing_is_nan(positions, norm_first, lengths):
    module, ids = model(positions=positions, norm_first=norm_first), draw(*lengths)
    wanted = list(module.parameters())
    found = []
    for need_weights in (True, False):
        logits, weights = module(*ids, need_weights=need_weights)
        gradients = torch.autograd.grad(logits.square().sum(), wanted)
        assert all(x.isfinite().all() for x in (logits, *(weights or {}).values(), *gradients))
        found.append((logits, *gradients))
    torch.testing.assert_close(found[0], found[1])


@pytest.mark.one_of(5)
@every_positions
@both_paths
@pytest.mark.parametrize(("src", "tgt"), [((2, 0), (2, 5)), ((2, 7), (2, 0)), ((0, 7), (0, 5))])
def test_no_tokens_and_no_sentences(positions, need_weights, src, tgt):
    logits = model(positions=positions)(ones(*src), ones(*tgt), need_weights=need_weights)[0]
    assert logits.shape == (*tgt, 13)
    assert logits.isfinite().all()


@every_positions
@both_paths
def test_half_precision_and_dropout_give_no_nan(positions, need_weights):
    module = Transformer(replace(CONFIG, positions=positions, dropout=0.5)).bfloat16()
    logits, _ = module(*draw((0, 7), (5, 0)), need_weights=need_weights)
    logits.float().square().sum().backward()
    assert logits.dtype == torch.bfloat16
    assert all(x.grad.isfinite().all() for x in module.parameters())


def test_no_weights_are_made_unless_they_are_asked_for():
    module, (src, tgt), made = model(), draw(), []
    for part in module.modules():
        if isinstance(part, MultiHeadAttention):
            part.register_forward_hook(lambda _part, _inputs, output: made.append(output[1]))
    memory = module.encode(src)
    module.decode(tgt, memory, src)
    assert module(src, tgt)[1] is module.encoder(memory)[1] is module.decoder(memory, memory)[1] is None
    assert made and all(weights is None for weights in made)


def test_nothing_is_left_on_the_model():
    module = model()
    before = {name: set(vars(part)) for name, part in module.named_modules()}
    module(*draw(), need_weights=True)
    assert {name: set(vars(part)) for name, part in module.named_modules()} == before


# --- what depends on what --------------------------------------------------------------------------------------


@pytest.mark.one_of(5)
@every_positions
@every_mode
@both_paths
def test_no_logit_depends_on_a_later_target_token(positions, train, need_weights):
    module, (src, tgt) = model(positions=positions).train(train), draw((7, 4), (5, 5))
    before = module(src, tgt, need_weights=need_weights)[0]
    for t in range(5):
        changed = tgt.clone()
        changed[:, t] = 2 + (tgt[:, t] - 1) % 11  # another word, and no padding
        after = module(src, changed, need_weights=need_weights)[0]
        torch.testing.assert_close(after[:, :t], before[:, :t], rtol=1e-12, atol=1e-12)
        assert not torch.isclose(after[:, t:], before[:, t:]).all(-1).any()


def test_without_the_causal_rule_the_leak_is_seen():
    module, (src, tgt) = model(), draw((7, 4), (5, 5))
    everyone = torch.ones(5, 5, dtype=torch.bool)
    before = module(src, tgt, tgt_allowed=everyone)[0]
    tgt[:, 4] = 2 + (tgt[:, 4] - 1) % 11
    assert not torch.isclose(module(src, tgt, tgt_allowed=everyone)[0], before).all(-1).any()


@every_positions
@both_paths
def test_a_sentence_does_not_feel_its_padding_or_its_batch(positions, need_weights):
    module, (src, tgt) = model(positions=positions), draw()
    together = module(src, tgt, need_weights=need_weights)[0]
    wider = F.pad(src, (0, 2), value=SRC_PAD), F.pad(tgt, (0, 4), value=TGT_PAD)
    padded = module(*wider, need_weights=need_weights)[0][:, :5]
    for b, (src_length, tgt_length) in enumerate([(7, 3), (4, 5)]):
        own = src[b : b + 1, :src_length], tgt[b : b + 1, :tgt_length]
        alone = module(*own, need_weights=need_weights)[0][0]
        for other in (together, padded):
            torch.testing.assert_close(other[b, :tgt_length], alone, rtol=1e-12, atol=1e-12)


@every_positions
@both_paths
def test_what_stands_in_padding_moves_nothing(positions, need_weights):
    module, (src, tgt) = model(positions=positions), draw()
    real = tgt != TGT_PAD
    before = module(src, tgt, need_weights=need_weights)[0]
    with torch.no_grad():
        module.src_embedding.tokens.weight[SRC_PAD] += 100
        module.tgt_embedding.tokens.weight[TGT_PAD] += 100
    after = module(src, tgt, need_weights=need_weights)[0]
    torch.testing.assert_close(after[real], before[real], rtol=1e-12, atol=1e-12)

    masks = padding(src, pad_id=SRC_PAD), combine(padding(tgt, pad_id=TGT_PAD), causal(5))
    src, tgt = src.where(src != SRC_PAD, 9), tgt.where(real, 9)  # other ids under the same masks
    changed = module(src, tgt, *masks, masks[0], need_weights=need_weights)[0]
    torch.testing.assert_close(changed[real], before[real], rtol=1e-12, atol=1e-12)
    assert not torch.allclose(module(src, tgt, need_weights=need_weights)[0][real], before[real])


def test_padding_gets_no_weight_and_no_gradient():
    module, (src, tgt) = model(), draw()
    logits, weights = module(src, tgt, need_weights=True)
    for name, x in weights.items():
        keys = src if name.startswith("encoder") or name.endswith("cross_attn") else tgt
        blocked = keys == (SRC_PAD if keys is src else TGT_PAD)
        assert not x[blocked[:, None, None].expand_as(x)].any()
        torch.testing.assert_close(x.sum(-1), torch.ones_like(x[..., 0]))
    logits[tgt != TGT_PAD].square().sum().backward()
    assert not module.src_embedding.tokens.weight.grad[SRC_PAD].any()
    assert not module.tgt_embedding.tokens.weight.grad[TGT_PAD].any()
    assert module.src_embedding.tokens.weight.grad[src[src != SRC_PAD]].any(-1).all()


def test_each_side_has_its_own_padding():
    """The padding id of one side is a word on the other."""
    module, (src, tgt) = model(), draw()
    src[0, 1], tgt[0, 1] = TGT_PAD, SRC_PAD
    before = module(src, tgt, need_weights=True)[1]
    assert before["encoder.0.self_attn"][0, :, :, 1].all()
    assert before["decoder.0.self_attn"][0, :, 1:, 1].all()


@every_positions
def test_positions_tell_the_order_of_the_source(positions):
    module, (src, tgt) = model(positions=positions), draw((7, 7), (5, 5))
    shuffled = module(src.flip(1), tgt)[0]
    assert torch.allclose(shuffled, module(src, tgt)[0]) == (positions is None)


# --- masks that are given --------------------------------------------------------------------------------------


def test_masks_that_are_given_replace_those_made_from_the_ids():
    module, (src, tgt) = model(), draw()
    made = padding(src, pad_id=SRC_PAD), combine(padding(tgt, pad_id=TGT_PAD), causal(5)), padding(src, pad_id=SRC_PAD)
    torch.testing.assert_close(module(src, tgt, *made), module(src, tgt))
    memory = module.encode(src, made[0])
    torch.testing.assert_close(module.decode(tgt, memory, src, *made[1:]), module(src, tgt)[0])
    for name, place, shape in [
        ("src_allowed", "encoder.1.self_attn", (7, 7)),
        ("tgt_allowed", "decoder.2.self_attn", (5, 5)),
        ("cross_allowed", "decoder.2.cross_attn", (5, 7)),
    ]:
        allowed = torch.rand(2, 3, *shape) < 0.5
        given, plain = (module(src, tgt, need_weights=True, **masks)[1] for masks in ({name: allowed}, {}))
        assert not given[place][~allowed].any() and given[place][allowed].all()
        others = {"self_attn", "cross_attn"} - {place.split(".")[-1]}
        same = {key for key in plain if key.split(".")[-1] in others or key.split(".")[0] != place.split(".")[0]}
        for key in same:
            torch.testing.assert_close(given[key] != 0, plain[key] != 0)


def test_encode_and_decode_take_masks_as_forward_does():
    module, (src, tgt) = model(), draw()
    masks = [torch.rand(size) < 0.5 for size in ((7, 7), (5, 5), (5, 7))]
    memory = module.encode(src, masks[0])
    torch.testing.assert_close(module.decode(tgt, memory, src, *masks[1:]), module(src, tgt, *masks)[0])


# --- options ---------------------------------------------------------------------------------------------------


def test_embedding_is_scaled_and_continues_at_an_offset():
    module = Embedding(replace(CONFIG, positions=None), "src")
    ids = draw()[0]
    torch.testing.assert_close(module(ids), module.tokens.weight[ids] * 12**0.5)
    for positions in ("sinusoids", "learned"):
        module = Embedding(replace(CONFIG, positions=positions), "src")
        torch.testing.assert_close(module(ids[:, 3:], offset=3), module(ids)[:, 3:])


@pytest.mark.parametrize("tie", [True, False])
@pytest.mark.parametrize("share", [True, False])
def test_shared_embeddings(tie, share):
    module = model(tgt_vocab_size=11, tie_embeddings=tie, share_embeddings=share)
    src, tgt, out = module.src_embedding.tokens.weight, module.tgt_embedding.tokens.weight, module.out_proj.weight
    assert (src is tgt) == share
    assert (tgt is out) == tie
    tables = 3 - tie - share
    assert sum(x.numel() for x in module.parameters() if x.shape == (11, 12)) == tables * 11 * 12
    ids = [x.clamp(max=10) for x in draw()]
    module(*ids)[0].square().sum().backward()
    assert out.grad.any(-1).all()


@every_order
@pytest.mark.parametrize("activation", ["relu", "gelu"])
def test_the_choices_reach_every_layer(norm_first, activation):
    parts = list(model(norm_first=norm_first, activation=activation).modules())
    assert [part.activation for part in parts if isinstance(part, FeedForward)] == [activation] * 5
    assert [part.norm_first for part in parts if isinstance(part, Residual)] == [norm_first] * (2 * 2 + 3 * 3)


@every_order
@pytest.mark.parametrize("final_norm", [None, True, False])
def test_final_norm(norm_first, final_norm):
    module = model(norm_first=norm_first, final_norm=final_norm)
    expected = norm_first if final_norm is None else final_norm
    assert (module.encoder.norm is not None) == (module.decoder.norm is not None) == expected


def test_dropout_acts_in_training_only():
    module, without, ids = model(dropout=0.5), model(), draw()
    without.load_state_dict(module.state_dict())
    expected = without(*ids)[0]
    torch.testing.assert_close(module.eval()(*ids)[0], expected)
    assert not torch.allclose(module.train()(*ids)[0], expected)
    shares = [part.p for part in module.modules() if isinstance(part, nn.Dropout)]
    assert shares == [0.5] * (2 + 2 * 3 + 3 * 4)
    assert module.tgt_embedding(ids[1]).eq(0).any()


@pytest.mark.one_of(3)
@every_positions
@pytest.mark.parametrize("tie_embeddings", [True, False])
def test_state_dict_there_and_back(positions, tie_embeddings, tmp_path):
    options = {"positions": positions, "tie_embeddings": tie_embeddings}
    first, second, ids = model(**options), model(**options), draw()
    assert not torch.allclose(first(*ids)[0], second(*ids)[0])
    torch.save(first.state_dict(), tmp_path / "weights.pt")
    second.load_state_dict(torch.load(tmp_path / "weights.pt"))
    torch.testing.assert_close(second(*ids)[0], first(*ids)[0], rtol=0, atol=0)


def test_the_start():
    """Embeddings of the size that the factor sqrt(D) undoes; matrices as Xavier has them; biases of 0."""
    module = Transformer(replace(CONFIG, src_vocab_size=1000, tgt_vocab_size=1100, d_model=96, d_ff=200))
    for side in (module.src_embedding, module.tgt_embedding):
        assert side.tokens.weight.std().item() == pytest.approx(96**-0.5, rel=0.02)
    for name, x in module.named_parameters():
        if x.dim() == 2 and "embedding" not in name:
            assert x.abs().max().item() == pytest.approx((6 / sum(x.shape)) ** 0.5, rel=0.01)
        elif name.endswith("bias"):
            assert not x.any()


def test_a_step_of_training_lowers_the_loss():
    module, (src, tgt) = model(positions="rotary"), draw((7, 4), (5, 5))
    optimizer = torch.optim.AdamW(module.parameters(), lr=1e-2)
    losses = []
    for _ in range(30):
        logits, _ = module(src, tgt[:, :-1])
        losses.append(F.cross_entropy(logits.flatten(0, 1), tgt[:, 1:].flatten()))
        optimizer.zero_grad()
        losses[-1].backward()
        optimizer.step()
    assert losses[-1] < 0.1 * losses[0]


# --- counting --------------------------------------------------------------------------------------------------


def test_parameters_counted_by_hand():
    attention, feed_forward, norm = 4 * (12 * 12 + 12), 12 * 20 + 20 + 20 * 12 + 12, 2 * 12
    expected = {
        "src_embedding": 11 * 12,
        "tgt_embedding": 13 * 12,
        "encoder": 2 * (attention + feed_forward + 2 * norm),
        "decoder": 3 * (2 * attention + feed_forward + 3 * norm),
        "out_proj": 13 * 12 + 13,
    }
    assert count_parameters(Transformer(CONFIG)) == expected | {"total": sum(expected.values())}
    counts = count_parameters(Transformer(replace(CONFIG, positions="learned", tie_embeddings=True, norm_first=True)))
    changed = {"src_embedding": 20 * 12, "tgt_embedding": 22 * 12, "out_proj": 13}
    changed |= {"encoder": expected["encoder"] + norm, "decoder": expected["decoder"] + norm}
    assert counts == changed | {"total": sum(changed.values())}


@pytest.mark.parametrize(("config", "millions"), [(PAPER_BASE, 65), (PAPER_BIG, 213)])
def test_the_models_of_the_paper(config, millions):
    with torch.device("meta"):
        counts = count_parameters(Transformer(config))
    assert counts["total"] / 1e6 == pytest.approx(millions, rel=0.03)
    assert "tgt_embedding" not in counts  # shared with the source


# --- bad input -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "message"),
    [
        *(
            ({name: value}, f"{name} is {value}; expected a whole number, 1 or more")
            for name in ("src_vocab_size", "tgt_vocab_size", "d_model", "num_heads", "num_layers", "d_ff", "max_len")
            for value in (0, 2.5)
        ),
        ({"num_decoder_layers": 0}, "num_decoder_layers is 0; expected a whole number, 1 or more"),
        ({"num_heads": 5}, "d_model is 12; expected a multiple of num_heads = 5"),
        ({"dropout": 1.0}, "dropout is 1.0; expected a fraction from 0 up to, but not including, 1"),
        ({"dropout": -0.1}, "dropout is -0.1; expected a fraction"),
        ({"activation": "tanh"}, "activation is 'tanh'; expected one of 'relu', 'gelu'"),
        ({"positions": "sine"}, "positions is 'sine'; expected one of 'sinusoids', 'learned', 'rotary', None"),
        ({"positions": "rotary", "num_heads": 4}, "head_dim is 3; expected an even number for rotary positions"),
        ({"src_pad_id": 11}, "src_pad_id is 11; expected a whole number from 0 to 10"),
        ({"tgt_pad_id": -1}, "tgt_pad_id is -1; expected a whole number from 0 to 12"),
        ({"src_pad_id": True}, "src_pad_id is True; expected a whole number from 0 to 10"),
        *(
            ({name: value}, f"{name} is {value!r}; expected True or False")
            for name in ("norm_first", "tie_embeddings", "share_embeddings")
            for value in ("false", 1, None)
        ),
        ({"final_norm": "no"}, "final_norm is 'no'; expected True or False, or None"),
        ({"share_embeddings": True}, "src_vocab_size is 11 and tgt_vocab_size 13; expected the same number"),
    ],
)
def test_bad_configurations_are_refused(change, message):
    with pytest.raises(ValueError, match=message):
        replace(CONFIG, **change)


def test_a_configuration_cannot_be_changed_in_place():
    with pytest.raises(AttributeError):
        CONFIG.d_model = 7


def test_a_changed_configuration_follows():
    assert replace(PAPER_BASE, num_layers=2).decoder_depth == 2
    assert replace(PAPER_BASE, norm_first=True).ends_in_norm
    assert CONFIG.decoder_depth == 3


@pytest.mark.parametrize(
    ("src", "tgt", "message"),
    [
        (ones(2, 7).float(), ones(2, 5), r"src is a tensor of torch\.float32; expected a tensor of integers"),
        (ones(2, 7), ones(2, 5).bool(), r"tgt is a tensor of torch\.bool; expected a tensor of integers"),
        ([[1, 2]], ones(2, 5), "src is a list; expected a tensor of integers"),
        (ones(7), ones(2, 5), r"src has shape \(7,\); expected \(B, length\)"),
        (ones(2, 7), ones(2, 5, 1), r"tgt has shape \(2, 5, 1\); expected \(B, length\)"),
        (torch.tensor([[0, 2], [11, 3]]), ones(2, 5), "src contains 11; expected ids from 0 to 10"),
        (ones(2, 7) * -3, ones(2, 5), "src contains -3; expected ids from 0 to 10"),
        (ones(2, 7), ones(2, 5) * 13, "tgt contains 13; expected ids from 0 to 12"),
        (ones(2, 10), ones(2, 5), "src goes up to position 9; expected positions below max_len = 9"),
        (ones(2, 7), ones(2, 12), "tgt goes up to position 11; expected positions below max_len = 9"),
        (ones(3, 7), ones(2, 5), "src has 3 sentences and tgt 2; expected the same number"),
    ],
)
@both_paths
def test_bad_ids_are_refused(src, tgt, message, need_weights):
    with pytest.raises(ValueError, match=message):
        model()(src, tgt, need_weights=need_weights)


@pytest.mark.parametrize("positions", ["rotary", None])
def test_without_a_table_no_sentence_is_too_long(positions):
    assert model(positions=positions)(ones(2, 40), ones(2, 30))[0].shape == (2, 30, 13)


@pytest.mark.parametrize(
    ("name", "mask", "message"),
    [
        ("src_allowed", torch.ones(7, 7), r"allowed is a tensor of torch\.float32; expected a bool tensor"),
        ("tgt_allowed", torch.ones(5, 7).bool(), r"\(5, 7\); expected one that broadcasts to \(2, 3, 5, 5\)"),
        ("cross_allowed", torch.ones(7, 5).bool(), r"\(7, 5\); expected one that broadcasts to \(2, 3, 5, 7\)"),
        ("tgt_allowed", torch.ones(2, 5, 5).bool(), r"\(2, 5, 5\); expected \(Q, K\) or four axes"),
    ],
)
def test_bad_masks_are_refused(name, mask, message):
    with pytest.raises(ValueError, match=message):
        model()(*draw(), **{name: mask})


@pytest.mark.parametrize("shape", [(2, 7, 10), (2, 6, 12), (3, 7, 12), (7, 12)])
def test_a_memory_of_another_shape_is_refused(shape):
    with pytest.raises(ValueError, match=r"memory has shape \(.*\); expected \(B, S, D\) = \(2, 7, 12\)"):
        model().decode(ones(2, 5), torch.ones(shape, dtype=torch.float64), ones(2, 7))
