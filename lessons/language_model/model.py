"""A decoder-only language model: the decoder of 2017 without cross-attention, with the choices of today.

Decoder-only: Generating Wikipedia by Summarizing Long Sequences (arXiv 1801.10198), section 4.2.3, and GPT (Radford and
others, 2018). The start of a training: GPT-2 (Radford and others, 2019), section 2.3.
"""

import math
from collections.abc import Sequence
from typing import cast

import torch
from torch import Tensor, nn

from lessons._checks import bool_mask, kind, mask_axes, mask_fits
from lessons.fast import Linear
from lessons.language_model.cache import Cache
from lessons.language_model.config import LanguageModelConfig
from lessons.language_model.parts import GroupedQueryAttention, Remembers, Rotary, make_feed_forward, make_norm
from lessons.masks import causal, combine
from lessons.positions import LearnedPositions, SinusoidalPositions

START = 0.02  # standard deviation of the first weights, as in GPT-2


class Layer(nn.Module):
    """x + attention(norm(x)), then x + feed_forward(norm(x)): a Pre-LN decoder layer without cross-attention."""

    def __init__(self, config: LanguageModelConfig):
        super().__init__()
        rotary = None
        if config.positions == "rotary":
            rotary = Rotary(config.head_size, base=config.rotary_base, pairs=config.rotary_pairs)
        self.attention_norm = make_norm(config.norm, config.d_model, bias=config.bias, eps=config.norm_eps)
        self.attention = GroupedQueryAttention(
            config.d_model,
            config.num_heads,
            config.kv_heads,
            head_dim=config.head_dim,
            bias=config.bias,
            rotary=rotary,
            query_key_norm=config.query_key_norm,
            window=config.window,
            eps=config.norm_eps,
        )
        self.feed_forward_norm = make_norm(config.norm, config.d_model, bias=config.bias, eps=config.norm_eps)
        self.feed_forward = make_feed_forward(config.feed_forward, config.d_model, config.d_ff, bias=config.bias)

    def forward(
        self,
        x: Tensor,
        allowed: Tensor | None = None,
        *,
        positions: Tensor | None = None,
        memory: Remembers | None = None,
        need_weights: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """x (B, T, D); the other arguments are those of GroupedQueryAttention.

        Returns x (B, T, D), and the weights (B, H, T, K), or None unless need_weights.
        """
        output, weights = self.attention(
            self.attention_norm(x), allowed, positions=positions, memory=memory, need_weights=need_weights
        )
        x = x + output
        return x + self.feed_forward(self.feed_forward_norm(x)), weights


class LanguageModel(nn.Module):
    """Maps the ids of a text to the logits of the next token at each position: (B, T) -> (B, T, vocabulary).

    A position sees itself and what is before it. The first weights are drawn as in GPT-2: normal, with a standard
    deviation of 0.02; those that end a sublayer are smaller by sqrt(2 · num_layers).
    """

    def __init__(self, config: LanguageModelConfig):
        super().__init__()
        self.config = config
        self.embedding = nn.Embedding(config.vocabulary, config.d_model)
        self.positions = _added(config)
        self.layers = cast(Sequence[Layer], nn.ModuleList(Layer(config) for _ in range(config.num_layers)))
        self.norm = make_norm(config.norm, config.d_model, bias=config.bias, eps=config.norm_eps)
        self.out_proj = Linear(config.d_model, config.vocabulary, bias=False)
        self._draw_weights()
        if config.tied:
            self.out_proj.weight = self.embedding.weight

    def forward(
        self, ids: Tensor, *, positions: Tensor | None = None, mask: Tensor | None = None, cache: Cache | None = None
    ) -> Tensor:
        """ids (B, T), integers.

        positions: whole numbers, (T,) or (B, T); they default to those that come next: 0 … T - 1 without a cache.
        mask: bool, True = may attend; (T, K), or four axes that broadcast to (B, H, T, K). It joins the causal rule. K
            counts the tokens of the cache, too.
        cache: what it has read comes before ids; then it has read ids as well. It needs torch.no_grad().

        Returns logits (B, T, vocabulary).
        """
        return self._run(ids, positions, mask, cache, need_weights=False)[0]

    def attention_weights(
        self, ids: Tensor, *, positions: Tensor | None = None, mask: Tensor | None = None
    ) -> list[Tensor]:
        """The weights of each layer, (B, H, T, T); the arguments are those of `forward`."""
        return self._run(ids, positions, mask, None, need_weights=True)[1]

    def new_cache(self, batch_size: int = 1) -> Cache:
        """An empty cache for this model and so many texts, of the type and on the device of its weights."""
        weight = self.embedding.weight
        return Cache(self.config, batch_size, dtype=weight.dtype, device=weight.device)

    def _run(
        self, ids: Tensor, positions: Tensor | None, mask: Tensor | None, cache: Cache | None, need_weights: bool
    ) -> tuple[Tensor, list[Tensor]]:
        _check_ids(ids, self.config.vocabulary)
        if cache is not None:
            cache.check(self.config, len(ids))
        if positions is None:
            start = 0 if cache is None else cache.length
            positions = torch.arange(start, start + ids.size(1), device=ids.device)
        else:
            _check_positions(positions, ids)
        if mask is not None:
            _check_mask(mask, ids, self.config.num_heads, 0 if cache is None else cache.length)
        x = self._embed(ids, positions)  # (B, T, D)
        allowed = _allowed(ids.size(1), mask, cache, ids.device)
        found: list[Tensor] = []
        for i, layer in enumerate(self.layers):
            memory = None if cache is None else cache.layers[i]
            x, weights = layer(x, allowed, positions=positions, memory=memory, need_weights=need_weights)
            if weights is not None:
                found.append(weights)
        return self.out_proj(self.norm(x)), found

    def _embed(self, ids: Tensor, positions: Tensor) -> Tensor:
        x = self.embedding(ids)
        if self.positions is None:
            return x
        if self.config.positions == "sinusoid":
            x = x * math.sqrt(self.config.d_model)  # as in the paper, section 3.4
        if positions.numel() and (last := int(positions.max())) >= self.config.max_len:
            raise ValueError(
                f"ids goes up to position {last}; expected positions below max_len = {self.config.max_len}"
            )
        return x + self.positions.table[positions]

    def _draw_weights(self) -> None:
        for name, x in self.named_parameters():
            ends_a_sublayer = name.startswith("layers.") and name.split(".")[-2] in ("out_proj", "linear2", "down_proj")
            if x.dim() > 1:
                nn.init.normal_(x, std=START / math.sqrt(2 * self.config.num_layers) if ends_a_sublayer else START)
            elif name.endswith("bias"):
                nn.init.zeros_(x)
        if self.config.positions == "sinusoid":  # as large as the sinusoids, after the factor sqrt(D)
            nn.init.normal_(self.embedding.weight, std=self.config.d_model**-0.5)


def _added(config: LanguageModelConfig) -> LearnedPositions | SinusoidalPositions | None:
    if config.positions == "rotary":
        return None
    added = LearnedPositions if config.positions == "learned" else SinusoidalPositions
    return added(config.d_model, max_len=config.max_len)


def _allowed(num_new: int, mask: Tensor | None, cache: Cache | None, device: torch.device) -> Tensor | None:
    """The causal rule and the mask, for the keys in the order in which the cache returns them: (…, T, K), or None."""
    if cache is None:
        return combine(causal(num_new, device=device), mask)
    total, keys = cache.length + num_new, cache.keys(num_new)  # (K,)
    if mask is not None and mask.size(-1) == total:
        mask = mask[..., keys]
    if num_new == 1:
        return mask
    queries = torch.arange(cache.length, total, device=device)
    return combine(keys <= queries[:, None], mask)


def _check_ids(ids: Tensor, vocabulary: int) -> None:
    if not isinstance(ids, Tensor) or ids.dtype not in (torch.int64, torch.int32):
        raise ValueError(f"ids is {kind(ids)}; expected a tensor of integers")
    if ids.dim() != 2:
        raise ValueError(f"ids has shape {tuple(ids.shape)}; expected (B, T)")
    strange = ids[(ids < 0) | (ids >= vocabulary)]
    if len(strange):
        raise ValueError(f"ids contains {strange[0].item()}; expected ids from 0 to {vocabulary - 1}")


def _check_positions(positions: Tensor, ids: Tensor) -> None:
    if not isinstance(positions, Tensor) or positions.dtype not in (torch.int64, torch.int32):
        raise ValueError(f"positions is {kind(positions)}; expected a tensor of whole numbers")
    if positions.shape not in (ids.shape, ids.shape[1:]):
        expected = f"{tuple(ids.shape[1:])} or {tuple(ids.shape)}"
        raise ValueError(f"positions has shape {tuple(positions.shape)}; expected {expected}")
    if positions.numel() and int(positions.min()) < 0:
        raise ValueError(f"positions contains {int(positions.min())}; expected 0 or more")


def _check_mask(mask: Tensor, ids: Tensor, num_heads: int, cached: int) -> None:
    """A bad mask is refused here, before the first layer: its memory would be one step ahead of the others."""
    bool_mask("True = may attend", mask=mask)
    mask_axes(mask=mask)
    shape = len(ids), num_heads, ids.size(1), cached + ids.size(1)
    if not mask_fits(mask, shape):
        raise ValueError(
            f"mask has shape {tuple(mask.shape)}; expected one that broadcasts to {shape}: {cached} keys are cached"
        )
