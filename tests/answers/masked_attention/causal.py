"""Lesson 03, my_causal: what learners write."""

import torch

from tests.answers import edit, right, wrong

with right:

    def my_causal(num_queries):
        position = torch.arange(num_queries)
        return position[None, :] <= position[:, None]


with right:

    def my_causal(num_queries):
        return torch.tensor([[j <= i for j in range(num_queries)] for i in range(num_queries)])


with right:

    def my_causal(num_queries):
        return torch.tril(torch.ones(num_queries, num_queries)) == 1


with right:

    def my_causal(num_queries):
        return ~torch.triu(torch.ones(num_queries, num_queries, dtype=torch.bool), diagonal=1)


with right:

    def my_causal(num_queries):
        return ~torch.nn.Transformer.generate_square_subsequent_mask(num_queries).bool()


edit("~", "", "True and False swapped", of=3)

edit(" == 1", "", "these are the numbers 0 and 1", of=2)

with wrong("whatever num_queries is"):

    def my_causal(num_queries):
        position = torch.arange(4)
        return position <= position[:, None]


with wrong("only itself and the one before"):

    def my_causal(num_queries):
        position = torch.arange(num_queries)
        return (position[None, :] <= position[:, None]) & (position[None, :] > position[:, None] - 2)


with wrong("Values: allowed differs"):

    def my_causal(num_queries):
        position = torch.arange(num_queries)
        return (position[None, :] <= position[:, None]) & (position[None, :] > position[:, None] - 3)


with wrong("Row 0 is empty"):

    def my_causal(num_queries):
        allowed = torch.zeros(num_queries, num_queries, dtype=torch.bool)
        for i in range(1, num_queries):
            for j in range(i + 1):
                allowed[i, j] = True
        return allowed


with wrong("The triangle is mirrored"):

    def my_causal(num_queries):
        mask = torch.zeros(num_queries, num_queries, dtype=torch.bool)
        for i in range(num_queries):
            mask[i, num_queries - i - 1 :] = True
        return mask


edit("position[:, None]", "position", "one row for all queries")


with wrong("one row for all queries"):

    def my_causal(num_queries):
        position = torch.arange(num_queries)
        return position <= position


with wrong("torch.tensor(…) makes one out of it"):

    def my_causal(num_queries):
        return [[j <= i for j in range(num_queries)] for i in range(num_queries)]


with wrong("A triangle is cut from a table"):

    def my_causal(num_queries):
        return torch.ones(num_queries, dtype=torch.bool).tril()
