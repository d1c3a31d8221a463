"""The exercises of lesson 09: the parts put together, their shapes, their parameters, and a stack of layers."""

from lessons.exercises.transformer.fixed_stack import bug_hunt
from lessons.exercises.transformer.parameters import counting
from lessons.exercises.transformer.shape import weights_shape
from lessons.exercises.transformer.transformer import together

__all__ = [
    "bug_hunt",
    "counting",
    "together",
    "weights_shape",
]
