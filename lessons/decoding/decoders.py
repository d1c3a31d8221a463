"""Decoders that generate token by token: a model with a cache of keys and values, one without, and a table.

Autoregressive decoding: Attention Is All You Need (arXiv 1706.03762), section 3. Keeping keys and values between the
steps: Fast Transformer Decoding (arXiv 1911.02150), section 2.4.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

import torch
from torch import Tensor, nn

from lessons._checks import positive, whole
from lessons.attention import split_heads
from lessons.fast import AddedMask, added_mask, attention_of_a_step
from lessons.layers import ACTIVATIONS, DecoderLayer
from lessons.masks import causal, padding
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
        read = torch.cat([self.ids, ids], dim=1)  # (B, length + n)
        logits = self.model.decode(read, self.memory, self.src)[:, -ids.size(1) :]
        self.ids = read
        return logits

    def select(self, rows: Tensor) -> None:
        self.ids, self.memory, self.src = self.ids[rows], self.memory[rows], self.src[rows]


class Cached:
    """A model with a KV cache: the keys and values of each token are computed once, then stored.

    The cache of self-attention grows by one key and one value per token, layer and head; that of cross-attention never
    changes. The logits are those of the full pass up to rounding, also with padding.
    """

    def __init__(self, model: Transformer, src: Tensor):
        """src (B, S), padded with the model's src_pad_id. Hooks in the model, now or in a step, raise a ValueError."""
        _check_mode(model)
        self.modules = list(model.modules())
        _check_hooks(self.modules)
        self.model, self.src, self.length = model, src, 0
        with torch.no_grad():
            memory = model.encode(src)  # (B, S, D)
            self.layers = [LayerMemory(layer, memory) for layer in model.decoder.layers]
        self.device, self.batch_size = src.device, len(src)
        self.sentences = torch.arange(len(src), device=src.device)  # (B,), the row of src that each row translates
        real = padding(src, pad_id=model.config.src_pad_id)  # (B, 1, 1, S)
        self.cross_allowed = None if real.all() else real
        self.no_mask, self.cross_mask = self._added(None), self._added(self.cross_allowed)
        self.real: Tensor | None = None  # (B, length), False = padding; None as long as there is none

    @property
    def bytes(self) -> int:
        """The size of the cache in bytes: cross-attention's keys and values, and those of the tokens so far."""
        return sum(layer.bytes(self.length) for layer in self.layers)

    @torch.no_grad()
    def step(self, ids: Tensor) -> Tensor:
        _check_step(ids, self.batch_size)
        _check_hooks(self.modules)
        words = ids.flatten().tolist()
        x = self._embed(ids, words)  # (B·n, D)
        mask = self._tgt_mask(ids, words)
        for layer in self.layers:
            x = layer.step(x, self.length, mask, self.cross_mask)
        self.length += ids.size(1)
        norm = self.model.decoder.norm
        return self.model.out_proj(x if norm is None else norm(x)).view(*ids.shape, -1)  # (B, n, V)

    def select(self, rows: Tensor) -> None:
        self.batch_size = len(rows)
        if self.real is not None:
            self.real = self.real[rows]
        before, self.sentences = self.sentences, self.sentences[rows]
        other_sources = not torch.equal(self.sentences, before)
        if self.cross_allowed is not None and other_sources:
            self.cross_allowed = self.cross_allowed[rows]
            self.cross_mask = self._added(self.cross_allowed)
        for layer in self.layers:
            layer.select(rows, other_sources)

    def forget(self, count: int) -> None:
        whole(0, self.length, count=count)
        self.length -= count
        if self.real is not None:
            self.real = self.real[:, : self.length]

    def _embed(self, ids: Tensor, words: list[int]) -> Tensor:
        """The target embedding with few calls: ids (B, n), in a list `words`. Returns (B·n, D)."""
        embedding, end = self.model.tgt_embedding, self.length + ids.size(1)
        vectors = embedding.tokens.weight
        added = None if embedding.positions is None else embedding.positions.table
        fits = ids.dtype == torch.int64 and min(words) >= 0 and max(words) < len(vectors)
        if not fits or (added is not None and end > len(added)):
            return embedding(ids, offset=self.length).flatten(0, 1)  # which says what is wrong
        x = torch.embedding(vectors, ids)  # (B, n, D)
        scale = math.sqrt(x.size(-1))
        x = x * scale if added is None else torch.add(added[self.length : end], x, alpha=scale)
        return x.flatten(0, 1)

    def _tgt_mask(self, ids: Tensor, words: list[int]) -> AddedMask:
        """The mask of self-attention, for the queries `ids` (B, n) and the keys so far, as in the full pass."""
        pad_id = self.model.config.tgt_pad_id
        if self.real is None and pad_id in words:
            self.real = torch.ones(self.batch_size, self.length, dtype=torch.bool, device=self.device)
        if self.real is None and ids.size(1) == 1:
            return self.no_mask
        allowed = causal(ids.size(1), offset=self.length, device=self.device)  # (n, length + n)
        if self.real is not None:
            self.real = torch.cat([self.real, ids != pad_id], dim=1)
            allowed = allowed & self.real[:, None, None]  # (B, 1, n, length + n)
        return self._added(allowed)

    def _added(self, allowed: Tensor | None) -> AddedMask:
        if allowed is not None:
            allowed = allowed.expand(self.batch_size, self.model.config.num_heads, -1, -1).flatten(0, 1)
        return added_mask(allowed, like=self.model.out_proj.weight)


class LayerMemory:
    """One decoder layer with its cache of keys and values.

    With one token at a time there is so little arithmetic that calling modules would take most of the time. So the
    weights are used directly, those of q, k and v as one matrix, on a table with a row per token. If you change
    DecoderLayer, change this class as well; a test compares them.
    """

    def __init__(self, layer: DecoderLayer, memory: Tensor):
        self_attn, cross_attn = layer.self_attn, layer.cross_attn
        self.num_heads, self.norm_first = self_attn.num_heads, layer.self_attn_residual.norm_first
        self.rotary, self.activation = self_attn.rotary, ACTIVATIONS[layer.feed_forward.activation]
        projections = (self_attn.q_proj, self_attn.k_proj, self_attn.v_proj)
        self.qkv_proj = torch.cat([p.bias for p in projections]), torch.cat([p.weight.t() for p in projections], dim=1)
        self.qkv_sizes = [p.out_features for p in projections]
        self.self_out, self.cross_q, self.cross_out, self.linear1, self.linear2 = (
            (linear.bias, linear.weight.t())
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
        cross_k = split_heads(cross_attn.k_proj(memory), self.num_heads)  # (B, H, S, d)
        cross_v = split_heads(cross_attn.v_proj(memory), self.num_heads)  # (B, H, S, d)
        k, v = (  # (B, H, room, d) each
            memory.new_empty(len(memory), self.num_heads, ROOM, size // self.num_heads) for size in self.qkv_sizes[1:]
        )
        self._store(k, v, cross_k, cross_v)

    def step(self, x: Tensor, length: int, mask: AddedMask, cross_mask: AddedMask) -> Tensor:
        """x (B·n, D): n tokens of each sentence, after the `length` tokens already read. Returns (B·n, D)."""
        inner = self._before(x, self.self_norm)
        q, k, v = (self._heads(y) for y in _linear(inner, self.qkv_proj).split_with_sizes(self.qkv_sizes, dim=-1))
        if self.rotary is not None:
            q, k = self.rotary(q, offset=length), self.rotary(k, offset=length)
        k, v = self._remember(k, v, length)  # (B·H, d, length + n), (B·H, length + n, d)
        output = self._attend(q, k, v, mask)
        x = self._after(x, _linear(output, self.self_out), self.self_norm)

        inner = self._before(x, self.cross_norm)
        output = self._attend(self._heads(_linear(inner, self.cross_q)), *self.cross_flat, cross_mask)
        x = self._after(x, _linear(output, self.cross_out), self.cross_norm)

        inner = self._before(x, self.last_norm)
        hidden = self.activation(_linear(inner, self.linear1))  # (B·n, F)
        return self._after(x, _linear(hidden, self.linear2), self.last_norm)

    def select(self, rows: Tensor, other_sources: bool) -> None:
        """other_sources: whether a row of the batch gets another sentence to translate."""
        k, v = self.k.index_select(0, rows), self.v.index_select(0, rows)
        if other_sources:
            self._store(k, v, self.cross_k.index_select(0, rows), self.cross_v.index_select(0, rows))
        else:
            self._store(k, v, self.cross_k, self.cross_v)

    def bytes(self, length: int) -> int:
        kept = self.cross_k, self.cross_v, self.k[:, :, :length], self.v[:, :, :length]
        return sum(x.numel() for x in kept) * self.k.element_size()

    def _store(self, k: Tensor, v: Tensor, cross_k: Tensor, cross_v: Tensor) -> None:
        """Keep the cache, (B, H, room or S, d), and views of it with one matrix per sentence and head."""
        self.k, self.v, self.cross_k, self.cross_v = (x.contiguous() for x in (k, v, cross_k, cross_v))
        self.batch_size = len(k)
        self.flat = self.k.flatten(0, 1).transpose(1, 2), self.v.flatten(0, 1)
        self.cross_flat = self.cross_k.flatten(0, 1).transpose(1, 2), self.cross_v.flatten(0, 1)

    def _before(self, x: Tensor, norm: Norm) -> Tensor:
        return torch.layer_norm(x, *norm) if self.norm_first else x

    def _after(self, x: Tensor, output: Tensor, norm: Norm) -> Tensor:
        x = output.add_(x)
        return x if self.norm_first else torch.layer_norm(x, *norm)

    def _heads(self, x: Tensor) -> Tensor:
        """(B·n, H·d) -> (B, H, n, d)."""
        if x.size(0) == self.batch_size:  # n is 1
            return x.view(self.batch_size, self.num_heads, 1, -1)
        return x.view(self.batch_size, -1, self.num_heads, x.size(-1) // self.num_heads).transpose(1, 2)

    def _attend(self, q: Tensor, k: Tensor, v: Tensor, mask: AddedMask) -> Tensor:
        """q (B, H, n, d), k (B·H, d, K), v (B·H, K, d). Returns the heads joined, (B·n, H·d)."""
        batch_size, heads, n, size = q.shape
        output = attention_of_a_step(q.reshape(-1, n, size), k, v, mask)  # (B·H, n, d)
        if n == 1:
            return output.view(batch_size, -1)
        return output.view(batch_size, heads, n, -1).transpose(1, 2).reshape(batch_size * n, -1)

    def _remember(self, k: Tensor, v: Tensor, length: int) -> tuple[Tensor, Tensor]:
        n = k.size(2)
        while length + n > self.k.size(2):
            longer_k, longer_v = (torch.cat([x, torch.empty_like(x)], dim=2) for x in (self.k, self.v))
            self._store(longer_k, longer_v, self.cross_k, self.cross_v)
        self.k.narrow(2, length, n).copy_(k)
        self.v.narrow(2, length, n).copy_(v)
        keys, values = self.flat
        return keys.narrow(2, 0, length + n), values.narrow(1, 0, length + n)


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
        read = torch.cat([self.ids, ids], dim=1)  # (B, length + n)
        rows = [[self._probabilities(row[: end + 1]) for end in range(self.length, len(row))] for row in read.tolist()]
        self.ids = read
        return torch.tensor(rows).log()

    def select(self, rows: Tensor) -> None:
        self.ids = self.ids[rows]

    def _probabilities(self, words: list[int]) -> list[float]:
        row = list(self.next_word(tuple(words)))
        if any(p < 0 for p in row) or abs(sum(row) - 1) > 1e-4:
            raise ValueError(f"next_word({tuple(words)}) is {row}; expected probabilities that sum to 1")
        return row


def _linear(x: Tensor, weights: tuple[Tensor, Tensor]) -> Tensor:
    """x (N, I) times the weight (I, O), plus the bias (O)."""
    bias, weight = weights
    return torch.addmm(bias, x, weight)


def has_hooks(modules: Iterable[nn.Module]) -> bool:
    """Whether functions are called along with the modules of a model, as inside `interventions.intervene`."""
    return any(module._forward_hooks or module._forward_pre_hooks for module in modules)


def _check_hooks(modules: Iterable[nn.Module]) -> None:
    if has_hooks(modules):
        raise ValueError("model has hooks, which the cache would pass over; expected one without, or Recomputed")


def _check_mode(model: Transformer) -> None:
    if model.training:
        raise ValueError("model is in training mode, where dropout changes each pass; expected eval mode: model.eval()")


def _check_step(ids: Tensor, batch_size: int) -> None:
    if ids.dim() != 2 or len(ids) != batch_size or ids.size(1) == 0:
        raise ValueError(f"ids has shape {tuple(ids.shape)}; expected (B, n) with B = {batch_size} and n of 1 or more")
