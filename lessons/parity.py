"""Copies weights between our modules and torch.nn, and from BERT, so that both give the same numbers.

    MultiHeadAttention   nn.MultiheadAttention
    EncoderLayer         nn.TransformerEncoderLayer
    DecoderLayer         nn.TransformerDecoderLayer
    Encoder              nn.TransformerEncoder
    Decoder              nn.TransformerDecoder
    Transformer          nn.Transformer, which has no embeddings and no output projection

torch packs q_proj, k_proj and v_proj into one matrix, in_proj (3D, D), and numbers its norms in the order of use.
BERT keeps them separate, as we do, but with other names: see `from_bert_names`; lessons.pretrained builds the model.
"""

import re
from collections.abc import Mapping
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from lessons.attention import MultiHeadAttention
from lessons.config import TransformerConfig
from lessons.layers import DecoderLayer, EncoderLayer
from lessons.transformer import Decoder, Encoder, Transformer

ENCODER_LAYER = {  # our name, and torch's
    "self_attn": "self_attn",
    "self_attn_residual.norm": "norm1",
    "feed_forward.linear1": "linear1",
    "feed_forward.linear2": "linear2",
    "feed_forward_residual.norm": "norm2",
}
DECODER_LAYER = {
    **ENCODER_LAYER,
    "cross_attn": "multihead_attn",
    "cross_attn_residual.norm": "norm2",
    "feed_forward_residual.norm": "norm3",
}
BERT_NAMES = {  # BERT's name, and ours
    "embeddings.word_embeddings.": "embedding.tokens.",
    "embeddings.position_embeddings.weight": "embedding.positions.table",
    "embeddings.token_type_embeddings.": "embedding.types.",
    "embeddings.LayerNorm.": "embedding.norm.",
}
BERT_LAYER_NAMES = {
    "attention.self.query.": "self_attn.q_proj.",
    "attention.self.key.": "self_attn.k_proj.",
    "attention.self.value.": "self_attn.v_proj.",
    "attention.output.dense.": "self_attn.out_proj.",
    "attention.output.LayerNorm.": "self_attn_residual.norm.",
    "intermediate.dense.": "feed_forward.linear1.",
    "output.dense.": "feed_forward.linear2.",
    "output.LayerNorm.": "feed_forward_residual.norm.",
}
UNUSED = ("pooler.", "embeddings.position_ids")  # in BERT's file, but not needed for sentence vectors
EPS = 1e-5  # of nn.LayerNorm, in our layers
OUTSIDE = ("src_embedding.", "tgt_embedding.", "out_proj.")  # parts of a Transformer that nn.Transformer lacks


def to_torch(ours: nn.Module) -> nn.Module:
    """A new torch.nn module, batch_first, with the sizes, weights and mode (train or eval) of ours.

    A module that torch.nn has no counterpart for raises a ValueError.
    """
    theirs = _build_theirs(ours)
    _check_same(ours, theirs)
    weight = next(ours.parameters())
    theirs.to(device=weight.device, dtype=weight.dtype).load_state_dict(to_torch_names(_inside(ours)))
    return theirs.train(ours.training)


def from_torch(theirs: nn.Module) -> nn.Module:
    """A new module of ours with the sizes, weights and mode (train or eval) of a torch.nn module.

    An nn.Transformer has no vocabulary: build a Transformer of its sizes and use `load_from_torch`.
    """
    ours = _build_ours(theirs)
    weight = next(theirs.parameters())
    load_from_torch(ours.to(device=weight.device, dtype=weight.dtype), theirs)
    return ours.train(theirs.training)


def load_from_torch(ours: nn.Module, theirs: nn.Module) -> None:
    """Copy the weights of a torch.nn module into ours. Embeddings and the output projection keep their weights.

    If sizes or choices differ, such as the number of heads or the place of the norms, a ValueError names the first.
    """
    _check_same(ours, theirs)
    ours.load_state_dict(from_torch_names(theirs.state_dict()), strict=False)


def to_torch_names(state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Our parameters, or their gradients, under torch's names; q_proj, k_proj and v_proj are packed into in_proj."""
    separate = _rename(state, "cross_attn", ENCODER_LAYER, DECODER_LAYER)
    joined = {}
    for name, x in separate.items():
        match = re.fullmatch(r"(.*)([qkv])_proj\.(weight|bias)", name)
        if match is None:
            joined[name] = x
            continue
        path, letter, kind = match.groups()
        three = [separate[f"{path}{each}_proj.{kind}"] for each in "qkv"]
        if len({part.shape for part in three}) == 1:
            joined[f"{path}in_proj_{kind}"] = torch.cat(three)
        else:  # torch joins no matrices of different sizes
            joined[f"{path}{letter}_proj_{kind}"] = x
    return joined


def from_torch_names(state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """torch's parameters, or their gradients, as we name them; in_proj is cut into q_proj, k_proj and v_proj."""
    separate = {}
    for name, x in state.items():
        match = re.fullmatch(r"(.*)in_proj_(weight|bias)", name)
        if match is None:
            separate[re.sub(r"([qkv]_proj)_weight$", r"\1.weight", name)] = x
            continue
        path, kind = match.groups()
        separate.update({f"{path}{each}_proj.{kind}": part for each, part in zip("qkv", x.chunk(3))})
    encoder, decoder = ({new: old for old, new in table.items()} for table in (ENCODER_LAYER, DECODER_LAYER))
    return _rename(separate, "multihead_attn", encoder, decoder)


def from_bert_names(state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """BERT's parameters under our names, without those that a SentenceEncoder lacks."""
    return {_our_name(name): x for name, x in state.items() if not name.startswith(UNUSED)}


def _our_name(name: str) -> str:
    layer = re.fullmatch(r"encoder\.layer\.(\d+)\.(.*)", name)
    start, rest, table = ("", name, BERT_NAMES) if layer is None else (*layer.groups(), BERT_LAYER_NAMES)
    for theirs, ours in table.items():
        if rest.startswith(theirs):
            prefix = f"encoder.layers.{start}." if start else ""
            return prefix + ours + rest.removeprefix(theirs)
    raise ValueError(f"state holds {name!r}; expected the names of a BERT encoder")


def _rename(
    state: Mapping[str, Tensor], mark: str, encoder: dict[str, str], decoder: dict[str, str]
) -> dict[str, Tensor]:
    """Each layer's parameters under new names; a layer with a part named `mark` is one of the decoder."""
    renamed = {}
    for name, x in state.items():
        found = re.match(r".*layers\.\d+\.", name)
        layer = found[0] if found else ""
        rest = name.removeprefix(layer)
        table = decoder if any(other.startswith(f"{layer}{mark}.") for other in state) else encoder
        old = next((old for old in table if rest.startswith(f"{old}.")), "")
        renamed[layer + table.get(old, "") + rest.removeprefix(old)] = x
    return renamed


def _check_same(ours: nn.Module, theirs: nn.Module) -> None:
    """With the same weights, both give the same numbers."""
    _check_options(ours, theirs)
    here, there = _inside(ours), from_torch_names(theirs.state_dict())
    for name in sorted({*here, *there}):
        shapes = [tuple(state[name].shape) if name in state else "absent" for state in (here, there)]
        if shapes[0] != shapes[1]:
            raise ValueError(f"{name} is {shapes[1]} in theirs; expected {shapes[0]}, as in ours")
    _check_choices(ours, theirs)


def _check_options(ours: nn.Module, theirs: nn.Module) -> None:
    """Each has options that the other lacks."""
    for whose, module in (("ours", ours), ("theirs", theirs)):
        for name, part in module.named_modules():
            if isinstance(part, nn.LayerNorm) and part.eps != EPS:
                raise ValueError(f"the eps of {whose} is {part.eps} in {name}; expected {EPS}, nn.LayerNorm's default")
            if isinstance(part, MultiHeadAttention) and part.rotary is not None:
                raise ValueError("ours has rotary positions; expected none: torch.nn has no rotary positions")
            if isinstance(part, nn.MultiheadAttention) and part.add_zero_attn:
                raise ValueError("add_zero_attn is True in theirs; expected False, as in ours")


def _check_choices(ours: nn.Module, theirs: nn.Module) -> None:
    """Choices that change no weight's shape. Names and shapes of the weights fit already."""
    for path, part in theirs.named_modules():
        if isinstance(part, nn.MultiheadAttention | nn.TransformerEncoderLayer | nn.TransformerDecoderLayer):
            mine: Any = ours.get_submodule(path.replace("multihead_attn", "cross_attn"))
            if isinstance(part, nn.MultiheadAttention):
                choices = {"num_heads": (mine.num_heads, part.num_heads)}
            else:
                sizes = _our_layer_sizes(part)
                choices = {
                    "norm_first": (mine.self_attn_residual.norm_first, sizes["norm_first"]),
                    "activation": (mine.feed_forward.activation, sizes["activation"]),
                }
            for name, (here, there) in choices.items():
                if here != there:
                    place = f" in {path}" if path else ""
                    raise ValueError(f"{name} of theirs is {there!r}{place}; expected {here!r}, as in ours")


def _inside(ours: nn.Module) -> dict[str, Tensor]:
    """The parameters that torch also has."""
    outside = OUTSIDE if isinstance(ours, Transformer) else ()
    return {name: x for name, x in ours.state_dict().items() if not name.startswith(outside)}


def _build_theirs(ours: nn.Module) -> nn.Module:
    """A torch.nn module of the sizes of ours."""
    match ours:
        case MultiHeadAttention():
            return _build_their_attention(ours)
        case EncoderLayer():
            return nn.TransformerEncoderLayer(**_layer_sizes(ours))
        case DecoderLayer():
            return nn.TransformerDecoderLayer(**_layer_sizes(ours))
        case Encoder():
            layer = nn.TransformerEncoderLayer(**_layer_sizes(ours.layers[0]))
            return nn.TransformerEncoder(layer, len(ours.layers), _build_norm(ours), enable_nested_tensor=False)
        case Decoder():
            layer = nn.TransformerDecoderLayer(**_layer_sizes(ours.layers[0]))
            return nn.TransformerDecoder(layer, len(ours.layers), _build_norm(ours))
        case Transformer():
            return nn.Transformer(
                ours.config.d_model,
                ours.config.num_heads,
                custom_encoder=_build_theirs(ours.encoder),
                custom_decoder=_build_theirs(ours.decoder),
                batch_first=True,
            )
        case _:
            raise ValueError(f"ours is a {type(ours).__name__}; expected one of the modules that torch.nn has too")


def _build_their_attention(ours: MultiHeadAttention) -> nn.MultiheadAttention:
    sizes = [part.out_features for part in (ours.q_proj, ours.v_proj, ours.out_proj)]
    if set(sizes) != {ours.d_model}:
        expected = f"d_model = {ours.d_model}, as always in torch.nn"
        raise ValueError(f"the sizes of queries, values and outputs are {sizes}; expected {expected}")
    return nn.MultiheadAttention(
        ours.d_model,
        ours.num_heads,
        ours.dropout,
        bias=ours.q_proj.bias is not None,
        kdim=ours.k_proj.in_features,
        vdim=ours.v_proj.in_features,
        batch_first=True,
    )


def _layer_sizes(ours: EncoderLayer | DecoderLayer) -> dict[str, Any]:
    _build_their_attention(ours.self_attn)  # raises a ValueError for options that torch.nn lacks
    return {
        "d_model": ours.self_attn.d_model,
        "nhead": ours.self_attn.num_heads,
        "dim_feedforward": ours.feed_forward.linear1.out_features,
        "dropout": ours.self_attn.dropout,
        "activation": ours.feed_forward.activation,
        "norm_first": ours.self_attn_residual.norm_first,
        "batch_first": True,
    }


def _build_norm(ours: Encoder | Decoder) -> nn.LayerNorm | None:
    return None if ours.norm is None else nn.LayerNorm(ours.norm.normalized_shape[0])


def _build_ours(theirs: nn.Module) -> nn.Module:
    """A module of ours of the sizes of a torch.nn module."""
    match theirs:
        case nn.MultiheadAttention():
            return MultiHeadAttention(
                theirs.embed_dim,
                theirs.num_heads,
                key_dim=theirs.kdim,
                value_dim=theirs.vdim,
                dropout=theirs.dropout,
                bias=theirs.in_proj_bias is not None,
            )
        case nn.TransformerEncoderLayer() | nn.TransformerDecoderLayer():
            kind = EncoderLayer if isinstance(theirs, nn.TransformerEncoderLayer) else DecoderLayer
            return kind(**_our_layer_sizes(theirs))
        case nn.TransformerEncoder() | nn.TransformerDecoder():
            kind = Encoder if isinstance(theirs, nn.TransformerEncoder) else Decoder
            sizes = _our_layer_sizes(theirs.layers[0])
            final_norm = theirs.norm is not None
            return kind(TransformerConfig(1, 1, num_layers=len(theirs.layers), final_norm=final_norm, **sizes))
        case _:
            name = type(theirs).__name__
            raise ValueError(f"theirs is a {name}; expected one of the modules of torch.nn that we have too")


def _our_layer_sizes(theirs: nn.Module) -> dict[str, Any]:
    if not isinstance(theirs, nn.TransformerEncoderLayer | nn.TransformerDecoderLayer):
        raise ValueError(f"a layer of theirs is a {type(theirs).__name__}; expected one of torch.nn's own layers")
    names: dict[object, str] = {F.relu: "relu", F.gelu: "gelu"}
    if theirs.activation not in names:
        raise ValueError(f"the activation of theirs is {theirs.activation}; expected F.relu or F.gelu")
    return {
        "d_model": theirs.self_attn.embed_dim,
        "num_heads": theirs.self_attn.num_heads,
        "d_ff": theirs.linear1.out_features,
        "dropout": theirs.dropout.p,
        "activation": names[theirs.activation],
        "norm_first": theirs.norm_first,
    }
