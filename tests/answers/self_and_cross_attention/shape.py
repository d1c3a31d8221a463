"""Lesson 04, my_shape: what learners write."""

import torch

from tests.answers import edit, right

with right:
    my_shape = (2, 5, 7)

with right:
    my_shape = [2, 5, 7]

with right:
    my_shape = torch.zeros(2, 5, 7).shape

with right:
    my_shape = 2, 5, 7

edit("5", "7", "That is the source against itself")

edit("2, 5, 7", "7, 2, 5", "That is not it.")
