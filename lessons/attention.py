"""Scaled dot-product attention as a function, and multi-head attention as a module that uses it.

Attention Is All You Need (arXiv 1706.03762), sections 3.2.1 and 3.2.2.
"""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from lessons._checks import attention_axes, fraction, mask_axes, optional, positive
from lessons.fast import fused_attention


def attend(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    allowed: Tensor | None = None,
    *,
    dropout: float = 0.0,
    need_weights: bool = True,
) -> tuple[Tensor, Tensor | None]:
    """softmax(q kᵀ / sqrt(d)) v: each query's average of the values, weighted by how well the keys match.

    q (..., Q, d), k (..., K, d), v (..., K, d_v); the leading axes must broadcast.
    allowed: bool, broadcastable to (..., Q, K); True = this query may attend to this key.
        A query with no allowed key gets weights of 0 and an output of 0.
    dropout: the fraction of the weights set to 0 before they are applied to v; pass 0 when not training.
    need_weights: False calls F.scaled_dot_product_attention, which does not return the weights.

    Returns the output (..., Q, d_v), and the weights (..., Q, K) before dropout, or None unless need_weights.
    Shapes that don't fit, or a mask that isn't bool, raise a ValueError.

    Attention Is All You Need, section 3.2.1, equation (1).
    """
    fraction(dropout=dropout)
    leading = attention_axes(q, k, v, allowed)
    if not need_weights:
        q = q.expand(*leading, -1, -1)
        return fused_attention(q, k, v, allowed, dropout), None

    scores = (q / math.sqrt(q.size(-1))) @ k.transpose(-2, -1)  # (..., Q, K)
    weights = scores.softmax(dim=-1) if allowed is None else masked_softmax(scores, allowed)
    output = F.dropout(weights, dropout) @ v  # (..., Q, d_v)
    return output, weights


def masked_softmax(scores: Tensor, allowed: Tensor) -> Tensor:
    """Softmax over the allowed keys of each query. Blocked keys get 0; a query with no allowed key gets 0 everywhere.

    scores (..., Q, K); allowed: bool, broadcastable to scores, True = may attend. Returns weights (..., Q, K).
    """
    weights = scores.masked_fill(~allowed, -torch.inf).softmax(dim=-1)
    has_key = allowed.any(dim=-1, keepdim=True)  # (..., Q, 1)
    if has_key.all():
        return weights
    return weights.masked_fill(~has_key, 0.0)  # the softmax of a row of -inf is NaN


class MultiHeadAttention(nn.Module):
    """H attention heads in parallel, each with its own projections; their outputs are concatenated and projected.

    d_model: size of the queries before projection, and of the output unless out_dim is given.
    num_heads, head_dim: H and d; head_dim defaults to d_model / num_heads.
    key_dim, value_dim: sizes of key and value before projection (torch: kdim, vdim); they default to d_model.
    dropout: the fraction of the weights dropped in training.
    rotary: a module that rotates q and k by their positions, (B, H, T, d) -> (B, H, T, d); see lessons.positions.
    linear: the class of the four projections.

    Attention Is All You Need, section 3.2.2.
    """

    def __init__(
        self,
        d_model: int,
        num_heads: int,
        *,
        head_dim: int | None = None,
        key_dim: int | None = None,
        value_dim: int | None = None,
        out_dim: int | None = None,
        dropout: float = 0.0,
        bias: bool = True,
        rotary: nn.Module | None = None,
        linear: type[nn.Linear] = nn.Linear,
    ):
        super().__init__()
        positive(d_model=d_model, num_heads=num_heads)
        optional(positive, head_dim=head_dim, key_dim=key_dim, value_dim=value_dim, out_dim=out_dim)
        fraction(dropout=dropout)
        if head_dim is None and d_model % num_heads:
            raise ValueError(f"d_model is {d_model}; expected a multiple of num_heads = {num_heads}, or a head_dim")
        self.d_model = d_model
        self.num_heads = num_heads
        self.head_dim = head_dim or d_model // num_heads
        self.dropout = dropout
        attn_dim = self.num_heads * self.head_dim
        self.q_proj = linear(d_model, attn_dim, bias=bias)
        self.k_proj = linear(key_dim or d_model, attn_dim, bias=bias)
        self.v_proj = linear(value_dim or d_model, attn_dim, bias=bias)
        self.out_proj = linear(attn_dim, out_dim or d_model, bias=bias)
        self.rotary = rotary

    def forward(
        self,
        query: Tensor,
        key: Tensor | None = None,
        value: Tensor | None = None,
        allowed: Tensor | None = None,
        *,
        need_weights: bool = True,
    ) -> tuple[Tensor, Tensor | None]:
        """query (B, Q, D), key (B, K, key_dim), value (B, K, value_dim).

        key defaults to query (self-attention), value defaults to key.
        allowed: bool, True = may attend; (Q, K), or four axes that broadcast to (B, H, Q, K).

        Returns the output (B, Q, out_dim), and the weights (B, H, Q, K) before dropout, or None unless need_weights.
        """
        key = query if key is None else key
        value = key if value is None else value
        _check_module_inputs(self, query, key, value, allowed)
        q = split_heads(self.q_proj(query), self.num_heads)  # (B, H, Q, d)
        k = split_heads(self.k_proj(key), self.num_heads)  # (B, H, K, d)
        v = split_heads(self.v_proj(value), self.num_heads)  # (B, H, K, d)
        if self.rotary is not None:
            q, k = self.rotary(q), self.rotary(k)
        dropout = self.dropout if self.training else 0.0
        output, weights = attend(q, k, v, allowed, dropout=dropout, need_weights=need_weights)
        return self.out_proj(join_heads(output)), weights  # (B, Q, out_dim), (B, H, Q, K)


def set_key_size(model: nn.Module, size: int) -> None:
    """Give every MultiHeadAttention in the model queries and keys of this size in each head, with new weights.

    The values keep their size. Attention Is All You Need, table 3, rows B.
    """
    positive(size=size)
    for module in model.modules():
        if isinstance(module, MultiHeadAttention):
            if module.rotary is not None:
                raise ValueError("model has rotary positions, made for the old size; expected one without")
            for name in ("q_proj", "k_proj"):
                old = getattr(module, name)
                projection = nn.Linear(old.in_features, module.num_heads * size, bias=old.bias is not None)
                nn.init.xavier_uniform_(projection.weight)
                if projection.bias is not None:
                    nn.init.zeros_(projection.bias)
                setattr(module, name, projection.to(old.weight))


def split_heads(x: Tensor, num_heads: int) -> Tensor:
    """(B, T, H·d) -> (B, H, T, d): the first d features of each token go to head 0, the next d to head 1, …"""
    positive(num_heads=num_heads)
    if x.dim() != 3 or x.size(-1) % num_heads:
        raise ValueError(f"x has shape {tuple(x.shape)}; expected (B, T, a multiple of num_heads = {num_heads})")
    return x.unflatten(-1, (num_heads, -1)).transpose(1, 2)


def join_heads(x: Tensor) -> Tensor:
    """(B, H, T, d) -> (B, T, H·d): the inverse of `split_heads`."""
    if x.dim() != 4:
        raise ValueError(f"x has shape {tuple(x.shape)}; expected (B, H, T, d)")
    return x.transpose(1, 2).flatten(-2)


def _check_module_inputs(
    module: MultiHeadAttention, query: Tensor, key: Tensor, value: Tensor, allowed: Tensor | None
) -> None:
    sizes = (module.q_proj.in_features, module.k_proj.in_features, module.v_proj.in_features)
    for name, x, size in zip(("query", "key", "value"), (query, key, value), sizes):
        if x.dim() != 3 or x.size(-1) != size:
            raise ValueError(f"{name} has shape {tuple(x.shape)}; expected (B, length, {size})")
    if key.shape[:2] != value.shape[:2] or query.size(0) != key.size(0):
        shapes = f"query {tuple(query.shape)}, key {tuple(key.shape)}, value {tuple(value.shape)}"
        raise ValueError(f"{shapes}; expected one batch size, and as many values as keys")
    if isinstance(allowed, Tensor):
        mask_axes(allowed=allowed)
