"""lessons.language_model.parity: the same logits as Hugging Face's models with the same weights."""

import json
from dataclasses import replace
from random import Random

import pytest
import torch
from torch import nn

from lessons.language_model import from_gpt2, from_llama, load_checkpoint, published, to_gpt2, to_llama
from lessons.language_model.parity import gpt2_config, llama_config

KINDS = {
    "gpt2": ("GPT2", gpt2_config, from_gpt2, to_gpt2),
    "llama": ("Llama", llama_config, from_llama, to_llama),
    "mistral": ("Mistral", llama_config, from_llama, to_llama),
    "qwen3": ("Qwen3", llama_config, from_llama, to_llama),
}
NEEDED = {  # in config.json
    "gpt2": {"vocab_size", "n_embd", "n_layer", "n_head", "n_positions"},
    "llama": {
        "vocab_size",
        "hidden_size",
        "intermediate_size",
        "num_hidden_layers",
        "num_attention_heads",
        "max_position_embeddings",
    },
}
IDS = torch.tensor([[3, 1, 4, 1, 5, 9, 2], [6, 5, 3, 5, 8, 9, 7]])


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


def settings(kind, seed=0):
    """A small config, drawn at random."""
    draw = Random(seed)
    heads, kv_heads = draw.choice([(1, 1), (2, 1), (4, 2), (6, 3), (3, 3)])
    size, layers, tied = draw.choice([2, 4, 6]), draw.choice([1, 2, 3]), draw.choice([True, False])
    if kind == "gpt2":
        sizes = {"vocab_size": 11, "n_embd": heads * size, "n_layer": layers, "n_head": heads, "n_positions": 8}
        more = {"n_inner": draw.choice([None, 10]), "tie_word_embeddings": tied}
        activation = draw.choice(["gelu_new", "gelu", "relu"])
        return {**sizes, **more, "activation_function": activation, "layer_norm_epsilon": draw.choice([1e-5, 0.1])}
    bias = draw.choice([True, False])
    own = {
        "llama": {"head_dim": draw.choice([None, 8]), "attention_bias": bias, "mlp_bias": bias},
        "mistral": {"head_dim": 8, "sliding_window": draw.choice([1, 3, 99])},
        "qwen3": {"head_dim": 8},
    }
    return {
        "vocab_size": 11,
        "hidden_size": heads * size,
        "intermediate_size": 10,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "num_key_value_heads": kv_heads,
        "max_position_embeddings": 8,
        "tie_word_embeddings": tied,
        "rms_norm_eps": draw.choice([1e-6, 0.1]),
        "rope_parameters": {"rope_type": "default", "rope_theta": draw.choice([20.0, 10000.0, 500000.0])},
        **own[kind],
    }


def their_classes(kind):
    """Of the config and the model. Every worker imports this file, and one of them runs its tests."""
    import transformers

    name = KINDS[kind][0]
    model = f"{name}LMHeadModel" if kind == "gpt2" else f"{name}ForCausalLM"
    return getattr(transformers, f"{name}Config"), getattr(transformers, model)


def theirs(kind, seed=0, **changes):
    """Their model, with every parameter drawn at random: no norm at 1, no bias at 0."""
    make_config, make_model = their_classes(kind)
    model = make_model(make_config(**{**settings(kind, seed), **changes}, attn_implementation="eager")).eval()
    for x in model.parameters():
        nn.init.normal_(x, std=0.3)
    return model


def ours(kind, model):
    _, read_config, load, _ = KINDS[kind]
    return load(model.state_dict(), read_config(model.config.to_dict()))


def assert_same(found, expected):
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.one_of(5)
@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("kind", KINDS)
@torch.no_grad()
def test_the_logits_are_the_same_there_and_back(kind, seed):
    model = theirs(kind, seed)
    mine = ours(kind, model)
    expected = model(IDS).logits
    assert expected.std() > 0.05
    assert_same(mine(IDS), expected)
    state = KINDS[kind][3](mine)
    assert state.keys() == model.state_dict().keys()
    assert all(torch.equal(x, model.state_dict()[name]) for name, x in state.items())


@pytest.mark.parametrize("kind", ["llama", "qwen3"])
@torch.no_grad()
def test_a_model_that_rotates_neighbors_gives_the_same_logits(kind):
    model = theirs(kind, hidden_size=12, num_attention_heads=6, num_key_value_heads=3, head_dim=8)
    config = replace(llama_config(model.config.to_dict()), rotary_pairs="neighbors")
    mine = from_llama(model.state_dict(), config)
    assert_same(mine(IDS), model(IDS).logits)
    assert all(torch.equal(x, model.state_dict()[name]) for name, x in to_llama(mine).items())


@torch.no_grad()
def test_other_positions_and_left_padding_are_read_as_theirs():
    model = theirs("llama", num_attention_heads=2, num_key_value_heads=1, hidden_size=8, head_dim=4)
    real = torch.tensor([[0, 0, 1, 1, 1, 1, 1], [1] * 7])
    places = torch.tensor([[0, 0, 0, 1, 2, 3, 4], [0, 1, 2, 3, 4, 5, 6]])
    expected = model(IDS, attention_mask=real, position_ids=places).logits
    found = ours("llama", model)(IDS, positions=places, mask=real.bool()[:, None, None])
    assert_same(found[real.bool()], expected[real.bool()])


@pytest.mark.parametrize("kind", ["gpt2", "llama"])
def test_a_copy_is_a_copy_and_can_learn(kind):
    model = theirs(kind, tie_word_embeddings=True)
    mine, embedding = ours(kind, model), model.get_input_embeddings().weight
    before = embedding.detach().clone()
    assert mine.out_proj.weight is mine.embedding.weight
    mine(IDS).sum().backward()
    with torch.no_grad():
        mine.embedding.weight.add_(1.0)
    assert torch.equal(embedding, before)
    assert all(x.grad is not None for x in mine.parameters())


@torch.no_grad()
def test_the_names_of_older_files():
    model = theirs("gpt2", tie_word_embeddings=True)
    state = {name.removeprefix("transformer."): x for name, x in model.state_dict().items() if name != "lm_head.weight"}
    old = {"h.0.attn.bias": torch.ones(8, 8).tril(), "h.0.attn.masked_bias": torch.tensor(-1e4)}
    assert_same(from_gpt2({**old, **state}, gpt2_config(model.config.to_dict()))(IDS), model(IDS).logits)


@pytest.mark.parametrize(
    ("name", "kind"), [("GPT-2 small", "gpt2"), ("Llama 2 7B", "llama"), ("Mistral 7B", "mistral")]
)
def test_their_default_sizes_are_those_that_were_published(name, kind):
    changes = {"max_position_embeddings": 4096} if kind == "llama" else {}
    make_config, _ = their_classes(kind)
    found = KINDS[kind][1](make_config(**changes).to_dict())
    known = published[name]
    assert (
        replace(found, norm_eps=known.norm_eps, max_len=known.max_len, num_kv_heads=known.num_kv_heads, head_dim=None)
        == known
    )


@pytest.mark.parametrize("kind", ["gpt2", "llama"])
def test_what_a_file_leaves_out_has_their_default(kind):
    few = {name: value for name, value in settings(kind).items() if name in NEEDED[kind]}
    make_config, _ = their_classes(kind)
    found, expected = (
        KINDS[kind][1](written) for written in ({"model_type": kind, **few}, make_config(**few).to_dict())
    )
    assert found == replace(expected, num_kv_heads=None, head_dim=None)
    assert (found.kv_heads, found.head_size) == (expected.kv_heads, expected.head_size)


def test_a_qwen3_has_no_window_where_it_is_switched_off():
    written = {"model_type": "qwen3", **settings("qwen3"), "use_sliding_window": False, "sliding_window": 4}
    assert llama_config(written).window is None


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shard", ["1GB", "1KB"])
@torch.no_grad()
def test_a_checkpoint_on_disk(tmp_path, kind, shard):
    model = theirs(kind, seed=1)
    model.save_pretrained(tmp_path, max_shard_size=shard)
    assert (tmp_path / "model.safetensors").exists() == (shard == "1GB")
    mine = load_checkpoint(tmp_path)
    assert_same(mine(IDS), model(IDS).logits)
    assert not mine.training and not any(x.requires_grad for x in mine.parameters())
    assert load_checkpoint(tmp_path, dtype=torch.bfloat16)(IDS).dtype == torch.bfloat16


@pytest.mark.parametrize(
    ("kind", "changes", "message"),
    [
        (
            "llama",
            {"model_type": "gemma"},
            "model_type is 'gemma'; expected one of 'gpt2', 'llama', 'mistral'",
        ),
        ("llama", {"rope_parameters": {"rope_type": "llama3"}}, "rope_type is 'llama3'; expected 'default'"),
        ("llama", {"rope_parameters": None, "rope_scaling": {"type": "linear"}}, "rope_type is 'linear'; expected"),
        ("llama", {"hidden_act": "gelu"}, "hidden_act is 'gelu'; expected 'silu'"),
        ("llama", {"attention_bias": True, "mlp_bias": False}, "mlp_bias is False; expected True"),
        ("qwen3", {"use_sliding_window": True}, "use_sliding_window is True; expected False"),
        ("qwen3", {"attention_bias": True}, "attention_bias is True; expected False"),
        (
            "gpt2",
            {"activation_function": "silu"},
            "activation_function is 'silu'; expected one of 'gelu_new', 'gelu_pytorch_tanh', 'gelu', 'relu'",
        ),
        ("gpt2", {"scale_attn_weights": False}, "scale_attn_weights is False; expected True"),
        ("gpt2", {"scale_attn_by_inverse_layer_idx": True}, "scale_attn_by_inverse_layer_idx is True; expected False"),
        ("gpt2", {"add_cross_attention": True}, "add_cross_attention is True; expected False"),
        ("gpt2", {"quantization_config": {}}, "^the checkpoint is quantized; expected weights as floating-point"),
        ("gpt2", {"n_embd": ...}, "config.json lacks 'n_embd'; expected it there"),
        ("gpt2", {"n_layer": 0}, "num_layers is 0; expected a whole number"),
        ("gpt2", {}, r"folder has no model.safetensors; expected .*model.safetensors, a safetensors file"),
    ],
)
def test_what_is_not_supported_is_named(tmp_path, kind, changes, message):
    found = {"model_type": kind, **settings(kind), **changes}
    found = {name: value for name, value in found.items() if value is not ...}
    (tmp_path / "config.json").write_text(json.dumps(found))
    with pytest.raises(ValueError, match=message):
        load_checkpoint(tmp_path)


@pytest.mark.parametrize(
    ("written", "base"),
    [
        ({}, 10000.0),
        ({"rope_theta": 500.0}, 500.0),
        ({"rope_theta": 500.0, "rope_scaling": None}, 500.0),
        ({"rope_parameters": {"rope_theta": 20.0}}, 20.0),
        ({"rope_theta": 500.0, "rope_parameters": {"rope_type": "default", "rope_theta": 20.0}}, 20.0),
    ],
)
def test_the_base_of_the_rotation_in_older_and_newer_files(written, base):
    known = {"model_type": "llama", **settings("llama")}
    del known["rope_parameters"]
    assert llama_config({**known, **written}).rotary_base == base


def test_an_index_without_files_is_a_checkpoint_without_weights(tmp_path):
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "gpt2", **settings("gpt2")}))
    (tmp_path / "model.safetensors.index.json").write_text("{}")
    with pytest.raises(ValueError, match=r"embedding\.weight is .* in the state; expected \(11, \d+\)"):
        load_checkpoint(tmp_path)


def test_a_folder_that_is_missing_or_damaged_is_named(tmp_path):
    with pytest.raises(ValueError, match=r"folder has no config.json that can be read; expected .*config.json"):
        load_checkpoint(tmp_path / "nowhere")
    for text in ("{", "[]"):
        (tmp_path / "config.json").write_text(text)
        with pytest.raises(ValueError, match=r"config.json is damaged; expected a JSON object"):
            load_checkpoint(tmp_path)
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "gpt2", **settings("gpt2")}))
    (tmp_path / "model.safetensors").write_bytes(b"no tensors")
    with pytest.raises(ValueError, match=r"model.safetensors is damaged: .*; expected a safetensors file"):
        load_checkpoint(tmp_path)


GPT2 = gpt2_config(settings("gpt2"))
LLAMA = llama_config({"model_type": "llama", **settings("llama")})


@pytest.mark.parametrize(
    ("load", "config", "message"),
    [
        (from_gpt2, LLAMA, "norm is 'rms'; expected 'layer', as in GPT-2"),
        (from_gpt2, replace(GPT2, positions="sinusoid"), "positions is 'sinusoid'; expected 'learned', as in GPT-2"),
        (from_gpt2, replace(GPT2, bias=False), "bias is False; expected True, as in GPT-2"),
        (from_gpt2, replace(GPT2, window=3), "window is 3; expected None, as in GPT-2"),
        (
            from_gpt2,
            replace(GPT2, feed_forward="swiglu"),
            "config has SwiGLU or fewer heads of keys; expected two matrices and num_heads, as in GPT-2",
        ),
        (from_gpt2, replace(GPT2, query_key_norm=True), "query_key_norm is True; expected False, as in GPT-2"),
        (from_gpt2, replace(GPT2, head_dim=99), "head_dim is 99; expected d_model / num_heads, as in GPT-2"),
        (from_llama, GPT2, "norm is 'layer'; expected 'rms', as in Llama"),
        (from_llama, replace(LLAMA, positions="learned"), "positions is 'learned'; expected 'rotary', as in Llama"),
        (from_llama, replace(LLAMA, feed_forward="gelu"), "feed_forward is 'gelu'; expected 'swiglu', as in Llama"),
    ],
)
def test_a_config_of_another_kind_is_refused(load, config, message):
    with pytest.raises(ValueError, match=f"^{message}$"):
        load({}, config)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"model.norm.weight": None}, r"norm.weight is absent in the state; expected \(\d+,\), as in the config"),
        ({"model.norm.weight": torch.ones(5)}, r"norm.weight is \(5,\) in the state; expected \(\d+,\)"),
        ({"model.embed_tokens.weight": None}, "embedding.weight is absent in the state"),
        ({"model.layers.9.mlp.up_proj.weight": torch.ones(5)}, r"layers.9.* is \(5,\) in the state; expected absent"),
        ({"model.layers.0.moe.weight": torch.ones(5)}, "the state has model.layers.0.moe.weight; expected names of"),
        (
            {"score.weight": torch.ones(5)},
            "the state has score.weight; expected names of the kind "
            "model.embed_tokens., model.norm., lm_head., model.layers.0.…$",
        ),
    ],
)
def test_a_state_that_does_not_fit_is_refused(changes, message):
    model = theirs("llama", tie_word_embeddings=True)
    state = {name: x for name, x in {**model.state_dict(), **changes}.items() if x is not None}
    with pytest.raises(ValueError, match=message):
        from_llama(state, llama_config(model.config.to_dict()))
