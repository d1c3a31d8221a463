"""Lesson 08, my_ask_memory: what learners write."""

import math

import torch
import torch.nn.functional as F

from tests.answers import edit, right, wrong

with right:

    def my_ask_memory(x, memory, w_q, w_k, w_v, real):
        scores = (x @ w_q) @ (memory @ w_k).T / w_q.size(1) ** 0.5
        weights = scores.masked_fill(~real, -torch.inf).softmax(dim=-1)
        return weights @ (memory @ w_v), weights


with right:

    def my_ask_memory(x, memory, w_q, w_k, w_v, real):
        from lessons.attention import attend

        return attend(x @ w_q, memory @ w_k, memory @ w_v, real.expand(x.size(0), memory.size(0)))


with right:

    def my_ask_memory(x, memory, w_q, w_k, w_v, real):
        q, k, v = x @ w_q, memory[real] @ w_k, memory[real] @ w_v
        some = torch.einsum("td,sd->ts", q, k).div(math.sqrt(q.size(1))).softmax(dim=1)
        weights = torch.zeros(len(x), len(memory))
        weights[:, real] = some
        return some @ v, weights


with right:

    def my_ask_memory(x, memory, w_q, w_k, w_v, real):
        q, k, v = x @ w_q, memory @ w_k, memory @ w_v
        scores = q @ k.mT / q.size(-1) ** 0.5
        shares = (scores - scores[:, real].amax(dim=-1, keepdim=True)).exp().masked_fill(~real, 0.0)
        weights = shares / shares.sum(dim=-1, keepdim=True)
        return weights @ v, weights


with right:

    def my_ask_memory(x, memory, w_q, w_k, w_v, real):
        q, k, v = x @ w_q, memory @ w_k, memory @ w_v
        allowed = real.expand(len(q), -1)
        weights = F.scaled_dot_product_attention(q, k, torch.eye(len(k)), attn_mask=allowed)
        return F.scaled_dot_product_attention(q, k, v, attn_mask=allowed), weights


edit(", real.expand(x.size(0), memory.size(0))", "", "Source padding gets weight", of=1)

edit(
    "scores.masked_fill(~real, -torch.inf).softmax(dim=-1)",
    "scores.softmax(dim=-1) * real",
    "Mask the scores before it",
)

edit("-1", "0", "which axis are the keys on?")

edit("w_q.size", "x.size", "d is the size of a query")

with wrong("the weights lack its columns"):

    def my_ask_memory(x, memory, w_q, w_k, w_v, real):
        q, k, v = x @ w_q, memory[real] @ w_k, memory[real] @ w_v
        weights = (q @ k.T / q.size(1) ** 0.5).softmax(dim=-1)
        return weights @ v, weights


with wrong("e^100 is too large for a float"):

    def my_ask_memory(x, memory, w_q, w_k, w_v, real):
        q, k, v = x @ w_q, memory @ w_k, memory @ w_v
        shares = (q @ k.mT / q.size(-1) ** 0.5).exp() * real
        weights = shares / shares.sum(dim=-1, keepdim=True)
        return weights @ v, weights


edit("w_q.size(1) ** 0.5", "len(memory) ** 0.5", "divided by √S")

with wrong("You added a causal mask"):

    def my_ask_memory(x, memory, w_q, w_k, w_v, real):
        scores = (x @ w_q) @ (memory @ w_k).T / w_q.size(1) ** 0.5
        causal = torch.ones(len(x), len(memory), dtype=torch.bool).tril()
        weights = scores.masked_fill(~(real & causal), -torch.inf).softmax(dim=-1)
        return weights @ (memory @ w_v), weights


with wrong("The padding in the memory became 0"):

    def my_ask_memory(x, memory, w_q, w_k, w_v, real):
        memory = memory.masked_fill(~real[:, None], 0.0)
        weights = ((x @ w_q) @ (memory @ w_k).T / w_q.size(1) ** 0.5).softmax(dim=-1)
        return weights @ (memory @ w_v), weights
