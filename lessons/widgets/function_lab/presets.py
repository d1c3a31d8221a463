"""The presets of FunctionLab: functions, masks to choose from, and the checks of its arguments."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from lessons import masks
from lessons.attention import attend, masked_softmax
from lessons.vocabulary import PAD
from lessons.widgets.base import to_tensor
from lessons.widgets.function_lab import constants
from lessons.widgets.function_lab.trials import INPUTS
from lessons.widgets.shared import rules

TOKENS = "the cat sat down <pad>"
HEAD_DIM, VALUE_DIM = 4, 3
MAX_TOKENS = 24


def _after_the_softmax(scores: Tensor, allowed: Tensor) -> Tensor:
    return scores.softmax(dim=-1).masked_fill(~allowed, 0.0)


def _zero_before(scores: Tensor, allowed: Tensor) -> Tensor:
    return scores.masked_fill(~allowed, 0.0).softmax(dim=-1)


def _exchanged(scores: Tensor, allowed: Tensor) -> Tensor:
    return masked_softmax(scores, ~allowed)


def _billion(scores: Tensor, allowed: Tensor) -> Tensor:
    return scores.masked_fill(~allowed, -1e9).softmax(dim=-1)


EXAMPLES = dict(zip(constants.EXAMPLES, (_after_the_softmax, _zero_before, _exchanged, _billion, attend)))


def build_presets(tokens: list[str], key_tokens: list[str]) -> dict[str, Tensor]:
    """Masks to choose from, each (Q, K) bool, True = may attend."""
    everything = torch.ones(len(tokens), len(key_tokens), dtype=torch.bool)
    presets = {constants.EVERYTHING: everything}
    is_token = torch.tensor([[int(token != PAD) for token in key_tokens]])
    padding = masks.padding(is_token, pad_id=0)[0, 0].expand_as(everything)
    if tokens == key_tokens:
        presets[constants.CAUSAL] = masks.causal(len(tokens))
    if PAD in key_tokens:
        presets[constants.PADDING] = padding
        if tokens == key_tokens:
            presets[constants.BOTH] = presets[constants.CAUSAL] & padding
    empty = presets.get(constants.CAUSAL, everything).clone()
    empty[len(tokens) // 2] = False
    return {**presets, constants.EMPTY: empty}


def read_takes(takes: Any) -> tuple[str, ...] | None:
    if takes is None:
        return None
    if isinstance(takes, str) or not isinstance(takes, Sequence) or not takes or set(takes) - set(INPUTS):
        raise ValueError(f"takes is {takes!r}; expected names among {', '.join(INPUTS)}, in their order")
    return tuple(takes)


def read_inputs(q: Any, k: Any, v: Any, tokens: Any, key_tokens: Any) -> dict[str, Any]:
    """q (Q, d), k (K, d), v (K, d_v) and the tokens; what is missing is created to fit."""
    given = {name: _read_matrix(x, name) for name, x in (("q", q), ("k", k), ("v", v)) if x is not None}
    if tokens is None:
        tokens = len(given["q"]) if "q" in given else TOKENS
    tokens = rules.read_tokens(tokens, "tokens", MAX_TOKENS)
    if key_tokens is None:
        rows = next((len(given[name]) for name in ("k", "v") if name in given), len(tokens))
        key_tokens = tokens if rows == len(tokens) else rows
    key_tokens = rules.read_tokens(key_tokens, "key_tokens", MAX_TOKENS)
    dim = next((given[name].size(1) for name in ("q", "k") if name in given), HEAD_DIM)
    queries, keys = len(tokens), len(key_tokens)
    shapes = {"q": (queries, dim), "k": (keys, dim), "v": (keys, given["v"].size(1) if "v" in given else VALUE_DIM)}
    for seed, (name, shape) in enumerate(shapes.items()):
        x = given.setdefault(name, _seeded(shape, seed))
        if x.shape != shape:
            wanted = "(K, d_v)" if name == "v" else "(Q, d)" if name == "q" else "(K, d)"
            raise ValueError(f"{name} has shape {tuple(x.shape)}; expected {shape}, {wanted}")
    return {name: given[name] for name in "qkv"} | {"tokens": tokens, "key_tokens": key_tokens}


def _seeded(shape: tuple[int, int], seed: int) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).round(decimals=2)


def _read_matrix(x: Any, name: str) -> Tensor:
    matrix = to_tensor(x, name)
    if matrix.dim() != 2 or 0 in matrix.shape:
        raise ValueError(f"{name} has shape {tuple(matrix.shape)}; expected two axes, (tokens, features)")
    return matrix.float()


def read_allowed(allowed: Any, shape: Sequence[int]) -> Tensor:
    """A mask (Q, K), of a bool tensor that broadcasts to it or of nested lists."""
    try:
        mask = torch.as_tensor(allowed)
    except (TypeError, ValueError, RuntimeError):
        raise ValueError(f"allowed is {allowed!r}; expected a bool tensor, True = may attend") from None
    if mask.dtype != torch.bool:
        raise ValueError(f"allowed holds {mask.dtype}; expected bool, True = may attend")
    try:
        return mask.cpu().expand(*shape)
    except RuntimeError:
        raise ValueError(f"allowed has shape {tuple(mask.shape)}; expected {tuple(shape)}, queries × keys") from None
