"""Lesson 06, my_rotary_scores: what learners write."""

import math

import torch

from lessons.positions import rotate
from tests.answers import edit, right

with right:

    def my_rotary_scores(q, k, angles):
        return rotate(q, angles) @ rotate(k, angles).T / q.size(-1) ** 0.5


with right:

    def my_rotary_scores(q, k, angles):
        q, k = rotate(q, angles), rotate(k, angles)
        return torch.einsum("id,jd->ij", q, k).div(math.sqrt(k.shape[1]))


edit("rotate(k, angles).T / q.size(-", "k.T / k.size(", "keys are not rotated")

edit(" / q.size(-1) ** 0.5", "", "not divided by √d")

edit(", angles) @ rotate(k, angles).T / q.size(-", " @ k.T, angles) / q.size(", "You rotated the scores")

edit("-1) ** 0.5", "1)", "Divide by √d")
