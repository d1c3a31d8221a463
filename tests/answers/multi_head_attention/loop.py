"""Lesson 05, my_loop: what learners write."""

import torch
import torch.nn.functional as F

from lessons.attention import attend
from tests.answers import edit, right, wrong

with right:

    def my_loop(x, w_q, w_k, w_v):
        return torch.cat([attend(x @ q, x @ k, x @ v)[0] for q, k, v in zip(w_q, w_k, w_v)], dim=-1)


with right:

    def my_loop(x, w_q, w_k, w_v):
        q, k, v = (torch.einsum("td,hde->hte", x, w) for w in (w_q, w_k, w_v))
        heads = F.scaled_dot_product_attention(q, k, v)
        return heads.permute(1, 0, 2).reshape(len(x), -1)


with wrong("You averaged the heads"):

    def my_loop(x, w_q, w_k, w_v):
        heads = [attend(x @ q, x @ k, x @ v)[0] for q, k, v in zip(w_q, w_k, w_v)]
        return sum(heads) / len(heads)


with wrong("You returned only one head"):

    def my_loop(x, w_q, w_k, w_v):
        for q, k, v in zip(w_q, w_k, w_v):
            head = attend(x @ q, x @ k, x @ v)[0]
        return head


edit(
    "q, x @ k, x @ v)[0] for q, k, v in zip(w_q, w_k, w_v",
    "w_q[h], x @ w_k[h], x @ w_v[h]) for h in range(len(w_q)",
    "both into the list",
)

edit(")]", ")][::-1]", "Values: the result differs")

with wrong("All your heads use the weights of head 0"):

    def my_loop(x, w_q, w_k, w_v):
        _, weights = attend(x @ w_q[0], x @ w_k[0], x @ w_v[0])
        return torch.cat([weights @ (x @ w) for w in w_v], dim=-1)
