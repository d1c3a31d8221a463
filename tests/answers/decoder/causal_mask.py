"""Lesson 08, MyCausalMask: what learners write."""

import torch
from torch import nn

from lessons import masks
from tests.answers import edit, right, wrong

with right:

    class MyCausalMask(nn.Module):
        def __init__(self, max_len):
            super().__init__()
            self.register_buffer("allowed", masks.causal(max_len), persistent=False)

        def forward(self, length):
            return self.allowed[:length, :length]


with right:

    class MyCausalMask(nn.Module):
        def __init__(self, max_len):
            super().__init__()
            self.register_buffer("positions", torch.arange(max_len), persistent=False)

        def forward(self, length):
            positions = self.positions[:length]
            return positions[None, :] <= positions[:, None]


edit(
    'self.register_buffer("allowed", masks.causal(max_len), persistent=False)',
    "self.allowed = masks.causal(max_len)",
    "stays on the CPU",
)

edit(", persistent=False", "", "saved with the weights")

edit("positions[None, :] <= positions[:, None]", "masks.causal(length)", "stays on the CPU", of=1)

with wrong("as a parameter"):

    class MyCausalMask(nn.Module):
        def __init__(self, max_len):
            super().__init__()
            mask = torch.ones(max_len, max_len, dtype=torch.bool).tril()
            self.mask = nn.Parameter(mask, requires_grad=False)

        def forward(self, length):
            return self.mask[:length, :length]


with wrong("forward replaces the stored mask"):

    class MyCausalMask(nn.Module):
        def __init__(self, max_len):
            super().__init__()
            self.register_buffer("mask", torch.ones(max_len, max_len).tril().bool(), persistent=False)

        def forward(self, length):
            self.mask = self.mask[:length, :length]
            return self.mask


with wrong("Your mask is True in 2 places too many"):

    class MyCausalMask(nn.Module):
        def __init__(self, max_len):
            super().__init__()
            self.register_buffer("mask", torch.ones(max_len, max_len).tril().bool(), persistent=False)

        def forward(self, length):
            return self.mask[-length:, :length]


edit("[:length, :length]", "[:, :length]", "You cut the columns, but not the rows")


edit("masks.causal(max_len)", "torch.ones(max_len, max_len, dtype=torch.bool).tril(-1)", "The diagonal is blocked")

edit("masks.causal(max_len)", "torch.ones(max_len, max_len, dtype=torch.bool).triu()", "The triangle is transposed")


edit("masks.causal(max_len)", "masks.allowed_to_additive(masks.causal(max_len))", "That is the additive form")

edit("self.register_buffer", "self.allowed = self.register_buffer", "register_buffer returns nothing")


edit('"allowed", masks', "masks", "needs a name as well")
