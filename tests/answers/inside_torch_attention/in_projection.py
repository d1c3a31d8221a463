"""Lesson 13, my_in_projection: what learners write."""

import torch
import torch.nn.functional as F

from tests.answers import right, wrong

with right:

    def my_in_projection(query, key, value, weight, bias):
        w_q, w_k, w_v = weight.chunk(3)
        b_q, b_k, b_v = (None, None, None) if bias is None else bias.chunk(3)
        return F.linear(query, w_q, b_q), F.linear(key, w_k, b_k), F.linear(value, w_v, b_v)


with right:

    def my_in_projection(query, key, value, weight, bias):
        size = query.size(-1)
        if bias is None:
            bias = torch.zeros(3 * size)
        return [
            x @ weight[i * size : (i + 1) * size].T + bias[i * size : (i + 1) * size]
            for i, x in enumerate((query, key, value))
        ]


with right:

    def my_in_projection(query, key, value, weight, bias):
        # each by all three, and only its own third kept
        return tuple(F.linear(x, weight, bias).chunk(3, dim=-1)[i] for i, x in enumerate((query, key, value)))


with right:

    def my_in_projection(query, key, value, weight, bias):
        matrices = weight.unflatten(0, (3, -1))
        out = [torch.einsum("lbe,fe->lbf", x, m) for x, m in zip((query, key, value), matrices)]
        return out if bias is None else [x + b for x, b in zip(out, bias.view(3, -1))]


with wrong("right only in self-attention"):

    def my_in_projection(query, key, value, weight, bias):
        return F.linear(query, weight, bias).chunk(3, dim=-1)


with wrong("The value is made from key"):

    def my_in_projection(query, key, value, weight, bias):
        size = query.size(-1)
        q = F.linear(query, weight[:size], None if bias is None else bias[:size])
        k, v = F.linear(key, weight[size:], None if bias is None else bias[size:]).chunk(2, dim=-1)
        return q, k, v


with wrong("The bias is missing"):

    def my_in_projection(query, key, value, weight, bias):
        w_q, w_k, w_v = weight.chunk(3)
        q, k, v = query @ w_q.T, key @ w_k.T, value @ w_v.T
        return q, k, v


with wrong("which can't be cut"):

    def my_in_projection(query, key, value, weight, bias):
        b_q, b_k, b_v = bias.chunk(3)
        w_q, w_k, w_v = weight.chunk(3)
        return F.linear(query, w_q, b_q), F.linear(key, w_k, b_k), F.linear(value, w_v, b_v)


with wrong("Values: q differs"):

    def my_in_projection(query, key, value, weight, bias):
        w_q, w_k, w_v = weight.chunk(3)
        return query @ w_q, key @ w_k, value @ w_v


with wrong("which can't be cut"):

    def my_in_projection(query, key, value, weight, bias):
        E = query.size(-1)
        q = F.linear(query, weight[:E], bias[:E])
        k = F.linear(key, weight[E : 2 * E], bias[E : 2 * E])
        v = F.linear(value, weight[2 * E :], bias[2 * E :])
        return q, k, v


with wrong("cut the rows"):

    def my_in_projection(query, key, value, weight, bias):
        size = weight.size(1)
        matrices = weight.reshape(size, 3 * size).chunk(3, dim=1)
        biases = (None, None, None) if bias is None else bias.chunk(3)
        return tuple(F.linear(x, w, b) for x, w, b in zip((query, key, value), matrices, biases))


with wrong("cut the 3E rows"):

    def my_in_projection(query, key, value, weight, bias):
        w_q, w_k, w_v = weight.T.chunk(3)
        b_q, b_k, b_v = (0, 0, 0) if bias is None else bias.chunk(3)
        return query @ w_q + b_q, key @ w_k + b_k, value @ w_v + b_v


with wrong("if bias is not None"):

    def my_in_projection(query, key, value, weight, bias):
        w_q, w_k, w_v = weight.chunk(3)
        if bias:
            b_q, b_k, b_v = bias.chunk(3)
        else:
            b_q = b_k = b_v = None
        return F.linear(query, w_q, b_q), F.linear(key, w_k, b_k), F.linear(value, w_v, b_v)


with wrong("doesn't fit one of them"):

    def my_in_projection(query, key, value, weight, bias):
        w_q, w_k, w_v = weight.chunk(3)
        return F.linear(query, w_q, bias), F.linear(key, w_k, bias), F.linear(value, w_v, bias)
