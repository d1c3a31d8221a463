"""Lesson 12, my_accept: what learners write."""

import torch
import torch.nn.functional as F

from tests.answers import edit, right, wrong

with right:

    def my_accept(true, guessed, word):
        more = (true - guessed).clamp(min=0)
        return (true[word] / guessed[word]).clamp(max=1), more / more.sum()


with right:

    def my_accept(true, guessed, word):
        stays = torch.minimum(true, guessed)[word] / guessed[word]
        return stays, torch.relu(true - guessed) / (1 - torch.minimum(true, guessed).sum())


with right:

    def my_accept(true, guessed, word):
        stays = torch.tensor(min(1.0, float(true[word]) / float(guessed[word])))
        more = torch.tensor([max(0.0, float(t) - float(g)) for t, g in zip(true, guessed)])
        return stays, F.normalize(more, p=1, dim=0)


with right:

    def my_accept(true, guessed, word):
        more = (true - guessed).clamp(min=0)
        return [min(1.0, true[word].item() / guessed[word].item()), more / more.sum()]


with wrong("they already had their chance"):

    def my_accept(true, guessed, word):
        return (true[word] / guessed[word]).clamp(max=1), true


with wrong("negative numbers"):

    def my_accept(true, guessed, word):
        rest = true - guessed
        return (true[word] / guessed[word]).clamp(max=1), rest / rest.sum()


edit("max", "min", "stays is never less than 1")

with wrong("drawn *and* stays"):

    def my_accept(true, guessed, word):
        return torch.minimum(true, guessed)[word], F.normalize(torch.relu(true - guessed), p=1, dim=0)


with wrong("It is a ratio"):

    def my_accept(true, guessed, word):
        rest = (true - guessed).clamp(min=0)
        return (true[word] - guessed[word]).clamp(max=1), rest / rest.sum()


with wrong("Only one word was proposed"):

    def my_accept(true, guessed, word):
        rest = (true - guessed).clamp(min=0)
        return torch.clamp(true / guessed, max=1), rest / rest.sum()


with wrong("Python's max and min can't compare"):

    def my_accept(true, guessed, word):
        rest = max(0, true - guessed)
        return min(1, true[word] / guessed[word]), rest / rest.sum()


with wrong("have changed places, in both results"):

    def my_accept(true, guessed, word):
        rest = (guessed - true).clamp(min=0)
        return min(1, guessed[word] / true[word]), rest / rest.sum()
