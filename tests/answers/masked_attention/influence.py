"""Lesson 03, my_influence: what learners write."""

import torch

from tests.answers import edit, right, wrong

with right:

    def my_influence(function, x):
        before = function(x)
        columns = []
        for j in range(len(x)):
            y = x.clone()
            y[j] = y[j] + torch.linspace(1, 2, x.size(1))
            columns.append(((function(y) - before).abs() > 1e-5).any(dim=-1))
        return torch.stack(columns, dim=1)


with right:

    def my_influence(function, x):
        moved = torch.zeros(len(x), len(x), dtype=torch.bool)
        for j in range(len(x)):
            y = x.clone()
            y[j] = 5 * torch.arange(x.size(1)).cos()
            for i in range(len(x)):
                moved[i, j] = not torch.allclose(function(y)[i], function(x)[i], atol=1e-5)
        return moved


with right:

    def my_influence(function, x):
        table = torch.autograd.functional.jacobian(function, x)  # (T, d, T, D)
        return (table.abs() > 1e-5).any(dim=3).any(dim=1)


with right:

    def my_influence(function, x):
        moved = torch.zeros(len(x), len(x), dtype=torch.bool)
        for j in range(len(x)):
            y = x.clone()
            y[j] = torch.randn_like(x[j])
            moved[:, j] = ((function(y) - function(x)).abs() > 1e-5).any(dim=-1)
        return moved


with right:

    def my_influence(function, x):
        before = function(x)
        columns = []
        for j, token in enumerate(x):
            y = torch.cat([x[:j], torch.randn_like(token)[None], x[j + 1 :]])
            columns.append((function(y) - before).norm(dim=-1) > 1e-5)
        return torch.stack(columns).T


with right:

    def my_influence(function, x):
        noise = torch.randn_like(x)
        before = function(x)
        columns = []
        for j in range(len(x)):
            here = (torch.arange(len(x)) == j)[:, None]
            columns.append((function(torch.where(here, noise, x)) - before).abs().sum(dim=-1) > 1e-5)
        return torch.stack(columns, dim=1)


with wrong("Your table is transposed"):

    def my_influence(function, x):
        before = function(x)
        rows = []
        for j in range(len(x)):
            y = x.clone()
            y[j] += 1
            rows.append((function(y) != before).any(dim=-1))
        return torch.stack(rows)


with wrong("y = x is only a second name for the same tensor"):

    def my_influence(function, x):
        before = function(x)
        columns = []
        for j in range(len(x)):
            x[j] += 1
            columns.append(((function(x) - before).abs() > 1e-5).any(dim=-1))
            x[j] -= 2
        return torch.stack(columns, dim=1)


edit("torch.linspace(1, 2, x.size(1))", "1", "A layer norm subtracts the mean")

edit("y[j] + torch.linspace(1, 2, x.size(1))", "y[j] * 3", "a layer norm undoes it")

edit("y[j] + torch.linspace(1, 2, x.size(1))", "0", "leaves a token of zeros as it was")

edit("y[j] + torch.linspace(1, 2, x.size(1))", "-y[j]", "leaves a token of zeros as it was")

edit("y[j] = y[j] + torch.linspace(1, 2, x.size(1))", "y[j, -1] += 1", "The first feature is left out")

edit(".any(dim=-1)", "[:, -1]", "The first feature is left out", of=3)

edit("y[j] = y[j] + torch.linspace(1, 2, x.size(1))", "y[j, :-1] += 1", "The last feature is left out")

edit("y[j] + torch.linspace(1, 2, x.size(1))", "y[j].flip(0)", "or reordering its features")

edit("y[j] + torch.linspace(1, 2, x.size(1))", "x[j - 1]", "It goes wrong here: tokens that are all the same")

edit("torch.randn_like(x[j])", "torch.tensor([3.0, -2.0, 5.0])", "The shapes there: y (4, 2)", of=3)

edit(
    "(function(y) - before).norm(dim=-1)",
    "(function(y).norm(dim=-1) - before.norm(dim=-1)).abs()",
    "For 17 of the 18 inputs",
    of=4,
)

edit("[j] = y[j] + torch.linspace(1, 2, x.size(1))", "[:, j] += 1", "y[:, j] is a column")

edit(".abs() > 1e-5", " != 0", "even one in the last digit")

with wrong("you compared the tokens"):

    def my_influence(function, x):
        columns = []
        for j in range(len(x)):
            y = x.clone()
            y[j] += 1
            columns.append((y != x).any(dim=-1))
        return torch.stack(columns, dim=1)


with wrong("what moves down is missed, and ups and downs cancel"):

    def my_influence(function, x):
        before = function(x)
        columns = []
        for j in range(len(x)):
            y = x.clone()
            y[j] = torch.randn_like(x[j])
            columns.append((function(y) - before).sum(dim=-1) > 1e-5)
        return torch.stack(columns, dim=1)


with wrong("for each feature whether it moved"):

    def my_influence(function, x):
        columns = []
        for j in range(len(x)):
            y = x.clone()
            y[j] = torch.randn_like(x[j])
            columns.append((function(y) - function(x)).abs() > 1e-5)
        return torch.stack(columns, dim=1)


with wrong("You compared with x itself"):

    def my_influence(function, x):
        columns = []
        for j in range(len(x)):
            y = x.clone()
            y[j] = torch.randn_like(x[j])
            columns.append(((function(y) - x).abs() > 1e-5).any(dim=-1))
        return torch.stack(columns, dim=1)


with wrong("once whether anything moves"):

    def my_influence(function, x):
        before = function(x)
        columns = []
        for j in range(len(x)):
            y = x.clone()
            y[j] = torch.randn_like(x[j])
            columns.append((function(y) - before).abs().max() > 1e-5)
        return torch.stack(columns)


with wrong("There is no axis 1: any() without an axis"):

    def my_influence(function, x):
        before = function(x)
        columns = []
        for j in range(len(x)):
            y = x.clone()
            y[j] = torch.randn_like(x[j])
            columns.append(((function(y) - before).abs() > 1e-5).any())
        return torch.stack(columns, dim=1)


edit("y[j] + torch.linspace(1, 2, x.size(1))", "torch.randn(1)", "one number into all features")

edit("y[j] + torch.linspace(1, 2, x.size(1))", "1.0", "one number into all features")

edit("y[j] = y[j] + torch.linspace(1, 2, x.size(1))", "y = torch.randn_like(x)", "all tokens at once")

edit("(function(y) - before)", "function(y)", "didn't compare with before")

edit("torch.stack(columns, dim=1)", "torch.cat(columns)", "torch.cat adds no axis")

edit("torch.stack(columns, dim=1)", "torch.cat(columns, dim=1)", "There is no axis 1")

edit("> 1e-5", "> 1e-2", "You overlooked outputs that move a little", of=3)

with wrong("Above the diagonal your table is always False"):

    def my_influence(function, x):
        before = function(x)
        moved = torch.zeros(len(x), len(x), dtype=torch.bool)
        for j in range(len(x)):
            y = x.clone()
            y[j] = torch.randn_like(x[j])
            after = function(y)
            for i in range(j, len(x)):
                moved[i, j] = (after[i] - before[i]).abs().max() > 1e-5
        return moved


with wrong("These are the differences themselves"):

    def my_influence(function, x):
        before = function(x)
        columns = []
        for j in range(len(x)):
            y = x.clone()
            y[j] = torch.randn_like(x[j])
            columns.append((function(y) - before).abs().amax(dim=-1))
        return torch.stack(columns, dim=1)


with wrong("it holds the numbers 0 and 1"):

    def my_influence(function, x):
        before = function(x)
        moved = torch.zeros(len(x), len(x))
        for j in range(len(x)):
            y = x.clone()
            y[j] = torch.randn_like(x[j])
            moved[:, j] = ((function(y) - before).abs() > 1e-5).any(dim=-1)
        return moved


with wrong("puts its columns next to each other"):

    def my_influence(function, x):
        before = function(x)
        columns = []
        for j in range(len(x)):
            y = x.clone()
            y[j] = torch.randn_like(x[j])
            columns.append(((function(y) - before).abs() > 1e-5).any(dim=-1))
        return columns


with wrong("all outputs together"):

    def my_influence(function, x):
        before = function(x)
        columns = []
        for j in range(len(x)):
            y = x.clone()
            y[j] = torch.randn_like(x[j])
            columns.append(not torch.allclose(function(y), before, atol=1e-5))
        return torch.stack(columns, dim=1)


with wrong("Your loop counts the features"):

    def my_influence(function, x):
        before = function(x)
        columns = []
        for j in range(x.size(1)):
            y = x.clone()
            y[j] = torch.randn_like(x[j])
            columns.append(((function(y) - before).abs() > 1e-5).any(dim=-1))
        return torch.stack(columns, dim=1)
