"""Lesson 12, fixed_scores: what learners write."""

import torch

from tests.answers import edit, right, wrong

with right:

    def fixed_scores(log_probs, ids, pad_id, alpha):
        lengths = (ids != pad_id).sum(dim=1) - 1
        return log_probs / ((5 + lengths) / 6) ** alpha


with right:

    def fixed_scores(log_probs, ids, pad_id, alpha):
        scores = []
        for log_prob, row in zip(log_probs, ids.tolist()):
            length = len([i for i in row[1:] if i != pad_id])
            scores.append(log_prob / ((5 + length) / 6) ** alpha)
        return torch.stack(scores)


with wrong("The bug is still there"):

    def fixed_scores(log_probs, ids, pad_id, alpha):
        length = ids.size(1) - 1
        return log_probs / ((5 + length) / 6) ** alpha


edit(" - 1", "", "you count BOS")

edit("dim=1", "dim=0", "You count down the columns")

edit("(ids != pad_id).sum(dim=1) - 1", "(ids[:, 1:] != pad_id).sum()", "One length for all")

edit("((5 + lengths) / 6) ** alpha", "((5 + lengths) / 6 * alpha)", "alpha is an exponent")

edit("(5 + lengths) / 6", "5 + lengths / 6", "only they are divided by 6")

edit("dim=1)", "dim=1, keepdim=True)", "Leave keepdim out")
