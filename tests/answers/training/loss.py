"""Lesson 11, my_loss: what learners write."""

import torch
import torch.nn.functional as F

from tests.answers import edit, right, wrong

with right:

    def my_loss(logits, targets, pad_id):
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=pad_id)


with right:

    def my_loss(logits, targets, pad_id):
        return F.cross_entropy(logits.transpose(1, 2), targets, ignore_index=pad_id)


with right:

    def my_loss(logits, targets, pad_id):
        total, count = 0.0, 0
        for row, words in zip(logits, targets):
            for x, word in zip(row, words):
                if word != pad_id:
                    total = total + torch.logsumexp(x, dim=0) - x[word]
                    count += 1
        return total / count


with right:

    def my_loss(logits, targets, pad_id):
        log_p = logits - torch.logsumexp(logits, dim=-1, keepdim=True)
        right = torch.gather(log_p, 2, targets.unsqueeze(2)).squeeze(2)
        real = (targets != pad_id).float()
        return (-right * real).sum() / real.sum()


with right:

    def my_loss(logits, targets, pad_id):
        weight = torch.ones(logits.size(-1))
        weight[pad_id] = 0
        return F.cross_entropy(logits.mT, targets, weight=weight)


with right:

    def my_loss(logits, targets, pad_id):
        real = targets != pad_id
        return torch.distributions.Categorical(logits=logits[real]).log_prob(targets[real]).neg().mean()


edit(", ignore_index=pad_id", "", "The padding is counted")

with wrong("in the number that you divide by"):

    def my_loss(logits, targets, pad_id):
        each = F.cross_entropy(logits.flatten(0, 1), targets.flatten(), reduction="none")
        return (each * (targets.flatten() != pad_id)).mean()


edit("logits.flatten", "logits.softmax(-1).flatten", "One softmax too many")

edit("=pad_id)", "=pad_id).detach()", "their gradients are not")

edit("=pad_id)", "=pad_id) / 0.6931", "Values: the loss differs")

edit(
    "logits.flatten(0, 1), targets.flatten(), ignore_index=pad_id",
    "logits, targets",
    "looks for the V logits on axis 1",
)

with wrong("transpose"):

    def my_loss(logits, targets, pad_id):
        B, T, V = logits.shape
        return F.cross_entropy(logits.view(B, V, T), targets, ignore_index=pad_id)


with wrong("Shifted once more"):

    def my_loss(logits, targets, pad_id):
        logits, targets = logits[:, :-1], targets[:, 1:]
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=pad_id)


with wrong("the log of the mean probability"):

    def my_loss(logits, targets, pad_id):
        p = logits.softmax(dim=-1).gather(-1, targets[..., None]).squeeze(-1)
        return -p[targets != pad_id].mean().log()


with wrong("the softmax rounds to 0, and log 0 is -inf"):

    def my_loss(logits, targets, pad_id):
        p = torch.softmax(logits, dim=-1)
        right = torch.gather(p, 2, targets.unsqueeze(2)).squeeze(2)
        return -torch.log(right)[targets != pad_id].mean()
