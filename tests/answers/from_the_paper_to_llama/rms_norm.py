"""Lesson 16, my_rms_norm: what learners write."""

import math

import torch
import torch.nn.functional as F

from tests.answers import edit, right, wrong

with right:

    def my_rms_norm(x, weight, eps):
        mean_square = (x**2).mean(dim=-1, keepdim=True)
        return weight * x * torch.rsqrt(mean_square + eps)


with right:

    def my_rms_norm(x, weight, eps):
        return F.rms_norm(x, weight.shape, weight, eps)


with right:

    def my_rms_norm(x, weight, eps):
        d = x.shape[-1]
        length = torch.sqrt((x * x).sum(-1, keepdim=True) + d * eps)
        return x / length * math.sqrt(d) * weight


with wrong("that is LayerNorm"):

    def my_rms_norm(x, weight, eps):
        x = x - x.mean(dim=-1, keepdim=True)
        return x / torch.sqrt((x**2).mean(dim=-1, keepdim=True) + eps) * weight


with wrong("the root of the *sum* of squares"):

    def my_rms_norm(x, weight, eps):
        return x / torch.sqrt((x**2).sum(dim=-1, keepdim=True) + eps) * weight


edit("torch.rsqrt(mean_square + eps)", "1 / (mean_square + eps)", "The root is missing")

edit("torch.rsqrt(mean_square + eps)", "mean_square.rsqrt()", "0 / 0, which is NaN")

edit("torch.rsqrt(mean_square + eps)", "1 / (mean_square.sqrt() + eps)", "added after the root")

edit("weight * x", "x", "The weight is missing")

edit("dim=-1", "dim=-2", "over the tokens")

with wrong("measures from the mean"):

    def my_rms_norm(x, weight, eps):
        return x / torch.sqrt(x.var(dim=-1, keepdim=True) + eps) * weight


with wrong("that is LayerNorm"):

    def my_rms_norm(x, weight, eps):
        return (x - x.mean(-1, keepdim=True)) / (x.var(-1, keepdim=True) + eps).sqrt() * weight


with wrong("You multiplied by the mean square"):

    def my_rms_norm(x, weight, eps):
        return x * (x.pow(2).mean(-1, keepdim=True) + eps) * weight


with wrong("over the tokens"):

    def my_rms_norm(x, weight, eps):
        return x / (x.pow(2).mean(0, keepdim=True) + eps).sqrt() * weight


with wrong("The weight is added"):

    def my_rms_norm(x, weight, eps):
        return x / torch.sqrt(x.pow(2).mean(-1, keepdim=True) + eps) + weight


with wrong("the mean of |x|"):

    def my_rms_norm(x, weight, eps):
        return weight * x / (x.abs().mean(-1, keepdim=True) + eps)


with wrong("You multiplied by the weight first"):

    def my_rms_norm(x, weight, eps):
        x = x * weight
        return x / torch.sqrt(x.pow(2).mean(-1, keepdim=True) + eps)


edit("torch.rsqrt(mean_square + eps)", "mean_square.clamp(min=eps).rsqrt()", "You use eps as a lower limit")

edit("torch.rsqrt(mean_square + eps)", "1 / mean_square.sqrt().clamp(min=eps)", "You use eps as a lower limit")

edit("torch.rsqrt(mean_square + eps)", "torch.rsqrt(mean_square + eps**2)", "You added eps²")


with wrong("dim=-1 is right in both"):

    def my_rms_norm(x, weight, eps):
        return x * torch.rsqrt(x.pow(2).mean(1, keepdim=True) + eps) * weight


with wrong("You did not use the argument eps"):

    def my_rms_norm(x, weight, eps):
        return x / torch.sqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5) * weight


with wrong("You did not use the argument eps"):

    def my_rms_norm(x, weight, eps):
        return F.rms_norm(x, weight.shape, weight)


with wrong("Keep the axis: keepdim=True"):

    def my_rms_norm(x, weight, eps):
        rms = torch.sqrt((x**2).mean(dim=-1) + eps)
        return x / rms * weight
