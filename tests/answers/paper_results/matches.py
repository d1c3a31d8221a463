"""Lesson 15, my_matches: what learners write."""

from collections import Counter

import torch

from tests.answers import edit, right, wrong

with right:

    def my_matches(written, right, n):
        ours = Counter(tuple(written[i : i + n]) for i in range(len(written) - n + 1))
        theirs = Counter(tuple(right[i : i + n]) for i in range(len(right) - n + 1))
        return (ours & theirs).total(), ours.total()


with right:

    def my_matches(written, right, n):
        ours = list(zip(*(written[i:] for i in range(n))))
        left = list(zip(*(right[i:] for i in range(n))))
        found = 0
        for gram in ours:
            if gram in left:
                left.remove(gram)
                found += 1
        return found, len(ours)


with right:

    def my_matches(written, right, n):
        ours = [" ".join(written[i : i + n]) for i in range(len(written) - n + 1)]
        theirs = [" ".join(right[i : i + n]) for i in range(len(right) - n + 1)]
        found = sum(min(ours.count(gram), theirs.count(gram)) for gram in set(ours))
        return torch.tensor(found), torch.tensor(max(len(written) - n + 1, 0))


with right:

    def my_matches(written, right, n):
        def grams(words):
            return Counter(zip(*(words[i:] for i in range(n))))

        ours, theirs = grams(written), grams(right)
        return sum(ours.values()) - sum((ours - theirs).values()), sum(ours.values())


with right:

    def my_matches(written, right, n):
        import sacrebleu

        score = sacrebleu.BLEU(tokenize="none", force=True).corpus_score([" ".join(written)], [[" ".join(right)]])
        return score.counts[n - 1], score.totals[n - 1]


with wrong("Not clipped"):

    def my_matches(written, right, n):
        ours = [tuple(written[i : i + n]) for i in range(len(written) - n + 1)]
        theirs = [tuple(right[i : i + n]) for i in range(len(right) - n + 1)]
        return sum(gram in theirs for gram in ours), len(ours)


with wrong("You count each different n-gram once"):

    def my_matches(written, right, n):
        ours = [tuple(written[i : i + n]) for i in range(len(written) - n + 1)]
        theirs = [tuple(right[i : i + n]) for i in range(len(right) - n + 1)]
        return len(set(ours) & set(theirs)), len(ours)


edit("ours.total", "theirs.total", "that would be recall")

with wrong("a slice raises no error there"):

    def my_matches(written, right, n):
        ours = Counter(tuple(written[i : i + n]) for i in range(len(written)))
        theirs = Counter(tuple(right[i : i + n]) for i in range(len(right)))
        return (ours & theirs).total(), ours.total()


with wrong("joined without a space"):

    def my_matches(written, right, n):
        ours = ["".join(written[i : i + n]) for i in range(len(written) - n + 1)]
        theirs = ["".join(right[i : i + n]) for i in range(len(right) - n + 1)]
        return (Counter(ours) & Counter(theirs)).total(), len(ours)


with wrong("you search for letters in a text"):

    def my_matches(written, right, n):
        ours = [" ".join(written[i : i + n]) for i in range(len(written) - n + 1)]
        return sum(gram in " ".join(right) for gram in ours), len(ours)


with wrong("You count every pair of equal n-grams"):

    def my_matches(written, right, n):
        found = 0
        for i in range(len(written) - n + 1):
            for j in range(len(right) - n + 1):
                found += written[i : i + n] == right[j : j + n]
        return found, max(len(written) - n + 1, 0)


edit("ours.total()", "len(written) - n + 1", "that is 0 of them, not -1")

with wrong("Your n-grams don't overlap"):

    def my_matches(written, right, n):
        ours = Counter(tuple(written[i : i + n]) for i in range(0, len(written) - n + 1, n))
        theirs = Counter(tuple(right[i : i + n]) for i in range(0, len(right) - n + 1, n))
        return (ours & theirs).total(), ours.total()


with wrong("Clipped for single words only"):

    def my_matches(hypothesis, reference, n):
        ours = Counter(tuple(hypothesis[i : i + n]) for i in range(len(hypothesis) - n + 1))
        theirs = Counter(tuple(reference[i : i + n]) for i in range(len(reference) - n + 1))
        if n == 1:
            return (ours & theirs).total(), ours.total()
        return sum(count for gram, count in ours.items() if gram in theirs), ours.total()


with wrong("Clipped by how often the first word occurs"):

    def my_matches(hypothesis, reference, n):
        grams = [tuple(hypothesis[i : i + n]) for i in range(len(hypothesis) - n + 1)]
        there = {tuple(reference[i : i + n]) for i in range(len(reference) - n + 1)}
        found = sum(min(grams.count(g), reference.count(g[0])) for g in set(grams) if g in there)
        return found, len(grams)


with wrong("You look for each n-gram of the reference"):

    def my_matches(hypothesis, reference, n):
        ours = [tuple(hypothesis[i : i + n]) for i in range(len(hypothesis) - n + 1)]
        theirs = [tuple(reference[i : i + n]) for i in range(len(reference) - n + 1)]
        return sum(gram in ours for gram in theirs), len(ours)


with right:

    def my_matches(hypothesis, reference, n):
        ours = Counter(zip(*(hypothesis[i:] for i in range(n))))
        theirs = Counter(zip(*(reference[i:] for i in range(n))))
        return torch.tensor([(ours & theirs).total(), ours.total()])


with wrong("Your second number counts different n-grams"):

    def my_matches(hypothesis, reference, n):
        ours = Counter(tuple(hypothesis[i : i + n]) for i in range(len(hypothesis) - n + 1))
        theirs = Counter(tuple(reference[i : i + n]) for i in range(len(reference) - n + 1))
        return sum(min(ours[gram], theirs[gram]) for gram in ours), len(ours)


with wrong("Make each n-gram a tuple"):

    def my_matches(hypothesis, reference, n):
        ours = Counter(hypothesis[i : i + n] for i in range(len(hypothesis) - n + 1))
        theirs = Counter(reference[i : i + n] for i in range(len(reference) - n + 1))
        return (ours & theirs).total(), ours.total()
