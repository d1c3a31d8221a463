"""Exercises of 03_masked_attention: masks, what is filled in, empty rows, and finding leaks."""

from lessons.exercises.masked_attention.causal import future_hidden
from lessons.exercises.masked_attention.fixed_attention import bug_hunt
from lessons.exercises.masked_attention.influence import leak_finder
from lessons.exercises.masked_attention.masked_weights import masked_weights
from lessons.exercises.masked_attention.padding import padding_hidden
from lessons.exercises.masked_attention.rescued_weights import rescue

__all__ = [
    "bug_hunt",
    "future_hidden",
    "leak_finder",
    "masked_weights",
    "padding_hidden",
    "rescue",
]
