"""Lesson 04, fixed_masks: what learners write."""

from lessons import masks
from tests.answers import edit, right, wrong

with right:

    def fixed_masks(src, tgt, src_pad_id, tgt_pad_id):
        encoder_self = (src != src_pad_id)[:, None, None, :]
        decoder_self = masks.causal(tgt.size(1)) & (tgt != tgt_pad_id)[:, None, None, :]
        cross = (src != src_pad_id)[:, None, None, :]
        return encoder_self, decoder_self, cross


with right:

    def fixed_masks(src, tgt, src_pad_id, tgt_pad_id):
        source, target = masks.padding(src, pad_id=src_pad_id), masks.padding(tgt, pad_id=tgt_pad_id)
        return source, masks.combine(masks.causal(tgt.size(1)), target), source


edit("cross = (src != src_pad_id", "cross = (src != tgt_pad_id", "Now cross-attention has the wrong padding")

with wrong("on the side of the queries"):

    def fixed_masks(src, tgt, src_pad_id, tgt_pad_id):
        real = tgt != tgt_pad_id
        source = masks.padding(src, pad_id=src_pad_id)
        return source, masks.causal(tgt.size(1)) & real[:, None, None, :], source & real[:, None, :, None]


with wrong("cross-attention, which was right, is wrong now"):

    def fixed_masks(src, tgt, src_pad_id, tgt_pad_id):
        encoder_self = (src != src_pad_id)[:, None, None, :]
        decoder_self = masks.causal(tgt.size(1)) & (tgt != src_pad_id)[:, None, None, :]
        cross = (src != tgt_pad_id)[:, None, None, :]
        return encoder_self, decoder_self, cross


with wrong("cross-attention hides the target's padding"):

    def fixed_masks(src, tgt, src_pad_id, tgt_pad_id):
        encoder_self = (src != src_pad_id)[:, None, None, :]
        target = (tgt != tgt_pad_id)[:, None, None, :]
        return encoder_self, masks.causal(tgt.size(1)) & target, target


edit("masks.causal(tgt.size(1)) &", "masks.causal(tgt.size(1)) |", "Both must allow it")

edit("tgt != tgt_pad_id", "tgt == tgt_pad_id", "its padding alone")

edit("tgt.size(1)", "src.size(1)", "the size of the source")

with wrong("the size of the source"):

    def fixed_masks(src, tgt, src_pad_id, tgt_pad_id):
        source = (src != src_pad_id)[:, None, None, :]
        target = (tgt != tgt_pad_id)[:, None, None, :]
        return source, target & masks.causal(src.size(1)), source


with wrong("hides the padding of the source"):

    def fixed_masks(src, tgt, src_pad_id, tgt_pad_id):
        source = (src != src_pad_id)[:, None, None, :]
        return source, source & masks.causal(tgt.size(1)), source


edit(
    "cross = (src",
    "cross = masks.causal(9)[: tgt.size(1), : src.size(1)] & (src",
    "you made cross-attention causal",
)

edit("encoder_self = (src", "encoder_self = masks.causal(src.size(1)) & (src", "you made the encoder causal")


edit(" & (tgt != tgt_pad_id)[:, None, None, :]", "[None, None]", "hides no padding now")

edit("(tgt != tgt_pad_id)[:, None, None, :]", "(tgt != tgt_pad_id)[:, None, :, None]", "you hid rows")


edit("(tgt != tgt_pad_id)", "(src != src_pad_id)", "Its own keys are the target")

with wrong("cross-attention, which was right, is wrong now"):

    def fixed_masks(src, tgt, src_pad_id, tgt_pad_id):
        encoder_self = (src != src_pad_id)[:, None, None, :]
        decoder_self = masks.causal(tgt.size(1)) & (tgt != src_pad_id)[:, None, None, :]
        cross = (tgt != tgt_pad_id)[:, None, None, :]
        return encoder_self, decoder_self, cross


edit("masks.causal(", "~masks.causal(", "you inverted the causal mask")

edit("cross = ", "cross = masks.causal(tgt.size(1)) & ", "you made cross-attention causal")
