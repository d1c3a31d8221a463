"""Lesson 10, my_rows: what learners write."""

import torch

from tests.answers import edit, right, wrong

with right:
    my_rows = [[True, True, False, False, False], [True, True, True, False, False]]

with right:
    my_rows = ((1, 1, 0, 0, 0), (1, 1, 1, 0, 0))

with right:
    my_rows = torch.tensor([[True, True, False, False, False], [True, True, True, False, False]])

with right:
    my_rows = [torch.arange(5) < 2, torch.arange(5) < 3]

with wrong("Each value is inverted"):
    my_rows = [[False, False, True, True, True], [False, False, False, True, True]]

edit("((1, 1, 0, 0, 0), (1, 1, 1, 0, 0))", "[[1, 1, 0, 0, 0], [1, 1, 0, 0, 0]]", "cross-attention is not causal", of=1)

edit(", [True, True, True, False, False]", "", "That is not it")

edit("(1, 1, 1, 0, 0)", "(0, 1, 0, 0, 0)", "limited to the token at the same place", of=1)


edit("[[True, True, False, False, False]", "[[False, True, True, True, False]", "goes the wrong way")

with wrong("Each row has five entries"):
    my_rows = [[True, True, False, False], [True, True, True]]

with wrong("at the place of t2"):
    my_rows = [[False, True, False, False, False], [False, True, False, False, False]]


with wrong("two of the five keys are padding"):
    my_rows = [[True, True, True, True, False], [True, True, True, True, True]]


with wrong("Each row has five entries"):
    my_rows = [[True, True, False, False, False], [True, True, True, False]]
