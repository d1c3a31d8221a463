"""Lesson 03, my_rescued_weights: what learners write."""

import torch
import torch.nn.functional as F

from tests.answers import edit, right, wrong

with right:

    def my_rescued_weights(weights, allowed):
        kept = weights * allowed
        total = kept.sum(dim=-1, keepdim=True)
        return torch.where(total > 0, kept / torch.where(total > 0, total, 1.0), 0.0)


with right:

    def my_rescued_weights(weights, allowed):
        kept = torch.where(allowed, weights, torch.zeros_like(weights))
        total = kept.sum(-1).unsqueeze(-1)
        return kept / (total + (total == 0))


with right:

    def my_rescued_weights(weights, allowed):
        return weights.log().masked_fill(~allowed, -torch.inf).softmax(dim=-1).nan_to_num(0.0)


with right:

    def my_rescued_weights(weights, allowed):
        return F.normalize(weights * allowed, p=1, dim=-1, eps=1e-38)


with right:

    def my_rescued_weights(weights, allowed):
        kept = weights.clone()
        kept[~allowed] = 0
        total = kept.sum(-1, keepdim=True)
        return kept / torch.where(total == 0, 1.0, total)


with wrong("no longer sum to 1"):

    def my_rescued_weights(weights, allowed):
        return weights.masked_fill(~allowed, 0)


with wrong("became 0 / 0"):

    def my_rescued_weights(weights, allowed):
        weights = weights.masked_fill(~allowed, 0.0)
        return weights / weights.sum(dim=-1, keepdim=True)


edit("weights.log()", "weights", "softmax of the weights", of=2)

edit(".unsqueeze(-1)", "", "column", of=1)

edit("(total == 0)", "1e-9", "treat only sums of exactly 0", of=1)

edit("(total == 0)", "1e-3", "treat only sums of exactly 0", of=1)

with wrong("number of visible keys"):

    def my_rescued_weights(weights, allowed):
        return weights * allowed / (allowed.sum(dim=-1, keepdim=True) + 1e-30)


with wrong("-inf is for scores"):

    def my_rescued_weights(weights, allowed):
        return weights.masked_fill(~allowed, float("-inf"))


with wrong("-inf is for scores"):

    def my_rescued_weights(weights, allowed):
        kept = weights.masked_fill(~allowed, float("-inf"))
        return kept / kept.sum(dim=-1, keepdim=True)


with wrong("The mask is inverted"):

    def my_rescued_weights(weights, allowed):
        kept = weights.masked_fill(allowed, 0.0)
        return kept / kept.sum(dim=-1, keepdim=True)


with wrong("its gradient is NaN, too"):

    def my_rescued_weights(weights, allowed):
        kept = weights * allowed
        return torch.nan_to_num(kept / kept.sum(dim=-1, keepdim=True))


edit("p=1, ", "", "the root of the sum of squares", of=3)

with wrong("the largest weight of each row"):

    def my_rescued_weights(weights, allowed):
        kept = weights.masked_fill(~allowed, 0.0)
        largest = kept.max(dim=-1, keepdim=True).values
        return kept / torch.where(largest > 0, largest, 1.0)


with wrong("got even weights"):

    def my_rescued_weights(weights, allowed):
        kept = weights * allowed
        total = kept.sum(-1, keepdim=True)
        return torch.where(total > 0, kept / total.clamp(min=1e-38), 1 / kept.size(-1))


with wrong("the sum was cut off from them"):

    def my_rescued_weights(weights, allowed):
        kept = torch.where(allowed, weights, 0.0)
        total = kept.sum(-1, keepdim=True).detach()
        total[total == 0] = 1.0
        return kept / total


with wrong("You added what was lost to each weight"):

    def my_rescued_weights(weights, allowed):
        kept = weights * allowed
        return kept + (1 - kept.sum(-1, keepdim=True))


with wrong("the sum of the blocked weights"):

    def my_rescued_weights(weights, allowed):
        blocked = (weights * ~allowed).sum(dim=-1, keepdim=True)
        return weights * allowed / blocked


edit("weights.clone()", "weights.detach().clone()", "something cut the way back to the inputs", of=4)

edit("kept.sum(dim=-1, keepdim=True)", "kept.mean(dim=-1, keepdim=True)", "the mean of each row")


edit("weights.clone()", "weights", "changed the weights that it was given", of=4)

edit("kept.sum(dim=-1, keepdim=True)", "kept.sum(dim=1, keepdim=True)", "where axis 1 is the keys")

with wrong("`if` needs one truth value"):

    def my_rescued_weights(weights, allowed):
        kept = weights * allowed
        total = kept.sum(dim=-1, keepdim=True)
        if total == 0:
            return torch.zeros_like(weights)
        return kept / total


with wrong("softmax of the weights"):

    def my_rescued_weights(weights, allowed):
        return (weights * allowed).softmax(dim=-1) * allowed


with wrong("the table is lost"):

    def my_rescued_weights(weights, allowed):
        kept = weights[allowed]
        return kept / kept.sum()
