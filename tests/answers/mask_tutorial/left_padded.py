"""Lesson 10, my_left_padded: what learners write."""

import torch

from lessons import masks
from tests.answers import edit, right, wrong

with right:

    def my_left_padded(ids, pad_id):
        allowed = masks.causal(ids.size(1)) & masks.padding(ids, pad_id=pad_id)
        allowed = allowed | torch.eye(ids.size(1)).bool()
        positions = (ids != pad_id).cumsum(dim=1).sub(1).clamp(min=0)
        return allowed, positions


with right:

    def my_left_padded(ids, pad_id):
        B, T = ids.shape
        allowed = torch.zeros(B, 1, T, T, dtype=torch.bool)
        positions = torch.zeros(B, T, dtype=torch.long)
        for b in range(B):
            start = int((ids[b] == pad_id).sum())
            for i in range(T):
                allowed[b, 0, i, start : i + 1] = True
                allowed[b, 0, i, i] = True
                positions[b, i] = max(0, i - start)
        return allowed, positions


with right:

    def my_left_padded(ids, pad_id):
        missing = (ids == pad_id).sum(dim=1)  # (B,)
        place = torch.arange(ids.size(1))
        row, column = place[:, None], place
        allowed = (column <= row) & ((column >= missing[:, None, None]) | (column == row))
        return allowed[:, None], (place - missing[:, None]).relu()


with wrong("The positions count the padding"):

    def my_left_padded(ids, pad_id):
        T = ids.size(1)
        allowed = masks.causal(T) & masks.padding(ids, pad_id=pad_id) | torch.eye(T).bool()
        return allowed, torch.arange(T).repeat(len(ids), 1)


with wrong("It needs one for the heads"):

    def my_left_padded(ids, pad_id):
        T = ids.size(1)
        allowed = masks.causal(T) & (ids != pad_id)[:, None, :] | torch.eye(T).bool()
        return allowed, ((ids != pad_id).cumsum(1) - 1).clamp(min=0)


edit("allowed = allowed | torch.eye(ids.size(1)).bool()", "pass", "rows of the padding are empty")

edit(".sub(1)", "", "one too high")

edit(".clamp(min=0)", "", "position −1")


edit("masks.causal(ids.size(1)) & ", "", "the causal rule is missing")


with wrong("You compared with 0"):

    def my_left_padded(ids, pad_id):
        real = ids != 0
        allowed = (masks.causal(ids.size(1)) & real[:, None, None, :]) | torch.eye(ids.size(1)).bool()
        return allowed, (real.cumsum(dim=1) - 1).clamp(min=0)


edit(
    "(ids != pad_id).cumsum(dim=1).sub(1).clamp(min=0)",
    "torch.arange(ids.size(1)) * (ids != pad_id)",
    "still count the padding before them",
)

edit("cumsum(dim=1)", "cumsum(dim=0)", "counted down the batch")

edit(".cumsum(dim=1)", ".long()", "Values: positions differs")

edit("allowed | torch.eye(ids.size(1)).bool()", "allowed | (torch.arange(ids.size(1)) == 0)", "Open the diagonal")

edit("masks.padding(ids, pad_id=pad_id)", "(ids != pad_id)", "where the queries are")

edit("allowed | torch.eye", "allowed & torch.eye", "only the diagonal is open")
