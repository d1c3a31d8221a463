"""Lesson 06, my_position_ids: what learners write."""

import torch

from tests.answers import edit, right, wrong

with right:

    def my_position_ids(real):
        padding = (~real).sum(dim=1, keepdim=True)
        return (torch.arange(real.size(1)) - padding).clamp(min=0)


with right:

    def my_position_ids(real):
        return (real.cumsum(1) - 1).masked_fill(~real, 0)


with right:

    def my_position_ids(real):
        rows = []
        for sentence in real.tolist():
            row, position = [], 0
            for is_token in sentence:
                row.append(position if is_token else 0)
                position += is_token
            rows.append(row)
        return torch.tensor(rows)


edit(".clamp(min=0)", "", "padding got negative positions")

edit(" - 1", "", "The first token got position 1", of=1)

edit("0)", "1)", "as in the transformers library", of=1)

with wrong("You numbered the places of the batch"):

    def my_position_ids(real):
        return torch.stack([torch.arange(real.size(1)) for _ in real])


with wrong("You counted the padding"):

    def my_position_ids(real):
        return ((~real).cumsum(dim=-1) - 1).clamp(min=0)


with wrong("Those are 1 for each token"):

    def my_position_ids(real):
        return real.long()


edit("padding)", "padding).float()", "they are floats")

edit("(~real)", "real", "You subtracted the number of tokens")

with wrong("as if the padding were on the right"):

    def my_position_ids(real):
        places = torch.arange(real.size(1))
        return torch.where(places < real.sum(dim=1, keepdim=True), places, 0)


with wrong("The count runs on from one sentence into the next"):

    def my_position_ids(real):
        return (real.flatten().cumsum(0).view_as(real) - 1) * real


with wrong("the positions of the first"):

    def my_position_ids(real):
        padding = (~real[0]).sum()
        return (torch.arange(real.size(1)) - padding).clamp(min=0).expand(real.shape)


edit(", keepdim=True", "", "keepdim=True makes (B, 1) of it")

edit("(~real).sum(dim=1, keepdim=True)", "real.sum(dim=1)", "A number for each sentence is (B,)")


edit("real.cumsum(1)", "real.cumsum(0)", "You counted down the batch", of=1)

with wrong("each position became True or False"):

    def my_position_ids(real):
        positions = torch.zeros_like(real)
        for i, sentence in enumerate(real):
            count = 0
            for t, is_token in enumerate(sentence):
                if is_token:
                    positions[i, t] = count
                    count += 1
        return positions
