"""Lesson 10, my_target_mask: what learners write."""

import torch

from lessons import masks
from tests.answers import edit, right, wrong

with right:

    def my_target_mask(ids, pad_id):
        length = ids.size(1)
        return torch.ones(length, length, dtype=torch.bool).tril() & (ids != pad_id)[:, None, None, :]


with right:

    def my_target_mask(ids, pad_id):
        return masks.combine(masks.causal(ids.size(1)), masks.padding(ids, pad_id=pad_id))


with right:

    def my_target_mask(ids, pad_id):
        blocked = torch.triu(torch.ones(ids.size(1), ids.size(1)), diagonal=1).bool()
        return ~torch.logical_or(blocked, ids.eq(pad_id).unsqueeze(1).unsqueeze(2))


with right:

    def my_target_mask(ids, pad_id):
        rows = ids.tolist()
        return torch.tensor(
            [[[[j <= i and row[j] != pad_id for j in range(len(row))] for i in range(len(row))]] for row in rows]
        )


with wrong("you also blocked padding as a query"):

    def my_target_mask(ids, pad_id):
        real = ids != pad_id
        return masks.causal(ids.size(1)) & real[:, None, None, :] & real[:, None, :, None]


with wrong("yours says what is blocked"):

    def my_target_mask(ids, pad_id):
        future = torch.ones(ids.size(1), ids.size(1), dtype=torch.bool).triu(1)
        return future | (ids == pad_id)[:, None, None, :]


with wrong("You joined the rules with |"):

    def my_target_mask(ids, pad_id):
        future = torch.ones(ids.size(1), ids.size(1), dtype=torch.bool).triu(1)
        return ~(future & (ids == pad_id)[:, None, None, :])


with wrong("these are the numbers 0 and 1"):

    def my_target_mask(ids, pad_id):
        return torch.ones(ids.size(1), ids.size(1)).tril() * (ids != pad_id)[:, None, None, :]


with wrong("with the sentences where the queries are"):

    def my_target_mask(ids, pad_id):
        return masks.causal(ids.size(1)) & (ids != pad_id)


edit(", dtype=torch.bool", "", "one side of yours holds numbers")

with wrong("only the padding is open"):

    def my_target_mask(ids, pad_id):
        return masks.causal(ids.size(1)) & (ids == pad_id)[:, None, None, :]


with wrong("It goes wrong here: a single token, and it is padding."):

    def my_target_mask(ids, pad_id):
        length = ids.size(1)
        if length == 1:
            return torch.ones(len(ids), 1, 1, 1, dtype=torch.bool)
        return torch.ones(length, length, dtype=torch.bool).tril() & (ids != pad_id)[:, None, None, :]


edit("length = ids.size(1)", "length = ids.size(0)", "one row for each sentence")

edit(
    "torch.ones(length, length, dtype=torch.bool).tril() &",
    "torch.ones(length, length, dtype=torch.bool) &",
    "only the rule about padding",
)


with wrong("You opened the whole diagonal"):

    def my_target_mask(ids, pad_id):
        length = ids.size(1)
        allowed = masks.causal(length) & (ids != pad_id)[:, None, None, :]
        return allowed | torch.eye(length).bool()


with wrong("`and` asks whether a whole tensor is true"):

    def my_target_mask(ids, pad_id):
        return masks.causal(ids.size(1)) and masks.padding(ids, pad_id=pad_id)


with wrong("takes the padding id by its name"):

    def my_target_mask(ids, pad_id):
        return masks.causal(ids.size(1)) & masks.padding(ids, pad_id)
