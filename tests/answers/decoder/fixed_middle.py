"""Lesson 08, fixed_middle: what learners write."""

import torch

from tests.answers import edit, right, wrong

with right:

    def fixed_middle(x, memory, cross_attention, norm):
        return x + cross_attention(norm(x), memory)


with right:

    def fixed_middle(x, memory, cross_attention, norm):
        asked = cross_attention(norm(x), memory)
        return torch.add(asked, x)


edit("), memory", "), norm(memory)", "The bug is still there")

with wrong("you add the normalized x"):

    def fixed_middle(x, memory, cross_attention, norm):
        x = norm(x)
        return x + cross_attention(x, memory)


edit(
    "x + cross_attention(norm(x), memory", "norm(x + cross_attention(norm(x), memory)", "the sum is normalized as well"
)


edit(
    "cross_attention(norm(x), memory)\n",
    "norm(cross_attention(x, memory))\n",
    "the output of cross-attention is normalized",
)


edit("norm(x), memory", "memory, norm(x)", "The two arguments of cross_attention are swapped")
