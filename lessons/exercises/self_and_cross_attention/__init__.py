"""Exercises of 04_self_and_cross_attention: one function for all three, and the mask that each of them needs."""

from lessons.exercises.self_and_cross_attention.attention_layer import one_function
from lessons.exercises.self_and_cross_attention.cross_mask import cross_hidden
from lessons.exercises.self_and_cross_attention.fixed_masks import bug_hunt
from lessons.exercises.self_and_cross_attention.shape import weights_shape

__all__ = [
    "bug_hunt",
    "cross_hidden",
    "one_function",
    "weights_shape",
]
