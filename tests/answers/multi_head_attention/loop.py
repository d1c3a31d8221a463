"""Lesson 05, my_loop: what learners write."""

import torch
import torch.nn.functional as F

from lessons.attention import attend
from tests.answers import edit, right, wrong

with right:

    def my_loop(x, w_q, w_k, w_v):
        share = len(w_q) // len(w_k)
        return torch.cat(
            [attend(x @ q, x @ w_k[h // share], x @ w_v[h // share])[0] for h, q in enumerate(w_q)], dim=-1
        )


with right:

    def my_loop(x, w_q, w_k, w_v):
        q, k, v = (torch.einsum("td,hde->hte", x, w)[None] for w in (w_q, w_k, w_v))
        heads = F.scaled_dot_product_attention(q, k, v, enable_gqa=True)[0]
        return heads.permute(1, 0, 2).reshape(len(x), -1)


with right:

    def my_loop(x, w_q, w_k, w_v):
        share = len(w_q) // len(w_k)
        w_k, w_v = w_k.repeat_interleave(share, dim=0), w_v.repeat_interleave(share, dim=0)
        return torch.cat([attend(x @ q, x @ k, x @ v)[0] for q, k, v in zip(w_q, w_k, w_v)], dim=-1)


with right:

    def my_loop(x, w_q, w_k, w_v):
        outputs, queries = [], iter(w_q)
        for key, value in zip(w_k, w_v):
            k, v = x @ key, x @ value
            for _ in range(len(w_q) // len(w_k)):
                outputs.append(attend(x @ next(queries), k, v)[0])
        return torch.hstack(outputs)


with wrong("You averaged the heads"):

    def my_loop(x, w_q, w_k, w_v):
        share = len(w_q) // len(w_k)
        heads = [attend(x @ q, x @ w_k[h // share], x @ w_v[h // share])[0] for h, q in enumerate(w_q)]
        return sum(heads) / len(heads)


with wrong("You returned only one head"):

    def my_loop(x, w_q, w_k, w_v):
        for q, k, v in zip(w_q, w_k, w_v):
            head = attend(x @ q, x @ k, x @ v)[0]
        return head


with wrong("You stopped after as many heads"):

    def my_loop(x, w_q, w_k, w_v):
        return torch.cat([attend(x @ q, x @ k, x @ v)[0] for q, k, v in zip(w_q, w_k, w_v)], dim=-1)


with wrong("How many heads share one?"):

    def my_loop(x, w_q, w_k, w_v):
        heads = []
        for h in range(len(w_q)):
            heads.append(attend(x @ w_q[h], x @ w_k[h], x @ w_v[h])[0])
        return torch.cat(heads, dim=-1)


with wrong("Neighbors share"):

    def my_loop(x, w_q, w_k, w_v):
        share = len(w_q) // len(w_k)
        w_k, w_v = w_k.repeat(share, 1, 1), w_v.repeat(share, 1, 1)
        return torch.cat([attend(x @ q, x @ k, x @ v)[0] for q, k, v in zip(w_q, w_k, w_v)], dim=-1)


edit("len(w_q) // len(w_k)", "len(w_k)", "Divide it by the number of heads that share")

edit("for h, q in enumerate(w_q)]", "for h, q in enumerate(w_q)][::-1]", "Values: the result differs")

with wrong("All your heads use the weights of head 0"):

    def my_loop(x, w_q, w_k, w_v):
        _, weights = attend(x @ w_q[0], x @ w_k[0], x @ w_v[0])
        return torch.cat([weights @ (x @ w) for w in w_v], dim=-1)


with wrong("both into the list"):

    def my_loop(x, w_q, w_k, w_v):
        share = len(w_q) // len(w_k)
        return torch.cat([attend(x @ q, x @ w_k[h // share], x @ w_v[h // share]) for h, q in enumerate(w_q)], dim=-1)


with wrong("Neighboring heads share one, in their order"):

    def my_loop(x, w_q, w_k, w_v):
        groups, outputs = len(w_k), []
        for g in range(groups):
            for n in range(len(w_q) // groups):
                outputs.append(attend(x @ w_q[n * groups + g], x @ w_k[g], x @ w_v[g])[0])
        return torch.cat(outputs, dim=-1)


edit(", x @ w_v[h // share]", ", x", "w_v is not used")

edit("x @ w_v[h // share]", "x @ w_k[h // share] @ w_v[h // share]", "One of the matrices got d features")

with wrong("Did a head get the output of the one before"):

    def my_loop(x, w_q, w_k, w_v):
        share, outputs = len(w_q) // len(w_k), []
        for h in range(len(w_q)):
            x = attend(x @ w_q[h], x @ w_k[h // share], x @ w_v[h // share])[0]
            outputs.append(x)
        return torch.cat(outputs, dim=-1)


edit("[0] for h", "[1] for h", "the tables of weights")

edit("attend(x @ q,", "attend(x @ q / q.size(-1) ** 0.5,", "scaled twice")

with wrong("The softmax is missing"):

    def my_loop(x, w_q, w_k, w_v):
        share, outputs = len(w_q) // len(w_k), []
        for h in range(len(w_q)):
            q, k, v = x @ w_q[h], x @ w_k[h // share], x @ w_v[h // share]
            outputs.append(q @ k.T / k.size(-1) ** 0.5 @ v)
        return torch.cat(outputs, dim=-1)


with wrong("share the last slice"):

    def my_loop(x, w_q, w_k, w_v):
        last, outputs = len(w_k) - 1, []
        for h in range(len(w_q)):
            g = min(h, last)
            outputs.append(attend(x @ w_q[h], x @ w_k[g], x @ w_v[g])[0])
        return torch.cat(outputs, dim=-1)


edit("x @ w_k[h // share]", "x @ w_k[h % len(w_k)]", "The values are right, the keys are not")

edit("attend(x @ q", "attend(x @ w_q[h // share]", "got the same queries, too")

edit(
    "w_k[h // share], x @ w_v[h // share]", "w_k[h % share], x @ w_v[h % share]", "it starts again at 0 with each group"
)

edit(
    "zip(w_q, w_k, w_v)], dim=-1)", "zip(w_q, w_k, w_v)], dim=-1).squeeze()", "It goes wrong here: a single token", of=2
)


with wrong("a list of the heads' outputs"):

    def my_loop(x, w_q, w_k, w_v):
        share = len(w_q) // len(w_k)
        return [attend(x @ q, x @ w_k[h // share], x @ w_v[h // share])[0] for h, q in enumerate(w_q)]


with wrong("each slice of them got the first queries again"):

    def my_loop(x, w_q, w_k, w_v):
        outputs = []
        for g in range(len(w_k)):
            for h in range(len(w_q) // len(w_k)):
                outputs.append(attend(x @ w_q[h], x @ w_k[g], x @ w_v[g])[0])
        return torch.cat(outputs, dim=-1)


with wrong("an index is a whole number"):

    def my_loop(x, w_q, w_k, w_v):
        share = len(w_q) / len(w_k)
        return torch.cat([attend(x @ q, x @ w_k[h / share], x @ w_v[h / share])[0] for h, q in enumerate(w_q)], dim=-1)


with wrong("Repeat each slice for the heads that share it"):

    def my_loop(x, w_q, w_k, w_v):
        output, _ = attend(x @ w_q, x @ w_k, x @ w_v)
        return output.transpose(0, 1).reshape(len(x), -1)
