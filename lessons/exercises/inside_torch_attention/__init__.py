"""Exercises of 13_inside_torch_attention: the steps of nn.MultiheadAttention, and a drop-in that is run beside it.

attn_mask and key_padding_mask have torch's meaning here: a bool mask says by True what is blocked, a float mask is
added to the scores."""

from lessons.exercises.inside_torch_attention.fixed_mask import bug_hunt
from lessons.exercises.inside_torch_attention.in_projection import projection
from lessons.exercises.inside_torch_attention.merge_masks import merging
from lessons.exercises.inside_torch_attention.multihead_attention import drop_in
from lessons.exercises.inside_torch_attention.weights import weighing

__all__ = [
    "bug_hunt",
    "drop_in",
    "merging",
    "projection",
    "weighing",
]
