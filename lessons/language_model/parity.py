"""Weights of Hugging Face's GPT-2 and Llama in our model and back, by name; and checkpoints from a folder.

    from_gpt2(state, config)    to_gpt2(model)      GPT2LMHeadModel
    from_llama(state, config)   to_llama(model)     LlamaForCausalLM, MistralForCausalLM, Qwen3ForCausalLM
    load_checkpoint(folder)                         config.json and *.safetensors of any of these

GPT-2 has one matrix for queries, keys and values, and keeps each matrix as (in, out), where nn.Linear has (out, in).
"""

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from lessons._checks import refusal
from lessons.checkpoints import only_sizes
from lessons.language_model.config import LanguageModelConfig
from lessons.language_model.model import LanguageModel
from lessons.language_model.parts import halves_to_neighbors

GPT2_NAMES = {  # their name, and ours
    "transformer.wte.": "embedding.",
    "transformer.wpe.weight": "positions.table",
    "transformer.ln_f.": "norm.",
    "lm_head.": "out_proj.",
}
GPT2_LAYER = {
    "ln_1.": "attention_norm.",
    "attn.c_attn.": "attention.qkv_proj.",
    "attn.c_proj.": "attention.out_proj.",
    "ln_2.": "feed_forward_norm.",
    "mlp.c_fc.": "feed_forward.linear1.",
    "mlp.c_proj.": "feed_forward.linear2.",
}
LLAMA_NAMES = {
    "model.embed_tokens.": "embedding.",
    "model.norm.": "norm.",
    "lm_head.": "out_proj.",
}
LLAMA_LAYER = {
    "input_layernorm.": "attention_norm.",
    "self_attn.q_proj.": "attention.q_proj.",
    "self_attn.k_proj.": "attention.k_proj.",
    "self_attn.v_proj.": "attention.v_proj.",
    "self_attn.o_proj.": "attention.out_proj.",
    "self_attn.q_norm.": "attention.query_norm.",
    "self_attn.k_norm.": "attention.key_norm.",
    "post_attention_layernorm.": "feed_forward_norm.",
    "mlp.": "feed_forward.",
}
NO_WEIGHTS = re.compile(r".*(\.attn\.bias|\.attn\.masked_bias|\.rotary_emb\.inv_freq)")  # tables in older files
TRANSPOSED = re.compile(r".*\.(attn\.c_attn|attn\.c_proj|mlp\.c_fc|mlp\.c_proj)\.weight")
ROTATED = re.compile(r".*attention\.(q_proj|k_proj|query_norm|key_norm)\.(weight|bias)")
GPT2_ACTIVATIONS = {"gelu_new": "gelu_tanh", "gelu_pytorch_tanh": "gelu_tanh", "gelu": "gelu", "relu": "relu"}


def from_gpt2(state: Mapping[str, Tensor], config: LanguageModelConfig) -> LanguageModel:
    """A model in eval mode with a copy of the weights of a GPT2LMHeadModel: state is its state_dict().

    Names without "transformer.", as in older files, are read as well. A config that is not of GPT-2's kind, and a
    weight that is missing, superfluous or of another shape, is a ValueError.
    """
    return _build(config, _from_gpt2(_copies(state), config))


def to_gpt2(model: LanguageModel) -> dict[str, Tensor]:
    """The weights under the names and in the shapes of a GPT2LMHeadModel; what `from_gpt2` reads."""
    _check_gpt2(model.config)
    state: dict[str, Tensor] = {}
    for name, x in _state(model).items():
        match = re.fullmatch(r"(.*)([qkv])_proj\.(weight|bias)", name)
        if match is None:
            state[name] = x
        elif match[2] == "q":
            state[f"{match[1]}qkv_proj.{match[3]}"] = torch.cat(
                [_state(model)[f"{match[1]}{letter}_proj.{match[3]}"] for letter in "qkv"]
            )
    theirs = _renamed(state, _turned(GPT2_NAMES), _turned(GPT2_LAYER), "layers.", "transformer.h.")
    return {name: x.T.contiguous() if TRANSPOSED.fullmatch(name) else x for name, x in theirs.items()}


def from_llama(state: Mapping[str, Tensor], config: LanguageModelConfig) -> LanguageModel:
    """A model in eval mode with a copy of the weights of a LlamaForCausalLM: state is its state_dict().

    Mistral and Qwen3 (query_key_norm) have the same names. Theirs rotate halves; with rotary_pairs "neighbors" the rows
    of the queries and keys are put in that order, and the logits stay the same. A config that is not of Llama's kind,
    and a weight that is missing, superfluous or of another shape, is a ValueError.
    """
    return _build(config, _from_llama(_copies(state), config))


def to_llama(model: LanguageModel) -> dict[str, Tensor]:
    """The weights under the names and in the order of a LlamaForCausalLM; what `from_llama` reads."""
    _check_llama(model.config)
    state = _reordered(_state(model), model.config, lambda order: order.argsort())
    return _renamed(state, _turned(LLAMA_NAMES), _turned(LLAMA_LAYER), "layers.", "model.layers.")


def load_checkpoint(folder: str | Path, *, dtype: torch.dtype = torch.float32) -> LanguageModel:
    """A model from a folder as Hugging Face saves it: config.json, and model.safetensors or its parts with an index.

    GPT-2, Llama, Mistral and Qwen3. dtype: what the numbers become. The model is in eval mode and asks for no
    gradients. Nothing is fetched. What is missing, damaged or not supported is a ValueError that names it.
    """
    folder = Path(folder)
    settings = _read_json(folder / "config.json")
    family = settings.get("model_type")
    if family not in FAMILIES:
        raise refusal("model_type", family, f"one of {', '.join(map(repr, FAMILIES))}")
    read_config, translate = FAMILIES[family]
    try:
        config = read_config(settings)
    except KeyError as error:
        raise ValueError(f"{folder / 'config.json'} lacks {error}; expected it there") from None
    state = {name: x.to(dtype) for name, x in _read_tensors(folder).items()}
    return _build(config, translate(state, config)).requires_grad_(False)


def gpt2_config(settings: Mapping[str, Any]) -> LanguageModelConfig:
    """The config of a GPT-2, from its config.json."""
    _expect(settings, scale_attn_weights=True, scale_attn_by_inverse_layer_idx=False, add_cross_attention=False)
    activation = settings.get("activation_function", "gelu_new")
    if activation not in GPT2_ACTIVATIONS:
        raise refusal("activation_function", activation, f"one of {', '.join(map(repr, GPT2_ACTIVATIONS))}")
    return LanguageModelConfig(
        vocabulary=settings["vocab_size"],
        d_model=settings["n_embd"],
        num_layers=settings["n_layer"],
        num_heads=settings["n_head"],
        d_ff=settings.get("n_inner") or 4 * settings["n_embd"],
        max_len=settings["n_positions"],
        norm="layer",
        feed_forward=GPT2_ACTIVATIONS[activation],
        positions="learned",
        bias=True,
        tied=settings.get("tie_word_embeddings", True),
        norm_eps=settings.get("layer_norm_epsilon", 1e-5),
    )


def llama_config(settings: Mapping[str, Any]) -> LanguageModelConfig:
    """The config of a Llama, Mistral or Qwen3, from its config.json."""
    bias = settings.get("attention_bias", False)
    _expect(settings, hidden_act="silu", mlp_bias=bias, use_sliding_window=False)
    rotary = {**(settings.get("rope_scaling") or {}), **(settings.get("rope_parameters") or {})}
    kind = rotary.get("rope_type", rotary.get("type", "default"))
    if kind != "default":
        raise refusal("rope_type", kind, "'default': positions that are scaled are not supported")
    is_qwen = settings["model_type"] == "qwen3"
    if is_qwen and bias:
        raise refusal("attention_bias", bias, "False, as in the Qwen3 models that were published")
    return LanguageModelConfig(
        vocabulary=settings["vocab_size"],
        d_model=settings["hidden_size"],
        num_layers=settings["num_hidden_layers"],
        num_heads=settings["num_attention_heads"],
        num_kv_heads=settings.get("num_key_value_heads"),
        head_dim=settings.get("head_dim"),
        d_ff=settings["intermediate_size"],
        max_len=settings["max_position_embeddings"],
        rotary_base=rotary.get("rope_theta", settings.get("rope_theta", 10000.0)),
        bias=bias,
        query_key_norm=is_qwen,
        window=None if is_qwen else settings.get("sliding_window"),
        tied=settings.get("tie_word_embeddings", False),
        norm_eps=settings.get("rms_norm_eps", 1e-6),
    )


def _from_gpt2(state: Mapping[str, Tensor], config: LanguageModelConfig) -> dict[str, Tensor]:
    _check_gpt2(config)
    outside = ("transformer.", "lm_head.")
    full = {name if name.startswith(outside) else f"transformer.{name}": x for name, x in state.items()}
    upright = {name: x.T.contiguous() if TRANSPOSED.fullmatch(name) else x for name, x in full.items()}
    ours: dict[str, Tensor] = {}
    for name, x in _renamed(upright, GPT2_NAMES, GPT2_LAYER, "transformer.h.", "layers.").items():
        if ".qkv_proj." in name and len(x) % 3 == 0:
            ours |= {name.replace("qkv_", f"{letter}_"): part for letter, part in zip("qkv", x.chunk(3))}
        else:
            ours[name] = x
    return ours


def _from_llama(state: Mapping[str, Tensor], config: LanguageModelConfig) -> dict[str, Tensor]:
    _check_llama(config)
    ours = _renamed(state, LLAMA_NAMES, LLAMA_LAYER, "model.layers.", "layers.")
    return _reordered(ours, config, lambda order: order)


Reading = tuple[
    Callable[[Mapping[str, Any]], LanguageModelConfig],
    Callable[[Mapping[str, Tensor], LanguageModelConfig], dict[str, Tensor]],
]
FAMILIES: dict[str, Reading] = {
    "gpt2": (gpt2_config, _from_gpt2),
    "llama": (llama_config, _from_llama),
    "mistral": (llama_config, _from_llama),
    "qwen3": (llama_config, _from_llama),
}


def _build(config: LanguageModelConfig, state: dict[str, Tensor]) -> LanguageModel:
    """A model that takes these tensors as they are, without a copy."""
    with only_sizes():
        model = LanguageModel(config)
    shapes = {name: tuple(x.shape) for name, x in model.state_dict().items()}
    if config.tied and "embedding.weight" in state:
        state = {**state, "out_proj.weight": state["embedding.weight"]}
    for name in sorted({*shapes, *state}):
        found = tuple(state[name].shape) if name in state else "absent"
        expected = shapes.get(name, "absent")
        if found != expected:
            raise ValueError(f"{name} is {found} in the state; expected {expected}, as in the config")
    model.load_state_dict(state, assign=True)
    if config.tied:
        model.out_proj.weight = model.embedding.weight
    return model.eval().requires_grad_(True)


def _state(model: LanguageModel) -> dict[str, Tensor]:
    return {name: x.detach() for name, x in model.state_dict().items()}


def _copies(state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {name: x.detach().clone() for name, x in state.items()}


def _turned(names: Mapping[str, str]) -> dict[str, str]:
    return {ours: theirs for theirs, ours in names.items()}


def _renamed(
    state: Mapping[str, Tensor], names: Mapping[str, str], layer: Mapping[str, str], old: str, new: str
) -> dict[str, Tensor]:
    """The same tensors under other names: `old` and `new` are what comes before the number of a layer."""
    found: dict[str, Tensor] = {}
    for name, x in state.items():
        match = re.fullmatch(re.escape(old) + r"(\d+\.)(.*)", name)
        place, rest, table = (f"{new}{match[1]}", match[2], layer) if match else ("", name, names)
        start = next((each for each in table if rest.startswith(each)), None)
        if NO_WEIGHTS.fullmatch(name):
            continue
        if start is None:
            raise ValueError(f"the state has {name}; expected names of the kind {', '.join([*names, old])}0.…")
        found[place + table[start] + rest.removeprefix(start)] = x
    return found


def _reordered(
    state: dict[str, Tensor], config: LanguageModelConfig, way: Callable[[Tensor], Tensor]
) -> dict[str, Tensor]:
    """If the model rotates neighbors: the features of each query and key head in another order."""
    if config.rotary_pairs == "halves":
        return state
    order, size = way(halves_to_neighbors(config.head_size)), config.head_size
    return {
        name: x.unflatten(0, (-1, size))[:, order].flatten(0, 1) if ROTATED.fullmatch(name) else x
        for name, x in state.items()
    }


def _check_gpt2(config: LanguageModelConfig) -> None:
    _check_kind(config, "GPT-2", norm="layer", positions="learned", bias=True, query_key_norm=False, window=None)
    if config.feed_forward == "swiglu" or config.kv_heads != config.num_heads:
        raise ValueError("config has SwiGLU or fewer heads of keys; expected two matrices and num_heads, as in GPT-2")
    if config.head_size * config.num_heads != config.d_model:
        raise refusal("head_dim", config.head_dim, "d_model / num_heads, as in GPT-2")


def _check_llama(config: LanguageModelConfig) -> None:
    _check_kind(config, "Llama", norm="rms", positions="rotary", feed_forward="swiglu")


def _check_kind(config: LanguageModelConfig, of: str, **values: object) -> None:
    for name, value in values.items():
        if getattr(config, name) != value:
            raise refusal(name, getattr(config, name), f"{value!r}, as in {of}")


def _expect(settings: Mapping[str, Any], **values: object) -> None:
    if "quantization_config" in settings:
        raise ValueError("the checkpoint is quantized; expected weights as floating-point numbers")
    for name, value in values.items():
        if settings.get(name, value) != value:
            raise refusal(name, settings[name], f"{value!r}; nothing else is supported")


def _read_json(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except OSError:
        raise ValueError(f"folder has no {path.name} that can be read; expected {path}") from None
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise ValueError(f"{path} is damaged; expected a JSON object")
    return found


def _read_tensors(folder: Path) -> dict[str, Tensor]:
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    index = folder / "model.safetensors.index.json"
    names = sorted({*_read_json(index).get("weight_map", {}).values()}) if index.is_file() else ["model.safetensors"]
    found: dict[str, Tensor] = {}
    for name in names:
        try:
            found |= load_file(folder / name)
        except FileNotFoundError:
            raise ValueError(f"folder has no {name}; expected {folder / name}, a safetensors file") from None
        except SafetensorError as error:
            raise ValueError(f"{folder / name} is damaged: {error}; expected a safetensors file") from None
    return found
