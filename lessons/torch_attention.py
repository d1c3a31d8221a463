"""torch.nn.MultiheadAttention step by step, with torch's names and masks.

attn_mask and key_padding_mask have torch's meaning here, not that of `allowed`: in a bool mask True means blocked, and
a float mask is added to the scores. torch's letters: L queries, S keys, E = embed_dim, kdim, vdim; d = E / H.
"""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from lessons._checks import is_number, positive, refusal
from lessons.masks import blocked_to_additive


def in_projection(
    query: Tensor, key: Tensor, value: Tensor, weight: Tensor, bias: Tensor | None
) -> tuple[Tensor, Tensor, Tensor]:
    """query (L, B, E), key and value (S, B, E), weight (3E, E), bias (3E) or None -> q (L, B, E), k, v (S, B, E)."""
    biases = (None, None, None) if bias is None else bias.chunk(3)
    q, k, v = (F.linear(x, w, b) for x, w, b in zip((query, key, value), weight.chunk(3), biases))
    return q, k, v


def to_additive(mask: Tensor, dtype: torch.dtype) -> Tensor:
    """Turns a bool mask, True = blocked, into 0 and -inf; a float mask is already additive and stays the same."""
    return mask if mask.is_floating_point() else blocked_to_additive(mask, dtype=dtype)


def merge_masks(
    attn_mask: Tensor | None, key_padding_mask: Tensor | None, num_heads: int, dtype: torch.dtype = torch.float32
) -> Tensor | None:
    """attn_mask (L, S) or (B·H, L, S), key_padding_mask (B, S): bool, True = blocked, or float, added to the scores.

    Returns one additive mask that broadcasts to (B·H, L, S), or None if there is no mask.
    """
    merged = None
    if attn_mask is not None:
        attn_mask = to_additive(attn_mask, dtype)
        merged = attn_mask if attn_mask.dim() == 3 else attn_mask[None]  # (1, L, S) or (B·H, L, S)
    if key_padding_mask is not None:
        batch, keys = key_padding_mask.shape
        padding = to_additive(key_padding_mask, dtype).view(batch, 1, 1, keys)
        padding = padding.expand(-1, num_heads, -1, -1).reshape(batch * num_heads, 1, keys)  # (B·H, 1, S)
        merged = padding if merged is None else merged + padding  # (B·H, L, S)
    return merged


def attention_weights(q: Tensor, k: Tensor, mask: Tensor | None) -> Tensor:
    """q (B·H, L, d), k (B·H, S, d), additive mask that broadcasts to (B·H, L, S), or None -> weights (B·H, L, S)."""
    q = q / math.sqrt(q.size(-1))
    scores = torch.bmm(q, k.mT) if mask is None else torch.baddbmm(mask, q, k.mT)  # mask + q kᵀ
    return scores.softmax(dim=-1)


class MultiheadAttentionByHand(nn.Module):
    """nn.MultiheadAttention step by step: the same arguments, the same state dict, the same results up to rounding.

    In a bool mask True means blocked; a float mask is added to the scores. A query with no allowed key gets NaN, as
    in torch with need_weights=True; torch's fused kernels can give 0 instead. And attn_mask always counts: with
    is_causal=True and need_weights=False, torch can replace it by its own triangle, which in self-attention
    hides the keys of add_bias_kv and add_zero_attn.
    """

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
    ):
        super().__init__()
        kdim, vdim = embed_dim if kdim is None else kdim, embed_dim if vdim is None else vdim
        _check_settings(num_heads, dropout, embed_dim=embed_dim, kdim=kdim, vdim=vdim)
        self.sizes = (embed_dim, kdim, vdim)
        self.num_heads, self.dropout = num_heads, dropout
        self.add_zero_attn, self.batch_first = add_zero_attn, batch_first
        if kdim == vdim == embed_dim:
            self.in_proj_weight = nn.Parameter(torch.empty(3 * embed_dim, embed_dim))
        else:
            self.in_proj_weight = None
            self.q_proj_weight = nn.Parameter(torch.empty(embed_dim, embed_dim))
            self.k_proj_weight = nn.Parameter(torch.empty(embed_dim, kdim))
            self.v_proj_weight = nn.Parameter(torch.empty(embed_dim, vdim))
        packed = list(self.parameters())
        self.in_proj_bias = nn.Parameter(torch.zeros(3 * embed_dim)) if bias else None
        self.out_proj = nn.Linear(embed_dim, embed_dim, bias=bias)
        self.bias_k = nn.Parameter(torch.empty(1, 1, embed_dim)) if add_bias_kv else None
        self.bias_v = nn.Parameter(torch.empty(1, 1, embed_dim)) if add_bias_kv else None

        for weight in packed:
            nn.init.xavier_uniform_(weight)
        if bias:
            nn.init.zeros_(self.out_proj.bias)
        if self.bias_k is not None and self.bias_v is not None:
            nn.init.xavier_normal_(self.bias_k)
            nn.init.xavier_normal_(self.bias_v)

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = True,
        attn_mask: Tensor | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """query (L, B, E), key (S, B, kdim), value (S, B, vdim); with batch_first B comes first; B may be missing.

        attn_mask (L, S) or (B·H, L, S), key_padding_mask (B, S): bool, True = blocked, or float, added to the scores.
        is_causal only promises that attn_mask is causal, and has no effect here.

        Returns the output, in the shape of query, and the weights: averaged over the heads (B, L, S), or (B, H, L, S)
        unless average_attn_weights, or None unless need_weights. Unlike in lessons.attention, they are those after
        dropout.
        """
        batched = query.dim() == 3
        if not batched:
            query, key, value = query.unsqueeze(1), key.unsqueeze(1), value.unsqueeze(1)
            key_padding_mask = None if key_padding_mask is None else key_padding_mask[None]
        elif self.batch_first:
            query, key, value = query.transpose(0, 1), key.transpose(0, 1), value.transpose(0, 1)
        _check_inputs(self, query, key, value, key_padding_mask, attn_mask, is_causal)
        batch = query.size(1)

        q, k, v = self.project(query, key, value)  # (L, B, E), (S, B, E), (S, B, E)
        mask = merge_masks(attn_mask, key_padding_mask, self.num_heads, query.dtype)  # (B·H, L, S) or less, or None
        k, v, mask = self.append(k, v, mask)
        q, k, v = (self.heads_first(x) for x in (q, k, v))  # (B·H, L, d), (B·H, S, d), (B·H, S, d)
        weights = F.dropout(attention_weights(q, k, mask), self.dropout, self.training)
        heads = torch.bmm(weights, v)  # (B·H, L, d)
        output = self.out_proj(self.join(heads))  # (L, B, E)

        if not batched:
            output = output.squeeze(1)
        elif self.batch_first:
            output = output.transpose(0, 1)
        if not need_weights:
            return output, None
        weights = weights.unflatten(0, (batch, self.num_heads))  # (B, H, L, S)
        weights = weights.mean(dim=1) if average_attn_weights else weights
        return output, weights if batched else weights.squeeze(0)

    def project(self, query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Project with one packed weight if all sizes are equal, else with three; the bias is always packed."""
        if self.in_proj_weight is not None:
            return in_projection(query, key, value, self.in_proj_weight, self.in_proj_bias)
        b_q, b_k, b_v = (None, None, None) if self.in_proj_bias is None else self.in_proj_bias.chunk(3)
        return (
            F.linear(query, self.q_proj_weight, b_q),
            F.linear(key, self.k_proj_weight, b_k),
            F.linear(value, self.v_proj_weight, b_v),
        )

    def append(self, k: Tensor, v: Tensor, mask: Tensor | None) -> tuple[Tensor, Tensor, Tensor | None]:
        """Append a key and value for add_bias_kv, and one for add_zero_attn; no mask blocks them."""
        keys = len(k)
        if self.bias_k is not None and self.bias_v is not None:
            bias_k, bias_v = self.bias_k.expand(-1, k.size(1), -1), self.bias_v.expand(-1, v.size(1), -1)  # (1, B, E)
            k, v = torch.cat([k, bias_k]), torch.cat([v, bias_v])
        if self.add_zero_attn:
            k, v = (torch.cat([x, torch.zeros_like(x[:1])]) for x in (k, v))
        return k, v, mask if mask is None else F.pad(mask, (0, len(k) - keys))

    def heads_first(self, x: Tensor) -> Tensor:
        """(S, B, E) -> (B·H, S, d)"""
        return x.reshape(len(x), x.size(1) * self.num_heads, x.size(-1) // self.num_heads).transpose(0, 1)

    def join(self, heads: Tensor) -> Tensor:
        """(B·H, L, d) -> (L, B, E)"""
        return heads.transpose(0, 1).reshape(heads.size(1), len(heads) // self.num_heads, self.sizes[0])


def _check_settings(num_heads: int, dropout: float, **sizes: int) -> None:
    positive(num_heads=num_heads, **sizes)
    if sizes["embed_dim"] % num_heads:
        raise ValueError(f"embed_dim is {sizes['embed_dim']}; expected a multiple of num_heads = {num_heads}")
    if not is_number(dropout) or not 0 <= dropout <= 1:  # torch takes 1 too
        raise refusal("dropout", dropout, "a fraction from 0 to 1")


def _check_inputs(
    module: MultiheadAttentionByHand,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    key_padding_mask: Tensor | None,
    attn_mask: Tensor | None,
    is_causal: bool,
) -> None:
    """Raise a ValueError if something doesn't fit. The inputs are (length, B, features)."""
    for name, x, size in zip(("query", "key", "value"), (query, key, value), module.sizes):
        if x.dim() != 3 or x.size(-1) != size:
            raise ValueError(f"{name} has shape {tuple(x.shape)} as (length, B, features); expected {size} features")
    if key.shape[:2] != value.shape[:2] or query.size(1) != key.size(1):
        shapes = f"query {tuple(query.shape)}, key {tuple(key.shape)}, value {tuple(value.shape)}"
        raise ValueError(f"{shapes}, as (length, B, features); expected one batch size, and as many values as keys")
    (length, batch, _), keys = query.shape, len(key)
    shapes = {
        "attn_mask": (attn_mask, [(length, keys), (batch * module.num_heads, length, keys)]),
        "key_padding_mask": (key_padding_mask, [(batch, keys)]),
    }
    for name, (mask, expected) in shapes.items():
        if mask is None:
            continue
        if mask.dtype not in (torch.bool, query.dtype):
            raise ValueError(f"{name} is a tensor of {mask.dtype}; expected bool, True = blocked, or {query.dtype}")
        if tuple(mask.shape) not in expected:
            raise ValueError(f"{name} has shape {tuple(mask.shape)}; expected {' or '.join(map(str, expected))}")
    if is_causal and attn_mask is None:
        raise ValueError("attn_mask is None and is_causal is True; expected the causal mask that is_causal promises")
