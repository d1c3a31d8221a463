"""Lesson 11, my_smooth: what learners write."""

import torch
import torch.nn.functional as F

from tests.answers import edit, right, wrong

with right:

    def my_smooth(targets, vocab_size, smoothing):
        return (1 - smoothing) * F.one_hot(targets, vocab_size) + smoothing / vocab_size


with right:

    def my_smooth(targets, vocab_size, smoothing):
        wished = torch.zeros(len(targets), vocab_size) + smoothing / vocab_size
        for row, word in zip(wished, targets):
            row[word] = 1 - smoothing + smoothing / vocab_size
        return wished


with right:

    def my_smooth(targets, vocab_size, smoothing):
        return torch.eye(vocab_size)[targets] * (1 - smoothing) + smoothing * torch.ones(vocab_size) / vocab_size


with right:

    def my_smooth(targets, vocab_size, smoothing):
        share = smoothing / vocab_size
        return torch.where(torch.arange(vocab_size) == targets[:, None], 1 - smoothing + share, share)


with wrong("You shared it among the other words alone"):

    def my_smooth(targets, vocab_size, smoothing):
        wished = torch.full((len(targets), vocab_size), smoothing / (vocab_size - 1))
        return wished.scatter(1, targets[:, None], 1 - smoothing)


with wrong("The rows do not sum to 1"):

    def my_smooth(targets, vocab_size, smoothing):
        wished = torch.full((len(targets), vocab_size), smoothing / vocab_size)
        return wished.scatter(1, targets[:, None], 1 - smoothing)


with wrong("Kind of number"):

    def my_smooth(targets, vocab_size, smoothing):
        return F.one_hot(targets, vocab_size)


with wrong("Nothing is smoothed"):

    def my_smooth(targets, vocab_size, smoothing):
        return F.one_hot(targets, vocab_size).float()


edit("F.one_hot(targets, vocab_size", "F.one_hot(targets", "guesses the number of words")

with wrong("given to nobody"):

    def my_smooth(targets, vocab_size, smoothing):
        wished = torch.zeros(len(targets), vocab_size)
        wished[torch.arange(len(targets)), targets] = 1 - smoothing
        return wished


with wrong("pair row 0 with targets[0]"):

    def my_smooth(targets, vocab_size, smoothing):
        wished = torch.full((len(targets), vocab_size), smoothing / vocab_size)
        wished[:, targets] += 1 - smoothing
        return wished


with wrong("Values: wished differs"):

    def my_smooth(targets, vocab_size, smoothing):
        wished = torch.full((len(targets), vocab_size), smoothing / vocab_size)
        wished[torch.arange(len(targets)), targets] = 1
        return wished
