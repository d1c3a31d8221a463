"""Lesson 02, my_attention: what learners write."""

import math

import torch

from tests.answers import earlier, edit, right, wrong

my_softmax, my_scaled_scores = (
    earlier("scaled_dot_product", "my_softmax"),
    earlier("scaled_dot_product", "my_scaled_scores"),
)

with right:

    def my_attention(q, k, v):
        return my_softmax(my_scaled_scores(q, k)) @ v


with right:

    def my_attention(q, k, v):
        return torch.nn.functional.scaled_dot_product_attention(q, k, v)


with right:

    def my_attention(q, k, v):
        scores = torch.einsum("...qd,...kd->...qk", q, k) / math.sqrt(q.size(-1))
        return torch.einsum("...qk,...kd->...qd", scores.softmax(-1), v)


with wrong("The scores are not scaled"):

    def my_attention(q, k, v):
        return torch.nn.functional.scaled_dot_product_attention(q, k, v, scale=1.0)


with wrong("The numbers are right, but their gradients are not"):

    def my_attention(q, k, v):
        weights = torch.softmax(q @ k.mT / math.sqrt(q.size(-1)), dim=-1)
        return torch.tensor((weights @ v).tolist())


with wrong("torch cannot take gradients. Most often, a tensor was changed in place"):

    def my_attention(q, k, v):
        powers = torch.exp(q @ k.mT / math.sqrt(q.size(-1)))
        powers /= powers.sum(dim=-1, keepdim=True)
        return powers @ v


edit(" @ v", "", "mix the values by them")

edit("q.size(-1)", "k.size(1)", "Right for a table, where axis 1 is the features", of=2)

edit("my_softmax(my_scaled_scores(q, k", "torch.rand(q.size(-2), k.size(-2", "Values: the result differs")


with wrong("e^100 is too large for a float"):

    def my_attention(q, k, v):
        powers = torch.exp(q @ k.transpose(-2, -1) / math.sqrt(q.size(-1)))
        return powers / powers.sum(dim=-1, keepdim=True) @ v


with wrong("the weights go on the left"):

    def my_attention(q, k, v):
        return v @ (q @ k.mT / math.sqrt(q.size(-1))).softmax(-1)


with wrong("weights and values entry by entry"):

    def my_attention(q, k, v):
        return (q @ k.mT / math.sqrt(q.size(-1))).softmax(-1) * v


with wrong("The sigmoid looks at each score alone"):

    def my_attention(q, k, v):
        return (q @ k.mT / math.sqrt(q.size(-1))).sigmoid() @ v


with wrong("This attention has no mask"):

    def my_attention(q, k, v):
        return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)


with wrong("Queries are compared with keys"):

    def my_attention(q, k, v):
        return my_softmax(q @ v.transpose(-2, -1) / math.sqrt(q.size(-1))) @ k


with wrong("Its entry [0] is the right one"):

    def my_attention(q, k, v):
        weights = my_softmax(my_scaled_scores(q, k))
        return weights @ v, weights


edit("my_softmax(my_scaled_scores(q, k))", "my_softmax(my_softmax(my_scaled_scores(q, k)))", "softmax twice")

edit("my_softmax(my_scaled_scores(q, k))", "my_scaled_scores(q, k).log_softmax(-1)", "the logarithms of the weights")

edit("my_softmax(my_scaled_scores(q, k))", "my_softmax(my_scaled_scores(q, k)).mT", "Your weights are (K, Q)")

edit("my_scaled_scores(q, k)", "my_scaled_scores(k, q)", "Your weights are (K, Q)")


with wrong("only the value of the best key"):

    def my_attention(q, k, v):
        best = my_scaled_scores(q, k).argmax(dim=-1)
        return torch.nn.functional.one_hot(best, k.size(-2)).float() @ v


edit("product_attention(q", "product_attention(q / math.sqrt(q.size(-1))", "or by √d twice", of=1)

edit("my_softmax(my_scaled_scores(q, k)) @ v", "(my_softmax(my_scaled_scores(q, k)) @ v).squeeze()", "a batch of one")


edit("my_softmax(my_scaled_scores(q, k)) @ v", "my_softmax(my_scaled_scores(q, k) @ v)", "The softmax comes first")

with wrong("depends on how many are in front"):

    def my_attention(q, k, v):
        scores = q @ k.transpose(1, 2) / math.sqrt(q.size(-1))
        return scores.softmax(dim=-1) @ v


with wrong("depends on how many are in front"):

    def my_attention(q, k, v):
        scores = q @ k.transpose(0, 1) / math.sqrt(q.size(-1))
        return scores.softmax(dim=-1) @ v
