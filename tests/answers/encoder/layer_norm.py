"""Lesson 07, my_layer_norm: what learners write."""

import torch
import torch.nn.functional as F

from tests.answers import edit, right, wrong

with right:

    def my_layer_norm(x, weight, bias, eps):
        centered = x - x.mean(dim=-1, keepdim=True)
        variance = (centered**2).mean(dim=-1, keepdim=True)
        return centered * torch.rsqrt(variance + eps) * weight + bias


with right:

    def my_layer_norm(x, weight, bias, eps):
        return F.layer_norm(x, x.shape[-1:], weight, bias, eps)


with right:

    def my_layer_norm(x, weight, bias, eps):
        size = x.size(-1)
        mean = torch.einsum("btd->bt", x)[..., None] / size
        variance = torch.einsum("btd->bt", (x - mean) ** 2)[..., None] / size
        return torch.addcmul(bias, (x - mean) / torch.sqrt(variance + eps), weight)


with right:

    def my_layer_norm(x, weight, bias, eps):
        rows = [(row - row.mean()) / (row.var(correction=0) + eps) ** 0.5 for row in x.flatten(0, 1)]
        return torch.stack(rows).view(x.shape) * weight + bias


edit("(centered**2).mean(dim=-1, keepdim=True)", "(centered**2).mean(dim=-1)", "variances of shape (B, T)")

with wrong("The Annotated Transformer has this version"):

    def my_layer_norm(x, weight, bias, eps):
        return weight * (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True) + eps) + bias


edit("-1:], weight, bias, eps)", "1:]) * weight + bias", "for the whole sentence, and not the argument eps", of=1)

with wrong("keepdim=True"):

    def my_layer_norm(x, weight, bias, eps):
        mean, variance = x.mean(dim=-1), x.var(dim=-1, correction=0)
        return (x - mean) / (variance + eps).sqrt() * weight + bias


with wrong("D − 1, not D, and eps is missing"):

    def my_layer_norm(x, weight, bias, eps):
        return (x - x.mean(-1, keepdim=True)) / x.std(-1, keepdim=True) * weight + bias


edit("], weight, bias, eps", "], weight, bias", "eps is not added to the variance", of=1)
edit("variance + eps", "variance.clamp(min=eps)", "eps is not added to the variance")

with wrong("You used the sum of the squares"):

    def my_layer_norm(x, weight, bias, eps):
        mean = x.mean(dim=-1, keepdim=True)
        variance = ((x - mean) ** 2).sum(dim=-1, keepdim=True)
        return (x - mean) / (variance + eps).sqrt() * weight + bias


edit("row - row.mean()", "row - x.mean()", "one mean of all numbers", of=3)

edit("torch.rsqrt", "torch.sqrt", "You multiplied by the standard deviation")

with wrong("keepdim=True"):

    def my_layer_norm(x, weight, bias, eps):
        mean = x.mean(dim=-1, keepdim=True)
        return (x - mean) / (x.var(dim=-1, correction=0) + eps).sqrt() * weight + bias


with wrong("the same with other values of weight, bias"):

    def my_layer_norm(x, weight, bias, eps):
        return (x - x.mean(dim=-1, keepdim=True)) / (x.std(dim=-1, keepdim=True) + eps)


with wrong("You used the sum of the squares"):

    def my_layer_norm(x, weight, bias, eps):
        x = x - x.mean(dim=-1, keepdim=True)
        return x / (x.norm(dim=-1, keepdim=True) + eps) * weight + bias


with wrong("The root was taken twice"):

    def my_layer_norm(x, weight, bias, eps):
        mean, std = x.mean(dim=-1, keepdim=True), x.std(dim=-1, keepdim=True)
        return weight * (x - mean) / torch.sqrt(std + eps) + bias


with wrong("An axis is missing"):

    def my_layer_norm(x, weight, bias, eps):
        mean = x.mean(dim=-1)
        variance = ((x - mean) ** 2).mean(dim=-1)
        return weight * (x - mean) / torch.sqrt(variance + eps) + bias
