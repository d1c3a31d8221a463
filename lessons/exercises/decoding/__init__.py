"""The exercises of lesson 12: a step of a beam, a distribution to draw from, a cache, a draft judged, and two hunts."""

from lessons.exercises.decoding.accept import judging
from lessons.exercises.decoding.beam_step import going_on
from lessons.exercises.decoding.cached_step import remembering
from lessons.exercises.decoding.distribution import choosing
from lessons.exercises.decoding.fixed_scores import bug_hunt
from lessons.exercises.decoding.fixed_search import search_hunt

__all__ = [
    "bug_hunt",
    "choosing",
    "going_on",
    "judging",
    "remembering",
    "search_hunt",
]
