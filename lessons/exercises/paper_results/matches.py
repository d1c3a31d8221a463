"""Lesson 15, my_matches: how many n-grams of a translation occur in the reference."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
import torch

from lessons.checking.edits import edited
from lessons.checking.engine import Case, Exercise, Mistake

LONGEST = 4  # BLEU counts runs of 1, 2, 3 and 4 words


def matches(hypothesis: Sequence[str], reference: Sequence[str], n: int) -> tuple[int, int]:
    """Two lists of words -> how many n-grams of `hypothesis` are found in `reference`, and how many it has.

    Clipped: an n-gram counts at most as often as it occurs in `reference`.
    """
    both = hypothesis, reference
    ours, theirs = (Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1)) for words in both)
    return sum(min(count, theirs[gram]) for gram, count in ours.items()), sum(ours.values())


def _counts(candidate, hypothesis, reference):
    """What `matches` gives for n = 1, 2, 3, 4, as a matrix (4, 2)."""
    rows = [candidate(list(hypothesis), list(reference), n) for n in range(1, LONGEST + 1)]
    rows = [list(row) if isinstance(row, torch.Tensor | np.ndarray) and row.ndim == 1 else row for row in rows]
    if any(not isinstance(row, tuple | list) or len(row) != 2 for row in rows):
        return rows[0] if isinstance(rows[0], tuple) else (rows[0],)
    return tuple(torch.tensor([float(x) for x in column]) for column in zip(*rows))


def _word_cases(generator) -> list[Case]:
    return [
        Case({"hypothesis": "a b c d e", "reference": "a b c x e f"}),
        Case({"hypothesis": "c b a b c d", "reference": "a b c d"}),
        Case({"hypothesis": "a a a b a b", "reference": "a b a a a a b"}),
        Case(
            {"hypothesis": "the the the the the the the", "reference": "the cat is on the mat"},
            about="one word repeated",
        ),
        Case({"hypothesis": "a b", "reference": "a b c d"}, about="shorter than the n-gram"),
        Case({"hypothesis": "a a b", "reference": "a a a a b b"}, about="more often in the reference"),
        Case({"hypothesis": "a b a b a b", "reference": "a b c a"}, about="two words repeated as a pair"),
        Case({"hypothesis": "he sat on ice", "reference": "the cat sa ton nice ice"}, about="words of several letters"),
    ]


def _split(function):
    """A call with words in place of texts."""
    return lambda candidate, hypothesis, reference: function(candidate, hypothesis.split(), reference.split())


def _grams(words: Sequence[str], n: int) -> list[tuple]:
    return [tuple(words[i : i + n]) for i in range(len(words) - n + 1)]


def _in_the_text(hypothesis, reference, n):
    texts = [" ".join(gram) for gram in _grams(hypothesis, n)]
    return sum(text in " ".join(reference) for text in texts), len(texts)


def _in_the_text_often(hypothesis, reference, n):
    texts = Counter(" ".join(gram) for gram in _grams(hypothesis, n))
    return sum(min(count, " ".join(reference).count(text)) for text, count in texts.items()), sum(texts.values())


ngrams = Exercise(
    lesson="15",
    name="my_matches",
    reference=matches,
    cases=_word_cases,
    call=_split(_counts),
    outputs=("found", "total"),
    mistakes=[
        Mistake(
            edited(matches, "min(count, theirs[gram])", "count * (gram in theirs)"),
            "Not clipped: “the the the the” finds the same “the” again and again. An n-gram counts at most as often as "
            "it occurs in the reference.",
        ),
        Mistake(
            edited(
                matches, "min(count, theirs[gram])", "(count * (gram in theirs) if n > 1 else min(count, theirs[gram]))"
            ),
            "Clipped for single words only. A run of several words, too, counts at most as often as it occurs in the "
            "reference.",
            seen_in="two words repeated as a pair",
        ),
        Mistake(
            edited(matches, "min(count, theirs[gram])", "min(count, reference.count(gram[0]) * (gram in theirs))"),
            "Clipped by how often the first word occurs in the reference. What counts is how often the whole n-gram "
            "does.",
            seen_in="two words repeated as a pair",
        ),
        Mistake(
            edited(matches, "min(count, theirs[gram])", "count * theirs[gram]"),
            "You count every pair of equal n-grams: two “a b” on each side give four. Each n-gram of the reference can "
            "be matched only once.",
        ),
        Mistake(
            edited(matches, "min(count, theirs[gram])", "count * min(count, theirs[gram])"),
            "An n-gram that occurs twice is counted twice over, once at each of its places. Loop over the different "
            "n-grams instead: set(…).",
        ),
        Mistake(
            edited(matches, "min(count, theirs[gram])", "(gram in theirs)"),
            "You count each different n-gram once, even if it occurs twice on both sides: a set forgets how often. "
            "A Counter knows.",
        ),
        Mistake(
            edited(matches, ("min(count, theirs[gram])", "(gram in theirs)"), ("sum(ours.values())", "len(ours)")),
            "Both your numbers count different n-grams, not all of them: sets forget how often each occurs.",
        ),
        Mistake(
            edited(matches, "sum(ours.values())", "len(ours)"),
            "Your second number counts different n-grams: the length of a Counter, or of a set. One that occurs twice "
            "counts twice.",
        ),
        Mistake(
            edited(matches, "sum(ours.values())", "sum(theirs.values())"),
            "You count the n-grams of the reference: that would be recall. Precision asks how much of the *hypothesis* "
            "is found.",
        ),
        Mistake(
            lambda w, r, n: (
                sum(a == b for a, b in zip(_grams(w, n), _grams(r, n))),
                len(_grams(w, n)),
            ),
            "You count only n-grams at the same place: with one extra word at the front, hardly any is found. BLEU "
            "looks for them anywhere.",
        ),
        Mistake(
            lambda w, r, n: (sum(gram in _grams(w, n) for gram in _grams(r, n)), len(_grams(w, n))),
            "You look for each n-gram of the reference in the hypothesis. It is the other way around, and clipped: an "
            "n-gram counts as often as it occurs in both.",
            seen_in="more often in the reference",
        ),
        Mistake(
            lambda w, r, n: matches(w, r, 1),
            "You count single words, whatever n is.",
        ),
        Mistake(
            lambda w, r, n: tuple(map(sum, zip(*(matches(w, r, size) for size in range(1, n + 1))))),
            "You count runs of 1, 2, … up to n words together. Count only those of n words.",
        ),
        Mistake(
            edited(matches, "tuple(words[i : i + n])", "tuple(sorted(words[i : i + n]))"),
            "“b a” finds “a b”: your n-grams have lost their order.",
            also=[edited(matches, "tuple(words[i : i + n])", "frozenset(words[i : i + n])")],
        ),
        Mistake(
            edited(matches, "tuple(words[i : i + n])", "words[i : i + n]"),
            "A Counter and a set can't hold lists, because a list may change. Make each n-gram a tuple.",
        ),
        Mistake(
            edited(matches, "tuple(words[i : i + n])", "''.join(words[i : i + n])"),
            "“sat on” finds “sa ton”: joined without a space, they are the same letters. A tuple keeps words apart.",
            seen_in="words of several letters",
        ),
        Mistake(
            _in_the_text,
            "“he” is found in “the”: you search for letters in a text. Compare words with words.",
            also=[_in_the_text_often],
            seen_in="words of several letters",
        ),
        Mistake(
            lambda w, r, n: matches(w, r, n)[::-1],
            "The two numbers are swapped: first the matches, then the number of n-grams.",
        ),
        Mistake(
            edited(matches, "len(words) - n + 1", "len(words)"),
            "At the end your n-grams become shorter than n: a slice raises no error there. T words have T - n + 1 "
            "n-grams.",
        ),
        Mistake(
            edited(matches, "sum(ours.values())", "len(hypothesis) - n + 1"),
            "Two words have no 4-gram: that is 0 of them, not -1.",
            seen_in="shorter than the n-gram",
        ),
        Mistake(
            edited(matches, "len(words) - n + 1", "len(words) - n"),
            "The last n-gram is missing: T words have T - n + 1 of them.",
        ),
        Mistake(
            edited(matches, "sum(ours.values())", "len(hypothesis)"),
            "You return the number of words. There are n - 1 fewer n-grams than words.",
        ),
        Mistake(
            edited(matches, "range(len(words) - n + 1)", "range(0, len(words) - n + 1, n)"),
            "Your n-grams don't overlap: each one begins where the one before it ends. “a b c” has "
            "two pairs, “a b” and “b c”.",
            also=[edited(matches, "range(len(words) - n + 1)", "range(0, len(words), n)")],
        ),
    ],
    hints=[
        "Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1)) counts the n-grams of one side.",
        "ours & theirs, of two Counters, keeps the smaller count of each n-gram: (ours & theirs).total() is the "
        "matches.",
    ],
    solution="""
        def my_matches(hypothesis, reference, n):
            ours = Counter(tuple(hypothesis[i : i + n]) for i in range(len(hypothesis) - n + 1))
            theirs = Counter(tuple(reference[i : i + n]) for i in range(len(reference) - n + 1))
            return (ours & theirs).total(), ours.total()
    """,
)
