"""Lesson 11, fixed_loss: what learners write."""

import torch.nn.functional as F

from tests.answers import edit, right, wrong

with right:

    def fixed_loss(logits, targets, pad_id):
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=pad_id)


with right:

    def fixed_loss(logits, targets, pad_id):
        log_p = logits.log_softmax(dim=-1)
        return F.nll_loss(log_p.flatten(0, 1), targets.flatten(), ignore_index=pad_id)


with right:

    def fixed_loss(logits, targets, pad_id):
        return F.nll_loss(logits.log_softmax(dim=-1).transpose(1, 2), targets, ignore_index=pad_id)


with wrong("this loss never gets near 0"):

    def fixed_loss(logits, targets, pad_id):
        probabilities = logits.softmax(dim=-1)
        return F.cross_entropy(probabilities.flatten(0, 1), targets.flatten(), ignore_index=pad_id)


edit("logits.flatten(0, 1), targets.flatten(), ignore_index=pad_id", "logits.mT, targets", "now there is another")

edit("logits.flatten(0, 1), targets.flatten()", "logits, targets", "looks for the V logits on axis 1")

edit("F.cross_entropy(logits.flatten", "F.nll_loss(logits.softmax(dim=-1).flatten", "nll_loss expects log")

edit("logits.flatten(0, 1)", "logits.softmax(dim=1).flatten(0, 1)", "There are two softmaxes")


with wrong("the softmax rounds to 0, and log 0 is -inf"):

    def fixed_loss(logits, targets, pad_id):
        probabilities = logits.softmax(dim=-1)
        return F.nll_loss(probabilities.log().transpose(1, 2), targets, ignore_index=pad_id)


edit("F.cross_entropy", "F.nll_loss", "these are logits")

edit("logits.log_softmax(dim=-1)\n", "logits.log()\n", "The log of a negative logit is NaN", of=1)

edit("logits.log_softmax(dim=-1)\n", "logits.log_softmax(dim=1)\n", "runs over the positions", of=1)

edit("ignore_index=pad_id)", 'ignore_index=pad_id, reduction="sum") / targets.numel()', "that you divide by")


edit("ignore_index=pad_id)", 'ignore_index=pad_id, reduction="sum")', "this is the sum over the tokens")

with wrong("the logits of different positions are mixed"):

    def fixed_loss(logits, targets, pad_id):
        return F.cross_entropy(logits.view(len(logits), -1, targets.size(1)), targets, ignore_index=pad_id)


edit("ignore_index=pad_id", "ignore_index=0", "whatever pad_id is")
