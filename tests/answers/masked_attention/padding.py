"""Lesson 03, my_padding: what learners write."""

import torch

from tests.answers import edit, right, wrong

with right:

    def my_padding(ids, pad_id):
        return (ids != pad_id)[:, None, None, :]


with right:

    def my_padding(ids, pad_id):
        return ids.ne(pad_id).unsqueeze(1).unsqueeze(2)


with right:

    def my_padding(ids, pad_id):
        return torch.tensor([[[[i != pad_id for i in row]]] for row in ids.tolist()])


edit("= pad_id", "= 0", "You compared with 0")

edit("!=", ">", "The ids below it are real tokens")

edit(":, None, None, :", "None, None", "the new axes are in front")

with wrong("Padding can also come first"):

    def my_padding(ids, pad_id):
        lengths = (ids != pad_id).sum(dim=1, keepdim=True)
        return (torch.arange(ids.shape[1]) < lengths)[:, None, None]


with wrong("an additive mask"):

    def my_padding(ids, pad_id):
        additive = torch.zeros(ids.shape)
        additive[ids == pad_id] = float("-inf")
        return additive[:, None, None, :]


edit(
    "[:, None, None, :]",
    "[:, None, None, :] & torch.ones(ids.shape[1], ids.shape[1]).tril().bool()",
    "hides the future",
)


with wrong("these are the numbers 0 and 1"):

    def my_padding(ids, pad_id):
        return torch.where(ids == pad_id, 0, 1)[:, None, None, :]


edit("[:, None, None, :]", "[:, None, :, None] | (ids != pad_id)[:, None, None, :]", "real queries see the padding")

edit("ids !=", "ids[:1] !=", "the mask of the first one")

edit("!=", "<", "The ids above it are real tokens")

edit("[:, None, None, :]", ".view(1, 1, 1, -1)", "all sentences into one row")

edit("[:, None, None, :]", "[None, :, None, :]", "B is on the axis of the heads")

edit("[:, None, None, :]", "[:, None, None, :].repeat(1, 1, ids.size(1), 1)", "you repeated its row for each query")

with wrong("from the first padding on"):

    def my_padding(ids, pad_id):
        return ((ids == pad_id).cumsum(dim=-1) < 1)[:, None, None, :]


edit("(ids != pad_id)", "torch.where(ids == pad_id, -1e9, 0.0)", "a very low number where it is padding")
