"""lessons.interventions: each change against another way to the same result, and the model afterwards."""

import json
from copy import deepcopy
from dataclasses import asdict

import pytest
import torch
from torch import nn

from lessons.config import TransformerConfig
from lessons.decoding import Cached, Recomputed, beams, greedy, last
from lessons.evaluation import translate
from lessons.interventions import KINDS, Change, intervene, places_of
from lessons.masks import causal, combine, padding
from lessons.pretrained import SentenceEncoder, load_translator
from lessons.tasks import Reversal
from lessons.transformer import Transformer

H, S, T, V = 2, 5, 4, 9
SRC = torch.tensor([[3, 4, 5, 6, 7], [8, 3, 5, 0, 0]])
TGT = torch.tensor([[1, 5, 4, 3], [1, 6, 7, 0]])
MASKS = {
    "src_allowed": padding(SRC, pad_id=0),
    "tgt_allowed": combine(padding(TGT, pad_id=0), causal(T)),
    "cross_allowed": padding(SRC, pad_id=0),
}
ATTENTIONS = {"src_allowed": "encoder.*.self_attn", "tgt_allowed": "decoder.*.self_attn"}
ATTENTIONS["cross_allowed"] = "decoder.*.cross_attn"
every_position = pytest.mark.parametrize("positions", ["sinusoids", "learned", "rotary"])


def build(positions="sinusoids", **options):
    torch.manual_seed(0)
    config = TransformerConfig(V, V, 8, H, num_layers=2, d_ff=16, positions=positions, **options)
    return Transformer(config).eval()


def logits(model, *changes, src=SRC, tgt=TGT, **masks):
    with torch.no_grad(), intervene(model, changes):
        return model(src, tgt, **masks)[0]


def same(one, other):
    torch.testing.assert_close(one, other, atol=1e-6, rtol=1e-5)


def differ(one, other):
    assert not torch.allclose(one, other, atol=1e-4)


@pytest.mark.parametrize("head", [None, 0, 1])
@pytest.mark.parametrize(
    ("name", "query", "key"), [("src_allowed", 2, 0), ("tgt_allowed", 3, 1), ("cross_allowed", 1, 2)]
)
@pytest.mark.parametrize("kind", ["block", "allow"])
def test_a_cell_is_that_of_a_mask(kind, name, query, key, head):
    model = build()
    queries = {"src_allowed": S}.get(name, T)
    keys = {"tgt_allowed": T}.get(name, S)
    key = key if kind == "block" else keys - 1  # the last key is padding in one sentence, and the future
    mask = MASKS[name].expand(2, H, queries, keys).clone()
    mask[:, slice(None) if head is None else head, query, key] = kind == "allow"
    change = Change(kind, at=ATTENTIONS[name], head=head, query=query, key=key)
    same(logits(model, change), logits(model, **{**MASKS, name: mask}))
    if kind == "block":
        differ(logits(model, change), logits(model))


def test_a_cell_of_one_layer_leaves_the_weights_of_the_others():
    model = build()
    with torch.no_grad(), intervene(model, [Change("block", at="encoder.1.self_attn", head=1, query=2, key=0)]):
        weights = model(SRC, TGT, need_weights=True)[1]
    assert (weights["encoder.1.self_attn"][:, 1, 2, 0] == 0).all()
    assert (weights["encoder.1.self_attn"][:, 0, 2, 0] > 0).all()
    assert (weights["encoder.0.self_attn"][:, :, 2, 0] > 0).all()


@pytest.mark.parametrize(
    ("changes", "masks"),
    [
        ([Change("drop_causal")], {"tgt_allowed": padding(TGT, pad_id=0)}),
        ([Change("drop_causal", at="decoder.*")], {"tgt_allowed": padding(TGT, pad_id=0)}),
        ([Change("drop_padding", at="encoder.*")], {"src_allowed": torch.ones(S, S, dtype=torch.bool)}),
        ([Change("drop_padding", at="*.cross_attn")], {"cross_allowed": torch.ones(T, S, dtype=torch.bool)}),
        ([Change("drop_padding", at="decoder.*.self_attn")], {"tgt_allowed": causal(T)}),
        (
            [Change("drop_padding", at="decoder.*.self_attn"), Change("drop_causal")],
            {"tgt_allowed": torch.ones(T, T, dtype=torch.bool)},
        ),
        (
            [Change("hide", side="src", token=1)],
            {name: MASKS[name] & (torch.arange(S) != 1) for name in ("src_allowed", "cross_allowed")},
        ),
        ([Change("hide", side="tgt", token=0)], {"tgt_allowed": MASKS["tgt_allowed"] & (torch.arange(T) != 0)}),
    ],
)
def test_rules_and_hidden_tokens_are_those_of_masks(changes, masks):
    model = build()
    same(logits(model, *changes), logits(model, **{**MASKS, **masks}))
    differ(logits(model, *changes), logits(model))


def test_each_side_has_its_padding():
    """A side's rule without its padding, where the two sides have other ids for it."""
    model = build(src_pad_id=0, tgt_pad_id=8)
    src, tgt = SRC, torch.tensor([[1, 5, 4, 0], [1, 6, 7, 8]])
    masks = {"src_allowed": padding(src, pad_id=0), "cross_allowed": padding(src, pad_id=0)}
    real = padding(tgt, pad_id=8)
    same(logits(model, Change("drop_causal"), tgt=tgt), logits(model, tgt=tgt, tgt_allowed=real, **masks))
    later = logits(model, tgt=tgt, tgt_allowed=causal(T), **masks)
    same(logits(model, Change("drop_padding", at="decoder.*.self_attn"), tgt=tgt), later)
    everything = torch.ones(T, S, dtype=torch.bool)
    masks |= {"tgt_allowed": combine(real, causal(T)), "cross_allowed": everything}
    same(logits(model, Change("drop_padding", at="*.cross_attn"), tgt=tgt), logits(model, tgt=tgt, **masks))


def test_a_stack_that_gets_no_mask_has_its_cells_changed():
    model = build()
    with torch.no_grad(), intervene(model, [Change("block", at="encoder.0.self_attn", head=0, query=1, key=2)]):
        weights = model.encoder(model.src_embedding(SRC), need_weights=True)[1]["0.self_attn"]
    assert ((weights == 0).nonzero() == torch.tensor([[0, 0, 1, 2], [1, 0, 1, 2]])).all()


def test_the_later_change_of_a_cell_wins():
    model = build()
    hide = Change("hide", side="tgt", token=0)
    allow = [Change("allow", at="decoder.*.self_attn", query=i, key=0) for i in range(T)]
    same(logits(model, hide, *allow), logits(model))
    same(logits(model, *allow, hide), logits(model, hide))


def test_what_a_sentence_does_not_have_is_passed_over():
    model = build()
    changes = [
        Change("hide", side="src", token=S),
        Change("block", at="encoder.*.self_attn", query=S, key=0),
        Change("block", at="decoder.*.cross_attn", query=0, key=S),
        Change("swap_positions", side="src", token=0, other=S),
        Change("force", token=T + 1, word=3),
    ]
    same(logits(model, *changes), logits(model))


@pytest.mark.parametrize("at", ["encoder.1.self_attn", "decoder.0.self_attn", "decoder.1.cross_attn"])
def test_a_silent_head_is_one_whose_columns_of_the_projection_are_zero(at):
    model = build()
    changed = deepcopy(model)
    part, number, name = at.split(".")
    projection = getattr(getattr(changed, part).layers[int(number)], name).out_proj
    with torch.no_grad():
        projection.weight[:, 4:] = 0
    same(logits(model, Change("silence", at=at, head=1)), logits(changed))
    differ(logits(changed), logits(model))


@pytest.mark.parametrize("norm_first", [False, True])
@pytest.mark.parametrize("at", ["encoder.0.self_attn", "decoder.1.cross_attn", "encoder.1.feed_forward"])
def test_a_sublayer_that_is_cut_has_a_last_matrix_of_zeros(at, norm_first):
    model = build(norm_first=norm_first)
    changed = deepcopy(model)
    part, number, name = at.split(".")
    sublayer = getattr(getattr(changed, part).layers[int(number)], name)
    matrix = sublayer.linear2 if name == "feed_forward" else sublayer.out_proj
    nn.init.zeros_(matrix.weight)
    nn.init.zeros_(matrix.bias)
    same(logits(model, Change("cut", at=at)), logits(changed))
    differ(logits(changed), logits(model))


def test_star_is_every_layer():
    model = build()
    both = [Change("cut", at=f"decoder.{i}.cross_attn") for i in range(2)]
    same(logits(model, Change("cut", at="decoder.*.cross_attn")), logits(model, *both))


@every_position
def test_without_positions_a_source_is_a_bag_of_words(positions):
    model = build(positions)
    src, tgt = SRC[:1], TGT[:1]
    shuffled = src[:, [3, 1, 4, 0, 2]]
    drop = Change("drop_positions", side="src")
    same(logits(model, drop, src=src, tgt=tgt), logits(model, drop, src=shuffled, tgt=tgt))
    differ(logits(model, src=src, tgt=tgt), logits(model, src=shuffled, tgt=tgt))
    differ(logits(model, Change("drop_positions"), src=src, tgt=tgt), logits(model, drop, src=src, tgt=tgt))


@every_position
def test_swapped_positions_are_swapped_words(positions):
    model = build(positions)
    src, tgt = SRC[:1], TGT[:1]
    swap = Change("swap_positions", side="src", token=1, other=3)
    same(logits(model, swap, src=src, tgt=tgt), logits(model, src=src[:, [0, 3, 2, 1, 4]], tgt=tgt))
    twice = [Change("swap_positions", side="src", token=i, other=j) for i, j in ((0, 1), (1, 2))]
    same(logits(model, *twice, src=src, tgt=tgt), logits(model, src=src[:, [2, 0, 1, 3, 4]], tgt=tgt))


def test_swapped_positions_begin_where_the_tokens_do():
    model = build()
    swap = Change("swap_positions", side="tgt", token=0, other=1)
    with torch.no_grad(), intervene(model, [swap]):
        swapped = model.tgt_embedding(TGT, offset=3)
    with torch.no_grad():
        vectors = model.tgt_embedding.tokens(TGT) * 8**0.5
        positions = model.tgt_embedding(TGT, offset=3) - vectors
        same(swapped, vectors + positions[:, [1, 0, 2, 3]])


def test_a_forced_word_is_generated_and_the_rest_follows_from_it():
    model = build()
    forced_logits = logits(model, Change("force", token=2, word=7))[:, 1]
    assert (forced_logits[:, 7] == 0).all() and forced_logits.isneginf().sum() == 2 * (V - 1)
    task = Reversal()
    src = SRC[:1]
    with intervene(model, [Change("force", token=2, word=7)]):
        forced = last(greedy(Recomputed(model, src), task.tgt_vocab, max_len=4)).ids[0]
    free = last(greedy(Recomputed(model, src), task.tgt_vocab, max_len=4)).ids[0]
    assert forced[:3].tolist() == [*free[:2].tolist(), 7] and free[2] != 7


def test_beams_without_the_padding_rule_are_those_of_a_source_without_padding():
    model, vocab, options = build(), Reversal().tgt_vocab, {"width": 3, "max_len": 5}
    unpadded = build(src_pad_id=2)  # an id that the sources don't have
    with intervene(model, [Change("drop_padding", at=at) for at in ("encoder.*", "*.cross_attn")]):
        inside = beams(Recomputed(model, SRC), vocab, **options)
    expected = beams(Recomputed(unpadded, SRC), vocab, **options)
    for found, wanted in zip(inside, expected, strict=True):
        assert [h.ids for h in found] == [h.ids for h in wanted]
        assert [h.log_prob for h in found] == pytest.approx([h.log_prob for h in wanted], abs=1e-5)
    assert inside[1][0].log_prob != pytest.approx(beams(Recomputed(model, SRC), vocab, **options)[1][0].log_prob)


def test_a_decoder_from_before_takes_the_changes_of_the_decoder():
    model = build()
    before = Recomputed(model, SRC)
    with torch.no_grad(), intervene(model, [Change("drop_padding")]):
        inside = before.step(TGT)
    memory = model.encode(SRC)
    with torch.no_grad(), intervene(model, [Change("drop_padding", at="decoder.*")]):
        same(inside, model.decode(TGT, memory, SRC))
    differ(inside, logits(model))


def test_a_cache_from_before_is_refused_inside():
    model = build()
    cached, ids = Cached(model, SRC), TGT[:, :1]
    with (
        intervene(model, [Change("cut", at="decoder.*.cross_attn")]),
        pytest.raises(ValueError, match=r"model has hooks, which .* expected one without, or Recomputed"),
    ):
        cached.step(ids)
    same(cached.step(ids), logits(model, tgt=ids))


def test_the_translator_translates_inside_and_is_as_before_afterwards():
    model, task = load_translator()
    text = ["I will buy pens at the shop tomorrow."]
    before = translate(model, text, task)
    with intervene(model, [Change("cut", at="decoder.*.cross_attn")]):
        blind = translate(model, text, task)
    assert blind != before == translate(model, text, task)
    with intervene(model, []):
        assert translate(model, text, task) == before


def test_the_model_is_as_before_whatever_happened_inside():
    model = build("rotary")
    before = logits(model)
    everything = [
        Change("drop_causal"),
        Change("silence", at="*.self_attn", head=0),
        Change("cut", at="*"),
        Change("drop_positions"),
        Change("hide", side="src", token=0),
        Change("force", token=1, word=2),
    ]
    with pytest.raises(KeyError), intervene(model, everything):
        raise KeyError
    for module in model.modules():
        assert not module._forward_hooks and not module._forward_pre_hooks
    same(logits(model), before)


def test_blocks_may_be_nested():
    model = build()
    one, other = Change("cut", at="encoder.0.feed_forward"), Change("hide", side="src", token=0)
    with intervene(model, [one]):
        inside = logits(model, other)
    same(inside, logits(model, one, other))


def test_gradients_flow_through_a_changed_model():
    model = build()
    with intervene(model, [Change("silence", at="decoder.0.self_attn", head=0)]):
        model(SRC, TGT)[0].sum().backward()
    assert (model.decoder.layers[0].self_attn.out_proj.weight.grad[:, :4] == 0).all()
    assert (model.decoder.layers[0].self_attn.out_proj.weight.grad[:, 4:] != 0).any()


def test_a_change_crosses_as_json():
    change = Change("block", at="decoder.0.cross_attn", head=1, query=2, key=0)
    assert Change(**json.loads(json.dumps(asdict(change)))) == change


def test_places():
    assert places_of(build())[:2] == ["encoder.0.self_attn", "encoder.0.feed_forward"]
    assert len(places_of(build())) == 2 * 2 + 2 * 3


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_says_what_it_lacks_and_what_is_too_much(kind):
    fields = {"at": "*", "head": 0, "query": 0, "key": 0, "side": "src", "token": 1, "other": 2, "word": 3}
    needed, more = KINDS[kind]
    good = {name: fields[name] for name in needed}
    assert Change(kind, **good).kind == kind
    for name in needed:
        with pytest.raises(ValueError, match=f"{kind!r} has no {name}; expected {', '.join(sorted(needed))}$"):
            Change(kind, **{key: value for key, value in good.items() if key != name})
    for name in set(fields) - needed - more:
        with pytest.raises(ValueError, match=f"{kind!r} has {name}; expected only {', '.join(sorted(needed | more))}$"):
            Change(kind, **good, **{name: fields[name]})


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"kind": "remove"}, "kind is 'remove'; expected one of 'block', "),
        ({"kind": "hide", "side": "source", "token": 1}, "side is 'source'; expected one of 'src', 'tgt'"),
        ({"kind": "hide", "side": "src", "token": -1}, "token is -1; expected a whole number, 0 or more"),
        ({"kind": "force", "token": 0, "word": 1}, "token is 0; expected a whole number, 1 or more"),
        ({"kind": "silence", "at": "*", "head": 1.0}, "head is 1.0; expected a whole number"),
    ],
)
def test_a_bad_field_is_named(fields, message):
    with pytest.raises(ValueError, match=message):
        Change(**fields)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            Change("cut", at="encoder.2.self_attn"),
            "at is 'encoder.2.self_attn'; expected a place where 'cut' is possible in this model: encoder.0.self_attn, "
            "encoder.0.feed_forward, encoder.1",
        ),
        (Change("silence", at="*.feed_forward", head=0), "expected a place where 'silence' is possible"),
        (Change("drop_causal", at="encoder.*"), "in this model: decoder"),
        (Change("silence", at="*", head=2), "head is 2; expected a whole number from 0 to 1"),
        (Change("force", token=1, word=V), f"word is {V}; expected a whole number from 0 to {V - 1}"),
    ],
)
def test_what_the_model_does_not_have_is_named(change, message):
    with pytest.raises(ValueError, match=message), intervene(build(), [change]):
        pass


def test_no_list_no_positions_and_a_cache_are_refused():
    with pytest.raises(ValueError, match="expected a list of Change"), intervene(build(), Change("drop_causal")):
        pass
    with pytest.raises(ValueError, match="model has no positions"), intervene(build(None), [Change("drop_positions")]):
        pass
    model = build()
    with (
        intervene(model, [Change("drop_causal")]),
        pytest.raises(ValueError, match=r"model has hooks, which .* expected one without, or Recomputed"),
    ):
        Cached(model, SRC)


def build_encoder():
    """A model without a decoder, of BERT's kind."""
    torch.manual_seed(0)
    config = TransformerConfig(V, V, 8, H, num_layers=2, d_ff=16, dropout=0.0, positions="learned")
    return SentenceEncoder(config).eval().requires_grad_(False)


def hidden(model, *changes, ids=SRC):
    with intervene(model, changes):
        return model(ids)[0]


def test_a_model_without_a_decoder_loses_a_head():
    model = build_encoder()
    before, changed = hidden(model), deepcopy(model)
    changed.encoder.layers[1].self_attn.out_proj.weight[:, :4] = 0
    same(hidden(model, Change("silence", at="encoder.1.self_attn", head=0)), hidden(changed))
    differ(hidden(changed), before)
    same(hidden(model), before)


def test_a_model_without_a_decoder_loses_its_rules_and_positions():
    model = build_encoder()
    everything = torch.ones(1, 1, 1, S, dtype=torch.bool)
    with torch.no_grad():
        same(hidden(model, Change("drop_padding")), model(SRC, everything)[0])
    order = [0, 3, 2, 1, 4]
    swap = Change("swap_positions", side="src", token=1, other=3)
    same(hidden(model, swap)[:1, order], hidden(model, ids=SRC[:1, order]))
    assert places_of(model) == [f"encoder.{i}.{name}" for i in range(2) for name in ("self_attn", "feed_forward")]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (Change("force", token=1, word=3), "model has no decoder; expected one with a decoder for 'force'"),
        (Change("drop_causal"), "model has no decoder; expected one with a decoder for 'drop_causal'"),
        (Change("hide", side="tgt", token=0), "side is 'tgt'; expected"),
        (Change("silence", at="encoder.2.self_attn", head=0), "at is 'encoder.2.self_attn'; expected a place"),
        (Change("silence", at="encoder.0.self_attn", head=2), "head is 2; expected a whole number from 0 to 1"),
    ],
)
def test_what_a_model_without_a_decoder_does_not_have_is_named(change, message):
    with pytest.raises(ValueError, match=message), intervene(build_encoder(), [change]):
        pass
