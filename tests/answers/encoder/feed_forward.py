"""Lesson 07, my_feed_forward: what learners write."""

import torch
import torch.nn.functional as F

from tests.answers import edit, right

with right:

    def my_feed_forward(x, w1, b1, w2, b2):
        return torch.relu(x @ w1 + b1) @ w2 + b2


with right:

    def my_feed_forward(x, w1, b1, w2, b2):
        hidden = F.linear(x, w1.T, b1)
        hidden = torch.where(hidden > 0, hidden, 0.0)
        return torch.addmm(b2, hidden, w2)


with right:

    def my_feed_forward(x, w1, b1, w2, b2):
        rows = [torch.relu(row @ w1 + b1) @ w2 + b2 for row in x]
        return torch.stack(rows)


edit("torch.relu(x @ w1 + b1) @ w2 + b2", "F.linear(F.linear(x, w1.T, b1), w2.T, b2)", "max(0, …) is missing")

edit("torch.relu(", "max(0, ", "Neither max nor an if")

edit("torch.relu(x @ w1 + b1) @", "(x @ w1 + b1 if (x @ w1 + b1) > 0 else 0) @", "Neither max nor an if")

edit("torch.relu", "F.leaky_relu", "The function between the two layers is another one")

edit("torch.relu(x @ w1 + b1)", "(x @ w1 + b1).clamp(max=0)", "You kept what is negative")

edit("torch.relu", "torch.sigmoid", "The function between the two layers is another one")

edit("torch.relu(x @ w1 + b1) @ w2 + b2", "F.linear(F.relu(F.linear(x, w1, b1)), w2, b2)", "A matrix is transposed")

edit("@ w2", "@ w2.T", "A matrix is transposed")

edit("x @ w1", "w1 @ x", "The matrix came first")

edit("b1) @ w2 + b2", "b2) @ w2 + b1", "The biases are swapped")

edit("torch.relu(x @ w1 + b1) @ w2", "torch.relu(torch.relu(x @ w1 + b1) @ w2)", "max(0, …) came twice")

edit("x @ w1 + b1", "torch.nn.Linear(w1.size(0), w1.size(1))(x)", "the same with other values of w1, b1")

edit("x @ w1 + b1) @ w2 + b2", "x @ (w1 + b1)) @ (w2 + b2)", "The biases were added to the matrices")

edit("torch.relu(x @ w1 + b1)", "F.dropout(torch.relu(x @ w1 + b1), 0.1)", "something in it is random, such as dropout")
