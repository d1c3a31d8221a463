"""Lesson 16, my_min_p: what learners write."""

import torch

from tests.answers import edit, right, wrong

with right:

    def my_min_p(logits, min_p):
        p = torch.softmax(logits, dim=-1)
        p = torch.where(p >= min_p * p.max(), p, 0.0)
        return p / p.sum()


with right:

    def my_min_p(logits, min_p):
        dropped = logits - logits.max() < torch.tensor(min_p).log()
        return logits.masked_fill(dropped, -torch.inf).softmax(dim=-1)


with right:

    def my_min_p(logits, min_p):
        p = logits.softmax(dim=-1).tolist()
        most = max(p)
        kept = [x if x >= min_p * most else 0.0 for x in p]
        return torch.tensor([x / sum(kept) for x in kept])


edit("min_p * p.max()", "min_p", "The limit moves with the likeliest token")

edit("return p / p.sum()", "return p", "does not sum to 1")

edit("p >= min_p", "p < min_p", "kept the tail")

edit("return p / p.sum()", "return p.softmax(dim=-1)", "a softmax of probabilities")

edit("min_p * p.max()", "p.max() - min_p", "You subtract min_p")

with wrong("That is top-p"):

    def my_min_p(logits, min_p):
        ordered, order = logits.softmax(dim=-1).sort(descending=True)
        ordered[ordered.cumsum(dim=-1) - ordered >= min_p] = 0
        ordered = ordered / ordered.sum()
        return torch.zeros_like(ordered).scatter(0, order, ordered)


with wrong("leaves nothing to draw"):

    def my_min_p(logits, min_p):
        p = logits.softmax(-1)
        p = p * (p > min_p * p.max())
        return p / p.sum()


with wrong("in the order of their size"):

    def my_min_p(logits, min_p):
        p, order = logits.softmax(-1).sort(descending=True)
        p = p * (p >= min_p * p[0])
        return p / p.sum()


with wrong("only the tokens that stay"):

    def my_min_p(logits, min_p):
        p = logits.softmax(-1)
        keep = p >= min_p * p.max()
        return p[keep] / p[keep].sum()


with wrong("You set logits to 0"):

    def my_min_p(logits, min_p):
        p = logits.softmax(-1)
        logits = logits.masked_fill(p < min_p * p.max(), 0)
        return logits.softmax(-1)


with wrong("equally likely"):

    def my_min_p(logits, min_p):
        p = logits.softmax(-1)
        stays = (p >= min_p * p.max()).float()
        return stays / stays.sum()


with wrong("You subtracted the limit"):

    def my_min_p(logits, min_p):
        p = logits.softmax(-1)
        p = torch.relu(p - min_p * p.max())
        return p / p.sum()


with wrong("You compare logarithms"):

    def my_min_p(logits, min_p):
        log_p = logits.log_softmax(-1)
        return logits.masked_fill(log_p < min_p * log_p.max(), float("-inf")).softmax(-1)


with wrong("a second softmax"):

    def my_min_p(logits, min_p):
        p = logits.softmax(-1)
        p = p.masked_fill(p < min_p * p.max(), -torch.inf)
        return p.softmax(-1)
