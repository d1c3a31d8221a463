"""Decoders that generate token by token: a model with a cache of keys and values, one without, and a table.

Autoregressive decoding: Attention Is All You Need (arXiv 1706.03762), section 3. Keeping keys and values between the
steps: Fast Transformer Decoding (arXiv 1911.02150), section 2.4.
"""

from collections.abc import Callable, Sequence
from typing import Protocol

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from lessons._checks import positive, whole
from lessons.attention import split_heads
from lessons.layers import ACTIVATIONS, DecoderLayer
from lessons.masks import causal, combine, padding
from lessons.transformer import Transformer

Norm = tuple[tuple[int, ...], Tensor, Tensor, float]  # normalized_shape, weight, bias, eps

ROOM = 32  # initial length of the cache; it doubles when it is full


class IncrementalDecoder(Protocol):
    """Reads tokens and returns the logits of the token after each of them. It remembers all that it has read."""

    @property
    def batch_size(self) -> int:
        """B, the number of sentences it generates at once."""
        ...

    @property
    def length(self) -> int:
        """How many tokens of each sentence it has read."""
        ...

    @property
    def device(self) -> torch.device:
        """The device that the ids must be on."""
        ...

    def step(self, ids: Tensor) -> Tensor:
        """ids (B, n), the next n tokens of each sentence. Returns logits (B, n, V)."""
        ...

    def select(self, rows: Tensor) -> None:
        """Continue with these sentences, rows (B',); a row may occur more than once."""

    def forget(self, count: int) -> None:
        """Undo the last `count` tokens of each sentence."""


class _KeepsIds:
    """The part of a decoder that stores the tokens so far as ids (B, length)."""

    ids: Tensor

    @property
    def device(self) -> torch.device:
        return self.ids.device

    @property
    def batch_size(self) -> int:
        return len(self.ids)

    @property
    def length(self) -> int:
        return self.ids.size(1)

    def forget(self, count: int) -> None:
        whole(0, self.length, count=count)
        self.ids = self.ids[:, : self.length - count]


class Recomputed(_KeepsIds):
    """A model that recomputes the whole sentence for each new token: simple, and slow."""

    def __init__(self, model: Transformer, src: Tensor):
        """src (B, S), padded with the model's src_pad_id."""
        _check_mode(model)
        self.model, self.src = model, src
        with torch.no_grad():
            self.memory = model.encode(src)  # (B, S, D)
        self.ids = src.new_empty(len(src), 0)  # (B, length)

    @torch.no_grad()
    def step(self, ids: Tensor) -> Tensor:
        _check_step(ids, self.batch_size)
        self.ids = torch.cat([self.ids, ids], dim=1)
        return self.model.decode(self.ids, self.memory, self.src)[:, -ids.size(1) :]

    def select(self, rows: Tensor) -> None:
        self.ids, self.memory, self.src = self.ids[rows], self.memory[rows], self.src[rows]


class Cached:
    """A model with a KV cache: the keys and values of each token are computed once, then stored.

    The cache of self-attention grows by one key and one value per token, layer and head; that of cross-attention never
    changes. The logits are those of the full pass up to rounding, also with padding.
    """

    def __init__(self, model: Transformer, src: Tensor):
        """src (B, S), padded with the model's src_pad_id. A model with hooks raises a ValueError."""
        _check_mode(model)
        if has_hooks(model):
            raise ValueError("model has hooks, which the cache would pass over; expected one without, or Recomputed")
        self.model, self.length = model, 0
        with torch.no_grad():
            memory = model.encode(src)  # (B, S, D)
            self.layers = [LayerMemory(layer, memory) for layer in model.decoder.layers]
        real = padding(src, pad_id=model.config.src_pad_id)  # (B, 1, 1, S)
        self.cross_allowed = None if real.all() else real
        self.real = src.new_empty(len(src), 0, dtype=torch.bool)  # (B, length), False = padding
        self.all_real = True

    @property
    def device(self) -> torch.device:
        return self.real.device

    @property
    def batch_size(self) -> int:
        return len(self.real)

    @property
    def bytes(self) -> int:
        """The size of the cache in bytes: cross-attention's keys and values, and those of the tokens so far."""
        return sum(layer.bytes(self.length) for layer in self.layers)

    @torch.no_grad()
    def step(self, ids: Tensor) -> Tensor:
        _check_step(ids, self.batch_size)
        x = self.model.tgt_embedding(ids, offset=self.length)  # (B, n, D)
        allowed = self._tgt_allowed(ids)
        for layer in self.layers:
            x = layer.step(x, self.length, allowed, self.cross_allowed)
        self.length += ids.size(1)
        norm = self.model.decoder.norm
        return self.model.out_proj(x if norm is None else norm(x))  # (B, n, V)

    def select(self, rows: Tensor) -> None:
        self.real = self.real[rows]
        self.cross_allowed = None if self.cross_allowed is None else self.cross_allowed[rows]
        for layer in self.layers:
            layer.select(rows)

    def forget(self, count: int) -> None:
        whole(0, self.length, count=count)
        self.length -= count
        self.real = self.real[:, : self.length]

    def _tgt_allowed(self, ids: Tensor) -> Tensor | None:
        """The mask of self-attention, (B, 1, n, length + n), as in the full pass; None if nothing is blocked."""
        new = ids != self.model.config.tgt_pad_id  # (B, n)
        self.real = torch.cat([self.real, new], dim=1)
        self.all_real = self.all_real and bool(new.all())
        if self.all_real and ids.size(1) == 1:
            return None
        earlier = causal(ids.size(1), offset=self.length, device=ids.device)  # (n, length + n)
        return combine(earlier, self.real[:, None, None])


class LayerMemory:
    """One decoder layer with its cache of keys and values.

    With one token at a time there is so little arithmetic that calling modules would take most of the time. So the
    weights are used directly, those of q, k and v as one matrix. If you change DecoderLayer, change this class as
    well; a test compares them.
    """

    def __init__(self, layer: DecoderLayer, memory: Tensor):
        self_attn, cross_attn = layer.self_attn, layer.cross_attn
        self.num_heads, self.norm_first = self_attn.num_heads, layer.self_attn_residual.norm_first
        self.rotary, self.activation = self_attn.rotary, ACTIVATIONS[layer.feed_forward.activation]
        projections = (self_attn.q_proj, self_attn.k_proj, self_attn.v_proj)
        self.qkv_proj = torch.cat([p.weight for p in projections]), torch.cat([p.bias for p in projections])
        self.qkv_sizes = [p.out_features for p in projections]
        self.self_out, self.cross_q, self.cross_out, self.linear1, self.linear2 = (
            (linear.weight, linear.bias)
            for linear in (
                self_attn.out_proj,
                cross_attn.q_proj,
                cross_attn.out_proj,
                layer.feed_forward.linear1,
                layer.feed_forward.linear2,
            )
        )
        self.self_norm, self.cross_norm, self.last_norm = (
            (residual.norm.normalized_shape, residual.norm.weight, residual.norm.bias, residual.norm.eps)
            for residual in (layer.self_attn_residual, layer.cross_attn_residual, layer.feed_forward_residual)
        )
        self.cross_k = split_heads(cross_attn.k_proj(memory), self.num_heads).contiguous()  # (B, H, S, d)
        self.cross_v = split_heads(cross_attn.v_proj(memory), self.num_heads).contiguous()  # (B, H, S, d)
        self.k, self.v = (  # (B, H, room, d) each
            memory.new_empty(len(memory), self.num_heads, ROOM, size // self.num_heads) for size in self.qkv_sizes[1:]
        )

    def step(self, x: Tensor, length: int, allowed: Tensor | None, cross_allowed: Tensor | None) -> Tensor:
        """x (B, n, D), after the `length` tokens already read. Returns (B, n, D)."""
        inner = self._before(x, self.self_norm)
        q, k, v = (self._heads(y) for y in F.linear(inner, *self.qkv_proj).split(self.qkv_sizes, dim=-1))
        if self.rotary is not None:
            q, k = self.rotary(q, offset=length), self.rotary(k, offset=length)
        k, v = self._remember(k, v, length)  # (B, H, length + n, d)
        output = F.scaled_dot_product_attention(q, k, v, attn_mask=allowed).transpose(1, 2).flatten(-2)  # (B, n, D)
        x = self._after(x, F.linear(output, *self.self_out), self.self_norm)

        inner = self._before(x, self.cross_norm)
        q = self._heads(F.linear(inner, *self.cross_q))
        output = F.scaled_dot_product_attention(q, self.cross_k, self.cross_v, attn_mask=cross_allowed)
        x = self._after(x, F.linear(output.transpose(1, 2).flatten(-2), *self.cross_out), self.cross_norm)

        inner = self._before(x, self.last_norm)
        hidden = self.activation(F.linear(inner, *self.linear1))  # (B, n, F)
        return self._after(x, F.linear(hidden, *self.linear2), self.last_norm)

    def select(self, rows: Tensor) -> None:
        self.cross_k, self.cross_v, self.k, self.v = (x[rows] for x in (self.cross_k, self.cross_v, self.k, self.v))

    def bytes(self, length: int) -> int:
        kept = self.cross_k, self.cross_v, self.k[:, :, :length], self.v[:, :, :length]
        return sum(x.numel() for x in kept) * self.k.element_size()

    def _before(self, x: Tensor, norm: Norm) -> Tensor:
        return torch.layer_norm(x, *norm) if self.norm_first else x

    def _after(self, x: Tensor, output: Tensor, norm: Norm) -> Tensor:
        x = x + output
        return x if self.norm_first else torch.layer_norm(x, *norm)

    def _heads(self, x: Tensor) -> Tensor:
        """(B, n, H · d) -> (B, H, n, d)."""
        return x.view(x.size(0), x.size(1), self.num_heads, -1).transpose(1, 2)

    def _remember(self, k: Tensor, v: Tensor, length: int) -> tuple[Tensor, Tensor]:
        end = length + k.size(2)
        while end > self.k.size(2):
            self.k, self.v = (torch.cat([x, torch.empty_like(x)], dim=2) for x in (self.k, self.v))
        self.k[:, :, length:end], self.v[:, :, length:end] = k, v
        return self.k[:, :, :end], self.v[:, :, :end]


class Table(_KeepsIds):
    """A model written by hand: a function from the tokens so far to the probabilities of the next one.

    next_word: takes a tuple of ids, BOS first, and returns V probabilities that sum to 1.
    """

    def __init__(self, next_word: Callable[[tuple[int, ...]], Sequence[float]], batch_size: int = 1):
        positive(batch_size=batch_size)
        self.next_word = next_word
        self.ids = torch.empty(batch_size, 0, dtype=torch.long)

    def step(self, ids: Tensor) -> Tensor:
        _check_step(ids, self.batch_size)
        start = self.length
        self.ids = torch.cat([self.ids, ids], dim=1)
        rows = [[self._probabilities(row[: end + 1]) for end in range(start, len(row))] for row in self.ids.tolist()]
        return torch.tensor(rows).log()

    def select(self, rows: Tensor) -> None:
        self.ids = self.ids[rows]

    def _probabilities(self, words: list[int]) -> list[float]:
        row = list(self.next_word(tuple(words)))
        if any(p < 0 for p in row) or abs(sum(row) - 1) > 1e-4:
            raise ValueError(f"next_word({tuple(words)}) is {row}; expected probabilities that sum to 1")
        return row


def has_hooks(model: nn.Module) -> bool:
    """Whether functions are called along with the model's modules, as inside `interventions.intervene`."""
    return any(module._forward_hooks or module._forward_pre_hooks for module in model.modules())


def _check_mode(model: Transformer) -> None:
    if model.training:
        raise ValueError("model is in training mode, where dropout changes each pass; expected eval mode: model.eval()")


def _check_step(ids: Tensor, batch_size: int) -> None:
    if ids.dim() != 2 or len(ids) != batch_size or ids.size(1) == 0:
        raise ValueError(f"ids has shape {tuple(ids.shape)}; expected (B, n) with B = {batch_size} and n of 1 or more")
