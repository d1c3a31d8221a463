"""Lesson 06, fixed_positions: what learners write."""

import torch

from tests.answers import edit, right, wrong

with right:

    def fixed_positions(x, table):
        return x + table[: x.size(1)]


with right:

    def fixed_positions(x, table):
        places = torch.arange(x.shape[1])
        return x + table[places].expand_as(x)


with right:

    def fixed_positions(x, table):
        x = x.transpose(0, 1)
        return (x + table[: x.size(0)].unsqueeze(1)).transpose(0, 1)


edit("1)", "0), None", "The bug is still there")

edit(": x.size(1)", "1 : x.size(1) + 1", "Positions start at 0")

edit("]", "].unsqueeze(1)", "on the axis of the batch")

edit("1)", "0)", "as many as sentences")

edit("1)", "-1)", "as many rows as x has features")

edit("[: x.size(1)]", "", "You added the whole table")

edit(": x", ":, : x", "its features")

edit("x + ", "x * x.size(2) ** 0.5 + ", "You multiplied x by √D")

edit(").transpose(0, 1)", ")", "the axes 0 and 1 are swapped", of=2)

with wrong("changed its argument x"):

    def fixed_positions(x, table):
        x += table[: x.size(1)]
        return x


edit("]", "].T", "They fit as they are")

edit("]", "].unsqueeze(-1)", "They fit as they are")
