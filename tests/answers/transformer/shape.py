"""Lesson 09, my_shape: what learners write."""

import torch

from tests.answers import edit, right

with right:
    my_shape = (2, 4, 9)

with right:
    my_shape = torch.Size([2, 4, 9])

with right:
    my_shape = [2, 4, 9]

edit("4", "5", "of which there are 4")

edit("9", "7", "vocabulary")
