"""Lesson 18, fixed_losses: what learners write."""

import torch

from tests.answers import edit, right, wrong

with right:

    def fixed_losses(sums, tokens):
        total = tokens.sum()
        return sums.sum(dim=1) / total * len(sums)


with right:

    def fixed_losses(sums, tokens):
        per_process = tokens.sum() / tokens.size(0)  # the mean number of tokens
        return sums.sum(dim=-1) / per_process


with right:

    def fixed_losses(sums, tokens):
        n, total = len(sums), int(tokens.sum())
        return torch.stack([n * row.sum() / total for row in sums])


with wrong("The bug is still there"):

    def fixed_losses(sums, tokens):
        own = tokens.sum(dim=1)  # the tokens of each process
        return sums.sum(dim=1) / own


edit(" * len(sums)", "", "DDP *averages* the gradients")

edit("* len(sums)", "/ len(sums)", "DDP divides by N once more")

edit("tokens.sum()", "tokens.sum(dim=1)", "You multiply by N to make up")

edit("* len(sums)", "* sums.numel()", "You multiply by a number of parts")

edit("len(sums)", "sums.size(1)", "You multiply by a number of parts")

edit("sums.sum(dim=1)", "sums.sum().expand(len(sums))", "differs in", of=0)

edit("sums.sum(dim=1) / total * len(sums)", "(sums / tokens).mean(dim=1)", "a step back")

edit("sums.sum(dim=1) / total * len(sums)", "sums.sum(dim=0) / tokens.sum(dim=0)", "You add over the processes")

edit("sums.sum(dim=1) / total * len(sums)", "(sums.sum() / total).expand(len(sums))", "the loss of the whole batch")

with wrong("the weight is right"):

    def fixed_losses(sums, tokens):
        own = tokens.sum(dim=1)
        means = sums.sum(dim=1) / own
        return means * own / own.sum()


with wrong("0 / 0 is NaN"):

    def fixed_losses(sums, tokens):
        own = tokens.sum(dim=1)
        means = sums.sum(dim=1) / own
        return means * own / own.sum() * len(sums)


with wrong("You take the mean over the parts"):

    def fixed_losses(sums, tokens):
        return len(sums) * sums.mean(dim=1) / tokens.sum()


with wrong("which DDP does already"):

    def fixed_losses(sums, tokens):
        own = tokens.sum(dim=1)
        return sums.sum(dim=1) / own / len(sums)


with wrong("that is a step back"):

    def fixed_losses(sums, tokens):
        return (sums / tokens).sum(dim=1)
