"""Lesson 15, my_matches: how many n-grams of a translation are in the right one."""

from collections import Counter
from collections.abc import Sequence

import torch

from lessons.checking.edits import edited
from lessons.checking.engine import Case, Exercise, Mistake

LONGEST = 4  # BLEU counts runs of 1, 2, 3 and 4 words


def matches(written: Sequence[str], right: Sequence[str], n: int) -> tuple[int, int]:
    """Two lists of words -> how many n-grams of `written` are found in `right`, and how many there are.

    Each n-gram of `right` can be found once: one that is written more often counts only as often as it stands there.
    """
    ours, theirs = (Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1)) for words in (written, right))
    return sum(min(count, theirs[gram]) for gram, count in ours.items()), sum(ours.values())


def _counts(candidate, written, right):
    """What `matches` gives for n = 1, 2, 3, 4, as a matrix (4, 2)."""
    rows = [candidate(list(written), list(right), n) for n in range(1, LONGEST + 1)]
    if any(not isinstance(row, tuple | list) or len(row) != 2 for row in rows):
        return rows[0] if isinstance(rows[0], tuple) else (rows[0],)
    return tuple(torch.tensor([float(x) for x in column]) for column in zip(*rows))


def _word_cases(generator) -> list[Case]:
    return [
        Case({"written": "a b c d e", "right": "a b c x e f"}),
        Case({"written": "c b a b c d", "right": "a b c d"}),
        Case({"written": "a a a b a b", "right": "a b a a a a b"}),
        Case({"written": "the the the the the the the", "right": "the cat is on the mat"}, about="one word repeated"),
        Case({"written": "a b", "right": "a b c d"}, about="shorter than the n-gram"),
        Case({"written": "a a b", "right": "a a a a b b"}, about="more often in the right one"),
        Case({"written": "he sat on ice", "right": "the cat sa ton nice ice"}, about="words of several letters"),
    ]


def _split(function):
    """A call with words in place of texts."""
    return lambda candidate, written, right: function(candidate, written.split(), right.split())


def _grams(words: Sequence[str], n: int) -> list[tuple]:
    return [tuple(words[i : i + n]) for i in range(len(words) - n + 1)]


def _in_the_text(written, right, n):
    texts = [" ".join(gram) for gram in _grams(written, n)]
    return sum(text in " ".join(right) for text in texts), len(texts)


def _in_the_text_often(written, right, n):
    texts = Counter(" ".join(gram) for gram in _grams(written, n))
    return sum(min(count, " ".join(right).count(text)) for text, count in texts.items()), sum(texts.values())


ngrams = Exercise(
    lesson="15",
    name="my_matches",
    reference=matches,
    cases=_word_cases,
    call=_split(_counts),
    outputs=("found", "written"),
    mistakes=[
        Mistake(
            edited(matches, "min(count, theirs[gram])", "count * (gram in theirs)"),
            "Not clipped: “the the the the” finds the one “the” again and again. An n-gram counts at most as often as "
            "it stands in the right translation.",
        ),
        Mistake(
            edited(matches, "min(count, theirs[gram])", "count * theirs[gram]"),
            "Every pair of equal n-grams counts for you: two “a b” on each side are found four times. Each one of the "
            "right translation can be found once.",
        ),
        Mistake(
            edited(matches, "min(count, theirs[gram])", "count * min(count, theirs[gram])"),
            "An n-gram that was written twice is counted twice over, once at each of its places. Go through the "
            "different ones: set(…).",
        ),
        Mistake(
            edited(matches, "min(count, theirs[gram])", "(gram in theirs)"),
            "Each kind of n-gram counts once for you, even where it stands twice on both sides: a set forgets how "
            "often. A Counter knows.",
        ),
        Mistake(
            edited(matches, ("min(count, theirs[gram])", "(gram in theirs)"), ("sum(ours.values())", "len(ours)")),
            "Both numbers count kinds of n-grams, not n-grams: sets forget how often.",
        ),
        Mistake(
            edited(matches, "sum(ours.values())", "sum(theirs.values())"),
            "You divide by the n-grams of the right translation: that would be recall. Precision asks how much of "
            "what was *written* is found.",
        ),
        Mistake(
            lambda w, r, n: (
                sum(a == b for a, b in zip(_grams(w, n), _grams(r, n))),
                len(_grams(w, n)),
            ),
            "Only n-grams at the same place count for you: one word too many at the front, and nothing is found. "
            "BLEU looks for them anywhere.",
        ),
        Mistake(
            lambda w, r, n: matches(w, r, 1),
            "Single words are counted, whatever n is.",
        ),
        Mistake(
            lambda w, r, n: tuple(map(sum, zip(*(matches(w, r, size) for size in range(1, n + 1))))),
            "The runs of 1, 2, … up to n words are counted together. Here only those of n words are asked for.",
        ),
        Mistake(
            edited(matches, "tuple(words[i : i + n])", "tuple(sorted(words[i : i + n]))"),
            "“b a” finds “a b”: your n-grams have lost their order.",
            also=[edited(matches, "tuple(words[i : i + n])", "frozenset(words[i : i + n])")],
        ),
        Mistake(
            edited(matches, "tuple(words[i : i + n])", "''.join(words[i : i + n])"),
            "“sat on” finds “sa ton”: joined without a blank, they are the same letters. A tuple keeps words apart.",
            seen_in="words of several letters",
        ),
        Mistake(
            _in_the_text,
            "“he” is found in “the”: you look for letters in a text. Compare words with words.",
            also=[_in_the_text_often],
            seen_in="words of several letters",
        ),
        Mistake(
            lambda w, r, n: matches(w, r, n)[::-1],
            "The two numbers have changed places: first what is found, then how many were written.",
        ),
        Mistake(
            edited(matches, "len(words) - n + 1", "len(words)"),
            "At the end your runs become shorter than n: a slice does not complain there. T words have T - n + 1 "
            "runs of n words.",
        ),
        Mistake(
            edited(matches, "sum(ours.values())", "len(written) - n + 1"),
            "Two words have no run of four: that is 0 of them, not -1.",
            seen_in="shorter than the n-gram",
        ),
        Mistake(
            edited(matches, "len(words) - n + 1", "len(words) - n"),
            "The last n-gram is missing: T words have T - n + 1 of them.",
        ),
        Mistake(
            edited(matches, "sum(ours.values())", "len(written)"),
            "You divide by the words, not by the n-grams, of which there are n - 1 fewer.",
        ),
    ],
    hints=[
        "Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1)) counts the n-grams of one side.",
        "Two Counters have &, which takes the smaller count of each: (ours & theirs).total() is what is found.",
    ],
)
