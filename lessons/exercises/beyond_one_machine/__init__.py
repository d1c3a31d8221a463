"""The exercises of lesson 18: losses of parts, an all-reduce in a ring, a sharded sampler, a larger batch, a hunt."""

from lessons.exercises.beyond_one_machine.fixed_losses import bug_hunt
from lessons.exercises.beyond_one_machine.part_losses import accumulating
from lessons.exercises.beyond_one_machine.plan import planning
from lessons.exercises.beyond_one_machine.ring_step import passing_on
from lessons.exercises.beyond_one_machine.shard import sharding

__all__ = [
    "accumulating",
    "bug_hunt",
    "passing_on",
    "planning",
    "sharding",
]
