"""The exercises of lesson 15: multiply-adds, n-gram matches, BLEU, mean and standard error, and what BLEU scores."""

from lessons.exercises.paper_results.bleu import scoring
from lessons.exercises.paper_results.fixed_translation import forcing_hunt
from lessons.exercises.paper_results.matches import ngrams
from lessons.exercises.paper_results.mean_and_error import errors
from lessons.exercises.paper_results.operations import counting

__all__ = [
    "counting",
    "errors",
    "forcing_hunt",
    "ngrams",
    "scoring",
]
