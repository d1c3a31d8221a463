"""Lesson 06, my_embed: what learners write."""

import math

import torch
import torch.nn.functional as F
from torch import nn

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


edit("table[ids]", "table[ids - 1]", "You subtracted or added 1")

edit("table[ids]", "table[ids + 1]", "You subtracted or added 1")

edit("table[ids]", "table[:, ids]", "You picked columns")

edit("[ids] * table", "[ids] * (ids != 0).unsqueeze(-1) * table", "a row of zeros")

edit(".to(table.dtype)", "", "F.one_hot gives integers", of=1)

edit("table.size(0)).to(table.dtype)", "num_classes=-1).to(table.dtype)", "only as many columns", of=1)

with wrong("no gradient flows back to the table"):

    def my_embed(ids, table):
        layer = nn.Embedding(table.size(0), table.size(1))
        layer.weight.data = table
        return layer(ids) * math.sqrt(table.size(1))


edit("table.size(-1) ** 0.5", "int(table.size(-1) ** 0.5)", "You rounded √D")

edit("table[ids]", "table[ids[0]]", "Only the first sentence")

edit("table.size(-1)", "len(ids)", "the number of sentences, B")


edit("table[ids]", "ids @ table", "ids are not features to be multiplied")

edit("table[ids]", "F.embedding(table, ids)", "The two arguments are swapped")

edit("table[ids]", "nn.Embedding(*table.shape)(ids)", "random rows of its own")
