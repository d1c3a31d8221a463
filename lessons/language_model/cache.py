"""The keys and values of what a model has read: one that grows, and a ring for models with a window.

Keeping keys and values: Fast Transformer Decoding (arXiv 1911.02150), section 2.4. The ring, there called rolling
buffer: Mistral 7B (arXiv 2310.06825), section 2.
"""

import torch
from torch import Tensor

from lessons._checks import positive, whole
from lessons.language_model.config import LanguageModelConfig

ROOM = 32  # initial length of a cache that grows; it doubles when it is full


class Growing:
    """The keys and values of one layer, (B, H_kv, length, d) each, in the order of the text."""

    def __init__(self, empty: Tensor):
        """empty (B, H_kv, 0, d): its sizes, device and type are those of what will be kept."""
        self.length = 0
        self.k, self.v = (empty.new_empty(*empty.shape[:2], ROOM, empty.size(-1)) for _ in range(2))

    @property
    def held(self) -> int:
        """How many tokens it holds."""
        return self.length

    def keys(self, count: int) -> Tensor:
        """The place in the text of each key that `extend` will return for `count` more tokens: (K,)."""
        return torch.arange(self.length + count, device=self.k.device)

    def extend(self, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """k and v of the next tokens, (B, H_kv, n, d). Returns all so far, (B, H_kv, length, d) each."""
        start, self.length = self.length, self.length + k.size(2)
        while self.length > self.k.size(2):
            self.k, self.v = (torch.cat([x, torch.empty_like(x)], dim=2) for x in (self.k, self.v))
        self.k[:, :, start : self.length], self.v[:, :, start : self.length] = k, v
        return self.k[:, :, : self.length], self.v[:, :, : self.length]

    def forget(self, count: int) -> None:
        """Undo the last `count` tokens."""
        self.length -= count


class Ring:
    """The keys and values of one layer for the last `window` tokens: that of token i is in slot i % window.

    A new token takes the slot of the one that has left the window, so the memory stays the same however long the text.
    """

    def __init__(self, empty: Tensor, window: int):
        """empty (B, H_kv, 0, d): its sizes, device and type are those of what will be kept."""
        self.length, self.window = 0, window
        self.k, self.v = (empty.new_empty(*empty.shape[:2], window, empty.size(-1)) for _ in range(2))

    @property
    def held(self) -> int:
        """How many tokens it holds."""
        return min(self.length, self.window)

    def keys(self, count: int) -> Tensor:
        """The place in the text of each key that `extend` will return for `count` more tokens: (K,)."""
        total = self.length + count
        if count > 1:
            return torch.arange(self.length - self.held, total, device=self.k.device)
        slot = torch.arange(min(total, self.window), device=self.k.device)
        return total - 1 - (total - 1 - slot) % self.window

    def extend(self, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """k and v of the next n tokens, (B, H_kv, n, d). Returns what they may see.

        For one token this is the ring, in the order of its slots; softmax does not care. For more it is what was held
        and what is new, (B, H_kv, held + n, d), in the order of the text.
        """
        seen, count = None, k.size(2)
        if count > 1:
            before = self._slots(self.length - self.held, self.length)
            seen = torch.cat([self.k[:, :, before], k], dim=2), torch.cat([self.v[:, :, before], v], dim=2)
        self.length += count
        stay = min(count, self.window)
        slots = self._slots(self.length - stay, self.length)
        self.k[:, :, slots], self.v[:, :, slots] = k[:, :, count - stay :], v[:, :, count - stay :]
        return seen or (self.k[:, :, : self.held], self.v[:, :, : self.held])

    def forget(self, count: int) -> None:
        """Undo the last `count` tokens, if nothing that is needed then has been overwritten."""
        if self.length > self.window and count:
            raise ValueError(f"count is {count}; expected 0: the ring has overwritten what was in the window before")
        self.length -= count

    def _slots(self, start: int, end: int) -> Tensor:
        return torch.arange(start, end, device=self.k.device) % self.window


class Cache:
    """The keys and values of all layers of a model, for a batch of texts; only the H_kv heads of keys are kept.

    `cache = model.new_cache(batch_size)`, then `model(prompt, cache=cache)` and `model(next_ids, cache=cache)`. The
    logits are those of the full pass up to rounding. With a window, each layer is a Ring, else it is Growing.
    """

    def __init__(
        self,
        config: LanguageModelConfig,
        batch_size: int = 1,
        *,
        dtype: torch.dtype | None = None,
        device: torch.device | str | None = None,
    ):
        positive(batch_size=batch_size)
        self.config = config
        empty = torch.empty(batch_size, config.kv_heads, 0, config.head_size, dtype=dtype, device=device)
        window = config.window
        self.layers = [Growing(empty) if window is None else Ring(empty, window) for _ in range(config.num_layers)]

    @property
    def batch_size(self) -> int:
        """B, how many texts it reads at once."""
        return len(self.layers[0].k)

    @property
    def length(self) -> int:
        """How many tokens of each text it has read."""
        return self.layers[-1].length

    @property
    def bytes(self) -> int:
        """The size in bytes of the keys and values that it holds."""
        x = self.layers[0].k
        return cache_bytes(self.config, self.length, batch_size=self.batch_size, itemsize=x.element_size())

    def keys(self, count: int) -> Tensor:
        """The place in the text of each key that `count` more tokens will see: (K,)."""
        return self.layers[0].keys(count)

    def select(self, rows: Tensor) -> None:
        """Continue with these texts, rows (B',); a row may occur more than once."""
        for layer in self.layers:
            layer.k, layer.v = layer.k[rows], layer.v[rows]

    def forget(self, count: int) -> None:
        """Undo the last `count` tokens of each text; a ring that is full can't, and raises a ValueError."""
        whole(0, self.length, count=count)
        for layer in self.layers:
            layer.forget(count)

    def check(self, config: LanguageModelConfig, batch_size: int) -> None:
        """A ValueError unless a model of this config may read this many texts with it now."""
        if config != self.config:
            raise ValueError("cache was made for a model with another config; expected model.new_cache()")
        if batch_size != self.batch_size:
            raise ValueError(f"ids has {batch_size} rows; expected {self.batch_size}, one for each text of the cache")
        if torch.is_grad_enabled():
            raise ValueError("cache keeps no gradients; expected a call inside torch.no_grad()")


def cache_bytes(config: LanguageModelConfig, length: int, *, batch_size: int = 1, itemsize: int = 2) -> int:
    """The bytes of the keys and values that a model keeps of texts of `length` tokens, without building the model.

    itemsize: bytes of one number; 2 in float16 and bfloat16, 4 in float32.
    """
    whole(0, length=length)
    positive(batch_size=batch_size, itemsize=itemsize)
    held = length if config.window is None else min(length, config.window)
    return 2 * config.num_layers * batch_size * config.kv_heads * held * config.head_size * itemsize
