"""A language model of today: a decoder without cross-attention, and each change since 2017 as a choice.

config       LanguageModelConfig, count_parameters() by formula, and four published models
parts        RMSNorm, SwiGLU, rotary positions in both pairings, GroupedQueryAttention
"""

from lessons.language_model.config import LanguageModelConfig, count_parameters, published
from lessons.language_model.parts import (
    GroupedQueryAttention,
    RMSNorm,
    Rotary,
    SwiGLU,
    halves_to_neighbors,
    rotate_halves,
    rotate_neighbors,
    sliding_window,
)

__all__ = [
    "GroupedQueryAttention",
    "LanguageModelConfig",
    "RMSNorm",
    "Rotary",
    "SwiGLU",
    "count_parameters",
    "halves_to_neighbors",
    "published",
    "rotate_halves",
    "rotate_neighbors",
    "sliding_window",
]
