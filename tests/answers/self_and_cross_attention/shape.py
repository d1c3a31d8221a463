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

edit("2, 5, 7", "7, 2, 5", "The batch comes first")

edit("7", "7, 16", "not one for each feature")

edit("5, 7", "35", "They stay a table")

edit("5, 7", "16, 16", "Features don't meet here")

edit("5, 7", "7, 16", "That is the shape of the memory")

edit("2, 5, 7", "14, 5", "That is not it.")

edit("5, 7", "16, 7", "not one for each feature")

edit("2, 5, 7", "7, 5", "its rows are queries")

edit("7", "16, 7", "not one for each feature")

edit("5, 7", "12, 12", "not put together")

edit("(2, 5, 7)", "2 * 5 * 7", "how many weights there are, all together")

edit("(2, 5, 7)", "5 * 7", "how many weights one sentence pair has")

edit("(2, 5, 7)", '"(2, 5, 7)"', "Leave out the quotation marks")

edit("5, 7", "7, 5, 16", "one axis too many, and rows and columns are swapped")
