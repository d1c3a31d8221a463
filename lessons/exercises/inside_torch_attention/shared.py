"""What the exercises of lesson 13 share."""

import torch
from torch import Tensor

from lessons.checking.engine import numbers


def some_blocked(generator: torch.Generator, *shape: int) -> Tensor:
    """A bool mask, True = blocked, that leaves the first key open to all, and the second to none."""
    mask = torch.rand(*shape, generator=generator) < 0.4
    mask[..., 0], mask[..., 1] = False, True
    return mask


def some_padding(batch: int, keys: int) -> Tensor:
    """(B, S) bool, True = blocked: sentences of lengths S - 1, S - 2, …"""
    lengths = keys - 1 - torch.arange(batch) % (keys - 1)
    return torch.arange(keys) >= lengths[:, None]


def some_bias(generator: torch.Generator, *shape: int) -> Tensor:
    """An additive mask that holds more than 0 and -inf."""
    bias = numbers(generator, *shape) * (torch.rand(*shape, generator=generator) < 0.6)
    return bias.masked_fill(some_blocked(generator, *shape), -torch.inf)


def inverted(mask: Tensor) -> Tensor:
    return ~mask if mask.dtype == torch.bool else mask
