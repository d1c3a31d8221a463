"""Lesson 06, my_rotary_scores: what learners write."""

import math

import torch

from lessons.positions import rotate
from tests.answers import edit, right, wrong

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

edit("(-1)", "(0)", "the number of tokens, T")

edit(".T / ", ".T * ", "You multiplied by √d")

edit(".T", "", "not transposed")

with wrong("both rotated backward"):

    def my_rotary_scores(q, k, angles):
        turn = angles[:, None] - angles[None]
        a, b = q[:, None, 0::2], q[:, None, 1::2]
        c, d = k[:, 0::2], k[:, 1::2]
        pairs = (a * c + b * d) * turn.cos() + (b * c - a * d) * turn.sin()
        return pairs.sum(dim=-1) / math.sqrt(q.size(-1))


with wrong("number by number"):

    def my_rotary_scores(q, k, angles):
        return rotate(q, angles) * rotate(k, angles) / math.sqrt(q.size(-1))


with wrong("You applied a causal mask"):

    def my_rotary_scores(q, k, angles):
        scores = rotate(q, angles) @ rotate(k, angles).T / math.sqrt(q.size(-1))
        return scores.masked_fill(~torch.ones_like(scores).tril().bool(), -torch.inf)


with wrong("the same with other values of k"):

    def my_rotary_scores(q, k, angles):
        q = rotate(q, angles)
        k = rotate(q, angles)
        return q @ k.T / math.sqrt(q.size(-1))
