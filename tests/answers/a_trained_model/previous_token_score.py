"""Lesson 14, my_previous_token_score: what learners write."""

import torch

from tests.answers import edit, right, wrong

with right:

    def my_previous_token_score(weights):
        return weights.diagonal(offset=-1, dim1=-2, dim2=-1).mean(dim=-1)


with right:

    def my_previous_token_score(weights):
        T = weights.size(-1)
        total = sum(weights[:, i, i - 1] for i in range(1, T))
        return total / (T - 1)


with right:

    def my_previous_token_score(weights):
        i = torch.arange(1, weights.shape[-1])
        return weights[:, i, i - 1].mean(1)


with right:

    def my_previous_token_score(weights):
        return torch.einsum("hii->h", weights[:, 1:, :-1]) / (weights.size(-1) - 1)


edit(
    "weights.diagonal(offset=-1, dim1=-2, dim2=-1).mean(dim=-1",
    "torch.stack([head.diagonal(1).mean() for head in weights]",
    "looks at the *next* one",
)

with wrong("in Python weights[:, 0, -1] is the *last* key"):

    def my_previous_token_score(weights):
        T = weights.size(-1)
        return sum(weights[:, i, i - 1] for i in range(T)) / T


edit("offset=-1, dim1=-2, dim2=-1).mean(dim=", "-1).mean(", "dim1=-2, dim2=-1")

edit("offset=-1, dim1=-2, dim2=-1).mean(dim=-1", "-1, 1, 2).mean(0", "You took the mean over the heads")

edit(
    "weights.diagonal(offset=-1, dim1=-2, dim2=-1).mean(dim=",
    "weights.tril(-1).sum(-1).mean(",
    "Values: the list of scores differs",
)


with wrong("The last token is missing"):

    def my_previous_token_score(weights):
        return torch.diagonal(weights, offset=-1, dim1=1, dim2=2)[:, :-1].mean(-1)


with wrong("how much a token looks at itself"):

    def my_previous_token_score(weights):
        return torch.diagonal(weights, dim1=1, dim2=2)[:, 1:].mean(-1)


with wrong("the weights of all earlier tokens"):

    def my_previous_token_score(weights):
        return weights.tril(-1).sum(-1)[:, 1:].mean(-1)
