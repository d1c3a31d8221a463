"""Lesson 15, my_bleu: what learners write."""

import math

import torch

from tests.answers import right, wrong

with right:

    def my_bleu(found, written, length, right_length):
        precision = math.prod(f / max(w, 1) for f, w in zip(found, written)) ** (1 / 4)
        penalty = 1 if length >= right_length else math.exp(1 - right_length / length)
        return 100 * penalty * precision


with right:

    def my_bleu(found, written, length, right_length):
        precisions = torch.tensor(found) / torch.tensor(written).clamp(min=1)
        penalty = min(1.0, math.exp(1 - right_length / length))
        return 100 * penalty * precisions.log().mean().exp()


with right:

    def my_bleu(found, written, length, right_length):
        logs = 0.0
        for f, w in zip(found, written):
            if f == 0:
                return 0.0
            logs += 0.25 * (math.log(f) - math.log(w))
        return 100 * math.exp(logs + min(0, 1 - right_length / length))


with right:

    def my_bleu(found, written, length, right_length):
        import sacrebleu

        return sacrebleu.BLEU.compute_bleu(found, written, length, right_length, smooth_method="none").score


with wrong("The brevity penalty is missing"):

    def my_bleu(found, written, length, right_length):
        return 100 * math.prod(f / w for f, w in zip(found, written)) ** (1 / 4)


with wrong("That is the arithmetic mean"):

    def my_bleu(found, written, length, right_length):
        penalty = min(1.0, math.exp(1 - right_length / length))
        return 100 * penalty * sum(f / w for f, w in zip(found, written)) / 4


with wrong("If nothing is, log 0 raises an error"):

    def my_bleu(found, written, length, right_length):
        penalty = min(1.0, math.exp(1 - right_length / length))
        return 100 * penalty * math.exp(sum(math.log(f / w) for f, w in zip(found, written)) / 4)


with wrong("Your BLEU runs from 0 to 1"):

    def my_bleu(found, written, length, right_length):
        penalty = min(1.0, math.exp(1 - right_length / length))
        return penalty * math.prod(f / w for f, w in zip(found, written)) ** (1 / 4)


with wrong("The two lengths are swapped"):

    def my_bleu(found, written, length, right_length):
        penalty = min(1.0, math.exp(1 - length / right_length))
        return 100 * penalty * math.prod(f / w for f, w in zip(found, written)) ** (1 / 4)


with wrong("Values: BLEU differs"):

    def my_bleu(found, written, length, right_length):
        penalty = min(1.0, math.exp(1 - right_length / length))
        return 100 * penalty * math.prod(f / w for f, w in zip(found, written)) ** (1 / 3)


with wrong("That is a quarter of the product, not its fourth root"):

    def my_bleu(found, written, length, right_length):
        penalty = min(1.0, math.exp(1 - right_length / length))
        return 100 * penalty * math.prod(f / w for f, w in zip(found, written)) ** 1 / 4


with wrong("You leave precisions of 0 out of the mean"):

    def my_bleu(found, written, length, right_length):
        penalty = min(1.0, math.exp(1 - right_length / length))
        logs = [math.log(f / w) for f, w in zip(found, written) if f > 0]
        return 100 * penalty * math.exp(sum(logs) / len(logs))


with wrong("It goes wrong here: no run of three words is found"):

    def my_bleu(found, written, length, right_length):
        penalty = min(1.0, math.exp(1 - right_length / length))
        return 100 * penalty * math.exp(sum(math.log(f / w + 1e-9) for f, w in zip(found, written)) / 4)


with wrong("ask that before you divide"):

    def my_bleu(found, total, length, reference_length):
        precision = math.prod(f / t for f, t in zip(found, total)) ** (1 / 4)
        penalty = 1 if length >= reference_length else math.exp(1 - reference_length / length)
        return 100 * penalty * precision
