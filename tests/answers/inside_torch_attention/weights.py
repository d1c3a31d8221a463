"""Lesson 13, my_weights: what learners write."""

import math

import torch
import torch.nn.functional as F

from tests.answers import right, wrong

with right:

    def my_weights(q, k, mask):
        q = q / math.sqrt(q.size(-1))
        scores = torch.bmm(q, k.transpose(1, 2)) if mask is None else torch.baddbmm(mask, q, k.transpose(1, 2))
        return scores.softmax(dim=-1)


with right:

    def my_weights(q, k, mask):
        scores = q @ k.mT * q.size(-1) ** -0.5
        return torch.softmax(scores if mask is None else scores + mask, dim=2)


with right:

    def my_weights(q, k, mask):
        scores = torch.einsum("nld,nsd->nls", q, k) / q.size(-1) ** 0.5
        if mask is not None:
            scores = scores + mask
        e = (scores - scores.amax(dim=-1, keepdim=True)).exp()
        return e / e.sum(dim=-1, keepdim=True)


with right:

    def my_weights(q, k, mask):
        if mask is None:
            mask = torch.zeros(1, 1, 1)
        return F.softmax(torch.baddbmm(mask, q, k.mT, alpha=1 / math.sqrt(q.size(-1))), -1)


with wrong("You multiplied by the mask"):

    def my_weights(q, k, mask):
        scores = q @ k.mT / math.sqrt(q.size(-1))
        if mask is not None:
            scores = scores * mask
        return scores.softmax(dim=-1)


with wrong("You divided after adding the mask"):

    def my_weights(q, k, mask):
        scores = torch.bmm(q, k.mT) if mask is None else torch.baddbmm(mask, q, k.mT)
        return (scores / math.sqrt(q.size(-1))).softmax(dim=-1)


with wrong("It goes wrong here: no mask"):

    def my_weights(q, k, mask):
        return torch.baddbmm(mask, q / math.sqrt(q.size(-1)), k.mT).softmax(dim=-1)


with wrong("NaN: weights has it"):

    def my_weights(q, k, mask):
        return torch.softmax(q @ k.mT / math.sqrt(q.size(-1)) + (0 if mask is None else mask), dim=0)


with wrong("its other numbers are lost"):

    def my_weights(q, k, mask):
        weights = (q @ k.mT / math.sqrt(q.size(-1))).softmax(dim=-1)
        if mask is None:
            return weights
        weights = weights.masked_fill(mask == -torch.inf, 0.0)
        return weights / weights.sum(dim=-1, keepdim=True)


with wrong("the mask as if it were bool"):

    def my_weights(q, k, mask):
        scores = q @ k.mT / math.sqrt(q.size(-1))
        if mask is not None:
            scores = scores.masked_fill(mask.bool(), -torch.inf)
        return F.softmax(scores, dim=-1)


with wrong("The exponential of a large score is inf"):

    def my_weights(q, k, mask):
        e = torch.exp(q @ k.mT / math.sqrt(q.size(-1)) + (0 if mask is None else mask))
        return e / e.sum(dim=-1, keepdim=True)


with wrong("It goes wrong here: one mask for all heads"):

    def my_weights(q, k, mask):
        scores = q @ k.mT / math.sqrt(q.size(-1))
        if mask is not None:
            scores = scores + mask.view(scores.shape)
        return scores.softmax(dim=-1)


with wrong("square root of the number of keys"):

    def my_weights(q, k, mask):
        scores = q @ k.mT / math.sqrt(k.size(1))
        return (scores if mask is None else scores + mask).softmax(dim=-1)


with wrong("Without a mask, mask is None"):

    def my_weights(q, k, mask):
        return torch.baddbmm(mask, q / math.sqrt(q.size(-1)), k.mT).softmax(dim=-1)


with wrong("Without a mask, mask is None"):

    def my_weights(q, k, mask):
        return (q @ k.transpose(1, 2) / math.sqrt(q.size(-1)) + mask).softmax(dim=-1)


with wrong("the number of queries"):

    def my_weights(q, k, mask):
        scores = q @ k.mT / q.shape[1] ** 0.5
        return (scores if mask is None else scores + mask).softmax(-1)


with wrong("if mask is not None"):

    def my_weights(q, k, mask):
        scores = q @ k.mT / math.sqrt(q.size(-1))
        if mask:
            scores = scores + mask
        return scores.softmax(dim=-1)


with wrong("k.T reverses all three axes"):

    def my_weights(q, k, mask):
        scores = q @ k.T / math.sqrt(q.size(-1))
        if mask is not None:
            scores = scores + mask
        return scores.softmax(dim=-1)


with wrong("masked_fill wants a bool mask"):

    def my_weights(q, k, mask):
        scores = q @ k.mT / math.sqrt(q.size(-1))
        if mask is not None:
            scores = scores.masked_fill(mask, -torch.inf)
        return scores.softmax(dim=-1)


with wrong("the square root of B·H"):

    def my_weights(q, k, mask):
        scores = q @ k.mT / math.sqrt(len(q))
        return (scores if mask is None else scores + mask).softmax(dim=-1)
