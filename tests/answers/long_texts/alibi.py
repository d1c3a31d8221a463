"""Lesson 17, my_alibi: what learners write."""

import torch

from tests.answers import edit, right, wrong

with right:

    def my_alibi(num_heads, length):
        slopes = torch.tensor([2 ** (-8 * h / num_heads) for h in range(1, num_heads + 1)])
        i = torch.arange(length)
        back = i.unsqueeze(1) - i.unsqueeze(0)
        future = torch.full((length, length), float("-inf")).triu(1)
        return -slopes.view(-1, 1, 1) * back.clamp(min=0) + future


with right:

    def my_alibi(num_heads, length):
        ratio = 2.0 ** (-8 / num_heads)
        bias = torch.full((num_heads, length, length), -torch.inf)
        for head in range(num_heads):
            for query in range(length):
                for key in range(query + 1):
                    bias[head, query, key] = -(ratio ** (head + 1)) * (query - key)
        return bias


with right:

    def my_alibi(num_heads, length):
        slopes = torch.exp2(-8 / num_heads * torch.arange(1.0, num_heads + 1))
        key = torch.arange(length)
        bias = torch.einsum("h,qk->hqk", slopes, (key - key[:, None]).float())
        return torch.where(key > key[:, None], -torch.inf, bias)


edit("range(1, num_heads + 1)", "range(num_heads)", "Your first slope is")

edit("2 ** (-8 * h / num_heads)", "2.0**-h", "right for 8 heads")

edit("-slopes.view", "slopes.view", "rewards distance")

edit(".triu(1)", ".triu(0)", "may not attend to itself")

edit("back.clamp(min=0) + future", "back.abs()", "the same in both directions")

edit("back.clamp(min=0) + future", "back", "The future isn't blocked")

edit("ratio ** (head + 1)", "ratio", "All heads have the same slope", of=1)

edit("torch.exp2", "torch.exp", "powers of e", of=2)

edit("query - key)", "query - key + 1)", "Your distances start at 1", of=1)

edit("(key > key[:, None], -torch.inf, bias)", "(key > key[:, None], 0.0, bias)", "a bias of 0", of=2)

with wrong("You blocked the past"):

    def my_alibi(num_heads, length):
        slopes = 2.0 ** (-8 * torch.arange(1, num_heads + 1) / num_heads)
        place = torch.arange(length)
        distance = place[:, None] - place
        return (-slopes[:, None, None] * distance).masked_fill(distance > 0, -torch.inf)


edit('torch.full((length, length), float("-inf"))', "-torch.inf * torch.ones(length, length)", "is NaN")

edit("-8 / num_heads * torch.arange", "-8 / torch.arange", "the head multiplies", of=2)

edit("-8 * h / num_heads", "8 * h / num_heads", "slopes are above 1")

with wrong("1, 2, 3, … times the first"):

    def my_alibi(num_heads, length):
        slopes = 2.0 ** (-8 / num_heads) * torch.arange(1, num_heads + 1)
        place = torch.arange(length)
        distance = place[:, None] - place
        return (-slopes[:, None, None] * distance).masked_fill(distance < 0, -torch.inf)
