"""Lesson 12, my_penalty: what learners write."""

import torch

from tests.answers import edit, right, wrong

with right:

    def my_penalty(logits, ids, penalty):
        result = logits.clone()
        chosen = result[ids]
        result[ids] = torch.where(chosen > 0, chosen / penalty, chosen * penalty)
        return result


with right:

    def my_penalty(logits, ids, penalty):
        result = logits.clone()
        for word in set(ids.tolist()):
            if logits[word] > 0:
                result[word] = logits[word] / penalty
            else:
                result[word] = logits[word] * penalty
        return result


with right:

    def my_penalty(logits, ids, penalty):
        seen = torch.nn.functional.one_hot(ids, len(logits)).amax(dim=0).bool()
        down = logits.clamp(min=0) / penalty + logits.clamp(max=0) * penalty
        return torch.where(seen, down, logits)


with wrong("gets *more* likely. There you must multiply"):

    def my_penalty(logits, ids, penalty):
        result = logits.clone()
        result[ids] = result[ids] / penalty
        return result


with wrong("pays three times"):

    def my_penalty(logits, ids, penalty):
        result = logits.clone()
        for word in ids:
            result[word] = result[word] / penalty if result[word] > 0 else result[word] * penalty
        return result


edit("chosen / penalty, chosen * penalty", "chosen * penalty, chosen / penalty", "swapped")

edit("logits.clone()", "logits", "changed its argument", of=0)

edit("chosen * penalty", "chosen - penalty", "Below 0 you subtract")

edit("torch.where(chosen > 0, chosen / penalty, chosen * penalty)", "chosen.abs() / penalty", "without its sign")

with wrong("An `if` has one answer"):

    def my_penalty(logits, ids, penalty):
        result = logits.clone()
        if result[ids] > 0:
            result[ids] /= penalty
        else:
            result[ids] *= penalty
        return result


edit("return result", "return result[ids]", "of the words in ids alone", of=0)
