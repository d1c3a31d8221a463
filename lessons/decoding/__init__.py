"""Generating with a trained model, token by token. Each method yields its steps, so that you can watch them."""

from lessons.decoding.beams import beams
from lessons.decoding.decoders import Cached, IncrementalDecoder, Recomputed, Table
from lessons.decoding.sampling import distribution, sample
from lessons.decoding.search import BeamStep, Hypothesis, Step, beam, greedy, last
from lessons.decoding.speculative import SpeculativeStep, speculative

__all__ = [
    "BeamStep",
    "Cached",
    "Hypothesis",
    "IncrementalDecoder",
    "Recomputed",
    "SpeculativeStep",
    "Step",
    "Table",
    "beam",
    "beams",
    "distribution",
    "greedy",
    "last",
    "sample",
    "speculative",
]
