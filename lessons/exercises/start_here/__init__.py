"""The exercise of 00_start_here: to see how a check answers."""

from lessons.exercises.start_here.row_means import row_means

__all__ = [
    "row_means",
]
