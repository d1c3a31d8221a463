"""Exercises of 01_qkv_by_hand: the five matrix products."""

from lessons.exercises.qkv_by_hand.fixed_attention import bug_hunt
from lessons.exercises.qkv_by_hand.output import mixtures
from lessons.exercises.qkv_by_hand.projections import projections
from lessons.exercises.qkv_by_hand.score import paper_score
from lessons.exercises.qkv_by_hand.scores import score_table

__all__ = [
    "bug_hunt",
    "mixtures",
    "paper_score",
    "projections",
    "score_table",
]
