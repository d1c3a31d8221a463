"""Lesson 03, my_influence: what learners write."""

import torch

from tests.answers import edit, right, wrong

with right:

    def my_influence(function, x):
        before = function(x)
        columns = []
        for j in range(len(x)):
            y = x.clone()
            y[j] = y[j] + 1
            columns.append(((function(y) - before).abs() > 1e-5).any(dim=-1))
        return torch.stack(columns, dim=1)


with right:

    def my_influence(function, x):
        moved = torch.zeros(len(x), len(x), dtype=torch.bool)
        for j in range(len(x)):
            y = x.clone()
            y[j] = torch.tensor([3.0, -2.0, 5.0])
            for i in range(len(x)):
                moved[i, j] = not torch.allclose(function(y)[i], function(x)[i])
        return moved


with right:

    def my_influence(function, x):
        table = torch.autograd.functional.jacobian(function, x)  # (T, d, T, D)
        return (table.abs() > 1e-8).any(dim=3).any(dim=1)


with wrong("Your table is transposed"):

    def my_influence(function, x):
        before = function(x)
        rows = []
        for j in range(len(x)):
            y = x.clone()
            y[j] += 1
            rows.append((function(y) != before).any(dim=-1))
        return torch.stack(rows)


with wrong("changed its argument x"):

    def my_influence(function, x):
        before = function(x)
        columns = []
        for j in range(len(x)):
            x[j] += 1
            columns.append(((function(x) - before).abs() > 1e-5).any(dim=-1))
            x[j] -= 2
        return torch.stack(columns, dim=1)


edit("j] = y[j] +", ":, j] +=", "y[:, j] is a column")

with wrong("it is the tokens that you compared"):

    def my_influence(function, x):
        columns = []
        for j in range(len(x)):
            y = x.clone()
            y[j] += 1
            columns.append((y != x).any(dim=-1))
        return torch.stack(columns, dim=1)
