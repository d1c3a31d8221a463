"""Lesson 16, my_grouped_attention: what learners write."""

import math

import torch
import torch.nn.functional as F

from tests.answers import edit, right, wrong

with right:

    def my_grouped_attention(q, k, v):
        n = len(q) // len(k)
        k, v = k.repeat_interleave(n, dim=0), v.repeat_interleave(n, dim=0)
        return F.scaled_dot_product_attention(q, k, v, is_causal=True)


with right:

    def my_grouped_attention(q, k, v):
        heads, length, d = q.shape
        grouped = q.view(k.size(0), -1, length, d)  # (H_kv, group, T, d)
        scores = grouped @ k[:, None].transpose(-2, -1) / math.sqrt(d)
        future = torch.ones(length, length, dtype=torch.bool).triu(1)
        weights = scores.masked_fill(future, float("-inf")).softmax(dim=-1)
        return (weights @ v[:, None]).reshape(heads, length, d)


with right:

    def my_grouped_attention(q, k, v):
        group = q.size(0) // k.size(0)
        outputs = []
        for head in range(q.size(0)):
            own = head // group
            scores = q[head] @ k[own].T / q.size(-1) ** 0.5
            blocked = torch.full_like(scores, float("-inf")).triu(1)
            outputs.append((scores + blocked).softmax(dim=-1) @ v[own])
        return torch.stack(outputs)


with right:

    def my_grouped_attention(q, k, v):
        return F.scaled_dot_product_attention(q[None], k[None], v[None], is_causal=True, enable_gqa=True)[0]


with wrong("The groups are mixed up"):

    def my_grouped_attention(q, k, v):
        n = len(q) // len(k)
        return F.scaled_dot_product_attention(q, k.repeat(n, 1, 1), v.repeat(n, 1, 1), is_causal=True)


edit("head // group", "head % k.size(0)", "The groups are mixed up", of=2)

edit(", is_causal=True", "", "The causal mask is missing")

edit(".triu(1)", ".triu(0)", "Keep the diagonal", of=1)

edit("head // group", "0", "use the first head", of=2)

edit(" / q.size(-1) ** 0.5", "", "not divided by √d", of=2)

with wrong("The keys are in the order 0, 1, 0, 1"):

    def my_grouped_attention(q, k, v):
        n = len(q) // len(k)
        k, v = k.repeat(n, 1, 1), v.repeat_interleave(n, dim=0)
        return F.scaled_dot_product_attention(q, k, v, is_causal=True)


with wrong("You divided by d."):

    def my_grouped_attention(q, k, v):
        n = q.size(0) // k.size(0)
        k, v = k.repeat_interleave(n, 0), v.repeat_interleave(n, 0)
        s = q @ k.mT / q.size(-1)
        s = s.masked_fill(torch.ones_like(s).triu(1).bool(), float("-inf"))
        return s.softmax(-1) @ v


with wrong("masked_fill writes −∞"):

    def my_grouped_attention(q, k, v):
        n = q.size(0) // k.size(0)
        k, v = k.repeat_interleave(n, 0), v.repeat_interleave(n, 0)
        s = q @ k.mT / q.size(-1) ** 0.5
        s = s.masked_fill(torch.ones_like(s).tril().bool(), float("-inf"))
        return s.softmax(-1) @ v


with wrong("You set blocked scores to 0"):

    def my_grouped_attention(q, k, v):
        n = q.size(0) // k.size(0)
        k, v = k.repeat_interleave(n, 0), v.repeat_interleave(n, 0)
        s = (q @ k.mT).tril() / q.size(-1) ** 0.5
        return s.softmax(-1) @ v


with wrong("You masked after the softmax"):

    def my_grouped_attention(q, k, v):
        n = len(q) // len(k)
        k, v = k.repeat_interleave(n, dim=0), v.repeat_interleave(n, dim=0)
        weights = (q @ k.mT / math.sqrt(q.size(-1))).softmax(-1).tril()
        return weights @ v


with wrong("lets each token see the next one"):

    def my_grouped_attention(q, k, v):
        n = len(q) // len(k)
        k, v = k.repeat_interleave(n, dim=0), v.repeat_interleave(n, dim=0)
        mask = torch.ones(q.size(1), q.size(1), dtype=torch.bool).tril(1)
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)


with wrong("The softmax is over the queries"):

    def my_grouped_attention(q, k, v):
        n = len(q) // len(k)
        k, v = k.repeat_interleave(n, dim=0), v.repeat_interleave(n, dim=0)
        scores = (q @ k.mT / math.sqrt(q.size(-1))).masked_fill(
            torch.ones(q.size(1), q.size(1)).triu(1) > 0, -torch.inf
        )
        return scores.softmax(-2) @ v


with wrong("so a product with them doesn't fit"):

    def my_grouped_attention(q, k, v):
        scores = q @ k.mT / math.sqrt(q.size(-1))
        future = torch.ones_like(scores[0]).triu(1).bool()
        return scores.masked_fill(future, -torch.inf).softmax(dim=-1) @ v


with wrong("so a product with them doesn't fit"):

    def my_grouped_attention(q, k, v):
        return F.scaled_dot_product_attention(q, k, v, is_causal=True)


with wrong("as often as there are heads of keys"):

    def my_grouped_attention(q, k, v):
        n = k.size(0)
        k, v = k.repeat_interleave(n, dim=0), v.repeat_interleave(n, dim=0)
        return F.scaled_dot_product_attention(q, k, v, is_causal=True)


with wrong("k.T reverses all three axes"):

    def my_grouped_attention(q, k, v):
        n = len(q) // len(k)
        k, v = k.repeat_interleave(n, dim=0), v.repeat_interleave(n, dim=0)
        scores = q @ k.T / math.sqrt(q.size(-1))
        future = torch.ones(q.size(1), q.size(1), dtype=torch.bool).triu(1)
        return scores.masked_fill(future, -torch.inf).softmax(dim=-1) @ v


with wrong("so a product with them doesn't fit"):

    def my_grouped_attention(q, k, v):
        k = k.repeat_interleave(len(q) // len(k), dim=0)
        scores = q @ k.mT / math.sqrt(q.size(-1))
        future = torch.ones_like(scores[0]).triu(1).bool()
        return scores.masked_fill(future, -torch.inf).softmax(dim=-1) @ v
