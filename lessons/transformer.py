"""The whole model: embeddings, encoder, decoder, and a projection onto the vocabulary.

Attention Is All You Need (arXiv 1706.03762), section 3.
"""

import math
from collections.abc import Sequence
from typing import Any, Literal, cast

import torch
from torch import Tensor, nn

from lessons._checks import kind, whole
from lessons.config import TransformerConfig
from lessons.fast import Dropout, Linear
from lessons.layers import DecoderLayer, EncoderLayer, Weights
from lessons.masks import causal, combine, padding
from lessons.positions import LearnedPositions, RotaryPositions, SinusoidalPositions

ADDED: dict[str | None, type[SinusoidalPositions | LearnedPositions]] = {
    "sinusoids": SinusoidalPositions,
    "learned": LearnedPositions,
}


class Embedding(nn.Module):
    """Looks up a vector for each id, multiplies it by sqrt(D) and adds its position: (B, T) -> (B, T, D).

    Attention Is All You Need, sections 3.4, 3.5 and 5.4.
    """

    def __init__(self, config: TransformerConfig, side: Literal["src", "tgt"]):
        super().__init__()
        self.side = side
        vocab_size = config.src_vocab_size if side == "src" else config.tgt_vocab_size
        self.tokens = nn.Embedding(vocab_size, config.d_model)
        nn.init.normal_(self.tokens.weight, std=config.d_model**-0.5)
        added = ADDED.get(config.positions)
        self.positions = None if added is None else added(config.d_model, max_len=config.max_len)
        self.dropout = Dropout(config.dropout)

    def forward(self, ids: Tensor, *, offset: int = 0) -> Tensor:
        """ids (B, T), integers; the first token is at position `offset`. Returns (B, T, D)."""
        _check_ids(self.side, ids, self.tokens.num_embeddings)
        whole(0, offset=offset)
        x = self.tokens(ids) * math.sqrt(self.tokens.embedding_dim)
        if self.positions is not None:
            _check_length(self.side, offset + ids.size(1), len(self.positions.table))
            x = self.positions(x, offset=offset)
        return self.dropout(x)


class Encoder(nn.Module):
    """A stack of encoder layers: embedded tokens (B, S, D) -> memory (B, S, D)."""

    def __init__(self, config: TransformerConfig):
        super().__init__()
        layers = nn.ModuleList(EncoderLayer(**_layer_options(config)) for _ in range(config.num_layers))
        self.layers = cast(Sequence[EncoderLayer], layers)
        self.norm = nn.LayerNorm(config.d_model) if config.ends_in_norm else None

    def forward(
        self, x: Tensor, allowed: Tensor | None = None, *, need_weights: bool = False
    ) -> tuple[Tensor, Weights]:
        """x (B, S, D). allowed: bool, True = may attend; (S, S), or four axes that broadcast to (B, H, S, S).

        Returns the memory (B, S, D), and the weights of each layer {"0.self_attn": (B, H, S, S), …}, or None unless
        need_weights.
        """
        found = {}
        for i, layer in enumerate(self.layers):
            x, weights = layer(x, allowed, need_weights=need_weights)
            found.update(_prefixed(f"{i}.", weights))
        x = x if self.norm is None else self.norm(x)
        return x, found if need_weights else None


class Decoder(nn.Module):
    """A stack of decoder layers: embedded tokens (B, T, D) and the memory (B, S, D) -> (B, T, D)."""

    def __init__(self, config: TransformerConfig):
        super().__init__()
        layers = nn.ModuleList(DecoderLayer(**_layer_options(config)) for _ in range(config.decoder_depth))
        self.layers = cast(Sequence[DecoderLayer], layers)
        self.norm = nn.LayerNorm(config.d_model) if config.ends_in_norm else None

    def forward(
        self,
        x: Tensor,
        memory: Tensor,
        tgt_allowed: Tensor | None = None,
        cross_allowed: Tensor | None = None,
        *,
        need_weights: bool = False,
    ) -> tuple[Tensor, Weights]:
        """x (B, T, D), memory (B, S, D); the masks are as in DecoderLayer, bool, True = may attend.

        Returns (B, T, D), and the weights of each layer {"0.self_attn": …, "0.cross_attn": …, …}, or None unless
        need_weights.
        """
        found = {}
        for i, layer in enumerate(self.layers):
            x, weights = layer(x, memory, tgt_allowed, cross_allowed, need_weights=need_weights)
            found.update(_prefixed(f"{i}.", weights))
        x = x if self.norm is None else self.norm(x)
        return x, found if need_weights else None


class Transformer(nn.Module):
    """Maps source ids and target ids to the logits of the next token at each target position.

    Attention Is All You Need, section 3.
    """

    def __init__(self, config: TransformerConfig):
        super().__init__()
        self.config = config
        self.src_embedding = Embedding(config, "src")
        self.tgt_embedding = Embedding(config, "tgt")
        self.encoder = Encoder(config)
        self.decoder = Decoder(config)
        self.out_proj = Linear(config.d_model, config.tgt_vocab_size)
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.xavier_uniform_(module.weight)
                nn.init.zeros_(module.bias)
        if config.share_embeddings:
            self.tgt_embedding.tokens = self.src_embedding.tokens
        if config.tie_embeddings:
            self.out_proj.weight = self.tgt_embedding.tokens.weight

    def forward(
        self,
        src: Tensor,
        tgt: Tensor,
        src_allowed: Tensor | None = None,
        tgt_allowed: Tensor | None = None,
        cross_allowed: Tensor | None = None,
        *,
        need_weights: bool = False,
    ) -> tuple[Tensor, Weights]:
        """src (B, S), tgt (B, T): integers.

        The masks: bool, True = may attend; (Q, K), or four axes that broadcast to (B, H, Q, K). A mask that is None
        is built from the ids: no query attends to padding, and no target position attends to a later one. A mask that
        you pass replaces all of this: tgt_allowed must then include causal(T).

        Returns logits (B, T, V), and the weights of every layer by name, {"encoder.0.self_attn": (B, H, S, S), …,
        "decoder.0.self_attn": (B, H, T, T), "decoder.0.cross_attn": (B, H, T, S), …}, or None unless need_weights.
        """
        memory, found = self._encode(src, src_allowed, need_weights)
        logits, more = self._decode(tgt, memory, src, tgt_allowed, cross_allowed, need_weights)
        return logits, {**_prefixed("encoder.", found), **_prefixed("decoder.", more)} if need_weights else None

    def encode(self, src: Tensor, src_allowed: Tensor | None = None) -> Tensor:
        """src (B, S), src_allowed as in `forward`. Returns the memory (B, S, D)."""
        return self._encode(src, src_allowed, need_weights=False)[0]

    def decode(
        self,
        tgt: Tensor,
        memory: Tensor,
        src: Tensor,
        tgt_allowed: Tensor | None = None,
        cross_allowed: Tensor | None = None,
    ) -> Tensor:
        """tgt (B, T), memory (B, S, D) = encode(src), src (B, S) for the padding mask; the masks are as in `forward`.

        Returns logits (B, T, V).
        """
        return self._decode(tgt, memory, src, tgt_allowed, cross_allowed, need_weights=False)[0]

    def _encode(self, src: Tensor, src_allowed: Tensor | None, need_weights: bool) -> tuple[Tensor, Weights]:
        x = self.src_embedding(src)  # (B, S, D)
        if src_allowed is None:
            src_allowed = padding(src, pad_id=self.config.src_pad_id)
        return self.encoder(x, src_allowed, need_weights=need_weights)

    def _decode(
        self,
        tgt: Tensor,
        memory: Tensor,
        src: Tensor,
        tgt_allowed: Tensor | None,
        cross_allowed: Tensor | None,
        need_weights: bool,
    ) -> tuple[Tensor, Weights]:
        x = self.tgt_embedding(tgt)  # (B, T, D)
        _check_batch(src, tgt, memory, self.config.d_model)
        if tgt_allowed is None:
            tgt_allowed = combine(padding(tgt, pad_id=self.config.tgt_pad_id), causal(tgt.size(1), device=tgt.device))
        if cross_allowed is None:
            cross_allowed = padding(src, pad_id=self.config.src_pad_id)
        x, weights = self.decoder(x, memory, tgt_allowed, cross_allowed, need_weights=need_weights)
        return self.out_proj(x), weights  # (B, T, V)


def count_parameters(model: nn.Module) -> dict[str, int]:
    """The number of parameters of each part, and "total". A parameter shared by two parts counts in the first only."""
    counts: dict[str, int] = {}
    for name, x in model.named_parameters():  # lists a shared parameter once, under its first name
        part = name.partition(".")[0]
        counts[part] = counts.get(part, 0) + x.numel()
    return {**counts, "total": sum(counts.values())}


def _layer_options(config: TransformerConfig) -> dict[str, Any]:
    return {
        "d_model": config.d_model,
        "num_heads": config.num_heads,
        "d_ff": config.d_ff,
        "dropout": config.dropout,
        "norm_first": config.norm_first,
        "activation": config.activation,
        "rotary": RotaryPositions(config.head_dim) if config.positions == "rotary" else None,
    }


def _prefixed(prefix: str, weights: Weights) -> dict[str, Tensor]:
    return {prefix + name: x for name, x in (weights or {}).items()}


def _check_ids(name: str, ids: Tensor, vocab_size: int) -> None:
    if not isinstance(ids, Tensor) or ids.dtype not in (torch.int64, torch.int32):
        raise ValueError(f"{name} is {kind(ids)}; expected a tensor of integers")
    if ids.dim() != 2:
        raise ValueError(f"{name} has shape {tuple(ids.shape)}; expected (B, length)")
    if ids.numel() and not 0 <= ids.min() <= ids.max() < vocab_size:
        strange = ids[(ids < 0) | (ids >= vocab_size)]
        raise ValueError(f"{name} contains {strange[0].item()}; expected ids from 0 to {vocab_size - 1}")


def _check_length(name: str, end: int, max_len: int) -> None:
    if end > max_len:
        raise ValueError(f"{name} goes up to position {end - 1}; expected positions below max_len = {max_len}")


def _check_batch(src: Tensor, tgt: Tensor, memory: Tensor, d_model: int) -> None:
    if src.size(0) != tgt.size(0):
        raise ValueError(f"src has {src.size(0)} sentences and tgt {tgt.size(0)}; expected the same number")
    if memory.shape != (*src.shape, d_model):
        raise ValueError(f"memory has shape {tuple(memory.shape)}; expected (B, S, D) = {(*src.shape, d_model)}")
