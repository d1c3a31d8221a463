"""The exercises of lesson 07: layer normalization, the feed-forward network, residuals, and a whole encoder layer."""

from lessons.exercises.encoder.encoder_layer import whole
from lessons.exercises.encoder.feed_forward import feeding
from lessons.exercises.encoder.fixed_encoder import bug_hunt
from lessons.exercises.encoder.layer_norm import norm
from lessons.exercises.encoder.surround import residual

__all__ = [
    "bug_hunt",
    "feeding",
    "norm",
    "residual",
    "whole",
]
