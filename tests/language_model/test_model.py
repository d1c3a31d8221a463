"""lessons.language_model: the model and its cache, over all choices."""

from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from lessons.language_model import Cache, LanguageModel, cache_bytes, count_parameters, published
from lessons.masks import causal
from lessons.positions import sinusoids

from . import SMALL, draw, scrambled, sweep

every_kind = pytest.mark.parametrize("changes", sweep(45), ids=lambda changes: "-".join(map(str, changes.values())))
PART = {"norm": "norms", "attention_norm": "norms", "feed_forward_norm": "norms"}


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


def counted(model):
    """The parameters of each part, as the formula names them."""
    counts = dict.fromkeys(count_parameters(model.config), 0)
    for name, x in model.named_parameters():
        part = name.split(".")[2 if name.startswith("layers.") else 0]
        part = "norms" if "query_norm" in name or "key_norm" in name else PART.get(part, part)
        counts[part] += x.numel()
    return counts


def pieces(ids, sizes):
    return ids.split(sizes, dim=1)


@pytest.mark.one_of(5)
@every_kind
def test_the_formula_counts_what_is_there(changes):
    config = replace(SMALL, **changes)
    assert count_parameters(config) == counted(LanguageModel(config))


@pytest.mark.parametrize("name", published)
def test_a_published_model_is_built_as_it_is_counted(name):
    with torch.device("meta"):
        model = LanguageModel(published[name])
    assert counted(model) == count_parameters(published[name])


@pytest.mark.one_of(5)
@every_kind
@pytest.mark.parametrize("sizes", [[1] * 7, [4, 1, 1, 1], [2, 3, 2], [1, 6], [7]], ids=str)
def test_with_a_cache_the_logits_are_those_of_the_full_pass(changes, sizes):
    model, ids = scrambled(replace(SMALL, **changes)), draw()
    with torch.no_grad():
        cache = model.new_cache(2)
        found = torch.cat([model(some, cache=cache) for some in pieces(ids, sizes)], dim=1)
        torch.testing.assert_close(found, model(ids))
    assert cache.length == 7
    assert cache.bytes == cache_bytes(model.config, 7, batch_size=2, itemsize=8)


@pytest.mark.one_of(5)
@every_kind
def test_no_logit_depends_on_what_comes_later_or_is_out_of_the_window(changes):
    model, ids = scrambled(replace(SMALL, **changes, num_layers=1)), draw()
    other = ids.clone()
    other[:, 3] = (other[:, 3] + 1) % SMALL.vocabulary
    differs = (model(ids) != model(other)).any(dim=-1)[0]
    last = 7 if model.config.window is None else 3 + model.config.window
    assert differs.tolist() == [3 <= t < last for t in range(7)]


def test_the_model_by_hand():
    model, ids = scrambled(replace(SMALL, positions="learned", feed_forward="relu", norm="layer", bias=True)), draw()
    x = model.embedding.weight[ids] + model.positions.table[:7]
    for layer in model.layers:
        x = x + layer.attention(layer.attention_norm(x), causal(7))[0]
        hidden = F.relu(layer.feed_forward.linear1(layer.feed_forward_norm(x)))
        x = x + layer.feed_forward.linear2(hidden)
    torch.testing.assert_close(
        model(ids), F.layer_norm(x, (12,), model.norm.weight, model.norm.bias) @ model.out_proj.weight.T
    )


def test_sinusoids_are_added_as_in_the_paper():
    model, ids = scrambled(replace(SMALL, positions="sinusoid")), draw()
    x = model.embedding.weight[ids] * 12**0.5 + sinusoids(7, 12, dtype=torch.float64)
    for layer in model.layers:
        x, weights = layer(x, causal(7))
        assert weights is None
    torch.testing.assert_close(model(ids), model.out_proj(model.norm(x)), rtol=1e-6, atol=1e-6)  # the table is float32


def test_each_eps_is_that_of_the_config():
    model = LanguageModel(replace(SMALL, norm_eps=0.25, query_key_norm=True))
    found = {part.eps for part in model.modules() if hasattr(part, "eps")}
    assert found == {0.25}


def test_tied_embeddings_are_one_parameter():
    model = LanguageModel(replace(SMALL, tied=True))
    assert model.out_proj.weight is model.embedding.weight
    assert model.state_dict()["out_proj.weight"].data_ptr() == model.embedding.weight.data_ptr()


@pytest.mark.parametrize(
    ("positions", "deviation", "feed_forward", "last"),
    [
        ("learned", 0.02, "gelu_tanh", "linear2"),
        ("sinusoid", 48**-0.5, "relu", "linear2"),
        ("rotary", 0.02, "swiglu", "down_proj"),
    ],
)
def test_the_first_weights_give_every_token_about_the_same_chance(positions, deviation, feed_forward, last):
    sizes = {"vocabulary": 200, "d_model": 48, "d_ff": 64}
    config = replace(SMALL, **sizes, positions=positions, feed_forward=feed_forward, bias=True, norm="layer")
    model, ids = LanguageModel(config), torch.randint(200, (8, 16))
    loss = F.cross_entropy(model(ids)[:, :-1].flatten(0, 1), ids[:, 1:].flatten())
    assert abs(loss.item() - torch.tensor(200.0).log()) < 0.6
    state = model.state_dict()
    assert not any(x.any() for name, x in state.items() if name.endswith("bias"))
    assert state["embedding.weight"].std().item() == pytest.approx(deviation, rel=0.1)
    assert state["layers.0.attention.q_proj.weight"].std().item() == pytest.approx(0.02, rel=0.1)
    for name in ("attention.out_proj", f"feed_forward.{last}"):
        assert state[f"layers.1.{name}.weight"].std().item() == pytest.approx(0.01, rel=0.1)


@pytest.mark.parametrize("kind", ["learned", "rotary"])
def test_packed_texts_with_positions_and_a_mask_are_read_as_if_alone(kind):
    model, first, second = scrambled(replace(SMALL, positions=kind)), draw(1, 4), draw(1, 3)
    own = torch.block_diag(torch.ones(4, 4), torch.ones(3, 3)).bool()
    positions = torch.tensor([0, 1, 2, 3, 0, 1, 2])
    both = torch.cat([first, second], dim=1)
    expected = torch.cat([model(first), model(second)], dim=1)
    torch.testing.assert_close(model(both, positions=positions, mask=own), expected)
    for x, *alone in zip(
        model.attention_weights(both, positions=positions, mask=own),
        model.attention_weights(first),
        model.attention_weights(second),
    ):
        torch.testing.assert_close(x[..., :4, :4], alone[0])
        torch.testing.assert_close(x[..., 4:, 4:], alone[1])


@pytest.mark.parametrize("window", [None, 3])
@pytest.mark.parametrize("positions", ["learned", "rotary"])
def test_padding_on_the_left_with_positions_and_a_mask_changes_nothing(positions, window):
    model, ids = scrambled(replace(SMALL, positions=positions, window=window)), draw(1, 5)
    padded = F.pad(ids, (2, 0))
    real = torch.tensor([[False, False, True, True, True, True, True]])[:, None, None]  # (B, 1, 1, T)
    places = torch.tensor([[0, 0, 0, 1, 2, 3, 4]])
    expected = model(ids)
    torch.testing.assert_close(model(padded, positions=places, mask=real)[:, 2:], expected)
    with torch.no_grad():
        for sizes in ([1] * 7, [4, 1, 2]):
            cache, found, end = model.new_cache(), [], 0
            for some, at in zip(pieces(padded, sizes), pieces(places, sizes)):
                end += some.size(1)
                found.append(model(some, positions=at, mask=real[..., :end], cache=cache))
            torch.testing.assert_close(torch.cat(found, dim=1)[:, 2:], expected)


@torch.no_grad()
def test_a_mask_may_be_the_same_for_all_keys():
    found = MODEL(IDS, cache=cached(), mask=torch.ones(5, 1, dtype=torch.bool))
    torch.testing.assert_close(found, MODEL(IDS))


@pytest.mark.parametrize("window", [None, 3])
@pytest.mark.parametrize("size", [(2, 6), (2, 1, 6), (6,), (2, 4, 1, 6), (3, 1, 1, 6), (1, 5)], ids=str)
@torch.no_grad()
def test_a_mask_that_is_refused_leaves_the_cache_as_it_was(size, window):
    model, ids = scrambled(replace(SMALL, window=window)), draw()
    cache = model.new_cache(2)
    model(ids[:, :5], cache=cache)
    for count in (1, 2):
        with pytest.raises(ValueError, match=r"^mask has shape"):
            model(ids[:, 5 : 5 + count], mask=torch.ones(size, dtype=torch.bool), cache=cache)
    with pytest.raises(ValueError, match=r"^mask is a tensor of torch.float32"):
        model(ids[:, 5:6], mask=torch.ones(1, 6), cache=cache)
    assert [layer.length for layer in cache.layers] == [5, 5]
    torch.testing.assert_close(model(ids[:, 5:], cache=cache), model(ids)[:, 5:])


def test_the_weights_of_each_layer():
    model, ids = scrambled(replace(SMALL, window=3)), draw()
    weights = model.attention_weights(ids, mask=torch.tensor([[True] * 3 + [False] + [True] * 3]))
    assert [tuple(x.shape) for x in weights] == [(2, 6, 7, 7)] * 2
    for x in weights:
        assert (x > 0).any(dim=1)[0].int().tolist()[4] == [0, 0, 1, 0, 1, 0, 0]
        torch.testing.assert_close(x.sum(dim=-1), torch.ones(2, 6, 7, dtype=x.dtype))


def test_the_cache_of_grouped_heads_is_smaller():
    assert cache_bytes(published["Llama 2 7B"], 4096) == 2 * 32 * 32 * 4096 * 128 * 2
    assert cache_bytes(published["Llama 3 8B"], 4096) * 4 == cache_bytes(published["Llama 2 7B"], 4096)
    assert cache_bytes(published["Mistral 7B"], 32768) == cache_bytes(published["Llama 3 8B"], 4096)


def test_a_ring_stays_as_small_as_its_window():
    model, ids = scrambled(replace(SMALL, window=3)), draw(2, 16)
    with torch.no_grad():
        cache = model.new_cache(2)
        assert cache.bytes == 0
        for some in pieces(ids, [5, 1, 1, 9]):
            model(some, cache=cache)
            assert {layer.k.size(2) for layer in cache.layers} == {3}
    assert cache.bytes == 2 * 2 * 2 * 3 * 3 * 2 * 8  # k and v, layers, B, H_kv, window, d, bytes


@pytest.mark.parametrize("window", [None, 50])
@pytest.mark.parametrize("length", [5, 40])
def test_a_cache_that_forgets_and_selects(length, window):
    model, ids = scrambled(replace(SMALL, max_len=64, window=window)), draw(2, length)
    with torch.no_grad():
        cache = model.new_cache(2)
        model(torch.cat([ids, draw(2, 2)], dim=1), cache=cache)
        cache.forget(2)
        cache.select(torch.tensor([1, 1, 0]))
        last = draw(3, 2)
        found = model(last, cache=cache)
        expected = model(torch.cat([ids[[1, 1, 0]], last], dim=1))[:, -2:]
    torch.testing.assert_close(found, expected)
    assert (cache.batch_size, cache.length) == (3, length + 2)


def test_the_cache_has_the_type_and_the_place_of_the_weights():
    with torch.device("meta"):
        model = LanguageModel(SMALL).bfloat16()
    kept = model.new_cache().layers[0].k
    assert (kept.dtype, kept.device.type) == (torch.bfloat16, "meta")


def test_a_cache_is_for_one_text_unless_told_otherwise():
    assert Cache(SMALL).batch_size == LanguageModel(SMALL).new_cache().batch_size == 1


def test_half_precision_gives_no_nan():
    model = LanguageModel(replace(SMALL, query_key_norm=True, window=2)).bfloat16()
    logits = model(draw())
    logits.float().square().sum().backward()
    assert logits.dtype == torch.bfloat16
    assert all(x.grad.isfinite().all() for x in model.parameters())


@pytest.mark.parametrize("positions", ["learned", "sinusoid", "rotary"])
def test_no_tokens_give_no_logits(positions):
    model = LanguageModel(replace(SMALL, positions=positions))
    assert model(draw(2, 0)).shape == (2, 0, 11)
    assert model(draw(0, 3)).shape == (0, 3, 11)


def test_the_shortest_text_that_a_model_may_be_made_for():
    model = LanguageModel(replace(SMALL, positions="learned", max_len=1))
    assert [model(draw(2, length)).size(1) for length in (0, 1)] == [0, 1]


IDS = torch.zeros(2, 5, dtype=torch.long)
MODEL = LanguageModel(replace(SMALL, positions="learned"))


def cached(config=MODEL.config, batch_size=2):
    return Cache(config, batch_size)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: MODEL(IDS.float()), "ids is a tensor of torch.float32; expected a tensor of integers"),
        (lambda: MODEL([1, 2]), "ids is a list; expected a tensor of integers"),
        (lambda: MODEL(IDS[0]), r"ids has shape \(5,\); expected \(B, T\)"),
        (lambda: MODEL(torch.tensor([[3, 11, 12]])), "ids contains 11; expected ids from 0 to 10"),
        (lambda: MODEL(IDS - 1), "ids contains -1; expected ids from 0 to 10"),
        (
            lambda: MODEL(torch.zeros(1, 17, dtype=torch.long)),
            "ids goes up to position 16; expected positions",
        ),
        (lambda: MODEL(IDS, positions=torch.arange(4)), r"positions has shape \(4,\); expected \(5,\) or \(2, 5\)"),
        (lambda: MODEL(IDS, positions=torch.ones(5)), "positions is a tensor of torch.float32; expected"),
        (lambda: MODEL(IDS, positions=torch.arange(-1, 4)), "positions contains -1; expected 0 or more"),
        (lambda: MODEL(IDS, positions=torch.arange(12, 17)), "ids goes up to position 16"),
        (
            lambda: MODEL(IDS, mask=torch.ones(5, 5)),
            "mask is a tensor of torch.float32; expected a bool tensor, True = may attend$",
        ),
        (
            lambda: MODEL(IDS, mask=torch.ones(4, 4).bool()),
            r"mask has shape \(4, 4\); expected one that broadcasts to \(2, 6, 5, 5\): 0 keys are cached$",
        ),
        (
            lambda: MODEL(IDS, mask=torch.ones(6, 5, 5).bool()),
            r"mask has shape \(6, 5, 5\); expected \(Q, K\) or four axes .* pass mask\[:, None\]$",
        ),
        (lambda: MODEL(IDS, mask=torch.ones(5).bool()), r"mask has shape \(5,\); expected \(Q, K\) or four axes"),
        (lambda: MODEL(IDS, cache=cached(batch_size=3)), "ids has 2 rows; expected 3"),
        (lambda: MODEL(IDS, cache=cached(SMALL)), "cache was made for a model with another config; expected model"),
        (
            lambda: MODEL(IDS, cache=cached(), mask=torch.ones(5, 4).bool()),
            r"mask has shape \(5, 4\); expected one that broadcasts to \(2, 6, 5, 5\): 0 keys are cached$",
        ),
        (
            lambda: MODEL(IDS, cache=cached(), mask=torch.ones(2, 1, 5, 4).bool()),
            r"mask has shape \(2, 1, 5, 4\); expected one that broadcasts to \(2, 6, 5, 5\): 0 keys are cached$",
        ),
        (lambda: cached(batch_size=0), "batch_size is 0; expected a whole number"),
        (lambda: cached().forget(1), "count is 1; expected a whole number from 0 to 0"),
        (lambda: cache_bytes(SMALL, -1), "length is -1; expected a whole number"),
        (lambda: cache_bytes(SMALL, 1, batch_size=0), "batch_size is 0; expected a whole number"),
        (lambda: cache_bytes(SMALL, 1, itemsize=0), "itemsize is 0; expected a whole number"),
    ],
)
@torch.no_grad()
def test_bad_input_is_named(wrong, message):
    with pytest.raises(ValueError, match="^" + message):
        wrong()


def test_a_cache_where_gradients_are_recorded_is_refused():
    with pytest.raises(ValueError, match=r"^cache keeps no gradients; expected a call inside torch.no_grad\(\)"):
        MODEL(IDS, cache=cached())


def test_a_full_ring_can_not_go_back():
    model = LanguageModel(replace(SMALL, window=3))
    with torch.no_grad():
        cache = model.new_cache()
        model(draw(1, 3), cache=cache)
        cache.forget(1)
        model(draw(1, 2), cache=cache)
        with pytest.raises(ValueError, match="count is 1; expected 0: the ring has overwritten"):
            cache.forget(1)
        cache.forget(0)


def test_the_parts_are_modules_of_the_model():
    names = [name for name, part in LanguageModel(SMALL).named_children() if isinstance(part, nn.Module)]
    assert names == ["embedding", "layers", "norm", "out_proj"]
