"""Lesson 15, my_bleu: what learners write."""

import math

import torch

from tests.answers import edit, right, wrong

with right:

    def my_bleu(written, references, matches):
        precisions = []
        for n in (1, 2, 3, 4):
            found = total = 0
            for text, reference in zip(written, references):
                f, t = matches(text, reference, n)
                found += f
                total += t
            precisions.append(found / max(total, 1))
        length, expected = sum(map(len, written)), sum(map(len, references))
        penalty = 1 if length >= expected else math.exp(1 - expected / length)
        return 100 * penalty * math.prod(precisions) ** (1 / 4)


with right:

    def my_bleu(written, references, matches):
        counts = torch.tensor([[matches(h, r, n) for n in range(1, 5)] for h, r in zip(written, references)])
        found, total = counts.sum(dim=0).unbind(dim=-1)
        penalty = min(1.0, math.exp(1 - sum(map(len, references)) / sum(map(len, written))))
        return 100 * penalty * (found / total.clamp(min=1)).log().mean().exp()


with right:

    def my_bleu(written, references, matches):
        logs = 0.0
        for n in range(1, 5):
            pairs = [matches(h, r, n) for h, r in zip(written, references)]
            found = sum(f for f, _ in pairs)
            if found == 0:
                return 0.0
            logs += 0.25 * (math.log(found) - math.log(sum(t for _, t in pairs)))
        return 100 * math.exp(logs + min(0, 1 - sum(map(len, references)) / sum(map(len, written))))


with right:

    def my_bleu(written, references, matches):
        import sacrebleu

        texts, expected = [" ".join(words) for words in written], [" ".join(words) for words in references]
        return sacrebleu.corpus_bleu(texts, [expected], tokenize="none", smooth_method="none").score


edit(
    "penalty = 1 if length >= expected else math.exp(1 - expected / length)",
    "penalty = 1",
    "your brevity penalty is missing",
)
edit("math.prod(precisions) ** (1 / 4)", "sum(precisions) / 4", "That is the arithmetic mean")
edit("100 * ", "", "Your BLEU runs from 0 to 1")
edit("length, expected =", "expected, length =", "The two lengths are swapped")
edit("** (1 / 4)", "** (1 / 3)", "Values: BLEU differs")
edit("** (1 / 4)", "** 1 / 4", "That is a quarter of the product, not its fourth root")
edit("max(total, 1)", "total", "ask that before you divide")

with wrong("the mean of the sentences' BLEUs"):

    def my_bleu(written, references, matches):
        scores = []
        for text, reference in zip(written, references):
            counts = [matches(text, reference, n) for n in (1, 2, 3, 4)]
            penalty = min(1, math.exp(1 - len(reference) / len(text)))
            scores.append(100 * penalty * math.prod(f / max(t, 1) for f, t in counts) ** (1 / 4))
        return sum(scores) / len(scores)


with wrong("You average the precisions of the sentences"):

    def my_bleu(written, references, matches):
        precisions = []
        for n in (1, 2, 3, 4):
            each = [matches(h, r, n) for h, r in zip(written, references)]
            precisions.append(sum(f / t if t else 0 for f, t in each) / len(each))
        penalty = min(1, math.exp(1 - sum(map(len, references)) / sum(map(len, written))))
        return 100 * penalty * math.prod(precisions) ** (1 / 4)


with wrong("You compute a penalty for each sentence"):

    def my_bleu(written, references, matches):
        precisions = []
        for n in (1, 2, 3, 4):
            found, total = map(sum, zip(*(matches(h, r, n) for h, r in zip(written, references))))
            precisions.append(found / max(total, 1))
        penalties = [min(1, math.exp(1 - len(r) / len(h))) for h, r in zip(written, references)]
        return 100 * sum(penalties) / len(penalties) * math.prod(precisions) ** (1 / 4)


with wrong("You joined all sentences into one text"):

    def my_bleu(written, references, matches):
        text, reference = sum(written, []), sum(references, [])
        counts = [matches(text, reference, n) for n in (1, 2, 3, 4)]
        penalty = min(1, math.exp(1 - len(reference) / len(text)))
        return 100 * penalty * math.prod(f / max(t, 1) for f, t in counts) ** (1 / 4)


with wrong("If nothing is, log 0 raises an error"):

    def my_bleu(written, references, matches):
        pairs = [[matches(h, r, n) for h, r in zip(written, references)] for n in (1, 2, 3, 4)]
        logs = [math.log(sum(f for f, _ in row) / sum(t for _, t in row)) for row in pairs]
        penalty = min(1.0, math.exp(1 - sum(map(len, references)) / sum(map(len, written))))
        return 100 * penalty * math.exp(sum(logs) / 4)


with wrong("You leave precisions of 0 out of the mean"):

    def my_bleu(written, references, matches):
        logs = []
        for n in (1, 2, 3, 4):
            found, total = map(sum, zip(*(matches(h, r, n) for h, r in zip(written, references))))
            if found:
                logs.append(math.log(found / total))
        penalty = min(1.0, math.exp(1 - sum(map(len, references)) / sum(map(len, written))))
        return 100 * penalty * math.exp(sum(logs) / len(logs))


with wrong("It goes wrong here: no run of three words is found"):

    def my_bleu(written, references, matches):
        logs = 0.0
        for n in (1, 2, 3, 4):
            found, total = map(sum, zip(*(matches(h, r, n) for h, r in zip(written, references))))
            logs += math.log(found / max(total, 1) + 1e-9)
        penalty = min(1.0, math.exp(1 - sum(map(len, references)) / sum(map(len, written))))
        return 100 * penalty * math.exp(logs / 4)


with wrong("Runs of four words are missing"):

    def my_bleu(hypotheses, references, matches):
        precisions = []
        for n in range(1, 4):
            found, total = map(sum, zip(*(matches(h, r, n) for h, r in zip(hypotheses, references))))
            if not found:
                return 0.0
            precisions.append(found / total)
        c, r = sum(map(len, hypotheses)), sum(map(len, references))
        return 100 * min(1, math.exp(1 - r / c)) * math.prod(precisions) ** (1 / len(precisions))


with wrong("the lower the BLEU"):

    def my_bleu(hypotheses, references, matches):
        product, penalty = 1.0, 1.0
        for n in range(1, 5):
            counts = [matches(h, r, n) for h, r in zip(hypotheses, references)]
            found, total = map(sum, zip(*counts))
            if found == 0:
                return 0.0
            product *= found / total
        for h, r in zip(hypotheses, references):
            penalty *= min(1, math.exp(1 - len(r) / len(h)))
        return 100 * penalty * product**0.25


with wrong("Your n runs from 0 to 3"):

    def my_bleu(hypotheses, references, matches):
        product = 1.0
        for n in range(4):
            counts = [matches(h, r, n) for h, r in zip(hypotheses, references)]
            found, total = map(sum, zip(*counts))
            if found == 0:
                return 0.0
            product *= found / total
        length, expected = sum(map(len, hypotheses)), sum(map(len, references))
        return 100 * min(1, math.exp(1 - expected / length)) * product**0.25


with wrong("is its fourth root"):

    def my_bleu(hypotheses, references, matches):
        product = 1.0
        for n in range(1, 5):
            counts = [matches(h, r, n) for h, r in zip(hypotheses, references)]
            found, total = map(sum, zip(*counts))
            if found == 0:
                return 0.0
            product *= found / total
        length, expected = sum(map(len, hypotheses)), sum(map(len, references))
        return 100 * min(1, math.exp(1 - expected / length)) * math.sqrt(product)


edit("sum(map(len, written)), sum(map(len, references))", "len(written), len(references)", "the words of all sentences")
edit("1 - expected / length", "1 - expected // length", "or is 1 where it should be less")
edit("1 - expected / length", "expected / length - 1", "has the wrong sign")
edit("matches(text, reference, n)", "matches(reference, text, n)", "You pass the reference to matches first")

with wrong("has the wrong sign"):

    def my_bleu(hypotheses, references, matches):
        precisions = []
        for n in (1, 2, 3, 4):
            counts = [matches(h, r, n) for h, r in zip(hypotheses, references)]
            found, total = map(sum, zip(*counts))
            precisions.append(found / max(total, 1))
        length, expected = sum(map(len, hypotheses)), sum(map(len, references))
        return 100 * min(1, math.exp(expected / length - 1)) * math.prod(precisions) ** 0.25


with wrong("Only the counts of the last sentence"):

    def my_bleu(hypotheses, references, matches):
        precisions = []
        for n in range(1, 5):
            for h, r in zip(hypotheses, references):
                found, total = matches(h, r, n)
            precisions.append(found / total if total else 0)
        length, expected = sum(map(len, hypotheses)), sum(map(len, references))
        return 100 * min(1, math.exp(1 - expected / length)) * math.prod(precisions) ** 0.25


with wrong("min, not max"):

    def my_bleu(hypotheses, references, matches):
        product = 1.0
        for n in range(1, 5):
            counts = [matches(h, r, n) for h, r in zip(hypotheses, references)]
            found, total = sum(f for f, _ in counts), sum(t for _, t in counts)
            if found == 0:
                return 0.0
            product *= found / total
        c, r = sum(map(len, hypotheses)), sum(map(len, references))
        return 100 * max(1, math.exp(1 - r / c)) * product**0.25


with wrong("go on growing from one n to the next"):

    def my_bleu(hypotheses, references, matches):
        product = 1.0
        found = total = 0
        for n in range(1, 5):
            for h, r in zip(hypotheses, references):
                f, t = matches(h, r, n)
                found += f
                total += t
            if found == 0:
                return 0.0
            product *= found / total
        c, r = sum(map(len, hypotheses)), sum(map(len, references))
        return 100 * min(1, math.exp(1 - r / c)) * product**0.25
