"""Exercises of 05_multi_head_attention: splitting, joining, counting, and the whole module."""

from lessons.exercises.multi_head_attention.fixed_heads import bug_hunt
from lessons.exercises.multi_head_attention.join_heads import joining
from lessons.exercises.multi_head_attention.loop import head_loop
from lessons.exercises.multi_head_attention.multi_head_attention import whole
from lessons.exercises.multi_head_attention.parameters import counting
from lessons.exercises.multi_head_attention.split_heads import splitting

__all__ = [
    "bug_hunt",
    "counting",
    "head_loop",
    "joining",
    "splitting",
    "whole",
]
