"""The exercises of lesson 16: the parts that changed after 2017, a config counted, a rule for sampling, and a hunt."""

from lessons.exercises.from_the_paper_to_llama.count import counting
from lessons.exercises.from_the_paper_to_llama.fixed_convert import bug_hunt
from lessons.exercises.from_the_paper_to_llama.grouped_attention import grouping
from lessons.exercises.from_the_paper_to_llama.min_p import trimming
from lessons.exercises.from_the_paper_to_llama.rms_norm import norming
from lessons.exercises.from_the_paper_to_llama.rotate_halves import turning
from lessons.exercises.from_the_paper_to_llama.swiglu import gating

__all__ = [
    "bug_hunt",
    "counting",
    "gating",
    "grouping",
    "norming",
    "trimming",
    "turning",
]
