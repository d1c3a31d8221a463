"""Lesson 05, my_split_heads: what learners write."""

import torch

from tests.answers import edit, right, wrong

with right:

    def my_split_heads(x, num_heads):
        *front, features = x.shape
        return x.reshape(*front, num_heads, features // num_heads).transpose(-2, -3)


with right:

    def my_split_heads(x, num_heads):
        return torch.stack(x.chunk(num_heads, dim=-1), dim=-3)


with right:

    def my_split_heads(x, num_heads):
        size = x.size(-1) // num_heads
        heads = [x[..., h * size : (h + 1) * size] for h in range(num_heads)]
        return torch.cat([head.unsqueeze(-3) for head in heads], dim=-3)


with wrong("Count the axes from the end"):

    def my_split_heads(x, num_heads):
        return x.unflatten(-1, (num_heads, x.size(-1) // num_heads)).transpose(1, 2)


with wrong("don't unpack three sizes"):

    def my_split_heads(x, num_heads):
        batch, tokens, features = x.shape
        return x.reshape(batch, tokens, num_heads, features // num_heads).transpose(1, 2)


edit(
    "x.reshape(*front, num_heads, features // num_heads).transpose(-2, -3)",
    "x.reshape(*front[:-1], num_heads, front[-1], -1)",
    "runs across several tokens",
)

edit("dim=-3)", "dim=-3).flip(-1)", "Values: the result differs", of=1)

edit("transpose(-2, -3)", "transpose(-1, -3)", "You swapped tokens and features")

edit("transpose(-2, -3)", "permute(0, 2, 1, 3)", "Count the axes from the end")

edit("dim=-1", "dim=-2", "You cut the axis of the tokens", of=1)


with wrong("Count the axes from the end"):

    def my_split_heads(x, num_heads):
        return x.view(x.size(0), x.size(1), num_heads, x.size(-1) // num_heads).transpose(1, 2)


edit("num_heads, features // num_heads", "features // num_heads, num_heads", "the heads are last")

edit("dim=-3", "dim=1", "Count the axes from the end", of=1)

with wrong("You cut the axis of the tokens"):

    def my_split_heads(x, num_heads):
        return x.unflatten(-2, (num_heads, -1))


edit("features // num_heads", "features / num_heads", "a size is a whole number")


edit("torch.stack(x.chunk(num_heads, dim=-1), dim=-3)", "x.chunk(num_heads, dim=-1)", "as x.chunk gives", of=1)

edit("transpose(-2, -3)", "transpose(0, 1)", "You swapped the first two axes")
