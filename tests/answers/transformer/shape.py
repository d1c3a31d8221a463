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

edit("4, 5", "4, 4, 5", "That is one axis too many")


edit("4, 5", "7, 9", "the sizes of the vocabularies")


edit("2, 3", "3, 2", "The heads come after the batch")

edit("2, 3", "2, 2, 3", "the weights of two layers")

edit("3, 4, 5", "4, 12", "one vector for each token")


edit("(2, 3, 4, 5)", '("B", "H", "T", "S")', "my_shape contains text, 'B'; expected numbers")
