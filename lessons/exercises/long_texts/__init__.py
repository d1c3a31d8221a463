"""The exercises of lesson 17: softmax in blocks, the loop over them, three masks of today's models, and a hunt."""

from lessons.exercises.long_texts.alibi import biasing
from lessons.exercises.long_texts.blocks import tiling
from lessons.exercises.long_texts.fixed_embed import bug_hunt
from lessons.exercises.long_texts.join import joining
from lessons.exercises.long_texts.packed import packing
from lessons.exercises.long_texts.window import windowing

__all__ = [
    "biasing",
    "bug_hunt",
    "joining",
    "packing",
    "tiling",
    "windowing",
]
