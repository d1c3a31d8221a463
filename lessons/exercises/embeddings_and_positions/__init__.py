"""The exercises of lesson 06: embeddings, sinusoids, and rotary positions."""

from lessons.exercises.embeddings_and_positions.embed import embedding
from lessons.exercises.embeddings_and_positions.fixed_positions import bug_hunt
from lessons.exercises.embeddings_and_positions.position_ids import left_padding
from lessons.exercises.embeddings_and_positions.rotary_scores import scores
from lessons.exercises.embeddings_and_positions.rotate import turning
from lessons.exercises.embeddings_and_positions.sinusoids import waves

__all__ = [
    "bug_hunt",
    "embedding",
    "left_padding",
    "scores",
    "turning",
    "waves",
]
