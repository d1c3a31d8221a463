"""The combinations of arguments in which the drop-in of lesson 13 is run, and the tensors for each of them."""

import functools
import itertools
import random
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from lessons.checking.engine import numbers
from lessons.exercises.inside_torch_attention.shared import some_bias, some_blocked, some_padding


@dataclass(frozen=True)
class Sizes:
    embed_dim: int = 12
    num_heads: int = 3
    batch: int = 2
    queries: int = 5
    keys: int = 7
    kdim: int = 9
    vdim: int = 10


SIZES = {
    "other sizes": Sizes(20, 5, 3, 4, 6, 7, 11),
    "one query": Sizes(batch=1, queries=1),
    "only vdim differs": Sizes(kdim=12),
    "only kdim differs": Sizes(vdim=12),
}

CHOICES = {
    "inputs": ("self-attention", "cross-attention", "kdim and vdim"),
    "axes": ("sequence first", "batch_first", "no batch"),
    "attn_mask": (None, "bool (L, S)", "bool (B·H, L, S)", "float (L, S)", "float (B·H, L, S)"),
    "key_padding_mask": (None, "bool", "float"),
    "need_weights": (True, False),
    "average_attn_weights": (True, False),
    "bias": (True, False),
    "add_bias_kv": (False, True),
    "add_zero_attn": (False, True),
}
PLAIN = {name: values[0] for name, values in CHOICES.items()} | {"mode": "evaluation"}


def _mixed(choice: dict) -> bool:
    """Whether one of the masks is bool and the other float, which torch advises against."""
    attn, padding = choice["attn_mask"], choice["key_padding_mask"]
    return attn is not None and padding is not None and attn.split()[0] != padding


@functools.cache
def combinations() -> tuple[dict, ...]:
    """256 ways of setting the arguments: all that change up to two of them, the others drawn with a fixed seed."""
    every = [dict(zip(CHOICES, values)) | {"mode": "evaluation"} for values in itertools.product(*CHOICES.values())]
    every = [choice for choice in every if not _mixed(choice)]
    simple = [choice for choice in every if len(changed(choice)) <= 2]
    others = [choice for choice in every if len(changed(choice)) > 2]
    return (*simple, *random.Random(0).sample(others, 256 - len(simple)))


def changed(choice: dict) -> dict:
    """The arguments that are not as they are by default."""
    return {name: value for name, value in choice.items() if value != PLAIN[name]}


def sizes_of(choice: dict) -> Sizes:
    return next((sizes for name, sizes in SIZES.items() if name in choice["mode"]), Sizes())


def dtype_of(choice: dict) -> torch.dtype:
    *_, last = choice["mode"].split(", ")
    return getattr(torch, last) if "float" in last else torch.float32


def tensors(choice: dict) -> tuple[list[Tensor], dict[str, Tensor | None]]:
    """query, key, value and the masks for a choice of arguments: new tensors with the same numbers at each call."""
    drawn = _drawn(*choice.values())
    query, key, value = (x.clone() for x in drawn[:3])
    attn, padding = (x if x is None else x.clone() for x in drawn[3:])
    if choice["axes"] == "no batch":
        query, key, value = query[:, 0], key[:, 0], value[:, 0]
        padding = None if padding is None else padding[1]
    elif choice["axes"] == "batch_first":
        query, key, value = (x.transpose(0, 1).contiguous() for x in (query, key, value))
    inputs = [query, query, query] if choice["inputs"] == "self-attention" else [query, key, value]
    return inputs, {"attn_mask": attn, "key_padding_mask": padding}


@functools.cache
def _drawn(*values: Any) -> tuple[Tensor, Tensor, Tensor, Tensor | None, Tensor | None]:
    """The tensors for a choice, (L, B, E) and (S, B, …) whatever its axes."""
    choice = dict(zip(PLAIN, values))
    generator = torch.Generator().manual_seed(1)
    sizes, dtype = sizes_of(choice), dtype_of(choice)
    keys = sizes.queries if choice["inputs"] == "self-attention" else sizes.keys
    kdim, vdim = (sizes.kdim, sizes.vdim) if choice["inputs"] == "kdim and vdim" else (sizes.embed_dim,) * 2
    query = numbers(generator, sizes.queries, sizes.batch, sizes.embed_dim).to(dtype)
    key, value = (numbers(generator, keys, sizes.batch, size).to(dtype) for size in (kdim, vdim))
    rows = sizes.num_heads * (1 if choice["axes"] == "no batch" else sizes.batch)

    attn = padding = None
    if kind := choice["attn_mask"]:
        shape = (sizes.queries, keys) if kind.endswith(" (L, S)") else (rows, sizes.queries, keys)
        attn = some_blocked(generator, *shape) if kind.startswith("bool") else some_bias(generator, *shape).to(dtype)
    if kind := choice["key_padding_mask"]:
        bias = some_bias(generator, sizes.batch, keys).to(dtype)
        padding = some_padding(sizes.batch, keys) if kind == "bool" else bias
    if "is_causal" in choice["mode"]:
        attn = torch.ones(sizes.queries, keys, dtype=torch.bool).triu(1)

    return query, key, value, attn, padding


def settings(choice: dict) -> dict:
    """The arguments of __init__, in torch's order."""
    sizes, others = sizes_of(choice), choice["inputs"] == "kdim and vdim"
    return {
        "embed_dim": sizes.embed_dim,
        "num_heads": sizes.num_heads,
        "dropout": 1.0 if "dropout" in choice["mode"] else 0.0,
        "bias": choice["bias"],
        "add_bias_kv": choice["add_bias_kv"],
        "add_zero_attn": choice["add_zero_attn"],
        "kdim": sizes.kdim if others else None,
        "vdim": sizes.vdim if others else None,
        "batch_first": choice["axes"] == "batch_first" or "batch_first" in choice["mode"],
    }


BY_DEFAULT = {
    **{"dropout": 0.0, "bias": True, "add_bias_kv": False, "add_zero_attn": False, "kdim": None, "vdim": None},
    **{"batch_first": False, "key_padding_mask": None, "need_weights": True, "attn_mask": None},
    **{"average_attn_weights": True, "is_causal": False},
}


def given(arguments: dict) -> dict:
    """The arguments that are not as by default."""
    return {
        name: value
        for name, value in arguments.items()
        if isinstance(value, Tensor) or name not in BY_DEFAULT or value != BY_DEFAULT[name]
    }
