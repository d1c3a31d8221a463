"""Lesson 14, fixed_maps: what learners write."""

import math

import torch

from lessons.attention import attend, split_heads
from tests.answers import edit, right, wrong

with right:

    def fixed_maps(x, w_q, w_k, num_heads, real):
        q, k = split_heads(x @ w_q.T, num_heads), split_heads(x @ w_k.T, num_heads)
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
        scores = scores.masked_fill(~real[:, None, None], -torch.inf)
        return scores.softmax(dim=-1)


with right:

    def fixed_maps(x, w_q, w_k, num_heads, real):
        q, k = split_heads(x @ w_q.T, num_heads), split_heads(x @ w_k.T, num_heads)
        return attend(q, k, k, real[:, None, None, :])[1]


with right:

    def fixed_maps(x, w_q, w_k, num_heads, real):
        q, k = split_heads(x @ w_q.T, num_heads), split_heads(x @ w_k.T, num_heads)
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
        weights = scores.exp() * real[:, None, None]
        return weights / weights.sum(dim=-1, keepdim=True)


with right:

    def fixed_maps(x, w_q, w_k, num_heads, real):
        q, k = split_heads(x @ w_q.T, num_heads), split_heads(x @ w_k.T, num_heads)
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
        weights = scores.softmax(dim=-1) * real[:, None, None]
        return weights / weights.sum(dim=-1, keepdim=True)


with wrong("The bug is still there"):

    def fixed_maps(x, w_q, w_k, num_heads, real):
        q, k = split_heads(x @ w_q.T, num_heads), split_heads(x @ w_k.T, num_heads)
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
        scores = scores.masked_fill(~real[:, None, :, None], torch.finfo(scores.dtype).min)
        return scores.softmax(dim=-1)


with wrong("The mask came after the softmax"):

    def fixed_maps(x, w_q, w_k, num_heads, real):
        q, k = split_heads(x @ w_q.T, num_heads), split_heads(x @ w_k.T, num_heads)
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
        return scores.softmax(dim=-1) * real[:, None, None]


edit("None, :", ":, None", "You block the rows of the padding", of=1)

with wrong("takes its axes for queries and keys"):

    def fixed_maps(x, w_q, w_k, num_heads, real):
        q, k = split_heads(x @ w_q.T, num_heads), split_heads(x @ w_k.T, num_heads)
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
        return scores.masked_fill(real == False, -torch.inf).softmax(-1)


with wrong("divided by √D"):

    def fixed_maps(x, w_q, w_k, num_heads, real):
        q, k = split_heads(x @ w_q.T, num_heads), split_heads(x @ w_k.T, num_heads)
        scores = q @ k.transpose(-2, -1) / math.sqrt(x.size(-1))
        return scores.masked_fill(~real[:, None, None], -torch.inf).softmax(dim=-1)


with wrong("takes the sentences for heads"):

    def fixed_maps(x, w_q, w_k, num_heads, real):
        q, k = split_heads(x @ w_q.T, num_heads), split_heads(x @ w_k.T, num_heads)
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
        return scores.masked_fill(~real[:, None], -torch.inf).softmax(dim=-1)


with wrong("You blocked the padding's rows as well"):

    def fixed_maps(x, w_q, w_k, num_heads, real):
        q, k = split_heads(x @ w_q.T, num_heads), split_heads(x @ w_k.T, num_heads)
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
        allowed = real[:, None, None] & real[:, None, :, None]
        return scores.masked_fill(~allowed, -1e9).softmax(dim=-1)


edit("scores = scores.masked_fill", "scores.masked_fill", "there is no mask at all")

edit("softmax(dim=-1)", "softmax(dim=-2)", "the softmax goes over the queries")


with wrong("The mask is inverted"):

    def fixed_maps(x, w_q, w_k, num_heads, real):
        q, k = split_heads(x @ w_q.T, num_heads), split_heads(x @ w_k.T, num_heads)
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
        scores = scores.masked_fill(real[:, None, None], torch.finfo(scores.dtype).min)
        return scores.softmax(-1)


with wrong("those of the padding are open"):

    def fixed_maps(x, w_q, w_k, num_heads, real):
        q, k = split_heads(x @ w_q.T, num_heads), split_heads(x @ w_k.T, num_heads)
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
        scores = scores.masked_fill(real[:, None, :, None], torch.finfo(scores.dtype).min)
        return scores.softmax(dim=-1)
