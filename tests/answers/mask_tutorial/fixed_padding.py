"""Lesson 10, fixed_padding: what learners write."""

import torch

from tests.answers import edit, right, wrong

with right:

    def fixed_padding(query_ids, key_ids, query_pad_id, key_pad_id):
        return (key_ids != key_pad_id)[:, None, None, :]


with right:

    def fixed_padding(query_ids, key_ids, query_pad_id, key_pad_id):
        anybody = torch.ones_like(query_ids, dtype=torch.bool)[:, None, :, None]
        return anybody & (key_ids != key_pad_id)[:, None, None, :]


with right:

    def fixed_padding(query_ids, key_ids, query_pad_id, key_pad_id):
        return (key_ids != key_pad_id).unsqueeze(1).unsqueeze(2).repeat(1, 1, query_ids.size(1), 1)


with right:

    def fixed_padding(query_ids, key_ids, query_pad_id, key_pad_id):
        query_real = (query_ids != query_pad_id)[:, None, :, None]
        key_real = (key_ids != key_pad_id)[:, None, None, :]
        first_real = key_real & (key_real.cumsum(dim=-1) == 1)
        return torch.where(query_real, key_real, first_real)


with wrong("but real tokens attend to padding"):

    def fixed_padding(query_ids, key_ids, query_pad_id, key_pad_id):
        query_real = (query_ids != query_pad_id)[:, None, :, None]
        key_real = (key_ids != key_pad_id)[:, None, None, :]
        return query_real | key_real


with wrong("That fixes the symptom"):

    def fixed_padding(query_ids, key_ids, query_pad_id, key_pad_id):
        query_real = (query_ids != query_pad_id)[:, None, :, None]
        key_real = (key_ids != key_pad_id)[:, None, None, :]
        allowed = query_real & key_real
        return allowed | ~allowed.any(dim=-1, keepdim=True)


edit(
    "(key_ids != key_pad_id)[:, None, None, :]",
    "key_ids != key_pad_id",
    "axes are missing",
)


edit("(key_ids != key_pad_id)", "(query_ids != query_pad_id)", "on the axis of the keys")

with wrong("have changed places"):

    def fixed_padding(query_ids, key_ids, query_pad_id, key_pad_id):
        query_real = (query_ids != query_pad_id)[:, None, None, :]
        key_real = (key_ids != key_pad_id)[:, None, :, None]
        return query_real & key_real


with wrong("It goes wrong here: keys that are padded on the left"):

    def fixed_padding(query_ids, key_ids, query_pad_id, key_pad_id):
        query_real = (query_ids != query_pad_id)[:, None, :, None]
        key_real = (key_ids != key_pad_id)[:, None, None, :]
        first = torch.arange(key_ids.size(1)) == 0
        return torch.where(query_real, key_real, first)


with wrong("You opened the first key"):

    def fixed_padding(query_ids, key_ids, query_pad_id, key_pad_id):
        query_real = (query_ids != query_pad_id)[:, None, :, None]
        allowed = query_real & (key_ids != key_pad_id)[:, None, None, :]
        allowed[..., 0] = True
        return allowed


edit("[:, None, None, :]", "[:, None, :]", "axes are missing")

with wrong("that are added to scores"):

    def fixed_padding(query_ids, key_ids, query_pad_id, key_pad_id):
        blocked = (key_ids == key_pad_id)[:, None, None, :]
        return torch.zeros(blocked.shape).masked_fill(blocked, -torch.inf)


with wrong("takes the padding id by its name"):

    def fixed_padding(query_ids, key_ids, query_pad_id, key_pad_id):
        from lessons import masks

        return masks.padding(key_ids, key_pad_id)
