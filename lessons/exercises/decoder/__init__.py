"""The exercises of lesson 08: cross-attention to the memory, three sublayers, and a whole decoder layer."""

from lessons.exercises.decoder.ask_memory import asking
from lessons.exercises.decoder.causal_mask import moving_mask
from lessons.exercises.decoder.decoder_layer import whole
from lessons.exercises.decoder.fixed_middle import bug_hunt
from lessons.exercises.decoder.three_parts import three

__all__ = [
    "asking",
    "bug_hunt",
    "moving_mask",
    "three",
    "whole",
]
