"""Lesson 12, my_cached_step: what learners write."""

import math

import torch
import torch.nn.functional as F

from lessons import masks
from tests.answers import right, wrong

with right:

    def my_cached_step(x, keys, values, w_q, w_k, w_v, turn):
        n, length = len(x), len(keys)
        q, k, v = turn(x @ w_q, length), turn(x @ w_k, length), x @ w_v
        keys, values = torch.cat([keys, k]), torch.cat([values, v])
        allowed = torch.ones(n, length + n, dtype=torch.bool).tril(length)
        scores = (q @ keys.T / math.sqrt(q.size(1))).masked_fill(~allowed, -torch.inf)
        return scores.softmax(dim=-1) @ values, keys, values


with right:

    def my_cached_step(x, keys, values, w_q, w_k, w_v, turn):
        rows = []
        for row in x:
            row = row[None]
            keys = torch.cat([keys, turn(row @ w_k, len(keys))])
            values = torch.cat([values, row @ w_v])
            q = turn(row @ w_q, len(keys) - 1)
            rows.append((q @ keys.T / q.size(1) ** 0.5).softmax(dim=-1) @ values)
        return torch.cat(rows), keys, values


with right:

    def my_cached_step(x, keys, values, w_q, w_k, w_v, turn):
        start = keys.size(0)
        k = torch.vstack([keys, turn(x @ w_k, start)])
        v = torch.vstack([values, x @ w_v])
        allowed = masks.causal(len(x), offset=start)
        output = F.scaled_dot_product_attention(turn(x @ w_q, start)[None], k[None], v[None], attn_mask=allowed)
        return output[0], k, v


with right:

    def my_cached_step(x, keys, values, w_q, w_k, w_v, turn):
        start = len(keys)
        q, k, v = turn(x @ w_q, start), turn(x @ w_k, start), x @ w_v
        blocked = torch.ones(len(x), len(x), dtype=torch.bool).triu(1)
        scores = torch.cat([q @ keys.mT, (q @ k.mT).masked_fill(blocked, -torch.inf)], dim=1)
        weights = (scores / math.sqrt(k.size(1))).softmax(dim=-1)
        output = weights[:, :start] @ values + weights[:, start:] @ v
        return output, torch.cat([keys, k]), torch.cat([values, v])


with wrong("Position 0 at every step"):

    def my_cached_step(x, keys, values, w_q, w_k, w_v, turn):
        q, k, v = turn(x @ w_q, 0), turn(x @ w_k, 0), x @ w_v
        keys, values = torch.cat([keys, k]), torch.cat([values, v])
        allowed = torch.ones(len(x), len(keys), dtype=torch.bool).tril(len(keys) - len(x))
        scores = (q @ keys.T / math.sqrt(q.size(1))).masked_fill(~allowed, -torch.inf)
        return scores.softmax(dim=-1) @ values, keys, values


with wrong("aligned at the top left"):

    def my_cached_step(x, keys, values, w_q, w_k, w_v, turn):
        q, k, v = turn(x @ w_q, len(keys)), turn(x @ w_k, len(keys)), x @ w_v
        keys, values = torch.cat([keys, k]), torch.cat([values, v])
        allowed = torch.ones(len(x), len(keys), dtype=torch.bool).tril()
        scores = (q @ keys.T / math.sqrt(q.size(1))).masked_fill(~allowed, -torch.inf)
        return scores.softmax(dim=-1) @ values, keys, values


with wrong("They need the causal mask among themselves"):

    def my_cached_step(x, keys, values, w_q, w_k, w_v, turn):
        q, k, v = turn(x @ w_q, len(keys)), turn(x @ w_k, len(keys)), x @ w_v
        keys, values = torch.cat([keys, k]), torch.cat([values, v])
        return (q @ keys.T / math.sqrt(q.size(1))).softmax(dim=-1) @ values, keys, values


with wrong("aligned at the top left"):

    def my_cached_step(x, keys, values, w_q, w_k, w_v, turn):
        start = len(keys)
        keys, values = torch.cat([keys, turn(x @ w_k, start)]), torch.cat([values, x @ w_v])
        q = turn(x @ w_q, start)
        output = F.scaled_dot_product_attention(q[None], keys[None], values[None], is_causal=len(x) > 1)
        return output[0], keys, values


with wrong("you rotate each for position L"):

    def my_cached_step(x, keys, values, w_q, w_k, w_v, turn):
        start, outputs = len(keys), []
        for row in x.split(1):
            keys, values = torch.cat([keys, turn(row @ w_k, start)]), torch.cat([values, row @ w_v])
            outputs.append((turn(row @ w_q, start) @ keys.T / math.sqrt(keys.size(1))).softmax(dim=-1) @ values)
        return torch.cat(outputs), keys, values


with wrong("The new keys are not rotated"):

    def my_cached_step(x, keys, values, w_q, w_k, w_v, turn):
        n, length = len(x), len(keys)
        keys, values = torch.cat([keys, x @ w_k]), torch.cat([values, x @ w_v])
        allowed = torch.ones(n, length + n, dtype=torch.bool).tril(length)
        scores = (turn(x @ w_q, length) @ keys.T / math.sqrt(keys.size(1))).masked_fill(~allowed, -torch.inf)
        return scores.softmax(dim=-1) @ values, keys, values


with wrong("It goes wrong here: the first words: nothing was read yet."):

    def my_cached_step(x, keys, values, w_q, w_k, w_v, turn):
        n, length = len(x), len(keys)
        q, keys = turn(x @ w_q, length), torch.cat([keys, turn(x @ w_k, length)])
        values = torch.cat([values, x @ w_v])
        scores = q @ keys.T / math.sqrt(q.size(1))
        if length:
            scores = scores.masked_fill(~torch.ones(n, length + n, dtype=torch.bool).tril(length), -torch.inf)
        return scores.softmax(dim=-1) @ values, keys, values


with wrong("You joined along the features"):

    def my_cached_step(x, keys, values, w_q, w_k, w_v, turn):
        n, length = len(x), len(keys)
        q, k, v = turn(x @ w_q, length), turn(x @ w_k, length), x @ w_v
        keys, values = torch.cat([keys, k], dim=1), torch.cat([values, v], dim=1)
        allowed = torch.ones(n, length + n, dtype=torch.bool).tril(length)
        scores = (q @ keys.T / math.sqrt(q.size(1))).masked_fill(~allowed, -torch.inf)
        return scores.softmax(dim=-1) @ values, keys, values


with wrong("no columns for the cached words"):

    def my_cached_step(x, keys, values, w_q, w_k, w_v, turn):
        n, length = len(x), len(keys)
        q, k, v = turn(x @ w_q, length), turn(x @ w_k, length), x @ w_v
        keys, values = torch.cat([keys, k]), torch.cat([values, v])
        scores = (q @ keys.T / math.sqrt(q.size(1))).masked_fill(~masks.causal(n), -torch.inf)
        return scores.softmax(dim=-1) @ values, keys, values


with wrong("The mask is inverted"):

    def my_cached_step(x, keys, values, w_q, w_k, w_v, turn):
        n, length = len(x), len(keys)
        q, k, v = turn(x @ w_q, length), turn(x @ w_k, length), x @ w_v
        keys, values = torch.cat([keys, k]), torch.cat([values, v])
        allowed = torch.ones(n, length + n, dtype=torch.bool).tril(length)
        scores = (q @ keys.T / math.sqrt(q.size(1))).masked_fill(allowed, -torch.inf)
        return scores.softmax(dim=-1) @ values, keys, values
