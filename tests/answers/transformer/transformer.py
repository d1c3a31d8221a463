"""Lesson 09, my_transformer: what learners write."""

import torch
import torch.nn.functional as F

from lessons import masks
from tests.answers import edit, right, wrong

with right:

    def my_transformer(src, tgt, embed_src, embed_tgt, encode, decode, project):
        source = masks.padding(src, pad_id=0)
        target = masks.combine(masks.padding(tgt, pad_id=0), masks.causal(tgt.size(1)))
        memory = encode(embed_src(src), source)
        return project(decode(embed_tgt(tgt), memory, target, source))


with right:

    def my_transformer(src, tgt, embed_src, embed_tgt, encode, decode, project):
        source = (src != 0)[:, None, None, :]
        length = tgt.shape[1]
        target = (tgt != 0)[:, None, None, :] & torch.ones(length, length, dtype=torch.bool).tril()
        return project(decode(embed_tgt(tgt), encode(embed_src(src), source), target, source))


with right:

    def my_transformer(src, tgt, embed_src, embed_tgt, encode, decode, project):
        # padding at the end of the target is hidden by the causal rule already, from all that is read
        source = (src != 0)[:, None, None, :].expand(-1, 1, src.size(1), -1)
        target = (tgt != 0)[:, None, None, :] & masks.causal(tgt.size(1))
        memory = encode(embed_src(src), source)
        cross = (src != 0)[:, None, None, :].expand(-1, 1, tgt.size(1), -1)
        return project(decode(embed_tgt(tgt), memory, target, cross))


with right:

    def my_transformer(src, tgt, embed_src, embed_tgt, encode, decode, project):
        logits = []
        for s, t in zip(src.split(1), tgt.split(1)):
            real = masks.padding(s, pad_id=0)
            memory = encode(embed_src(s), real)
            future = torch.ones(t.size(1), t.size(1)).triu(diagonal=1).bool()
            y = decode(embed_tgt(t), memory, tgt_allowed=masks.padding(t, pad_id=0) & ~future, cross_allowed=real)
            logits.append(project(y))
        return torch.cat(logits)


with wrong("The causal mask is missing"):

    def my_transformer(src, tgt, embed_src, embed_tgt, encode, decode, project):
        source = masks.padding(src, pad_id=0)
        return project(decode(embed_tgt(tgt), encode(embed_src(src), source), masks.padding(tgt, pad_id=0), source))


with wrong("two of them slow training down"):

    def my_transformer(src, tgt, embed_src, embed_tgt, encode, decode, project):
        source = masks.padding(src, pad_id=0)
        target = masks.padding(tgt, pad_id=0) & masks.causal(tgt.size(1))
        logits = project(decode(embed_tgt(tgt), encode(embed_src(src), source), target, source))
        return F.softmax(logits, dim=-1)


with wrong("a second one changes nothing"):

    def my_transformer(src, tgt, embed_src, embed_tgt, encode, decode, project):
        source = masks.padding(src, pad_id=0)
        target = masks.padding(tgt, pad_id=0) & masks.causal(tgt.size(1))
        logits = project(decode(embed_tgt(tgt), encode(embed_src(src), source), target, source))
        return F.log_softmax(logits, dim=-1)


with wrong("were combined with |"):

    def my_transformer(src, tgt, embed_src, embed_tgt, encode, decode, project):
        source = masks.padding(src, pad_id=0)
        target = masks.padding(tgt, pad_id=0) | masks.causal(tgt.size(1))
        return project(decode(embed_tgt(tgt), encode(embed_src(src), source), target, source))


edit("] & torch", "] + torch", "or with +", of=1)

with wrong("The target padding is not masked"):

    def my_transformer(src, tgt, embed_src, embed_tgt, encode, decode, project):
        source = masks.padding(src, pad_id=0)
        return project(decode(embed_tgt(tgt), encode(embed_src(src), source), masks.causal(tgt.size(1)), source))


edit("masks.padding(src, pad_id=0)", "masks.padding(src, 0)", "takes the padding id by its name")

edit("target, source))", "source, target))", "got the source mask in place of the target mask")
edit("memory, target, source))", "target, source))", "Are two of them swapped, or is one missing?")

edit("masks.causal(tgt.size(1))", "masks.causal(src.size(1))", "The causal mask has the length of the source", of=2)


edit("masks.padding(tgt, pad_id=0)", "~masks.padding(tgt, pad_id=0)", "masks.padding is True for the tokens")

edit("target, source))", "target, source)).argmax(dim=-1)", "Those are the likeliest tokens")


edit("target, source))", "target, source)[:, -1:])", "the logits of the last position alone")

edit(
    "source = masks.padding(src, pad_id=0)",
    "source = ~masks.padding(src, pad_id=0)",
    "The padding mask of the source is",
)

edit("decode(embed_tgt(tgt), memory,", "decode(memory, embed_tgt(tgt),", "in the wrong order")

with wrong("You left out the last target token"):

    def my_transformer(src, tgt, embed_src, embed_tgt, encode, decode, project):
        tgt = tgt[:, :-1]
        source = masks.padding(src, pad_id=0)
        target = masks.padding(tgt, pad_id=0) & masks.causal(tgt.size(1))
        return project(decode(embed_tgt(tgt), encode(embed_src(src), source), target, source))


with wrong("You multiplied by √D once more"):

    def my_transformer(src, tgt, embed_src, embed_tgt, encode, decode, project):
        source = masks.padding(src, pad_id=0)
        target = masks.padding(tgt, pad_id=0) & masks.causal(tgt.size(1))
        x, y = embed_src(src), embed_tgt(tgt)
        x, y = x * x.size(-1) ** 0.5, y * y.size(-1) ** 0.5
        return project(decode(y, encode(x, source), target, source))


edit("encode(embed_src(src), source)", "encode(embed_src(src), source & source.mT)", "NaN comes out, here as in some")

edit("encode(embed_src(src), source)", "encode(embed_src(src), source.mT)", "You blocked source padding as a query")

edit("masks.padding(src, pad_id=0)", "masks.padding(src, pad_id=0) & masks.padding(src, pad_id=0).mT", "only if T = S")
edit("masks.padding(src, pad_id=0)", "masks.padding(src, pad_id=0) & masks.causal(src.size(1))", "only if T = S")

edit(
    "target, source))",
    "target, source & masks.padding(tgt, pad_id=0).mT))",
    "In cross-attention you blocked target padding as a query",
)


with wrong("All masks are inverted, as for torch's modules"):

    def my_transformer(src, tgt, embed_src, embed_tgt, encode, decode, project):
        source = ~masks.padding(src, pad_id=0)
        target = ~(masks.padding(tgt, pad_id=0) & masks.causal(tgt.size(1)))
        return project(decode(embed_tgt(tgt), encode(embed_src(src), source), target, source))


with wrong("`and` asks whether a whole tensor is true"):

    def my_transformer(src, tgt, embed_src, embed_tgt, encode, decode, project):
        source = masks.padding(src, pad_id=0)
        target = masks.padding(tgt, pad_id=0) and masks.causal(tgt.size(1))
        memory = encode(embed_src(src), source)
        return project(decode(embed_tgt(tgt), memory, target, source))


with wrong("the size of the batch"):

    def my_transformer(src, tgt, embed_src, embed_tgt, encode, decode, project):
        source = masks.padding(src, pad_id=0)
        target = masks.causal(len(tgt)) & masks.padding(tgt, pad_id=0)
        memory = encode(embed_src(src), source)
        return project(decode(embed_tgt(tgt), memory, target, source))


edit("encode(embed_src(src), source)", "encode(src, source)", "take vectors, not ids")

edit("embed_tgt(tgt)", "tgt", "take vectors, not ids")

edit("memory, target, source", "memory, target, target", "got the mask of self-attention as well")

edit("masks.padding(src, pad_id=0)", "src != 0", "Your source mask is (B, S)")
