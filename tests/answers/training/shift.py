"""Lesson 11, my_shift: what learners write."""

import torch

from tests.answers import edit, right

with right:

    def my_shift(tgt):
        return tgt[:, :-1], tgt[:, 1:]


with right:

    def my_shift(tgt):
        last = tgt.shape[1] - 1
        return tgt.narrow(1, 0, last), tgt.narrow(1, 1, last)


with right:

    def my_shift(tgt):
        inputs = torch.stack([row[:-1] for row in tgt])
        targets = torch.stack([row[1:] for row in tgt])
        return [inputs, targets]


with right:

    def my_shift(tgt):
        return tgt.unfold(1, 2, 1).unbind(-1)


edit("[:, :-1], tgt[:, 1:]", ", tgt", "Nothing is shifted")

edit(":-1], tgt[:, 1:", "1:], tgt[:, :-1", "Shifted the wrong way")

edit("tgt[:, 1:]", "tgt.roll(-1, dims=1)", "Shape: targets")

edit(":-1], tgt[:, ", "", "my_shift returned")

edit(", tgt", ", tgt.roll(1, dims=1)", "Nothing is shifted")

edit("return tgt[:, :-1], tgt[:, 1:]", "return tgt[:, :-1], tgt", "BOS is never predicted")

edit("return tgt[:, :-1], tgt[:, 1:]", "return tgt, tgt.roll(-1, dims=1)", "roll brings BOS round")

edit("return tgt[:, :-1], tgt[:, 1:]", "return tgt[:, 1:-1], tgt[:, 1:-1]", "Nothing is shifted")
