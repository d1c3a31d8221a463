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


edit("[:, None, None, :]", "[:, None, :]", "one axis too few")

edit("[:, None, None, :]", "[:, None, :, None].expand(-1, 1, -1, tgt_ids.size(1))", "on the axis of the queries")

edit("[:, None, None, :]", "[:, :, None, None]", "the new axes are at the end")

edit("[:, None, None, :]", "[:, None, :].repeat(1, tgt_ids.size(1), 1)", "the axis of the heads is missing")

with wrong("They are the source, which may have another number"):

    def my_cross_mask(src_ids, tgt_ids, src_pad_id):
        src = (src_ids != src_pad_id)[:, None, None, :]
        tgt = (tgt_ids != src_pad_id)[:, None, None, :]
        return src & tgt


with wrong("these are the numbers 0 and 1"):

    def my_cross_mask(src_ids, tgt_ids, src_pad_id):
        mask = torch.zeros(src_ids.size(0), 1, tgt_ids.size(1), src_ids.size(1))
        mask[(src_ids != src_pad_id)[:, None, None, :].expand_as(mask)] = 1
        return mask


with wrong("an additive mask"):

    def my_cross_mask(src_ids, tgt_ids, src_pad_id):
        blocked = (src_ids == src_pad_id)[:, None, None, :]
        return torch.zeros(blocked.shape).masked_fill(blocked, -torch.inf)


edit(" (", " (tgt_ids != src_pad_id)[:, None, :, None] | (", "real tokens see the source's padding")

with wrong("That is a causal mask"):

    def my_cross_mask(src_ids, tgt_ids, src_pad_id):
        return torch.ones(1, 1, tgt_ids.size(1), src_ids.size(1)).tril().bool()


with wrong("assumed that they come first"):

    def my_cross_mask(src_ids, tgt_ids, src_pad_id):
        lengths = (src_ids != src_pad_id).sum(dim=1, keepdim=True)
        return (torch.arange(src_ids.size(1)) < lengths)[:, None, None, :]


edit(" (", " (tgt_ids != 0)[:, None, :, None] & (", "you also blocked the padding of the target")

with wrong("takes the id by its name"):

    def my_cross_mask(src_ids, tgt_ids, src_pad_id):
        return masks.padding(src_ids, src_pad_id)
