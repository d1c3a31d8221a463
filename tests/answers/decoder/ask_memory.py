"""Lesson 08, my_ask_memory: what learners write."""

import math

import torch
import torch.nn.functional as F

from tests.answers import edit, right, wrong

with right:

    def my_ask_memory(x, memory, w_q, w_k, w_v, real):
        scores = (x @ w_q) @ (memory @ w_k).mT / w_q.size(1) ** 0.5
        weights = scores.masked_fill(~real[:, None, :], -torch.inf).softmax(dim=-1)
        return weights @ (memory @ w_v), weights


with right:

    def my_ask_memory(x, memory, w_q, w_k, w_v, real):
        from lessons.attention import attend

        return attend(x @ w_q, memory @ w_k, memory @ w_v, real.unsqueeze(1))


with right:

    def my_ask_memory(x, memory, w_q, w_k, w_v, real):
        outputs, tables = [], []
        for sentence, source, tokens in zip(x, memory, real):
            q, k, v = sentence @ w_q, source[tokens] @ w_k, source[tokens] @ w_v
            some = torch.einsum("td,sd->ts", q, k).div(math.sqrt(q.size(1))).softmax(dim=1)
            weights = torch.zeros(len(sentence), len(source))
            weights[:, tokens] = some
            outputs.append(some @ v)
            tables.append(weights)
        return torch.stack(outputs), torch.stack(tables)


with right:

    def my_ask_memory(x, memory, w_q, w_k, w_v, real):
        q, k, v = x @ w_q, memory @ w_k, memory @ w_v
        scores = torch.bmm(q, k.transpose(1, 2)) / q.size(-1) ** 0.5
        scores = scores + torch.zeros_like(real, dtype=q.dtype).masked_fill(~real, -torch.inf)[:, None]
        shares = (scores - scores.amax(dim=-1, keepdim=True)).exp()
        weights = shares / shares.sum(dim=-1, keepdim=True)
        return weights @ v, weights


with right:

    def my_ask_memory(x, memory, w_q, w_k, w_v, real):
        q, k, v = x @ w_q, memory @ w_k, memory @ w_v
        allowed = real[:, None].expand(-1, q.size(1), -1)
        weights = F.scaled_dot_product_attention(q, k, torch.eye(k.size(1)).expand(len(k), -1, -1), attn_mask=allowed)
        return F.scaled_dot_product_attention(q, k, v, attn_mask=allowed), weights


edit(", real.unsqueeze(1)", "", "Source padding gets weight", of=1)

edit(
    "scores.masked_fill(~real[:, None, :], -torch.inf).softmax(dim=-1)",
    "scores.softmax(dim=-1) * real[:, None]",
    "Mask the scores before it",
)

edit("dim=-1", "dim=-2", "which axis are the keys on?")

edit("w_q.size(1)", "x.size(2)", "d is the size of a query")

edit("real[:, None, :]", "real", "query t of each sentence gets the mask of sentence t")

edit("real[:, None, :]", "real[:, :, None]", "You hid padding as a query")

edit("(memory @ w_k).mT", "(memory @ w_k).T", "The axis of the sentences moved")

edit("(memory @ w_k).mT", "(memory @ w_k).transpose(0, 1)", "swaps the first two")

edit("w_q.size(1) ** 0.5", "memory.size(1) ** 0.5", "divided by √S")

with wrong("e^100 is too large for a float"):

    def my_ask_memory(x, memory, w_q, w_k, w_v, real):
        q, k, v = x @ w_q, memory @ w_k, memory @ w_v
        shares = (q @ k.mT / q.size(-1) ** 0.5).exp() * real[:, None]
        weights = shares / shares.sum(dim=-1, keepdim=True)
        return weights @ v, weights


with wrong("You added a causal mask"):

    def my_ask_memory(x, memory, w_q, w_k, w_v, real):
        scores = (x @ w_q) @ (memory @ w_k).mT / w_q.size(1) ** 0.5
        causal = torch.ones(x.size(1), memory.size(1), dtype=torch.bool).tril()
        weights = scores.masked_fill(~(real[:, None] & causal), -torch.inf).softmax(dim=-1)
        return weights @ (memory @ w_v), weights


with wrong("The padding in the memory became 0"):

    def my_ask_memory(x, memory, w_q, w_k, w_v, real):
        memory = memory.masked_fill(~real[..., None], 0.0)
        weights = ((x @ w_q) @ (memory @ w_k).mT / w_q.size(1) ** 0.5).softmax(dim=-1)
        return weights @ (memory @ w_v), weights


edit("(memory @ w_k)", "(x @ w_k)", "The keys come from x")

edit(
    "return weights @ (memory @ w_v), weights", "return weights @ (memory @ w_v), scores", "its companion is the scores"
)

edit("(x @ w_q) @ (memory @ w_k)", "(memory @ w_q) @ (x @ w_k)", "x and memory are swapped")

edit("/ w_q.size(1) ** 0.5", "* w_q.size(1) ** 0.5", "multiplied by √d")

with wrong("the other weights are too small"):

    def my_ask_memory(x, memory, w_q, w_k, w_v, real):
        weights = ((x @ w_q) @ (memory @ w_k).mT / w_q.size(1) ** 0.5).softmax(dim=-1)
        return weights @ (memory @ w_v * real[..., None]), weights


with wrong("The matrices are transposed"):

    def my_ask_memory(x, memory, w_q, w_k, w_v, real):
        q, k, v = F.linear(x, w_q), F.linear(memory, w_k), F.linear(memory, w_v)
        scores = q @ k.mT / math.sqrt(q.size(-1))
        weights = scores.masked_fill(~real[:, None], -torch.inf).softmax(dim=-1)
        return weights @ v, weights


with wrong("w_k and w_v are swapped"):

    def my_ask_memory(x, memory, w_q, w_k, w_v, real):
        q, k, v = x @ w_q, memory @ w_v, memory @ w_k
        scores = q @ k.mT / math.sqrt(q.size(-1))
        weights = scores.masked_fill(~real[:, None], -torch.inf).softmax(dim=-1)
        return weights @ v, weights


with wrong("x and memory are swapped"):

    def my_ask_memory(x, memory, w_q, w_k, w_v, real):
        q, k, v = memory @ w_q, x @ w_k, x @ w_v
        scores = q @ k.mT / math.sqrt(q.size(-1))
        weights = scores.masked_fill(~real[:, :, None], -torch.inf).softmax(dim=-1)
        return weights @ v, weights


with wrong("You divided the weights by √d"):

    def my_ask_memory(x, memory, w_q, w_k, w_v, real):
        q, k, v = x @ w_q, memory @ w_k, memory @ w_v
        weights = (q @ k.mT).masked_fill(~real[:, None], -torch.inf).softmax(dim=-1) / q.size(-1) ** 0.5
        return weights @ v, weights
