"""Lesson 09, my_shape: what learners write."""

import torch

from tests.answers import edit, right

with right:
    my_shape = (2, 3, 4, 5)

with right:
    my_shape = torch.Size([2, 3, 4, 5])

with right:
    my_shape = [2, 3, 4, 5]

edit("4, 5", "5, 4", "the target asks")

edit("3, 4", "4", "weights of its own")

edit("4, 5", "4, 4", "self-attention: target by target")


edit("4, 5", "7, 9", "the sizes of the vocabularies")
