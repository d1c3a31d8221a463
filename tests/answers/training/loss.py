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

edit("=pad_id)", "=pad_id) / 0.6931", "Another logarithm")

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


with wrong("e^x of a large logit"):

    def my_loss(logits, targets, pad_id):
        p = logits.exp() / logits.exp().sum(dim=-1, keepdim=True)
        of_target = p.gather(-1, targets[..., None])[..., 0]
        return -of_target[targets != pad_id].log().mean()


with wrong("The log of a logit"):

    def my_loss(logits, targets, pad_id):
        of_target = logits.gather(-1, targets[..., None])[..., 0]
        return -of_target[targets != pad_id].log().mean()


with wrong("the number of sentences"):

    def my_loss(logits, targets, pad_id):
        of_target = logits.log_softmax(dim=-1).gather(-1, targets[..., None])[..., 0]
        return -(of_target * (targets != pad_id)).sum() / len(targets)


edit("ignore_index=pad_id", 'ignore_index=pad_id, reduction="none"', "one loss for each token")

edit("logits.flatten(0, 1)", "logits.transpose(1, 2).reshape(-1, logits.size(-1))", "different positions are mixed")


with wrong("whichever it is"):

    def my_loss(logits, targets, pad_id):
        log_p = logits.log_softmax(dim=-1).max(dim=-1).values
        return -log_p[targets != pad_id].mean()


with wrong("gather needs an index with as many axes"):

    def my_loss(logits, targets, pad_id):
        log_p = logits.log_softmax(dim=-1).gather(-1, targets)
        return -log_p[targets != pad_id].mean()


with wrong("gather leaves an axis of size 1"):

    def my_loss(logits, targets, pad_id):
        log_p = logits.log_softmax(dim=-1).gather(-1, targets[..., None])
        real = targets != pad_id
        return -(log_p * real).sum() / real.sum()
