"""What has changed in the decoder since 2017, part by part: each takes the place of one in lessons.layers.

RMSNorm: arXiv 1910.07467. SwiGLU: GLU Variants Improve Transformer, arXiv 2002.05202. Rotary positions: RoFormer, arXiv
2104.09864. Multi-query attention: arXiv 1911.02150. Grouped-query attention: arXiv 2305.13245. Query-key norm:
arXiv 2302.05442, section 2.
"""

from typing import Protocol

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from lessons._checks import above_zero, bool_mask, kind, mask_axes, one_of, optional, positive
from lessons.attention import attend, join_heads, split_heads
from lessons.fast import Linear
from lessons.language_model.config import FEED_FORWARDS, NORMS, PAIRS
from lessons.layers import FeedForward
from lessons.masks import combine, sliding_window


class Remembers(Protocol):
    """The memory of one attention module: the keys and values of the tokens that it has read before."""

    def extend(self, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """k and v of the next n tokens, (B, H_kv, n, d) each. Returns what they attend to, (B, H_kv, K, d) each."""
        ...


class RMSNorm(nn.Module):
    """x / sqrt(mean(x²) + eps), times a learned weight per feature: no mean is subtracted, and there is no bias.

    Root Mean Square Layer Normalization, equation (4).
    """

    def __init__(self, d_model: int, eps: float = 1e-5):
        super().__init__()
        positive(d_model=d_model)
        above_zero(eps=eps)
        self.weight = nn.Parameter(torch.ones(d_model))
        self.eps = eps

    def forward(self, x: Tensor) -> Tensor:
        """x (..., D). Returns (..., D). The mean square is computed in float32 at least."""
        if not x.dim() or x.size(-1) != len(self.weight):
            raise ValueError(f"x has shape {tuple(x.shape)}; expected (..., {len(self.weight)})")
        precise = x.to(torch.promote_types(x.dtype, torch.float32))
        scale = torch.rsqrt(precise.square().mean(dim=-1, keepdim=True) + self.eps)  # (..., 1)
        return (precise * scale).to(x.dtype) * self.weight


class SwiGLU(nn.Module):
    """(SiLU(x W_gate) * (x W_up)) W_down, applied to each token separately: (B, T, D) -> (B, T, d_ff) -> (B, T, D).

    SiLU(x) = x · sigmoid(x). Three matrices instead of two: with d_ff · 2/3 it has as many parameters as FeedForward.

    GLU Variants Improve Transformer, equation (6).
    """

    def __init__(self, d_model: int, d_ff: int, bias: bool = False):
        super().__init__()
        positive(d_model=d_model, d_ff=d_ff)
        self.gate_proj = Linear(d_model, d_ff, bias=bias)
        self.up_proj = Linear(d_model, d_ff, bias=bias)
        self.down_proj = Linear(d_ff, d_model, bias=bias)

    def forward(self, x: Tensor) -> Tensor:
        """x (..., D). Returns (..., D)."""
        if not x.dim() or x.size(-1) != self.gate_proj.in_features:
            raise ValueError(f"x has shape {tuple(x.shape)}; expected (..., {self.gate_proj.in_features})")
        return self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))


class TwoMatrices(FeedForward):
    """The feed-forward network of 2017, with or without biases, and with GPT-2's approximation of GELU as a choice.

    activation: "relu", "gelu", or "gelu_tanh". Gaussian Error Linear Units (arXiv 1606.08415), section 2.
    """

    def __init__(self, d_model: int, d_ff: int, *, activation: str, bias: bool):
        super().__init__(d_model, d_ff, activation="gelu" if activation == "gelu_tanh" else activation)
        self.approximate = activation == "gelu_tanh"
        if not bias:
            self.linear1.register_parameter("bias", None)
            self.linear2.register_parameter("bias", None)

    def forward(self, x: Tensor) -> Tensor:
        """x (B, T, D). Returns (B, T, D)."""
        if not self.approximate:
            return super().forward(x)
        return self.linear2(F.gelu(self.linear1(x), approximate="tanh"))


def make_norm(norm: str, d_model: int, *, bias: bool, eps: float) -> nn.Module:
    """nn.LayerNorm for "layer", an RMSNorm, which has no bias, for "rms"."""
    one_of(NORMS, norm=norm)
    return RMSNorm(d_model, eps) if norm == "rms" else nn.LayerNorm(d_model, eps, bias=bias)


def make_feed_forward(feed_forward: str, d_model: int, d_ff: int, *, bias: bool) -> nn.Module:
    """A SwiGLU for "swiglu", else two matrices with the activation of that name."""
    one_of(FEED_FORWARDS, feed_forward=feed_forward)
    if feed_forward == "swiglu":
        return SwiGLU(d_model, d_ff, bias)
    return TwoMatrices(d_model, d_ff, activation=feed_forward, bias=bias)


def rotate_halves(x: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    """Rotate feature i together with feature i + d / 2 by the angle position / base^(2i / d), as Hugging Face's Llama.

    x (..., T, d); positions: whole numbers, (T,), or (..., T) with axes that broadcast to those of x.
    Returns (..., T, d).

    RoFormer, section 3.4.2, with its features in another order: see `halves_to_neighbors`.
    """
    cos, sin = _turns(x, positions, base)
    first, second = x.chunk(2, dim=-1)  # (..., T, d / 2) each
    return torch.cat([first * cos - second * sin, first * sin + second * cos], dim=-1)


def rotate_neighbors(x: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    """Rotate feature 2i together with feature 2i + 1: `lessons.positions.rotate`, at positions that you choose.

    The arguments and the result are those of `rotate_halves`. RoFormer, section 3.4.2, equation (34).
    """
    cos, sin = _turns(x, positions, base)
    first, second = x[..., 0::2], x[..., 1::2]  # (..., T, d / 2) each
    return torch.stack([first * cos - second * sin, first * sin + second * cos], dim=-1).flatten(-2)


def halves_to_neighbors(n: int) -> Tensor:
    """The order (n,) that brings the features of each pair together: 0, n / 2, 1, n / 2 + 1, …

    With `order = halves_to_neighbors(n)`, `rotate_neighbors(x[..., order], …)` is `rotate_halves(x, …)[..., order]`,
    and `order.argsort()` is the way back. So a model that rotates halves gives the same attention weights as one that
    rotates neighbors, if the rows of each head's query and key projections are put in this order.
    """
    positive(n=n)
    if n % 2:
        raise ValueError(f"n is {n}; expected an even number: features are rotated in pairs")
    return torch.arange(n).unflatten(0, (2, -1)).T.flatten()


class Rotary(nn.Module):
    """Rotates the queries or keys of each head by the angles of their positions. It has no parameters.

    pairs: "halves" or "neighbors". RoFormer, section 3.4.2.
    """

    def __init__(self, head_dim: int, *, base: float = 10000.0, pairs: str = "halves"):
        super().__init__()
        positive(head_dim=head_dim)
        above_zero(base=base)
        one_of(PAIRS, pairs=pairs)
        if head_dim % 2:
            raise ValueError(f"head_dim is {head_dim}; expected an even number: features are rotated in pairs")
        self.base = base
        self.rotate = rotate_halves if pairs == "halves" else rotate_neighbors

    def forward(self, x: Tensor, positions: Tensor) -> Tensor:
        """x (B, H, T, d); positions: whole numbers, (T,) or (B, T). Returns (B, H, T, d)."""
        return self.rotate(x, positions.unsqueeze(-2), self.base)


class GroupedQueryAttention(nn.Module):
    """Self-attention in which num_heads / num_kv_heads neighboring query heads use the same keys and values.

    num_kv_heads: it divides num_heads, and defaults to it: then this is multi-head attention; with 1, multi-query.
    head_dim: defaults to d_model / num_heads.
    rotary: a module that rotates q and k, (B, H, T, d) and positions -> (B, H, T, d), such as `Rotary`.
    query_key_norm: an RMSNorm over the d features of each query and key, before they are rotated; eps: its eps.
    window: a query sees only its last `window` keys, its own included; pass `allowed` for the causal rule.

    Grouped-query attention: arXiv 2305.13245, section 2.2.
    """

    def __init__(
        self,
        d_model: int,
        num_heads: int,
        num_kv_heads: int | None = None,
        *,
        head_dim: int | None = None,
        bias: bool = False,
        rotary: nn.Module | None = None,
        query_key_norm: bool = False,
        window: int | None = None,
        eps: float = 1e-5,
    ):
        super().__init__()
        positive(d_model=d_model, num_heads=num_heads)
        optional(positive, num_kv_heads=num_kv_heads, head_dim=head_dim, window=window)
        if head_dim is None and d_model % num_heads:
            raise ValueError(f"d_model is {d_model}; expected a multiple of num_heads = {num_heads}, or a head_dim")
        self.num_heads, self.num_kv_heads = num_heads, num_kv_heads or num_heads
        if num_heads % self.num_kv_heads:
            raise ValueError(f"num_kv_heads is {num_kv_heads}; expected a divisor of num_heads = {num_heads}")
        self.d_model, self.head_dim, self.window = d_model, head_dim or d_model // num_heads, window
        queries, keys = num_heads * self.head_dim, self.num_kv_heads * self.head_dim
        self.q_proj = Linear(d_model, queries, bias=bias)
        self.k_proj = Linear(d_model, keys, bias=bias)
        self.v_proj = Linear(d_model, keys, bias=bias)
        self.out_proj = Linear(queries, d_model, bias=bias)
        self.query_norm = RMSNorm(self.head_dim, eps) if query_key_norm else None
        self.key_norm = RMSNorm(self.head_dim, eps) if query_key_norm else None
        self.rotary = rotary

    def forward(
        self,
        x: Tensor,
        allowed: Tensor | None = None,
        *,
        positions: Tensor | None = None,
        memory: Remembers | None = None,
        need_weights: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """x (B, T, D).

        allowed: bool, True = may attend; (T, K), or four axes that broadcast to (B, H, T, K).
        positions: whole numbers, (T,) or (B, T), for rotary; they default to 0 … T - 1.
        memory: keeps the keys and values of earlier calls; then K counts them as well. Without it K = T.

        Returns the output (B, T, D), and the weights (B, H, T, K), or None unless need_weights.
        """
        if x.dim() != 3 or x.size(-1) != self.d_model:
            raise ValueError(f"x has shape {tuple(x.shape)}; expected (B, T, {self.d_model})")
        if allowed is not None:
            bool_mask("True = may attend", allowed=allowed)
            mask_axes(allowed=allowed)
        q = split_heads(self.q_proj(x), self.num_heads)  # (B, H, T, d)
        k = split_heads(self.k_proj(x), self.num_kv_heads)  # (B, H_kv, T, d)
        v = split_heads(self.v_proj(x), self.num_kv_heads)  # (B, H_kv, T, d)
        if self.query_norm is not None and self.key_norm is not None:
            q, k = self.query_norm(q), self.key_norm(k)
        if self.rotary is not None:
            positions = torch.arange(x.size(1), device=x.device) if positions is None else positions
            q, k = self.rotary(q, positions), self.rotary(k, positions)
        if memory is not None:
            k, v = memory.extend(k, v)  # (B, H_kv, K, d)
        num_queries, num_keys = q.size(2), k.size(2)
        if self.window is not None and num_keys > self.window:
            near = sliding_window(num_queries, self.window, offset=num_keys - num_queries, device=x.device)
            allowed = combine(allowed, near)
        group = self.num_heads // self.num_kv_heads
        if group > 1:  # heads 0 … group - 1 use the first keys, the next group the second
            k, v = k.repeat_interleave(group, dim=1), v.repeat_interleave(group, dim=1)  # (B, H, K, d)
        output, weights = attend(q, k, v, allowed, need_weights=need_weights)
        return self.out_proj(join_heads(output)), weights


def _turns(x: Tensor, positions: Tensor, base: float) -> tuple[Tensor, Tensor]:
    """Cosine and sine of each pair's angle, (..., T, d / 2), in the type of x."""
    if x.dim() < 2 or x.size(-1) % 2:
        raise ValueError(f"x has shape {tuple(x.shape)}; expected (..., T, an even number of features)")
    if not isinstance(positions, Tensor) or positions.dtype not in (torch.int64, torch.int32):
        raise ValueError(f"positions is {kind(positions)}; expected a tensor of whole numbers")
    if not positions.dim() or positions.size(-1) != x.size(-2):
        raise ValueError(f"positions has shape {tuple(positions.shape)}; expected (..., {x.size(-2)}), one per token")
    above_zero(base=base)
    exponent = torch.arange(0, x.size(-1), 2, dtype=torch.float64, device=x.device) / x.size(-1)  # 2i / d
    angles = positions[..., None] * base**-exponent  # (..., T, d / 2)
    return angles.cos().to(x.dtype), angles.sin().to(x.dtype)
