"""Lesson 01, my_projections: what learners write."""

import torch

from tests.answers import edit, right, wrong

with right:

    def my_projections(x, w_q, w_k, w_v):
        return x @ w_q, x @ w_k, x @ w_v


with right:

    def my_projections(x, w_q, w_k, w_v):
        def product(a, b):
            rows, inner, columns = a.shape[0], a.shape[1], b.shape[1]
            result = torch.zeros(rows, columns)
            for i in range(rows):
                for j in range(columns):
                    for m in range(inner):
                        result[i, j] += a[i, m] * b[m, j]
            return result

        return [product(x, w) for w in (w_q, w_k, w_v)]


with right:

    def my_projections(x, w_q, w_k, w_v):
        return tuple(torch.nn.functional.linear(x, w.T) for w in (w_q, w_k, w_v))


edit("w_k, x @ w_v", "w_v, x @ w_k", "keys and values are swapped")

edit(", x @ w_k, x @ w_v", "", "returned one thing; expected 3: q, k, v")

edit(", x @ w_v", "", "returned 2 things; expected 3: q, k, v")

edit("return", "q, k, v =", "returned None. Does it end with `return`?")

edit("x @ w_q, x @ w_k, x @ w_v", "x * w_q, x * w_k, x * w_v", "@, not *")

edit("x @ w_q", "x @ w_q / w_q.size(-1) ** 0.5", "You divided q by √d")

with wrong("my_projections is a Tensor; expected a function"):
    my_projections = torch.zeros(2, 3)

edit("x @ w_q, x @ w_k, x @ w_v", "w_q @ x, w_k @ x, w_v @ x", "in line 2 of your cell: return w_q @ x")

with wrong("changed its argument x"):

    def my_projections(x, w_q, w_k, w_v):
        x *= 2
        return x @ w_q / 2, x @ w_k / 2, x @ w_v / 2


with wrong("k was made from q"):

    def my_projections(x, w_q, w_k, w_v):
        q = x @ w_q
        k = q @ w_k
        v = k @ w_v
        return q, k, v


with wrong("v was made from k"):

    def my_projections(x, w_q, w_k, w_v):
        q = x @ w_q
        k = x @ w_k
        v = k @ w_v
        return q, k, v


edit("x @ w_q, x @ w_k, x @ w_v", "x @ w_k, x @ w_v, x @ w_q", "in the wrong order")

edit("x @ w_q, x @ w_k, x @ w_v", "x @ w_q, x @ w_q, x @ w_q", "Your keys are your queries")

edit("x @ w_q, x @ w_k, x @ w_v", "torch.stack([x @ w_q, x @ w_k, x @ w_v])", "You stacked the three")

with wrong("Put tuple(…) around it"):

    def my_projections(x, w_q, w_k, w_v):
        return (x @ w for w in (w_q, w_k, w_v))


with wrong("k is still `...`"):

    def my_projections(x, w_q, w_k, w_v):
        q = x @ w_q
        k = ...
        v = x @ w_v
        return q, k, v


edit("x @ w_q, x @ w_k, x @ w_v", "w_q @ x.T, w_k @ x.T, w_v @ x.T", "x belongs on the left")

edit("x @ w_q, x @ w_k, x @ w_v", "x.T @ w_q, x.T @ w_k, x.T @ w_v", "x is transposed")

with wrong("k was made from q"):

    def my_projections(x, w_q, w_k, w_v):
        q = x @ w_q
        return q, q @ w_k, q @ w_v
