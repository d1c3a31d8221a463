"""The exercises of lesson 12: the loop, a beam's step, a distribution, repetition, a cache, a draft, and two hunts."""

from lessons.exercises.decoding.accept import judging
from lessons.exercises.decoding.beam_step import going_on
from lessons.exercises.decoding.cached_step import remembering
from lessons.exercises.decoding.distribution import choosing
from lessons.exercises.decoding.fixed_scores import bug_hunt
from lessons.exercises.decoding.fixed_search import search_hunt
from lessons.exercises.decoding.greedy_loop import looping
from lessons.exercises.decoding.repetition import repeating

__all__ = [
    "bug_hunt",
    "choosing",
    "going_on",
    "judging",
    "looping",
    "remembering",
    "repeating",
    "search_hunt",
]
