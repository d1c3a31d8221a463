"""Exercises of 10_mask_tutorial: the masks of a whole model, joined, converted, and asked what their True means."""

from lessons.exercises.mask_tutorial.additive import made_additive
from lessons.exercises.mask_tutorial.fixed_causal import bug_hunt
from lessons.exercises.mask_tutorial.fixed_padding import tidy_mask
from lessons.exercises.mask_tutorial.left_padded import from_the_left
from lessons.exercises.mask_tutorial.one_mask import both_joined
from lessons.exercises.mask_tutorial.rows import rows_of_t2
from lessons.exercises.mask_tutorial.target_mask import target_hidden
from lessons.exercises.mask_tutorial.torch_masks import for_torch
from lessons.exercises.mask_tutorial.true_means_attend import meaning_found

__all__ = [
    "both_joined",
    "bug_hunt",
    "for_torch",
    "from_the_left",
    "made_additive",
    "meaning_found",
    "rows_of_t2",
    "target_hidden",
    "tidy_mask",
]
