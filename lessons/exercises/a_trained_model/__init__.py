"""The exercises of lesson 14: weights by their names, sentence vectors, what a head looks at, a head that is silent."""

from lessons.exercises.a_trained_model.fixed_maps import bug_hunt
from lessons.exercises.a_trained_model.mean_pooling import pooling
from lessons.exercises.a_trained_model.our_name import renaming
from lessons.exercises.a_trained_model.previous_token_score import previous
from lessons.exercises.a_trained_model.without_head import silence

__all__ = [
    "bug_hunt",
    "pooling",
    "previous",
    "renaming",
    "silence",
]
