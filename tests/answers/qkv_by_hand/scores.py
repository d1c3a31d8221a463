"""Lesson 01, my_scores: what learners write."""

import torch

from tests.answers import edit, right, wrong

with right:

    def my_scores(q, k):
        return q @ k.T


with right:

    def my_scores(q, k):
        table = torch.empty(len(q), len(k))
        for i in range(len(q)):
            for j in range(len(k)):
                table[i, j] = torch.dot(q[i], k[j])
        return table


with right:

    def my_scores(q, k):
        return torch.einsum("qd,kd->qk", q, k)


with right:

    def my_scores(q, k):
        return (q[:, None, :] * k[None, :, :]).sum(-1)


with right:

    def my_scores(q, k):
        return torch.tensor([[sum(a.item() * b.item() for a, b in zip(qi, kj)) for kj in k] for qi in q])


edit("q @ k.T", 'torch.einsum("qd,kd->kq", q, k)', "Your table is transposed")

edit("q @ k.T", "torch.cdist(q, k)", "These are distances")

edit("k.T", "k", "k is not transposed")

edit("k.T", "k.view(k.shape[1], k.shape[0])", "That is no transpose")

edit("q @ k.T", "(q @ k.T) / q.size(1)", "as the mean does")

with wrong("queries by queries"):

    def my_scores(q, k):
        table = torch.zeros(len(q), len(q))
        for i in range(len(q)):
            for j in range(len(q)):
                table[i, j] = q[i] @ k[j]
        return table


with wrong("You compared queries with queries"):

    def my_scores(q, k):
        return q @ q.T


with wrong("query i with key i alone"):

    def my_scores(q, k):
        return torch.stack([torch.dot(one, other) for one, other in zip(q, k)])


edit(".sum(-1)", ".sum(1)", "You added up over the keys", of=3)


with wrong("Only the last feature counts"):

    def my_scores(q, k):
        table = torch.zeros(len(q), len(k))
        for i in range(len(q)):
            for j in range(len(k)):
                for f in range(q.size(1)):
                    table[i, j] = q[i, f] * k[j, f]
        return table


with wrong("You summed over the tokens"):

    def my_scores(q, k):
        return k.T @ q
