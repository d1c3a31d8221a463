"""Lesson 05, my_join_heads: what learners write."""

import torch

from tests.answers import edit, right, wrong

with right:

    def my_join_heads(x):
        return x.transpose(1, 2).contiguous().view(x.size(0), x.size(2), -1)


with right:

    def my_join_heads(x):
        return torch.cat([x[:, h] for h in range(x.size(1))], dim=-1)


with right:

    def my_join_heads(x):
        return torch.cat(x.unbind(dim=1), dim=-1)


edit("x.transpose(1, 2).contiguous().view", "x.reshape", "mixes different tokens")

edit(".contiguous().view", ".view", "view refuses")

edit(
    "x.transpose(1, 2).contiguous().view(x.size(0), x.size(2), ",
    "torch.cat([x[:, h] for h in range(x.size(1) - 1)], dim=",
    "Shape: the result is (1, 3, 2); expected (1, 3, 4)",
)

edit("[x[:, h] for h in range(x.size(1))]", "[head for head in x]", "The heads are axis 1", of=1)

edit("view(x.size(0), x.size(2), -1)", "flatten(1)", "You merged the tokens as well")

edit("x.transpose(1, 2).contiguous().view(x.size(0), x.size(2), -1)", "x.sum(1)", "You added the heads up")

edit("transpose(1, 2).contiguous().view(x.size(0), x.size(2), -1)", "transpose(1, 3).flatten(2)", "axes 1 and 3")

edit("x.size(2), -1", "x.size(1), -1", "The sizes are mixed up")

edit("transpose(1, 2)", "permute(2, 0, 1, 3)", "in front of the batch")

edit("range(x.size(1))", "reversed(range(x.size(1)))", "in the reverse order", of=1)

edit("torch.cat(x.unbind(dim=1), dim=-1)", "x.mean(dim=1)", "or averaged them", of=2)

with wrong("You merged tokens and features"):

    def my_join_heads(x):
        return x.flatten(2)


edit("contiguous().view(x.size(0), x.size(2), -1)", "flatten(1, 2)", "You merged heads and tokens")
