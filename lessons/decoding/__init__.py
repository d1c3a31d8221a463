"""Writing with a trained model, one word after the other; each way yields its steps, so that they can be watched."""

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
    "distribution",
    "greedy",
    "last",
    "sample",
    "speculative",
]
