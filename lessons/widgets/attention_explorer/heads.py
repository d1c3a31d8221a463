"""The inputs of AttentionExplorer: weights of several shapes, their tokens, and a description of each head."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from lessons.attention import attend
from lessons.widgets.base import to_tensor
from lessons.wording import worded

FIELDS = {  # what Hugging Face's models return with output_attentions=True, and our names for it
    "attentions": "layer",
    "encoder_attentions": "encoder",
    "decoder_attentions": "decoder",
    "cross_attentions": "cross",
}
SHAPES = "(Q, K), (H, Q, K), (B, H, Q, K) or (L, B, H, Q, K)"
SPECIAL = ("<pad>", "<bos>", "<eos>", "<unk>", "<s>", "</s>", "[CLS]", "[SEP]", "[PAD]", "[MASK]")
LEAST = 0.5  # a head is named after what gets at least this fraction of its weight


def read_weights(weights: Any) -> dict[str, Tensor]:
    """Every attention by its name, (B, H, Q, K): of tensors, nested lists, a dict of them, or a model's output."""
    if isinstance(weights, Mapping) and not _of_hugging_face(weights):
        found = {str(name): _four_axes(part, f"weights[{name!r}]") for name, part in weights.items()}
    elif fields := _of_hugging_face(weights):
        found = {
            f"{name} {i}": _four_axes(layer, f"{field}[{i}]")
            for field, name in FIELDS.items()
            for i, layer in enumerate(fields.get(field) or ())
        }
    elif isinstance(weights, Sequence) and len(weights) and all(isinstance(part, Tensor) for part in weights):
        found = {f"layer {i}": _four_axes(part, f"weights[{i}]") for i, part in enumerate(weights)}
    else:
        tensor = to_tensor(weights, "weights", "tensors of weights")
        layers = tensor if tensor.dim() == 5 else [tensor]
        found = {f"layer {i}": _four_axes(layer, "weights") for i, layer in enumerate(layers)}
    if not found:
        raise ValueError(f"weights is {weights!r}; expected at least one layer of weights")
    return found


def _of_hugging_face(weights: Any) -> dict[str, Any]:
    """The fields with weights in a model's output, an object or a dict; empty if there are none."""
    read = weights.get if isinstance(weights, Mapping) else lambda name: getattr(weights, name, None)
    return {field: found for field in FIELDS if isinstance(found := read(field), tuple | list)}


def _four_axes(weights: Any, name: str) -> Tensor:
    tensor = to_tensor(weights, name, "a tensor of weights")
    if not 2 <= tensor.dim() <= 4 or 0 in tensor.shape:
        raise ValueError(f"{name} has shape {tuple(tensor.shape)}; expected {SHAPES}, with at least one of each")
    if (places := (tensor == -torch.inf).nonzero()).numel():
        raise ValueError(f"{name} has −inf at {places[0].tolist()}; expected weights, not scores before the softmax")
    return tensor.reshape(*[1] * (4 - tensor.dim()), *tensor.shape)


def read_tokens_of(name: str, axis: str, tokens: Any, batch: int, length: int) -> list[list[str]]:
    """The names of the queries or keys of one attention, for each sentence; numbers where none are given.

    tokens: a list for all sentences, one list for each, or a dict that gives one of these by the attention's name,
    or by the beginning of it.
    """
    if isinstance(tokens, Mapping):
        fitting = [key for key in tokens if name.startswith(str(key))]
        tokens = tokens[max(fitting, key=len)] if fitting else None
    if tokens is None:
        return [[str(i) for i in range(length)]] * batch
    wanted = f"{axis} is {tokens!r}; expected a list of tokens, or one for each sentence"
    if isinstance(tokens, str) or not isinstance(tokens, Sequence):
        raise ValueError(wanted)
    sentences = [tokens] * batch if all(isinstance(token, str) for token in tokens) else list(tokens)
    for sentence in sentences:
        if not isinstance(sentence, list | tuple) or not all(isinstance(token, str) for token in sentence):
            raise ValueError(wanted)
        if len(sentence) != length:
            raise ValueError(f"{axis} has {len(sentence)} tokens; expected {length} for {name}")
    if len(sentences) != batch:
        raise ValueError(f"{axis} has {len(sentences)} sentences; expected {batch} for {name}")
    return [list(sentence) for sentence in sentences]


def say_name(name: str) -> str:
    """The name of an attention, in the current language where it was not given one."""
    layer = re.fullmatch(r"layer (\d+)", name)
    return worded("layer {i}", i=layer[1]) if layer else name


def describe_head(weights: Tensor, keys: Sequence[str]) -> str:
    """What a head (Q, K) mostly attends to, in a few words, with the mean weight of that.

    Where keys are hidden, the entropy is that of the others: each row is scaled to sum to 1.
    """
    num_queries, num_keys = weights.shape
    if weights.isnan().any():
        return worded("has NaN")
    fractions = {}
    if num_queries > 1:
        fractions = {worded("“{key}”, place {k}", key=keys[k], k=k): weights[:, k].mean() for k in range(num_keys)}
    if num_queries == num_keys and num_keys > 1:
        for offset, name in ((-1, worded("the one before")), (0, worded("itself")), (1, worded("the next one"))):
            fractions[name] = weights.diagonal(offset).mean()
    best = max(fractions, key=lambda name: float(fractions[name]), default=None)
    if best is not None and fractions[best] >= LEAST:
        return worded("{where}: {what}", where=best, what=f"{fractions[best]:.2f}")
    shares = F.normalize(weights.clamp(min=0), p=1.0, dim=-1)
    entropy = shares.xlogy(shares).sum(dim=-1).mean().abs()
    return worded("spread, entropy {entropy}", entropy=f"{entropy:.2f}")


def example() -> tuple[Tensor, list[str]]:
    """Four heads (H, T, T), computed by `attend` from queries and keys, each built to find one thing."""
    tokens = ["the", "cat", "saw", "the", "dog", "<eos>"]
    count = len(tokens)
    place = torch.eye(count)
    word = torch.tensor([[float(a == b) for b in sorted(set(tokens))] for a in tokens])
    before = torch.eye(count).roll(1, dims=0).tril()  # row i searches for place i - 1; the first searches for nothing
    first = torch.zeros(count, count)
    first[:, 0] = 1
    asked = [before, place, first]
    pairs = [*((12 * q, place) for q in asked), (8 * word, word)]
    weights = [attend(q, k, place, need_weights=True)[1] for q, k in pairs]
    return torch.stack([x for x in weights if x is not None]), tokens
