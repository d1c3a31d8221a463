"""Writing with a trained model, one word after the other; each way yields its steps, so that they can be watched."""

from lessons.decoding.sampling import distribution, sample
from lessons.decoding.search import BeamStep, Hypothesis, Step, beam, greedy, last
from lessons.decoding.speculative import SpeculativeStep, speculative
from lessons.decoding.writers import Cached, Recomputed, Table, Writer

__all__ = [
    "BeamStep",
    "Cached",
    "Hypothesis",
    "Recomputed",
    "SpeculativeStep",
    "Step",
    "Table",
    "Writer",
    "beam",
    "distribution",
    "greedy",
    "last",
    "sample",
    "speculative",
]
