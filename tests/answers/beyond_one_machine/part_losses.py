"""Lesson 18, my_part_losses: what learners write."""

import torch
import torch.nn.functional as F

from tests.answers import edit, right, wrong

with right:

    def my_part_losses(logits, targets, pad_id):
        total = (targets != pad_id).sum()
        losses = []
        for x, y in zip(logits, targets):
            loss = F.cross_entropy(x.flatten(0, 1), y.flatten(), ignore_index=pad_id, reduction="sum")
            losses.append(loss / total)
        return torch.stack(losses)


with right:

    def my_part_losses(logits, targets, pad_id):
        log_p = logits.log_softmax(dim=-1).gather(-1, targets[..., None])[..., 0]  # (P, B, T)
        real = targets != pad_id
        return -(log_p * real).sum(dim=(1, 2)) / real.sum()


with right:

    def my_part_losses(logits, targets, pad_id):
        each = F.cross_entropy(logits.permute(0, 3, 1, 2).flatten(2), targets.flatten(1), reduction="none")
        each = each.masked_fill(targets.flatten(1) == pad_id, 0.0)  # (P, B · T)
        return each.sum(dim=1) / targets.ne(pad_id).sum()


with wrong("Each part counts the same in your loss"):

    def my_part_losses(logits, targets, pad_id):
        losses = [F.cross_entropy(x.flatten(0, 1), y.flatten(), ignore_index=pad_id) for x, y in zip(logits, targets)]
        return torch.stack(losses) / len(losses)


with wrong("the mean over its own tokens"):

    def my_part_losses(logits, targets, pad_id):
        losses = [F.cross_entropy(x.flatten(0, 1), y.flatten(), ignore_index=pad_id) for x, y in zip(logits, targets)]
        return torch.stack(losses)


with wrong("NaN times 0 is NaN"):

    def my_part_losses(logits, targets, pad_id):
        total = (targets != pad_id).sum()
        losses = []
        for x, y in zip(logits, targets):
            loss = F.cross_entropy(x.flatten(0, 1), y.flatten(), ignore_index=pad_id)
            losses.append(loss * (y != pad_id).sum() / total)
        return torch.stack(losses)


edit("loss / total", "loss", "never divided")

edit("loss / total", "loss / total / len(logits)", "You divide twice")

edit("ignore_index=pad_id, ", "", "your sum with it")

edit("(targets != pad_id).sum()", "targets.numel()", "your number of tokens with it")

edit("(targets != pad_id).sum()", "len(targets.flatten(0, 1))", "the number of sentences")

edit(" * real", "", "your sum with it", of=1)

edit("sum(dim=(1, 2)) / real.sum()", "sum() / real.sum()", "one number", of=1)

edit("real.sum()", "real.sum(dim=(1, 2))", "the mean over its own tokens", of=1)


with wrong("You assume that padding is 0"):

    def my_part_losses(logits, targets, pad_id):
        total = (targets > 0).sum()
        losses = []
        for x, y in zip(logits, targets):
            losses.append(F.cross_entropy(x.flatten(0, 1), y.flatten(), ignore_index=0, reduction="sum") / total)
        return torch.stack(losses)


with wrong("You reshaped (B, T, V)"):

    def my_part_losses(logits, targets, pad_id):
        P, B, T, V = logits.shape
        sums = [
            F.cross_entropy(logits[p].view(B, V, T), targets[p], ignore_index=pad_id, reduction="sum") for p in range(P)
        ]
        return torch.stack(sums) / (targets != pad_id).sum()


with wrong("You shift the targets once more"):

    def my_part_losses(logits, targets, pad_id):
        logits, targets = logits[:, :, :-1], targets[:, :, 1:]
        total = (targets != pad_id).sum()
        losses = []
        for x, y in zip(logits, targets):
            losses.append(F.cross_entropy(x.flatten(0, 1), y.flatten(), ignore_index=pad_id, reduction="sum") / total)
        return torch.stack(losses)


edit("loss / total", "loss / len(logits)", "by the number of parts")

edit("x.flatten(0, 1), y.flatten()", "x, y", "takes the second axis for the vocabulary")


edit("loss / total", "loss / total * len(logits)", "as if somebody averaged them")
