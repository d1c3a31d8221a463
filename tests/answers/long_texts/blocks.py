"""Lesson 17, my_blocks: what learners write."""

import math

import torch
import torch.nn.functional as F

from tests.answers import edit, right, wrong

with right:

    def my_blocks(q, k, v, block):
        q = q / math.sqrt(q.shape[-1])
        highest = torch.full((q.shape[0], 1), float("-inf"))
        total = torch.zeros(q.shape[0], 1)
        summed = torch.zeros(q.shape[0], v.shape[1])
        for i in range(0, k.shape[0], block):
            s = q @ k[i : i + block].T
            m = torch.maximum(highest, s.max(dim=1, keepdim=True).values)
            old = torch.exp(highest - m)
            p = torch.exp(s - m)
            total = total * old + p.sum(dim=1, keepdim=True)
            summed = summed * old + p @ v[i : i + block]
            highest = m
        return summed / total


with right:

    def my_blocks(q, k, v, block):
        highest = total = summed = None
        for keys, values in zip(k.split(block), v.split(block)):
            scores = torch.einsum("qd,kd->qk", q, keys) / q.size(-1) ** 0.5
            new = scores.amax(-1, keepdim=True)
            if highest is None:
                powers = (scores - new).exp()
                highest, total, summed = new, powers.sum(-1, keepdim=True), powers @ values
                continue
            new = torch.maximum(highest, new)
            powers = (scores - new).exp()
            total = total * (highest - new).exp() + powers.sum(-1, keepdim=True)
            summed = summed * (highest - new).exp() + powers @ values
            highest = new
        return summed / total


with right:

    def my_blocks(q, k, v, block):
        logs, outputs = [], []
        for keys, values in zip(k.split(block), v.split(block)):
            scores = q @ keys.T / math.sqrt(q.size(-1))
            logs.append(scores.logsumexp(dim=-1))
            outputs.append(scores.softmax(dim=-1) @ values)
        shares = torch.stack(logs).softmax(dim=0)  # (blocks, Q)
        return (shares[..., None] * torch.stack(outputs)).sum(dim=0)


with wrong("the scores of all keys were there at once"):

    def my_blocks(q, k, v, block):
        return F.scaled_dot_product_attention(q, k, v)


with right:

    def my_blocks(q, k, v, block):
        highest = torch.full((len(q),), -torch.inf)
        total, summed = torch.zeros(len(q)), torch.zeros(len(q), v.size(1))
        for keys, values in zip(k.split(block), v.split(block)):
            scores = (keys[:, None] * q).sum(-1).T / math.sqrt(q.size(-1))
            new = torch.maximum(highest, scores.amax(1))
            scale, powers = (highest - new).exp(), (scores - new[:, None]).exp()
            total = total * scale + powers.sum(1)
            summed = summed * scale[:, None] + (powers[..., None] * values).sum(1)
            highest = new
        return summed / total[:, None]


edit("total * old + p", "total + p", "total is not")

edit("summed * old + p", "summed + p", "summed is not")

edit("range(0, k.shape[0], block)", "range(0, k.shape[0] - block + 1, block)", "The keys at the end are missing")

edit("        highest = m\n", "", "only the last block counts")

edit("q / math.sqrt(q.shape[-1])", "q", "not divided by √d")

edit("return summed / total", "return summed", "The division at the end is missing")

edit('torch.full((q.shape[0], 1), float("-inf"))', "torch.zeros(q.shape[0], 1)", "highest starts at 0")

edit("v[i : i + block]", "v[: s.shape[1]]", "with the values of the first block")

edit("torch.exp(highest - m)", "torch.exp(m - highest)", "grows where it should shrink")

with wrong("You averaged the outputs of the blocks"):

    def my_blocks(q, k, v, block):
        outputs = [
            F.scaled_dot_product_attention(q, keys, values) for keys, values in zip(k.split(block), v.split(block))
        ]
        return sum(outputs) / len(outputs)


edit("q / math.sqrt(q.shape[-1])", "q / q.shape[-1]", "Divide by its root")

edit("s.max(dim=1, keepdim=True).values", "s.max()", "one highest score for all queries")

with wrong("the scores of all keys were there at once"):

    def my_blocks(q, k, v, block):
        n = -(-len(k) // block)
        pad = n * block - len(k)
        kb = F.pad(k, (0, 0, 0, pad)).view(n, block, -1)
        vb = F.pad(v, (0, 0, 0, pad)).view(n, block, -1)
        s = q @ kb.mT / math.sqrt(q.shape[-1])
        if pad:
            s[-1, :, -pad:] = float("-inf")
        p = s.transpose(0, 1).reshape(len(q), -1).softmax(-1).view(len(q), n, block).transpose(0, 1)
        return (p @ vb).sum(0)


with wrong("the scores of all keys were there at once"):

    def my_blocks(q, k, v, block):
        rows = []
        for query in q:
            weights = (k @ query / math.sqrt(len(query))).softmax(dim=0)
            rows.append(weights @ v)
        return torch.stack(rows)


with wrong("Each block is measured from its own highest score"):

    def my_blocks(q, k, v, block):
        totals, sums = [], []
        for i in range(0, len(k), block):
            s = q @ k[i : i + block].T / math.sqrt(q.shape[-1])
            p = (s - s.max(dim=1, keepdim=True).values).exp()
            totals.append(p.sum(dim=1, keepdim=True))
            sums.append(p @ v[i : i + block])
        return sum(sums) / sum(totals)


with wrong("a softmax of its own"):

    def my_blocks(q, k, v, block):
        weights = [(q @ keys.T / math.sqrt(q.size(-1))).softmax(dim=-1) for keys in k.split(block)]
        return torch.cat(weights, dim=-1) @ v


with wrong("keepdim=True, in the sum as well"):

    def my_blocks(q, k, v, block):
        highest = torch.full((len(q), 1), -torch.inf)
        total, summed = torch.zeros(len(q), 1), torch.zeros(len(q), v.size(-1))
        for keys, values in zip(k.split(block), v.split(block)):
            scores = q @ keys.T / math.sqrt(q.size(-1))
            new = torch.maximum(highest, scores.amax(dim=-1))
            scale, powers = (highest - new).exp(), (scores - new).exp()
            total = scale * total + powers.sum(dim=-1)
            summed = scale * summed + powers @ values
            highest = new
        return summed / total


with wrong("the values aren't"):

    def my_blocks(q, k, v, block):
        highest = torch.full((len(q), 1), -torch.inf)
        total = summed = 0.0
        for keys in k.split(block):
            scores = q @ keys.T / math.sqrt(q.size(-1))
            new = torch.maximum(highest, scores.amax(dim=-1, keepdim=True))
            scale, powers = (highest - new).exp(), (scores - new).exp()
            total = scale * total + powers.sum(dim=-1, keepdim=True)
            summed = scale * summed + powers @ v
            highest = new
        return summed / total
