"""Lesson 04, my_cross_mask: what learners write."""

import torch

from lessons import masks
from tests.answers import edit, right, wrong

with right:

    def my_cross_mask(src_ids, tgt_ids, src_pad_id):
        return (src_ids != src_pad_id)[:, None, None, :]


with right:

    def my_cross_mask(src_ids, tgt_ids, src_pad_id):
        real = (src_ids != src_pad_id)[:, None, None, :]
        return real.expand(-1, 1, tgt_ids.size(1), -1)


with right:

    def my_cross_mask(src_ids, tgt_ids, src_pad_id):
        return torch.stack([torch.stack([row != src_pad_id] * tgt_ids.shape[1])[None] for row in src_ids])


edit(" (", " (tgt_ids != src_pad_id)[:, None, :, None] & (", "you also blocked the padding of the target")

with wrong("You made it causal"):

    def my_cross_mask(src_ids, tgt_ids, src_pad_id):
        return masks.padding(src_ids, pad_id=src_pad_id) & masks.causal(tgt_ids.size(1))


edit(" != src_pad_id)[:", "[0] != src_pad_id)[None", "the mask of the first one")

edit("!= src_pad_id", "> src_pad_id + 2)[:, None, None, :] & (src_ids != 12", "Values: allowed differs")
