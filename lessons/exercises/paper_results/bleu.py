"""Lesson 15, my_bleu: BLEU of a whole test set, from the matches in each sentence."""

import math
from collections.abc import Callable, Sequence
from itertools import accumulate

import torch

from lessons.checking.edits import edited
from lessons.checking.engine import Case, Exercise, Mistake
from lessons.exercises.paper_results.matches import matches as count_matches


def bleu(
    hypotheses: Sequence[Sequence[str]],
    references: Sequence[Sequence[str]],
    matches: Callable[[Sequence[str], Sequence[str], int], tuple[int, int]],
) -> float:
    """Sentences, each a list of words, and their references in the same order -> BLEU, 0 to 100.

    The geometric mean of the four precisions, times exp(1 - reference_length / length) if the text is too short.
    0 if nothing is found for some n.
    """
    pairs = list(zip(hypotheses, references))
    found, total = ([sum(matches(h, r, n)[i] for h, r in pairs) for n in (1, 2, 3, 4)] for i in (0, 1))
    length, reference_length = (sum(map(len, texts)) for texts in (hypotheses, references))
    if min(found) == 0:
        return 0.0
    mean_log = sum(math.log(f / t) for f, t in zip(found, total)) / len(found)
    penalty = 1.0 if length >= reference_length else math.exp(1 - reference_length / length)
    return 100 * penalty * math.exp(mean_log)


def _score(candidate, hypotheses, references):
    score = candidate(_words(hypotheses), _words(references), count_matches)
    return score if score is None else torch.as_tensor(score).double()


def _words(texts):
    return [text.split() for text in texts]


def _bleu_cases(generator) -> list[Case]:
    def case(hypotheses, references, about=""):
        return Case({"hypotheses": hypotheses, "references": references}, about=about)

    return [
        case(["a b c d e", "p q r s"], ["a b c d x", "p q r s"]),
        case(["a b c d e f", "p q r s t u x"], ["a b c d e f g h", "p q r s t u"]),
        case(["a b c d e x g", "p q r s t"], ["a b c d e g", "p q r s"]),
        case(["a b c d e"], ["a b c d e f g h i j k l m n o p q r s t"], "all correct, but only a quarter is there"),
        case(["a b c d e", "p q"], ["a b c d e", "p x"], "a sentence of two words among others"),
        case(["a b x d", "p q y"], ["a b z d", "p q w"], "no run of three words is found"),
        case(["a b c"], ["a b c"], "three words, so there is no run of four"),
    ]


def _of_sums(score):
    """A score of the sums over all sentences: the matches, the n-grams (for n = 1 … 4), and the two lengths."""

    def scored(hypotheses, references, matches):
        counts = [[matches(h, r, n) for h, r in zip(hypotheses, references)] for n in (1, 2, 3, 4)]
        found, total = ([sum(pair[i] for pair in row) for row in counts] for i in (0, 1))
        return score(found, total, sum(map(len, hypotheses)), sum(map(len, references)))

    return scored


def _mean_of_sentences(hypotheses, references, matches):
    return sum(bleu([h], [r], matches) for h, r in zip(hypotheses, references)) / len(hypotheses)


def _mean_precisions(hypotheses, references, matches):
    """The precisions averaged over the sentences, each sentence with the same weight."""
    pairs = list(zip(hypotheses, references))
    rows = [[matches(h, r, n) for h, r in pairs] for n in (1, 2, 3, 4)]
    means = [sum(f / max(t, 1) for f, t in row) / len(row) for row in rows]
    return 100 * _penalty(sum(map(len, hypotheses)), sum(map(len, references))) * _geometric(means)


def _mean_penalty(hypotheses, references, matches):
    penalties = [_penalty(len(h), len(r)) for h, r in zip(hypotheses, references)]
    without = _of_sums(lambda f, t, n, r: _geometric([x / max(y, 1) for x, y in zip(f, t)]))
    return 100 * sum(penalties) / len(penalties) * without(hypotheses, references, matches)


def _product_of_penalties(hypotheses, references, matches):
    without = _of_sums(lambda f, t, n, r: _geometric([x / max(y, 1) for x, y in zip(f, t)]))
    penalties = [_penalty(len(h), len(r)) for h, r in zip(hypotheses, references)]
    return 100 * math.prod(penalties) * without(hypotheses, references, matches)


def _only_the_last(hypotheses, references, matches):
    """Each sentence overwrites the counts of the one before."""
    counts = [matches(hypotheses[-1], references[-1], n) for n in (1, 2, 3, 4)]
    penalty = _penalty(sum(map(len, hypotheses)), sum(map(len, references)))
    return 100 * penalty * _geometric([found / max(total, 1) for found, total in counts])


def _runs_from_0_to_3(hypotheses, references, matches):
    return bleu(hypotheses, references, lambda h, r, n: matches(h, r, n - 1))


def _joined(texts):
    return [[word for words in texts for word in words]]


def _precisions(found, total):
    return [f / t for f, t in zip(found, total)]


def _penalty(length, reference_length):
    return min(1.0, math.exp(1 - reference_length / length))


def _geometric(values):
    return math.prod(values) ** (1 / len(values))


ZERO_FORGOTTEN = ("    if min(found) == 0:\n        return 0.0\n", "")


scoring = Exercise(
    lesson="15",
    name="my_bleu",
    reference=bleu,
    cases=_bleu_cases,
    call=_score,
    outputs=("BLEU",),
    mistakes=[
        Mistake(
            _mean_of_sentences,
            "That is the mean of the sentences' BLEUs. Sum the counts and the lengths over all sentences first; then "
            "use the formula once.",
        ),
        Mistake(
            _mean_precisions,
            "You average the precisions of the sentences, as if all were of the same length. Sum found and total over "
            "all sentences, then divide once for each n.",
        ),
        Mistake(
            _mean_penalty,
            "You compute a penalty for each sentence, so a long one can't make up for a short one. There is one "
            "penalty, from the lengths of all sentences together.",
        ),
        Mistake(
            _product_of_penalties,
            "You multiply by a penalty for each sentence, so the more short sentences there are, the lower the BLEU. "
            "There is one penalty, from the lengths of all sentences together.",
        ),
        Mistake(
            _runs_from_0_to_3,
            "Your n runs from 0 to 3. It runs from 1 to 4: range(1, 5).",
        ),
        Mistake(
            edited(bleu, " / len(found)", " / 2"),
            "That is the square root of the product of four precisions. The geometric mean is its fourth root.",
        ),
        Mistake(
            lambda hs, rs, matches: bleu(_joined(hs), _joined(rs), matches),
            "You joined all sentences into one text. Then words match across sentences, and there are n-grams from "
            "the end of one to the beginning of the next. Count in each sentence, then add up.",
        ),
        Mistake(
            edited(bleu, "100 * penalty", "100"),
            "A text that is too short isn't punished: your brevity penalty is missing, or is 1 where it should be less "
            "(its lengths count the words of all sentences). A model that generates only the words it is sure of would "
            "be rewarded.",
        ),
        Mistake(
            _of_sums(lambda f, t, n, r: 100 * _penalty(n, r) * sum(_precisions(f, t)) / 4),
            "That is the arithmetic mean of the precisions. BLEU uses the geometric mean: one precision of 0 makes the "
            "whole BLEU 0.",
        ),
        Mistake(
            edited(bleu, "1.0 if length >= reference_length else ", ""),
            "The penalty has become a reward: for a text longer than the reference, exp(1 - reference/length) is above "
            "1. Use 1 there; the precisions already punish the extra words.",
        ),
        Mistake(
            edited(
                bleu,
                ("length >= reference_length", "reference_length >= length"),
                ("math.exp(1 - reference_length / length)", "math.exp(1 - length / reference_length)"),
            ),
            "The two lengths are swapped: too long is punished, too short is not.",
        ),
        Mistake(
            edited(bleu, "100 * ", ""),
            "Your BLEU runs from 0 to 1. Most papers, including this one, give it from 0 to 100.",
        ),
        Mistake(
            edited(
                bleu,
                "1.0 if length >= reference_length else math.exp(1 - reference_length / length)",
                "min(1.0, math.exp(reference_length / length - 1))",
            ),
            "The exponent of your penalty has the wrong sign. It is 1 - reference/length: below 0 where the text is "
            "too short.",
            also=[edited(bleu, "math.exp(1 - reference_length / length)", "math.exp(reference_length / length - 1)")],
        ),
        Mistake(
            lambda hs, rs, matches: bleu(hs, rs, lambda h, r, n: matches(r, h, n)),
            "You pass the reference to matches first: that gives the fraction of the reference's n-grams, the recall. "
            "It is matches(hypothesis, reference, n).",
        ),
        Mistake(
            _only_the_last,
            "Only the counts of the last sentence are left: each sentence overwrites those before it. Add them up, as "
            "in found += …",
        ),
        Mistake(
            edited(
                bleu,
                "1.0 if length >= reference_length else math.exp(1 - reference_length / length)",
                "max(1.0, math.exp(1 - reference_length / length))",
            ),
            "Your penalty is at least 1: what is too long is rewarded, what is too short isn't punished. It is at most "
            "1: min, not max.",
        ),
        Mistake(
            _of_sums(lambda f, t, n, r: 100 * _penalty(n, r) * _geometric(_precisions(accumulate(f), accumulate(t)))),
            "Your counts go on growing from one n to the next. found = total = 0 belongs in the loop over n: each n "
            "has a precision of its own.",
        ),
        Mistake(
            edited(bleu, "math.exp(1 - reference_length / length)", "length / reference_length"),
            "The penalty is exp(1 - reference/length), not length/reference: it is harsher on very short texts.",
        ),
        Mistake(
            edited(bleu, (" / len(found)", ""), ("math.exp(mean_log)", "math.exp(mean_log) / 4")),
            "That is a quarter of the product, not its fourth root. In Python x ** 1 / 4 is (x ** 1) / 4: write "
            "x ** (1 / 4).",
        ),
        Mistake(
            edited(bleu, "math.exp(mean_log)", "sum(found) / sum(total)"),
            "You put the n-grams of all four sizes together. Compute a precision for each n, then the geometric mean "
            "of the four.",
            also=[_of_sums(lambda f, t, n, r: 100 * _penalty(n, r) * sum(f) / sum(t))],
        ),
        Mistake(
            edited(bleu, " / len(found)", ""),
            "You multiply the four precisions, but the fourth root is missing: BLEU uses their geometric mean.",
        ),
        Mistake(
            edited(bleu, ZERO_FORGOTTEN, ("f / t", "(f + 1) / (t + 1)")),
            "You add one to every count. Such smoothing exists, for single sentences; BLEU as defined above has none.",
        ),
        Mistake(
            edited(bleu, ZERO_FORGOTTEN),
            "This works as long as something is found for each n. If nothing is, log 0 raises an error: BLEU must be 0 "
            "then.",
            seen_in="no run of three words is found",
        ),
        Mistake(
            _of_sums(lambda f, t, n, r: 100 * _penalty(n, r) * _geometric([x / y for x, y in zip(f, t) if x])),
            "You leave precisions of 0 out of the mean. A text without any match of three words is rewarded for that; "
            "its BLEU must be 0.",
            also=[
                _of_sums(
                    lambda f, t, n, r: 100 * _penalty(n, r) * math.prod(x / y for x, y in zip(f, t) if x) ** (1 / 4)
                )
            ],
            seen_in="no run of three words is found",
        ),
        Mistake(
            edited(
                bleu,
                ZERO_FORGOTTEN,
                ("math.exp(mean_log)", "_geometric(_precisions(found, total))"),
                ("sum(math.log(f / t) for f, t in zip(found, total)) / len(found)", "0.0"),
            ),
            "A text without any run of four words has 0 of them: 0 / 0. BLEU is 0 if nothing is found, so ask that "
            "before you divide.",
            seen_in="three words, so there is no run of four",
        ),
        Mistake(
            _of_sums(lambda f, t, n, r: 100 * _penalty(n, r) * f[0] / t[0]),
            "You count single words only, so their order would not matter at all.",
        ),
        Mistake(
            edited(bleu, "(1, 2, 3, 4)", "(1, 2, 3)"),
            "Runs of four words are missing: you stop at n = 3. range(1, 4) ends there, too.",
        ),
    ],
    hints=[
        "For n = 1, 2, 3 and 4: add up what matches gives for each sentence, found and total apart. Add up the lengths "
        "of the sentences, too.",
        "math.prod(values) ** (1 / 4) is the geometric mean of four values; the precisions are found / total.",
        "The penalty is 1 if length >= reference_length, else math.exp(1 - reference_length / length).",
    ],
    solution="""
        def my_bleu(hypotheses, references, matches):
            precisions = []
            for n in (1, 2, 3, 4):
                counts = [matches(h, r, n) for h, r in zip(hypotheses, references)]
                found, total = map(sum, zip(*counts))  # over all sentences
                precisions.append(found / max(total, 1))
            length, expected = sum(map(len, hypotheses)), sum(map(len, references))
            penalty = min(1, math.exp(1 - expected / length))
            return 100 * penalty * math.prod(precisions) ** (1 / 4)
    """,
)
