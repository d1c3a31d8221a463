"""Exercises of 02_scaled_dot_product: the softmax, its axis, and the square root of d_k."""

from lessons.exercises.scaled_dot_product.attention import whole
from lessons.exercises.scaled_dot_product.entropy import spread
from lessons.exercises.scaled_dot_product.fixed_attention import bug_hunt
from lessons.exercises.scaled_dot_product.scaled_scores import scaling
from lessons.exercises.scaled_dot_product.softmax import soft_rows

__all__ = [
    "bug_hunt",
    "scaling",
    "soft_rows",
    "spread",
    "whole",
]
