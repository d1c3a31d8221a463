"""Lesson 01, my_score: what learners write."""

import torch

from tests.answers import edit, right

with right:
    my_score = 9

with right:
    my_score = 9.0

with right:
    my_score = torch.tensor(9.0)

with right:
    my_score = torch.tensor([9.0])

with right:
    my_score = 3 * 2 + 0 * 0 + 1 * 3

edit("9", "13", "13 comes out when")

edit("9", "8", "That is not it.")

edit("9", "5.2", "divided by √3")

edit("9", "4", "the key of *sat*")

edit("9", "1", "when the two tokens are multiplied as they are")

edit("9", "[6.0, 0.0, 3.0]", "The score is their sum")
