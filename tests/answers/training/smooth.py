"""Lesson 11, my_smooth: what learners write."""

import torch
import torch.nn.functional as F

from tests.answers import edit, right, wrong

with right:

    def my_smooth(targets, vocab_size, smoothing):
        return (1 - smoothing) * F.one_hot(targets, vocab_size) + smoothing / vocab_size


with right:

    def my_smooth(targets, vocab_size, smoothing):
        smoothed = torch.zeros(len(targets), vocab_size) + smoothing / vocab_size
        for row, word in zip(smoothed, targets):
            row[word] = 1 - smoothing + smoothing / vocab_size
        return smoothed


with right:

    def my_smooth(targets, vocab_size, smoothing):
        return torch.eye(vocab_size)[targets] * (1 - smoothing) + smoothing * torch.ones(vocab_size) / vocab_size


with right:

    def my_smooth(targets, vocab_size, smoothing):
        share = smoothing / vocab_size
        return torch.where(torch.arange(vocab_size) == targets[:, None], 1 - smoothing + share, share)


with wrong("You shared it among the other tokens only"):

    def my_smooth(targets, vocab_size, smoothing):
        smoothed = torch.full((len(targets), vocab_size), smoothing / (vocab_size - 1))
        return smoothed.scatter(1, targets[:, None], 1 - smoothing)


with wrong("The rows don't sum to 1"):

    def my_smooth(targets, vocab_size, smoothing):
        smoothed = torch.full((len(targets), vocab_size), smoothing / vocab_size)
        return smoothed.scatter(1, targets[:, None], 1 - smoothing)


with wrong("Kind of number"):

    def my_smooth(targets, vocab_size, smoothing):
        return F.one_hot(targets, vocab_size)


with wrong("Nothing is smoothed"):

    def my_smooth(targets, vocab_size, smoothing):
        return F.one_hot(targets, vocab_size).float()


edit("F.one_hot(targets, vocab_size", "F.one_hot(targets", "guesses the size")

with wrong("given to no other"):

    def my_smooth(targets, vocab_size, smoothing):
        smoothed = torch.zeros(len(targets), vocab_size)
        smoothed[torch.arange(len(targets)), targets] = 1 - smoothing
        return smoothed


with wrong("pair row 0 with targets[0]"):

    def my_smooth(targets, vocab_size, smoothing):
        smoothed = torch.full((len(targets), vocab_size), smoothing / vocab_size)
        smoothed[:, targets] += 1 - smoothing
        return smoothed


with wrong("Values: smoothed differs"):

    def my_smooth(targets, vocab_size, smoothing):
        smoothed = torch.full((len(targets), vocab_size), smoothing / vocab_size)
        smoothed[torch.arange(len(targets)), targets] = 1
        return smoothed


edit(
    "row[word] = 1 - smoothing + smoothing / vocab_size",
    "row[word] = 1 - smoothing / vocab_size",
    "only one token's",
    of=1,
)

with wrong("means whole rows"):

    def my_smooth(targets, vocab_size, smoothing):
        smoothed = torch.full((len(targets), vocab_size), smoothing / vocab_size)
        smoothed[targets] += 1 - smoothing
        return smoothed
