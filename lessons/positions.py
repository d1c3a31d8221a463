"""Positions of tokens: sinusoids and learned vectors are added to the embedding; rotary positions rotate q and k.

Attention Is All You Need (arXiv 1706.03762), section 3.5; RoFormer (arXiv 2104.09864), section 3.4.2.
"""

import math

import torch
from torch import Tensor, nn

from lessons._checks import above_zero, positive, whole

MAX_LEN = 512


def sinusoids(
    num_positions: int,
    d_model: int,
    *,
    base: float = 10000.0,
    offset: int = 0,
    dtype: torch.dtype | None = None,
    device: torch.device | str | None = None,
) -> Tensor:
    """One row per position: sines and cosines alternate, and their wavelengths grow from the first to the last feature.

    Feature 2i of position t is sin(t / base^(2i / D)), feature 2i + 1 is the cosine of the same angle; if D is odd,
    the last sine has no cosine. `offset` is the position of the first row.

    Returns (T, D), T = num_positions.

    Attention Is All You Need, section 3.5.
    """
    positive(d_model=d_model)
    angles = _angles(num_positions, d_model, base, offset)  # (T, ceil(D / 2))
    table = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)  # (T, D), or (T, D + 1) where D is odd
    return table[:, :d_model].to(device=device, dtype=dtype or torch.get_default_dtype())


def rotary_angles(
    num_positions: int,
    head_dim: int,
    *,
    base: float = 10000.0,
    offset: int = 0,
    dtype: torch.dtype | None = None,
    device: torch.device | str | None = None,
) -> Tensor:
    """The angle, in radians, that rotates each pair of features at each position: t / base^(2i / d) for pair i.

    `offset` is the position of the first row. Returns (T, d / 2), T = num_positions, d = head_dim.

    RoFormer, section 3.2.2; the angles are those of the sinusoids.
    """
    positive(head_dim=head_dim)
    if head_dim % 2:
        raise ValueError(f"head_dim is {head_dim}; expected an even number: features are rotated in pairs")
    angles = _angles(num_positions, head_dim, base, offset)
    return angles.to(device=device, dtype=dtype or torch.get_default_dtype())


def rotate(x: Tensor, angles: Tensor) -> Tensor:
    """Rotate each pair of neighboring features, (0, 1), (2, 3), …, by its angle.

    x (..., T, d), angles (T, d / 2) in radians. Returns (..., T, d); the length of each pair stays the same.

    For a given q and k, the dot product of rotated q and rotated k depends on the difference of their positions, not
    on the positions themselves.

    RoFormer, section 3.4.2, equation (34).
    """
    if x.dim() < 2 or x.size(-1) % 2:
        raise ValueError(f"x has shape {tuple(x.shape)}; expected (..., T, an even number of features)")
    expected = (x.size(-2), x.size(-1) // 2)
    if angles.shape != expected:
        raise ValueError(f"angles has shape {tuple(angles.shape)}; expected (T, d / 2) = {expected}")
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)  # (T, d / 2)
    first, second = x[..., 0::2], x[..., 1::2]  # (..., T, d / 2)
    rotated = first * cos - second * sin, first * sin + second * cos
    return torch.stack(rotated, dim=-1).flatten(-2)  # (..., T, d)


class SinusoidalPositions(nn.Module):
    """Adds the sinusoids of its position to each token: (B, T, D) -> (B, T, D). It has no parameters.

    Attention Is All You Need, section 3.5.
    """

    table: Tensor

    def __init__(self, d_model: int, *, max_len: int = MAX_LEN, base: float = 10000.0):
        super().__init__()
        positive(max_len=max_len)
        self.register_buffer("table", sinusoids(max_len, d_model, base=base), persistent=False)

    def forward(self, x: Tensor, *, offset: int = 0) -> Tensor:
        """x (B, T, D); its first token is at position `offset`. Returns (B, T, D)."""
        return x + _rows(self.table, x, offset)


class LearnedPositions(nn.Module):
    """Adds a learned vector for its position to each token: (B, T, D) -> (B, T, D).

    Attention Is All You Need, section 3.5, and row (E) of its table 3.
    """

    def __init__(self, d_model: int, *, max_len: int = MAX_LEN):
        super().__init__()
        positive(d_model=d_model, max_len=max_len)
        self.table = nn.Parameter(torch.empty(max_len, d_model))
        nn.init.normal_(self.table, std=math.sqrt(0.5))  # as large as the sinusoids

    def forward(self, x: Tensor, *, offset: int = 0) -> Tensor:
        """x (B, T, D); its first token is at position `offset`. Returns (B, T, D)."""
        return x + _rows(self.table, x, offset)


class RotaryPositions(nn.Module):
    """Rotates the queries or keys of each head by the angles of their positions: (B, H, T, d) -> (B, H, T, d).

    It has no parameters and no maximum length.

    RoFormer, section 3.4.2.
    """

    def __init__(self, head_dim: int, *, base: float = 10000.0):
        super().__init__()
        rotary_angles(0, head_dim, base=base)  # checks head_dim and base
        self.head_dim = head_dim
        self.base = base

    def forward(self, x: Tensor, *, offset: int = 0) -> Tensor:
        """x (..., T, d); its first token is at position `offset`. Returns (..., T, d)."""
        if x.dim() < 2 or x.size(-1) != self.head_dim:
            raise ValueError(f"x has shape {tuple(x.shape)}; expected (..., T, {self.head_dim})")
        precise = torch.promote_types(x.dtype, torch.float32)  # in half precision the angles 2048 and 2049 are equal
        length, head_dim = x.shape[-2:]
        return rotate(x, rotary_angles(length, head_dim, base=self.base, offset=offset, dtype=precise, device=x.device))


def _angles(num_positions: int, size: int, base: float, offset: int) -> Tensor:
    """position / base^(2i / size), as (T, ceil(size / 2)), in double precision."""
    whole(0, num_positions=num_positions, offset=offset)
    above_zero(base=base)
    position = torch.arange(offset, offset + num_positions, dtype=torch.float64)  # (T,)
    exponent = torch.arange(0, size, 2, dtype=torch.float64) / size  # 2i / size
    return position[:, None] * base**-exponent


def _rows(table: Tensor, x: Tensor, offset: int) -> Tensor:
    """The rows for the positions of the tokens of x: (T, D)."""
    max_len, d_model = table.shape
    if x.dim() != 3 or x.size(-1) != d_model:
        raise ValueError(f"x has shape {tuple(x.shape)}; expected (B, T, {d_model})")
    whole(0, offset=offset)
    end = offset + x.size(1)
    if end > max_len:
        raise ValueError(f"x goes up to position {end - 1}; expected positions below max_len = {max_len}")
    return table[offset:end]
