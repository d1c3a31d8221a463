"""Lesson 04, my_attention_layer: what learners write."""

import torch

from lessons import masks
from lessons.attention import attend, masked_softmax
from tests.answers import edit, right, wrong

with right:

    def my_attention_layer(queries_from, keys_from, w_q, w_k, w_v, allowed=None):
        return attend(queries_from @ w_q, keys_from @ w_k, keys_from @ w_v, allowed)


with right:

    def my_attention_layer(queries_from, keys_from, w_q, w_k, w_v, allowed=None):
        q, k, v = queries_from @ w_q, keys_from @ w_k, keys_from @ w_v
        scores = torch.einsum("...qd,...kd->...qk", q, k) / q.shape[-1] ** 0.5
        if allowed is not None:
            scores = scores.masked_fill(~allowed, float("-inf"))
        weights = torch.softmax(scores, dim=-1).nan_to_num(0.0)
        return [weights @ v, weights]


with right:

    def my_attention_layer(queries_from, keys_from, w_q, w_k, w_v, allowed=None):
        q, k, v = queries_from @ w_q, keys_from @ w_k, keys_from @ w_v
        output = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=allowed)
        places = torch.eye(k.size(-2)).expand(*k.shape[:-1], -1)
        return output, torch.nn.functional.scaled_dot_product_attention(q, k, places, attn_mask=allowed)


edit(
    "queries_from @ w_q, keys_from @ w_k, keys_from",
    "keys_from @ w_q, queries_from @ w_k, queries_from",
    "The roles are swapped",
)

edit("allowed)", "allowed)[0]", "expected 2: output, weights")

with wrong("You masked after the softmax"):

    def my_attention_layer(queries_from, keys_from, w_q, w_k, w_v, allowed=None):
        q, k, v = queries_from @ w_q, keys_from @ w_k, keys_from @ w_v
        weights = torch.softmax(q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5, dim=-1)
        if allowed is not None:
            weights = weights * allowed
        return weights @ v, weights


with wrong("allowed may be None"):

    def my_attention_layer(queries_from, keys_from, w_q, w_k, w_v, allowed=None):
        q, k, v = queries_from @ w_q, keys_from @ w_k, keys_from @ w_v
        scores = (q @ k.mT / q.shape[-1] ** 0.5).masked_fill(~allowed, -torch.inf)
        weights = scores.softmax(dim=-1)
        return weights @ v, weights


edit("attend(queries_from", "attend(keys_from", "never used queries_from")


with wrong("e^100 is too large for a float"):

    def my_attention_layer(queries_from, keys_from, w_q, w_k, w_v, allowed=None):
        q, k, v = queries_from @ w_q, keys_from @ w_k, keys_from @ w_v
        powers = (q @ k.mT / q.size(-1) ** 0.5).exp()
        if allowed is not None:
            powers = powers * allowed
        weights = powers / powers.sum(dim=-1, keepdim=True)
        return weights @ v, weights


with wrong("missing 1 required positional argument: 'allowed'"):

    def my_attention_layer(queries_from, keys_from, w_q, w_k, w_v, allowed):
        return attend(queries_from @ w_q, keys_from @ w_k, keys_from @ w_v, allowed)


with wrong("It goes wrong here: two axes in front."):

    def my_attention_layer(queries_from, keys_from, w_q, w_k, w_v, allowed=None):
        q, k, v = queries_from @ w_q, keys_from @ w_k, keys_from @ w_v
        scores = (q @ k.mT if q.dim() == 2 else torch.bmm(q, k.mT)) / q.size(-1) ** 0.5
        if allowed is not None:
            scores = scores.masked_fill(~allowed, -torch.inf)
        weights = scores.softmax(dim=-1)
        return weights @ v, weights


with right:

    def my_attention_layer(queries_from, keys_from, w_q, w_k, w_v, allowed=None):
        scores = queries_from @ (w_q @ w_k.T) @ keys_from.mT / w_k.size(1) ** 0.5
        everyone = torch.ones(scores.shape, dtype=torch.bool)
        weights = masked_softmax(scores, everyone if allowed is None else everyone & allowed)
        return (weights @ keys_from) @ w_v, weights


edit("allowed)", "allowed if allowed is None else ~allowed)", "The mask is inverted")

with wrong("k.T reverses all axes"):

    def my_attention_layer(queries_from, keys_from, w_q, w_k, w_v, allowed=None):
        q, k, v = queries_from @ w_q, keys_from @ w_k, keys_from @ w_v
        scores = q @ k.T / q.size(-1) ** 0.5
        if allowed is not None:
            scores = scores.masked_fill(~allowed, -torch.inf)
        weights = scores.softmax(dim=-1)
        return weights @ v, weights


edit("[weights @ v, weights]", "weights @ v, scores", "You returned the scores", of=1)

edit("[weights @ v, weights]", "weights @ v, q @ k.mT / q.shape[-1] ** 0.5", "You returned the scores", of=1)

edit(
    "queries_from @ w_q, keys_from @ w_k, keys_from @ w_v",
    "queries_from @ w_q.T, keys_from @ w_k.T, keys_from @ w_v.T",
    "x @ w_q",
)

with wrong("w_v is not used"):

    def my_attention_layer(queries_from, keys_from, w_q, w_k, w_v, allowed=None):
        _, weights = attend(queries_from @ w_q, keys_from @ w_k, keys_from, allowed)
        return weights @ keys_from, weights


edit("q.shape[-1] ** 0.5", "k.shape[-2] ** 0.5", "the number of keys", of=1)

edit("if allowed is not None", "if allowed", "neither True nor False", of=1)


edit(
    "queries_from @ w_q, keys_from @ w_k, keys_from @ w_v",
    "queries_from, keys_from, keys_from",
    "matrices are not used",
)


edit("dim=-1", "dim=1", "With a batch in front, it is the queries", of=1)

with wrong("With a batch in front, it is the queries"):

    def my_attention_layer(queries_from, keys_from, w_q, w_k, w_v, allowed=None):
        q, k, v = queries_from @ w_q, keys_from @ w_k, keys_from @ w_v
        scores = q @ k.mT / k.size(-1) ** 0.5
        if allowed is not None:
            scores = scores.masked_fill(~allowed, -1e9)
        weights = scores.softmax(dim=1)
        return weights @ v, weights


with wrong("Without a mask you made it causal"):

    def my_attention_layer(queries_from, keys_from, w_q, w_k, w_v, allowed=None):
        if allowed is None:
            allowed = torch.ones(queries_from.shape[-2], keys_from.shape[-2]).tril().bool()
        return attend(queries_from @ w_q, keys_from @ w_k, keys_from @ w_v, allowed)


edit("@ w_v", "@ w_k", "They have their own matrix, w_v")


edit(".nan_to_num(0.0)", "", "softmax turns it into NaN", of=1)

edit('float("-inf")', "-1e9", "attends evenly to what is blocked", of=1)

edit(
    "weights = torch.softmax(scores, dim=-1).nan_to_num(0.0)",
    "weights = torch.softmax(scores, dim=1)",
    "With a batch in front, it is the queries",
    of=1,
)

with wrong("the softmax has a gradient of NaN"):

    def my_attention_layer(queries_from, keys_from, w_q, w_k, w_v, allowed=None):
        q, k, v = queries_from @ w_q, keys_from @ w_k, keys_from @ w_v
        scores = q @ k.mT / q.size(-1) ** 0.5
        if allowed is not None:
            scores = scores + torch.where(allowed, 0.0, -torch.inf)
        weights = scores.softmax(dim=-1).nan_to_num(0.0)
        return weights @ v, weights


edit("allowed)", "~allowed)", "The mask is inverted")

with wrong("depends on how many are in front"):

    def my_attention_layer(queries_from, keys_from, w_q, w_k, w_v, allowed=None):
        q, k, v = queries_from @ w_q, keys_from @ w_k, keys_from @ w_v
        scores = q @ k.transpose(1, 2) / q.size(-1) ** 0.5
        if allowed is not None:
            scores = scores.masked_fill(~allowed, -torch.inf)
        weights = scores.softmax(dim=-1).nan_to_num(0.0)
        return weights @ v, weights


with wrong("Without a mask you made it causal"):

    def my_attention_layer(queries_from, keys_from, w_q, w_k, w_v, allowed=None):
        q, k, v = queries_from @ w_q, keys_from @ w_k, keys_from @ w_v
        if allowed is None:
            allowed = masks.causal(q.size(-2))
        return attend(q, k, v, allowed)
