"""Lesson 17, my_join: what learners write."""

import torch

from tests.answers import edit, right, wrong

with right:

    def my_join(highest_a, total_a, summed_a, highest_b, total_b, summed_b):
        highest = torch.maximum(highest_a, highest_b)
        base = torch.where(highest.isinf(), 0.0, highest)
        a, b = torch.exp(highest_a - base), torch.exp(highest_b - base)
        return highest, a * total_a + b * total_b, a * summed_a + b * summed_b


with right:

    def my_join(highest_a, total_a, summed_a, highest_b, total_b, summed_b):
        highests = torch.cat([highest_a, highest_b], dim=-1)  # (Q, 2)
        highest = highests.max(dim=-1, keepdim=True).values
        scales = (highests - highest).exp().nan_to_num(0.0)
        total = (scales * torch.cat([total_a, total_b], dim=-1)).sum(-1, keepdim=True)
        summed = scales[:, :1] * summed_a + scales[:, 1:] * summed_b
        return highest, total, summed


with right:

    def my_join(highest_a, total_a, summed_a, highest_b, total_b, summed_b):
        rows = []
        for i in range(len(highest_a)):
            m = max(highest_a[i], highest_b[i])
            a = 0.0 if highest_a[i] == -torch.inf else (highest_a[i] - m).exp()
            b = 0.0 if highest_b[i] == -torch.inf else (highest_b[i] - m).exp()
            rows.append((m, a * total_a[i] + b * total_b[i], a * summed_a[i] + b * summed_b[i]))
        highest, total, summed = (torch.stack(column) for column in zip(*rows))
        return highest, total, summed


with wrong("You added the sums as they are"):

    def my_join(highest_a, total_a, summed_a, highest_b, total_b, summed_b):
        return torch.maximum(highest_a, highest_b), total_a + total_b, summed_a + summed_b


edit("a * summed_a + b * summed_b", "summed_a + summed_b", "summed was added as it is")

edit("a * total_a + b * total_b", "total_a + total_b", "the totals were added as they are")

edit("torch.where(highest.isinf(), 0.0, highest)", "highest", "−∞ − (−∞) is NaN")

edit("torch.exp(highest_a - base), torch.exp(highest_b - base)", "highest_a.exp(), highest_b.exp()", "overflows")

edit("a, b = torch.exp(highest_a", "b, a = torch.exp(highest_a", "The two scales are swapped")

edit("torch.maximum", "torch.minimum", "the lower of the two highest scores")

with wrong("You divided by the total already"):

    def my_join(highest_a, total_a, summed_a, highest_b, total_b, summed_b):
        highest = torch.maximum(highest_a, highest_b)
        base = highest.masked_fill(highest == -torch.inf, 0.0)
        a, b = (highest_a - base).exp(), (highest_b - base).exp()
        total = a * total_a + b * total_b
        return highest, total, (a * summed_a + b * summed_b) / total


with wrong("kept the block with the higher score"):

    def my_join(highest_a, total_a, summed_a, highest_b, total_b, summed_b):
        a = highest_a >= highest_b
        total, summed = torch.where(a, total_a, total_b), torch.where(a, summed_a, summed_b)
        return torch.where(a, highest_a, highest_b), total, summed


with wrong("Python's max, or an if, compares two numbers"):

    def my_join(highest_a, total_a, summed_a, highest_b, total_b, summed_b):
        highest = max(highest_a, highest_b)
        scale_a, scale_b = (highest_a - highest).exp(), (highest_b - highest).exp()
        return highest, scale_a * total_a + scale_b * total_b, scale_a * summed_a + scale_b * summed_b
