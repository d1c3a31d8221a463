"""A language model of today: a decoder without cross-attention, and each change since 2017 as a choice.

config       LanguageModelConfig, count_parameters() by formula, and four published models
parts        RMSNorm, SwiGLU, rotary positions in both pairings, GroupedQueryAttention
cache        the keys and values of what was read: growing, or a ring for a window; cache_bytes() by formula
model        LanguageModel: ids in, logits out
generating   generate(): temperature, top-k, top-p, min-p, a repetition penalty; Reader, for lessons.decoding
learning     train() on one long text, text_loss() on another
"""

from lessons.language_model.cache import Cache, cache_bytes
from lessons.language_model.config import LanguageModelConfig, count_parameters, published
from lessons.language_model.generating import Reader, generate, next_distribution, penalized
from lessons.language_model.learning import next_token_loss, text_loss, train, windows
from lessons.language_model.model import LanguageModel
from lessons.language_model.parity import from_gpt2, from_llama, load_checkpoint, to_gpt2, to_llama
from lessons.language_model.parts import (
    GroupedQueryAttention,
    RMSNorm,
    Rotary,
    SwiGLU,
    halves_to_neighbors,
    rotate_halves,
    rotate_neighbors,
)

__all__ = [
    "Cache",
    "GroupedQueryAttention",
    "LanguageModel",
    "LanguageModelConfig",
    "RMSNorm",
    "Reader",
    "Rotary",
    "SwiGLU",
    "cache_bytes",
    "count_parameters",
    "from_gpt2",
    "from_llama",
    "generate",
    "halves_to_neighbors",
    "load_checkpoint",
    "next_distribution",
    "next_token_loss",
    "penalized",
    "published",
    "rotate_halves",
    "rotate_neighbors",
    "text_loss",
    "to_gpt2",
    "to_llama",
    "train",
    "windows",
]
