"""Lesson 02, my_scaled_scores: what learners write."""

import math

import torch

from tests.answers import edit, right, wrong

with right:

    def my_scaled_scores(q, k):
        return q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5


with right:

    def my_scaled_scores(q, k):
        return torch.einsum("...qd,...kd->...qk", q, k) / torch.sqrt(torch.tensor(k.size(-1)))


with right:

    def my_scaled_scores(q, k):
        if q.dim() > 2:
            return torch.stack([my_scaled_scores(a, b) for a, b in zip(q, k)])
        table = [[torch.dot(a, b) / math.sqrt(len(a)) for b in k] for a in q]
        return torch.stack([torch.stack(row) for row in table])


edit("q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5", "torch.matmul(q, k.mT) / k.shape[-1]", "In all, you divided by d")

edit("-2, -1) / q.shape[-1] ** 0.5", "0, 1) / math.sqrt(q.size(-1))", "it swaps sentences and keys")

with wrong("These are the weights already"):

    def my_scaled_scores(q, k):
        return torch.softmax(q @ k.transpose(-2, -1) / q.size(-1) ** 0.5, dim=-1)


edit("k.transpose(-2, -1) / q.shape[-1] ** 0.5", "k.mT / q.norm()", "Values: the result differs")


with wrong("needs exactly one axis in front"):

    def my_scaled_scores(q, k):
        return q @ k.permute(0, 2, 1) / q.shape[-1] ** 0.5


edit("q.shape[-1] ** 0.5", "math.isqrt(q.size(-1))", "The root is rounded down")

edit("q.shape[-1] ** 0.5", "int(q.size(-1) ** 0.5)", "The root is rounded down")

with wrong("that is the cosine"):

    def my_scaled_scores(q, k):
        return torch.nn.functional.normalize(q, dim=-1) @ torch.nn.functional.normalize(k, dim=-1).mT


with wrong("three dots stand for them"):

    def my_scaled_scores(q, k):
        return torch.einsum("bid,bjd->bij", q, k) / math.sqrt(q.size(-1))


edit("q @ k.transpose(-2, -1)", "q @ (k / math.sqrt(k.size(-1))).transpose(-2, -1)", "or q and k by √d each")


edit("k.transpose(-2, -1)", "k.transpose(1, 2)", "needs exactly one axis in front")

edit("k.transpose(-2, -1) / q.shape[-1] ** 0.5", "k.mT / q.shape[-1] ** 1 / 2", "d ** 1 / 2 is no root")

with wrong("needs exactly one axis in front"):

    def my_scaled_scores(q, k):
        batch, queries, d = q.shape
        return q @ k.transpose(-2, -1) / math.sqrt(d)
