"""Lesson 09, my_shape: what learners write."""

import torch

from tests.answers import edit, right

with right:
    my_shape = (2, 4, 9)

with right:
    my_shape = torch.Size([2, 4, 9])

with right:
    my_shape = [2, 4, 9]

edit("4", "5", "there are 4 of those")

edit("9", "7", "*target* vocabulary")
