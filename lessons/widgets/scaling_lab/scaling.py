"""The computation of ScalingLab: pairs of q and k -> scores -> weights -> entropy and gradient.

Shapes: N queries, each with K keys of its own; d features. The same numbers are drawn by scaling.js.
"""

import math
from functools import lru_cache

import torch
from torch import Tensor

from lessons.widgets.scaling_lab.constants import MAX_FEATURES, MAX_KEYS, NUM_QUERIES, STUCK

_LOW = 0xFFFFFFFF  # the lower 32 bits


def _scramble(x: Tensor) -> Tensor:
    """A 32-bit integer -> another one, as if random: the same on every machine, and in the browser."""
    x = (x ^ (x >> 16)) * 0x7FEB352D & _LOW
    x = (x ^ (x >> 15)) * 0x846CA68B & _LOW
    return x ^ (x >> 16)


@lru_cache(maxsize=4)
def draw_vectors(seed: int, num_keys: int) -> tuple[Tensor, Tensor]:
    """q (N, MAX_FEATURES) and k (N, num_keys, MAX_FEATURES), features of mean 0 and variance 1.

    Each key has its own place in the sequence: with more keys, the first ones stay the same.
    """
    places = torch.arange(NUM_QUERIES * (1 + MAX_KEYS) * MAX_FEATURES // 2)
    vectors = places.view(NUM_QUERIES, 1 + MAX_KEYS, -1)[:, : 1 + num_keys]
    start = _scramble(torch.tensor(seed))
    radius = (-2 * ((_scramble(2 * vectors ^ start) + 1).double() / 2**32).log()).sqrt()
    angle = 2 * math.pi * _scramble(2 * vectors + 1 ^ start).double() / 2**32
    numbers = torch.stack([radius * angle.cos(), radius * angle.sin()], dim=-1).flatten(-2)
    return numbers[:, 0], numbers[:, 1:]


def multiply(q: Tensor, k: Tensor) -> Tensor:
    """q (N, d) and k (N, K, d) -> their products q·k (N, K), not scaled."""
    return (k @ q[:, :, None])[..., 0]


def spread(weights: Tensor) -> Tensor:
    """The entropy of each row in nats; (…, K) -> (…)."""
    return torch.special.entr(weights).sum(dim=-1)


def by_scores(weights: Tensor) -> Tensor:
    """How each weight changes with each score: diag(w) − w wᵀ; (…, K) -> (…, K, K), weights down, scores across."""
    return torch.diag_embed(weights) - weights[..., :, None] * weights[..., None, :]


def by_query(weights: Tensor, k: Tensor, divisor: float) -> Tensor:
    """How each weight changes with each feature of the query; weights (…, K) and k (…, K, d) -> (…, K, d)."""
    return weights[..., None] * (k - weights[..., None, :] @ k) / divisor


def sizes(d: int, most: int) -> list[int]:
    """The head dimensions at which the curves are drawn: powers of two, `most`, and the current d."""
    return sorted({2**i for i in range(most.bit_length())} | {most, d})


def summarize(q: Tensor, k: Tensor, divisor: float) -> dict[str, float]:
    """The mean entropy of all queries, their median gradient, and the fraction that gives over 99 % to a single key."""
    weights = (multiply(q, k) / divisor).softmax(dim=-1)
    gradient = by_query(weights, k, divisor).square().sum(dim=(-2, -1)).sqrt()
    return {
        "entropy": spread(weights).mean().item(),
        "gradient": gradient.median().item(),
        "stuck": (weights.amax(dim=-1) > STUCK).double().mean().item(),
    }
