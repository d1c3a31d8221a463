"""Lesson 06, my_embed: what learners write."""

import math

import torch
import torch.nn.functional as F

from tests.answers import edit, right, wrong

with right:

    def my_embed(ids, table):
        return table[ids] * table.size(-1) ** 0.5


with right:

    def my_embed(ids, table):
        one_hot = F.one_hot(ids, table.size(0)).to(table.dtype)
        return torch.einsum("btv,vd->btd", one_hot, table) * math.sqrt(table.shape[1])


with right:

    def my_embed(ids, table):
        return F.embedding(ids, table).mul(table.size(1) ** 0.5)


edit("table[ids] * table.size(-1) ** 0.5", "F.embedding(ids, table)", "the factor √D is missing")

edit("table.size(-1", "len(table", "the number of tokens in the vocabulary")

with wrong("left over from a cell above"):
    D = 512

    def my_embed(ids, table):
        return table[ids] * math.sqrt(D)


with wrong("changed its argument"):

    def my_embed(ids, table):
        table *= table.size(1) ** 0.5
        return table[ids]
