"""Lesson 02, my_softmax: what learners write."""

import torch

from tests.answers import edit, right, wrong

with right:

    def my_softmax(scores):
        powers = torch.exp(scores - scores.max(dim=-1, keepdim=True).values)
        return powers / powers.sum(dim=-1, keepdim=True)


with right:

    def my_softmax(scores):
        return torch.softmax(scores, -1)


with right:

    def my_softmax(scores):
        if scores.dim() > 1:
            return torch.stack([my_softmax(row) for row in scores])
        powers = [torch.exp(s - max(scores)) for s in scores]
        return torch.stack([p / sum(powers) for p in powers])


with right:

    def my_softmax(scores):
        return (scores - scores.logsumexp(dim=-1, keepdim=True)).exp()


with right:

    def my_softmax(scores):
        differences = scores[..., None, :] - scores[..., :, None]
        return 1 / differences.exp().sum(dim=-1)


with wrong("e^1000 is too large"):

    def my_softmax(scores):
        return torch.exp(scores) / torch.exp(scores).sum(dim=-1, keepdim=True)


edit("torch.softmax(scores, -1", "torch.sigmoid(scores", "each row must sum to 1", of=1)

edit("-1)", "dim=-1) * 1.1", "Sums: row [0] of your weights sums to 1.1", of=1)

edit("-1", "dim=0", "runs over the queries", of=1)

with wrong("keepdim=True keeps the axis"):

    def my_softmax(scores):
        powers = torch.exp(scores - scores.amax(dim=-1))
        return powers / powers.sum(dim=-1)


edit(".values", "", "max with a dim gives two things")

edit("scores - scores.max", "scores / scores.max", "You divided by the maximum")

edit("powers.sum(dim=-1", "powers.sum(dim=-2", "Your columns sum to 1, not your rows")

edit("scores.max(dim=-1", "scores.max(dim=-2", "each column's maximum")

edit("scores.max(dim=-1, keepdim=True).values", "scores.mean(dim=-1, keepdim=True)", "isn't the row's maximum")

edit("scores.max(dim=-1, keepdim=True)", "scores.min(dim=-1, keepdim=True)", "isn't the row's maximum")


with wrong("You raised 2 to the scores"):

    def my_softmax(scores):
        e = 2 ** (scores - scores.amax(-1, keepdim=True))
        return e / e.sum(-1, keepdim=True)


edit("scores.max(", "scores.abs().max(", "the largest absolute value")

edit("powers.sum(dim=-1, keepdim=True)", "powers.sum()", "divide each row by its own sum")

edit("powers.sum(", "scores.exp().sum(", "Both need the same powers")

with wrong("You cut off large scores"):

    def my_softmax(scores):
        powers = torch.exp(torch.clamp(scores, max=50))
        return powers / powers.sum(dim=-1, keepdim=True)


with wrong("You squared the scores"):

    def my_softmax(scores):
        return scores**2 / (scores**2).sum(dim=-1, keepdim=True)


with wrong("the largest score gets the smallest weight"):

    def my_softmax(scores):
        powers = torch.exp(scores.amax(dim=-1, keepdim=True) - scores)
        return powers / powers.sum(dim=-1, keepdim=True)


edit("scores.max(dim=-1, keepdim=True).values", "scores[..., :1]", "isn't the row's maximum")

edit("keepdim=True).values", "keepdim=True).values.clamp(min=0)", "or a maximum that starts at 0")
