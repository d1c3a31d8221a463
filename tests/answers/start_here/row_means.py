"""Lesson 00, my_row_means: what learners write."""

import torch

from tests.answers import edit, right, wrong

with right:

    def my_row_means(x):
        return x.mean(dim=1)


with right:

    def my_row_means(x):
        means = []
        for row in x:
            means.append(sum(row) / len(row))
        return torch.stack(means)


with right:

    def my_row_means(x):
        return torch.einsum("td->t", x) / x.shape[1]


with right:

    def my_row_means(x):
        return torch.tensor([sum(row.tolist()) / len(row) for row in x])


edit("x.mean(dim=1", "sum(x) / len(x", "the means of the columns")

edit("x.mean(dim=1)", "[row.mean() for row in x]", "torch.stack makes one out of a list of tensors")

edit("x.mean(dim=1)", "x.median(dim=1).values", "That is the median")

edit("x.mean(dim=1)", "x.sum(dim=1) / x.numel()", "the number of all entries")

edit("return ", "", "does your function end with `return`")

edit("x.mean(dim=1)", "x.sum(dim=1) / (x.size(1) - 1)", "one less than the number of columns")

with wrong("A return inside a loop"):

    def my_row_means(x):
        for row in x:
            return row.mean()


edit("x.mean(dim=1)", "x.sum(dim=1) / 3", "You divided by 3")

edit("dim=1", "dim=2", "x has no axis 2")

edit("x.mean(dim=1)", "x.sum(dim=1) // x.size(1)", "rounded down to whole numbers")

with wrong("Your loop counts the columns"):

    def my_row_means(x):
        means = []
        for i in range(x.size(1)):
            means.append(x[i].mean())
        return torch.stack(means)


with wrong("Your total runs on from row to row"):

    def my_row_means(x):
        means, total = [], 0
        for row in x:
            for number in row:
                total = total + number
            means.append(total / len(row))
        return torch.stack(means)


with wrong("a place for each column"):

    def my_row_means(x):
        means = torch.zeros(x.size(1))
        for i, row in enumerate(x):
            means[i] = row.mean()
        return means


with wrong("the largest numbers of the rows"):

    def my_row_means(x):
        return x.max(dim=1).values


with wrong("the smallest numbers of the rows"):

    def my_row_means(x):
        return x.min(dim=1).values


with wrong("It goes wrong here: a single row"):

    def my_row_means(x):
        return x.mean(dim=1, keepdim=True).squeeze()
