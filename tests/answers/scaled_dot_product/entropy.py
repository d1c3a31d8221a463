"""Lesson 02, my_entropy: what learners write."""

import math

import torch

from tests.answers import edit, right, wrong

with right:

    def my_entropy(weights):
        return torch.special.entr(weights).sum(dim=-1)


with right:

    def my_entropy(weights):
        logs = torch.where(weights > 0, weights, torch.ones_like(weights)).log()
        return -(weights * logs).sum(dim=-1)


with right:

    def my_entropy(weights):
        return torch.distributions.Categorical(probs=weights).entropy()


with right:

    def my_entropy(weights):
        return -(weights * weights.clamp(min=1e-12).log()).sum(-1)


edit("torch.special.entr(weights).sum(dim=", "-(weights * torch.log2(weights.clamp(min=1e-12))).sum(", "base 2")

edit("torch.special.entr(weights).sum(dim=-", "-torch.nansum(weights * weights.log(), dim=", "Right for a table")

edit("torch.special.entr(weights).sum(dim=", "1 - weights.square().sum(", "Values: the result differs")


with wrong("It goes wrong here: two axes in front"):

    def my_entropy(weights):
        if weights.dim() == 2:
            return torch.special.entr(weights).sum(dim=1)
        return torch.special.entr(weights).sum(dim=2)


edit("torch.special.entr(weights)", "torch.special.entr(weights.softmax(-1))", "Another softmax")

edit("dim=-1", "dim=-1, keepdim=True", "The last axis is still there")

with wrong("You replaced NaN after the sum"):

    def my_entropy(weights):
        return torch.nan_to_num(-(weights * weights.log()).sum(dim=-1))


edit(".sum(dim=-1)", ".sum(dim=-1) / torch.log(torch.tensor(10.0))", "to base 10")

edit(".sum(dim=-1)", ".sum(dim=-1).exp()", "the perplexity")

edit(".sum(dim=-1)", "", "Add them up along each row")


with wrong("math.log takes one number"):

    def my_entropy(weights):
        return -(weights * math.log(weights)).sum(-1)


with wrong("`if` needs one truth value"):

    def my_entropy(weights):
        logs = weights.log()
        if weights == 0:
            logs = 0
        return -(weights * logs).sum(dim=-1)
