"""Lesson 17, fixed_embed: what learners write."""

import torch

from tests.answers import edit, right, wrong

with right:

    def fixed_embed(ids, lengths, tokens, places):
        starts = torch.tensor([0, *lengths[:-1]]).cumsum(0)
        start = starts.repeat_interleave(torch.tensor(lengths))
        positions = torch.arange(len(ids)) - start
        return tokens[ids] + places[positions]


with right:

    def fixed_embed(ids, lengths, tokens, places):
        positions = torch.cat([torch.arange(length) for length in lengths])
        return tokens[ids] + places[positions]


with right:

    def fixed_embed(ids, lengths, tokens, places):
        parts = [tokens[part] + places[: len(part)] for part in ids.split(lengths)]
        return torch.cat(parts)


with wrong("The bug is still there"):

    def fixed_embed(ids, lengths, tokens, places):
        starts = torch.tensor([0, *lengths[:-1]])
        start = starts.repeat_interleave(torch.tensor(lengths))  # (N,)
        positions = torch.arange(len(ids)) - start
        return tokens[ids] + places[positions]


edit("torch.arange(len(ids)) - start", "torch.arange(len(ids))", "run on through all documents")

edit("[0, *lengths[:-1]]", "lengths", "the positions are negative")

edit("torch.arange(len(ids)) - start", "start", "the place where it starts")

edit("torch.arange(length)", "torch.arange(1, length + 1)", "Positions start at 0", of=1)

edit("torch.arange(length)", "torch.zeros(length, dtype=torch.long)", "All tokens get position 0", of=1)

edit("torch.arange(len(ids)) - start", "torch.arange(len(ids)) % max(lengths)", "as many tokens as the longest")

with wrong("You wrapped the wrong positions around"):

    def fixed_embed(ids, lengths, tokens, places):
        length = torch.tensor(lengths)
        start = torch.tensor([0, *lengths[:-1]]).repeat_interleave(length)
        positions = (torch.arange(len(ids)) - start) % length.repeat_interleave(length)
        return tokens[ids] + places[positions]


with wrong("modulo the document's length"):

    def fixed_embed(ids, lengths, tokens, places):
        length = torch.tensor(lengths).repeat_interleave(torch.tensor(lengths))  # (N,)
        return tokens[ids] + places[torch.arange(len(ids)) % length]


edit("[0, *lengths[:-1]]", "lengths[:-1]", "One start is missing")


edit("[0, *lengths[:-1]]", "[0, *lengths]", "One start too many")
