"""Lesson 17, my_packed: what learners write."""

import torch

from tests.answers import edit, right, wrong

with right:

    def my_packed(lengths):
        n = sum(lengths)
        allowed = torch.zeros(n, n, dtype=torch.bool)
        positions = torch.zeros(n, dtype=torch.long)
        start = 0
        for length in lengths:
            end = start + length
            allowed[start:end, start:end] = torch.ones(length, length, dtype=torch.bool).tril()
            positions[start:end] = torch.arange(length)
            start += length
        return allowed, positions


with right:

    def my_packed(lengths):
        blocks = [torch.ones(length, length).tril() for length in lengths]
        positions = torch.cat([torch.arange(length) for length in lengths])
        return torch.block_diag(*blocks).bool(), positions


with right:

    def my_packed(lengths):
        document = [i for i, length in enumerate(lengths) for _ in range(length)]
        positions = [j for length in lengths for j in range(length)]
        allowed = [[document[q] == document[k] and k <= q for k in range(len(document))] for q in range(len(document))]
        return torch.tensor(allowed), torch.tensor(positions)


edit("torch.arange(length)", "torch.arange(start, end)", "the positions run on")

edit(".tril()", "", "within a document a token sees the future")

edit("range(length)]\n    allowed", "range(1, length + 1)]\n    allowed", "Your positions start at 1", of=2)

edit("document[q] == document[k] and ", "", "sees the documents before its own", of=2)

edit(" and k <= q", " or k <= q", "joined the two rules with |", of=2)

edit("k <= q", "k < q", "may not attend to itself", of=2)

edit("torch.tensor(allowed)", "~torch.tensor(allowed)", "inverted", of=2)

edit("start += length", "start = length", "differs in")

with wrong("Neither the mask nor the positions"):

    def my_packed(lengths):
        n = sum(lengths)
        return torch.ones(n, n, dtype=torch.bool).tril(), torch.arange(n)


with wrong("a token sees all documents before its own, and all of its own"):

    def my_packed(lengths):
        positions = torch.cat([torch.arange(length) for length in lengths])
        document = (positions == 0).cumsum(dim=0)
        return document[:, None] >= document, positions


with wrong("Your mask has ones and zeros"):

    def my_packed(lengths):
        positions = torch.cat([torch.arange(length) for length in lengths])
        return torch.block_diag(*[torch.ones(length, length).tril() for length in lengths]), positions
