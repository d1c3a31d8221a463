"""Lesson 06, fixed_positions: what learners write."""

import torch

from tests.answers import edit, right

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
