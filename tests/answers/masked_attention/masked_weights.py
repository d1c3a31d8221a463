"""Lesson 03, my_masked_weights: what learners write."""

import torch
import torch.nn.functional as F

from tests.answers import right, wrong

with right:

    def my_masked_weights(scores, allowed):
        weights = scores.masked_fill(~allowed, -torch.inf).softmax(dim=-1)
        return weights.masked_fill(~allowed.any(dim=-1, keepdim=True), 0.0)


with right:

    def my_masked_weights(scores, allowed):
        hidden = torch.where(allowed, scores, torch.tensor(float("-inf")))
        powers = torch.exp(hidden - hidden.amax(dim=-1, keepdim=True).clamp(min=-1e30))
        return powers / powers.sum(dim=-1, keepdim=True).clamp(min=1e-30)


with right:

    def my_masked_weights(scores, allowed):
        weights = scores.masked_fill(~allowed, -1e9).softmax(dim=-1)
        return weights.masked_fill(~allowed, 0.0)


with right:

    def my_masked_weights(scores, allowed):
        if scores.dim() > 2:
            return torch.stack([my_masked_weights(s, a) for s, a in zip(scores, allowed)])
        rows = []
        for s, a in zip(scores, allowed):
            weights = torch.zeros(len(s))
            weights[a] = s[a].softmax(dim=0)
            rows.append(weights)
        return torch.stack(rows)


with right:

    def my_masked_weights(scores, allowed):
        hidden = scores.masked_fill(~allowed, -torch.inf)
        return torch.where(allowed, (hidden - hidden.logsumexp(dim=-1, keepdim=True)).exp(), 0.0)


with right:

    def my_masked_weights(scores, allowed):
        one_each = torch.eye(scores.size(-1)).expand(*scores.shape[:-2], -1, -1)
        return F.scaled_dot_product_attention(scores, one_each, one_each, attn_mask=allowed, scale=1.0)


with right:

    def my_masked_weights(scores, allowed):
        lowest = torch.finfo(scores.dtype).min
        return torch.where(allowed, scores, lowest).softmax(dim=-1) * allowed


with wrong("not their gradients: for a row of nothing but -inf"):

    def my_masked_weights(scores, allowed):
        bias = torch.zeros_like(scores).masked_fill(~allowed, -torch.inf)
        return torch.nan_to_num(torch.softmax(scores + bias, dim=-1))


with wrong("Replacing the weights afterwards"):

    def my_masked_weights(scores, allowed):
        bias = torch.zeros_like(scores).masked_fill(~allowed, -torch.inf)
        weights = torch.softmax(scores + bias, dim=-1)
        return weights.masked_fill(~allowed.any(dim=-1, keepdim=True), 0.0)


with wrong("+inf in place of -inf"):

    def my_masked_weights(scores, allowed):
        bias = torch.zeros_like(scores).masked_fill(~allowed, -torch.inf)
        return torch.nan_to_num(torch.softmax(scores - bias, dim=-1))


with wrong("turns it into NaN"):

    def my_masked_weights(scores, allowed):
        bias = torch.zeros_like(scores).masked_fill(~allowed, -torch.inf)
        return torch.softmax(scores + bias, dim=-1)


with wrong("takes all the weight"):

    def my_masked_weights(scores, allowed):
        e = (scores - scores.max(dim=-1, keepdim=True).values).exp() * allowed
        total = e.sum(dim=-1, keepdim=True)
        return e / torch.where(total == 0, torch.ones_like(total), total)


with wrong("still counts in the sum of its row"):

    def my_masked_weights(scores, allowed):
        return (scores * allowed).softmax(dim=-1) * allowed


with wrong("changed the scores that it was given"):

    def my_masked_weights(scores, allowed):
        scores[~allowed] = float("-inf")
        return torch.softmax(scores, dim=-1)


with wrong("A large negative number such as -1e9"):

    def my_masked_weights(scores, allowed):
        return torch.softmax(scores + (allowed.float() - 1) * 1e9, dim=-1)


with wrong("Blocked: [0, 1] must not be attended to"):

    def my_masked_weights(scores, allowed):
        return scores.masked_fill(~allowed, -4.0).softmax(dim=-1)


with wrong("You masked after the softmax"):

    def my_masked_weights(scores, allowed):
        weights = torch.softmax(scores, dim=-1)
        weights[~allowed] = 0
        return weights


with wrong("You have a finite number in place of -inf"):

    def my_masked_weights(scores, allowed):
        return scores.masked_fill(~allowed, -30).softmax(dim=-1) * allowed


with wrong("You have a finite number in place of -inf"):

    def my_masked_weights(scores, allowed):
        hidden = scores.masked_fill(~allowed, -1e4)
        return hidden.softmax(dim=-1).masked_fill(~allowed, 0.0)


with wrong("You have a finite number in place of -inf"):

    def my_masked_weights(scores, allowed):
        hidden = scores.masked_fill(~allowed, -torch.inf)
        powers = torch.exp(hidden - hidden.amax(dim=-1, keepdim=True).clamp(min=-1e4))
        return powers / powers.sum(dim=-1, keepdim=True).clamp(min=1e-30)


with wrong("e^1000 is too large for a float"):

    def my_masked_weights(scores, allowed):
        if scores.dim() > 2:
            return torch.stack([my_masked_weights(s, a) for s, a in zip(scores, allowed)])
        rows = []
        for s, a in zip(scores, allowed):
            total = sum((torch.exp(x) for x, ok in zip(s, a) if ok), torch.tensor(0.0))
            rows.append(torch.stack([torch.exp(x) / total if ok else torch.tensor(0.0) for x, ok in zip(s, a)]))
        return torch.stack(rows)


with wrong("keepdim=True makes it a column"):

    def my_masked_weights(scores, allowed):
        weights = scores.masked_fill(~allowed, float("-inf")).softmax(dim=-1)
        return torch.where(allowed.any(dim=-1), weights, 0.0)


with wrong("empties your whole table"):

    def my_masked_weights(scores, allowed):
        weights = scores.masked_fill(~allowed, float("-inf")).softmax(dim=-1)
        if weights.isnan().any():
            return torch.zeros_like(weights)
        return weights


with wrong("It goes wrong here: two axes in front"):

    def my_masked_weights(scores, allowed):
        keys = 1 if scores.dim() == 2 else 2
        return scores.masked_fill(~allowed, -torch.inf).softmax(dim=keys).nan_to_num(0.0)


with wrong("Its weights must be 0"):

    def my_masked_weights(scores, allowed):
        return scores.masked_fill(~allowed, torch.finfo(scores.dtype).min).softmax(-1)


with wrong("A score times -inf is not always -inf"):

    def my_masked_weights(scores, allowed):
        hidden = scores * torch.where(allowed, 1.0, -torch.inf)
        return hidden.softmax(dim=-1)


with wrong("You subtracted the largest score of the whole table"):

    def my_masked_weights(scores, allowed):
        e = torch.exp(scores - scores.max()) * allowed
        return e / e.sum(dim=-1, keepdim=True)


with wrong("so it attends evenly to what is blocked"):

    def my_masked_weights(scores, allowed):
        hidden = scores.masked_fill(~allowed, float("-inf"))
        return hidden.masked_fill(~allowed.any(dim=-1, keepdim=True), 0.0).softmax(dim=-1)


with wrong("`if` needs one truth value"):

    def my_masked_weights(scores, allowed):
        weights = scores.masked_fill(~allowed, -torch.inf).softmax(dim=-1)
        if not allowed.any(dim=-1):
            weights = torch.zeros_like(weights)
        return weights


with wrong("You emptied the rows that have something"):

    def my_masked_weights(scores, allowed):
        weights = scores.masked_fill(~allowed, -torch.inf).softmax(dim=-1)
        return weights.masked_fill(allowed.any(dim=-1, keepdim=True), 0.0)


with wrong("the table is lost"):

    def my_masked_weights(scores, allowed):
        return scores[allowed].softmax(dim=-1)
