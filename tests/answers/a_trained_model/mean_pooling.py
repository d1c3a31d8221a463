"""Lesson 14, my_mean_pooling: what learners write."""

import torch
import torch.nn.functional as F

from tests.answers import right, wrong

with right:

    def my_mean_pooling(hidden, real):
        total = (hidden * real[..., None]).sum(dim=1)
        mean = total / real.sum(dim=1, keepdim=True)
        return mean / mean.norm(dim=-1, keepdim=True)


with right:

    def my_mean_pooling(hidden, real):
        vectors = []
        for sentence, is_real in zip(hidden, real):
            vector = sentence[is_real].mean(dim=0)
            vectors.append(vector / vector.square().sum().sqrt())
        return torch.stack(vectors)


with right:

    def my_mean_pooling(hidden, real):
        return F.normalize(torch.einsum("bsd,bs->bd", hidden, real.to(hidden.dtype)), dim=1)


with right:

    def my_mean_pooling(hidden, real):
        mean = torch.where(real.unsqueeze(-1), hidden, torch.nan).nanmean(dim=1)
        return (mean.T / torch.linalg.vector_norm(mean, dim=1)).T


with wrong("You counted the padding"):

    def my_mean_pooling(hidden, real):
        mean = hidden.mean(dim=1)
        return mean / mean.norm(dim=-1, keepdim=True)


with wrong("set to 0 but still counted"):

    def my_mean_pooling(hidden, real):
        hidden = hidden * real[..., None]
        return hidden.sum(1) / hidden.size(1)


with wrong("one number for the whole batch"):

    def my_mean_pooling(hidden, real):
        mean = (hidden * real[..., None]).sum(1) / real.sum(1)[:, None]
        return mean / mean.norm()


with wrong("your code changed its argument hidden"):

    def my_mean_pooling(hidden, real):
        hidden *= real[..., None]
        return F.normalize(hidden.sum(dim=1), dim=-1)


with wrong("takes its axes for tokens and features"):

    def my_mean_pooling(hidden, real):
        return F.normalize((hidden * real).sum(dim=1), dim=-1)


with wrong("The norms are (B,)"):

    def my_mean_pooling(hidden, real):
        mean = (hidden * real[..., None]).sum(1) / real.sum(1, keepdim=True)
        return mean / mean.norm(dim=-1)


with wrong("each row must have length 1"):

    def my_mean_pooling(hidden, real):
        return (hidden * real[..., None]).sum(1) / real.sum()


with wrong("real says which ones they are"):

    def my_mean_pooling(hidden, real):
        means = [hidden[b, : real[b].sum()].mean(dim=0) for b in range(len(hidden))]
        return F.normalize(torch.stack(means), dim=-1)


with wrong("[CLS] and [SEP] count, too"):

    def my_mean_pooling(hidden, real):
        inner = real.clone()
        for b in range(len(real)):
            places = real[b].nonzero()
            inner[b, places[0]] = inner[b, places[-1]] = False
        mean = (hidden * inner[..., None]).sum(1) / inner.sum(1, keepdim=True)
        return F.normalize(mean, dim=-1)
