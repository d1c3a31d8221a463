"""Lesson 10, my_torch_masks: what learners write."""

import torch
from torch import nn

from lessons import masks
from tests.answers import edit, right, wrong

with right:

    def my_torch_masks(src, tgt, src_pad_id, tgt_pad_id):
        future = torch.ones(tgt.size(1), tgt.size(1), dtype=torch.bool).triu(diagonal=1)
        return src == src_pad_id, future, tgt == tgt_pad_id, src == src_pad_id


with right:

    def my_torch_masks(src, tgt, src_pad_id, tgt_pad_id):
        source = ~masks.padding(src, pad_id=src_pad_id)[:, 0, 0]
        target = ~masks.padding(tgt, pad_id=tgt_pad_id)[:, 0, 0]
        return source, ~masks.causal(tgt.size(1)), target, source


with right:

    def my_torch_masks(src, tgt, src_pad_id, tgt_pad_id):
        future = nn.Transformer.generate_square_subsequent_mask(tgt.size(1)) == -torch.inf
        source = torch.tensor([[i == src_pad_id for i in row] for row in src.tolist()])
        return [source, future, tgt.eq(tgt_pad_id), source.clone()]


edit(", src == src_pad_id", ", tgt == tgt_pad_id", "They are the memory, which has the source's length")

with wrong("All four are inverted"):

    def my_torch_masks(src, tgt, src_pad_id, tgt_pad_id):
        return src != src_pad_id, masks.causal(tgt.size(1)), tgt != tgt_pad_id, src != src_pad_id


edit(", src == src_pad_id", "", "returned 3 things; expected 4")

edit("diagonal=1", "", "With triu that is diagonal=1")

edit("tgt =", "tgt !", "One of the padding masks is inverted")


with wrong("tgt_mask also blocks the padding of the first sentence"):

    def my_torch_masks(src, tgt, src_pad_id, tgt_pad_id):
        future = ~masks.causal(tgt.size(1))
        target = tgt == tgt_pad_id
        return src == src_pad_id, future | target[0], target, src == src_pad_id


edit(", future, ", ", future | (tgt == tgt_pad_id)[:, None], ", "which nn.Transformer takes with one head only")


edit(
    "torch.ones(tgt.size(1), tgt.size(1), dtype=torch.bool)",
    "torch.ones(src.size(1), src.size(1), dtype=torch.bool)",
    "tgt_mask has the length of the source",
)


edit("future, tgt == tgt_pad_id,", "tgt == tgt_pad_id, future,", "but not their order")

edit(
    "torch.ones(tgt.size(1), tgt.size(1), dtype=torch.bool).triu(diagonal=1)",
    "nn.Transformer.generate_square_subsequent_mask(tgt.size(1))",
    "in the additive form",
)

edit(", src == src_pad_id", ", None", "memory_key_padding_mask blocks nothing")

edit(", dtype=torch.bool", "", "holds the numbers 1 and 0")
