"""The exercises of lesson 11: shifting, the loss without padding, label smoothing, the schedule, two accuracies."""

from lessons.exercises.training.accuracies import counting
from lessons.exercises.training.fixed_loss import softmax_hunt
from lessons.exercises.training.fixed_write import start_hunt
from lessons.exercises.training.loss import loss
from lessons.exercises.training.rate import schedule
from lessons.exercises.training.shift import shifting
from lessons.exercises.training.smooth import smoothing

__all__ = [
    "counting",
    "loss",
    "schedule",
    "shifting",
    "smoothing",
    "softmax_hunt",
    "start_hunt",
]
