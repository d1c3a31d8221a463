"""The exercises of lesson 15: counting operations, n-grams, BLEU, mean and standard error, and what is scored."""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import takewhile

import torch
from torch import Tensor

from lessons.exercises.engine import Case, Exercise, Mistake, numbers

LONGEST = 4  # BLEU counts runs of 1, 2, 3 and 4 words


def operations(n: int, d: int, k: int) -> tuple[int, int, int, int]:
    """n words of d features -> the multiply-adds of a self-attention, a recurrent, an LSTM and a convolutional layer.

    Self-attention: its four projections, the scores and the weighted sum. Recurrent: W_x x + W_h h at each word.
    LSTM: four such pairs of matrices. Convolutional: at each word, a kernel over k words; outside the sentence it
    meets zeros, which are counted too.
    """
    attention = 4 * n * d**2 + n**2 * d + n**2 * d
    recurrent = 2 * n * d**2
    return attention, recurrent, 4 * recurrent, k * n * d**2


LAYERS = ("self-attention", "recurrent", "LSTM", "convolutional")


def _counts_of_layers(candidate, sizes):
    found = [candidate(*size) for size in sizes.tolist()]
    if any(not isinstance(row, tuple | list) or len(row) != len(LAYERS) for row in found):
        return found[0] if isinstance(found[0], tuple) else (found[0],)
    return tuple(torch.tensor([float(x) for x in column]) for column in zip(*found))


def _size_cases(generator) -> list[Case]:
    return [
        Case({"n, d, k": torch.tensor([[4, 2, 3]])}),
        Case({"n, d, k": torch.tensor([[10, 16, 3], [100, 16, 5], [7, 64, 9]])}),
        Case({"n, d, k": torch.tensor([[70, 512, 31]])}, about="the paper's width"),
    ]


def _with(**changed) -> Callable[[int, int, int], tuple]:
    """The right counts, but for those of some layers."""

    def wrong(n, d, k):
        right = dict(zip(("attention", "recurrent", "lstm", "convolution"), operations(n, d, k)))
        return tuple((right | {name: count(n, d, k) for name, count in changed.items()}).values())

    return wrong


counting = Exercise(
    name="my_operations",
    reference=operations,
    cases=_size_cases,
    call=_counts_of_layers,
    outputs=LAYERS,
    mistakes=[
        Mistake(
            _with(attention=lambda n, d, k: 2 * n**2 * d),
            "The four projections of the attention layer are missing. The paper's table leaves them out, too; a "
            "machine does not.",
        ),
        Mistake(
            lambda n, d, k: (n**2 * d, n * d**2, 4 * n * d**2, k * n * d**2),
            "Those are the orders of growth in the paper's table. Count every product: four projections, scores and "
            "weighted sum; and two matrices in a recurrent layer.",
            also=[
                lambda n, d, k: (n**2 * d, n * d**2, n * d**2, k * n * d**2),
                lambda n, d, k: (n**2 * d, n * d**2, 8 * n * d**2, k * n * d**2),
            ],
        ),
        Mistake(
            _with(attention=lambda n, d, k: 3 * n * d**2 + 2 * n**2 * d),
            "Attention has four projections, not three: q, k, v, and the one of the output.",
        ),
        Mistake(
            _with(attention=lambda n, d, k: 4 * n * d**2 + n**2 * d),
            "Attention multiplies twice with n × n: the scores, and then the weighted sum of the values.",
        ),
        Mistake(
            _with(attention=lambda n, d, k: 6 * n * d**2),
            "Your attention does not grow with the square of the sentence. There is a score for each of n² pairs of "
            "words; how many multiply-adds does one score take?",
        ),
        Mistake(
            _with(attention=lambda n, d, k: 4 * n * d**2 + 2 * n**2),
            "A score is a dot product of two vectors of d features, not one multiplication; and so is each number of "
            "the weighted sum one of n.",
        ),
        Mistake(
            _with(recurrent=lambda n, d, k: n * d**2),
            "The recurrent layer has two matrices: one for the word, one for the state before it.",
            also=[_with(recurrent=lambda n, d, k: n * d**2, lstm=lambda n, d, k: 4 * n * d**2)],
        ),
        Mistake(
            _with(lstm=lambda n, d, k: 4 * n * d**2),
            "Your LSTM has four matrices; it has four pairs: in each, one reads the word and one the state.",
        ),
        Mistake(
            _with(lstm=lambda n, d, k: 2 * n * d**2),
            "Your LSTM costs as much as the plain recurrent layer. How many pairs of matrices has it?",
        ),
        Mistake(
            _with(lstm=lambda n, d, k: 6 * n * d**2),
            "Three pairs of matrices: that is a GRU, the LSTM's smaller sister. The LSTM has four.",
        ),
        Mistake(
            _with(convolution=lambda n, d, k: k * n * d),
            "The convolution is counted as if each feature were on its own. Here every feature of the result reads "
            "all d features of k words.",
        ),
        Mistake(
            _with(convolution=lambda n, d, k: n * d**2),
            "The width of the kernel is missing: k words are read for each word of the result.",
        ),
        Mistake(
            _with(convolution=lambda n, d, k: k**2 * n * d**2),
            "k × k is the kernel of an image. A sentence has one direction: the kernel lies over k words.",
        ),
        Mistake(
            _with(convolution=lambda n, d, k: k * (n - k + 1) * d**2),
            "The convolution stops before the kernel hangs over the end, and gives fewer than n vectors. Here there "
            "are zeros beyond the ends, and they are multiplied, too.",
        ),
        Mistake(
            lambda n, d, k: tuple(2 * count for count in operations(n, d, k)),
            "All are twice too many: you counted multiplications and additions apart (FLOPs). Here one multiply-add "
            "is one operation.",
        ),
        Mistake(
            lambda n, d, k: tuple(count // n for count in operations(n, d, k)),
            "That is the share of one word. The layer reads n of them.",
        ),
    ],
    hints=[
        "A matrix product (n × d) · (d × m) takes n·d·m multiply-adds.",
        "Attention: four products (n × d)·(d × d), one (n × d)·(d × n), one (n × n)·(n × d).",
    ],
)


def matches(written: Sequence[str], right: Sequence[str], n: int) -> tuple[int, int]:
    """Two lists of words -> how many n-grams of `written` are found in `right`, and how many there are.

    Each n-gram of `right` can be found once: one that is written more often counts only as often as it stands there.
    """
    ours, theirs = (Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1)) for words in (written, right))
    return sum(min(count, theirs[gram]) for gram, count in ours.items()), sum(ours.values())


def _grams(words: Sequence[str], n: int) -> list[tuple]:
    return [tuple(words[i : i + n]) for i in range(len(words) - n + 1)]


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


def _unclipped(written, right, n):
    ours, theirs = _grams(written, n), _grams(right, n)
    return sum(gram in theirs for gram in ours), len(ours)


def _found_among(ours, theirs):
    return sum((Counter(ours) & Counter(theirs)).values()), len(ours)


def _in_the_text(written, right, n):
    texts = [" ".join(gram) for gram in _grams(written, n)]
    return sum(text in " ".join(right) for text in texts), len(texts)


def _in_the_text_often(written, right, n):
    texts = Counter(" ".join(gram) for gram in _grams(written, n))
    return sum(min(count, " ".join(right).count(text)) for text, count in texts.items()), sum(texts.values())


ngrams = Exercise(
    name="my_matches",
    reference=matches,
    cases=_word_cases,
    call=_split(_counts),
    outputs=("found", "written"),
    mistakes=[
        Mistake(
            _unclipped,
            "Not clipped: “the the the the” finds the one “the” again and again. An n-gram counts at most as often as "
            "it stands in the right translation.",
        ),
        Mistake(
            lambda w, r, n: (
                sum(ours == theirs for ours in _grams(w, n) for theirs in _grams(r, n)),
                len(_grams(w, n)),
            ),
            "Every pair of equal n-grams counts for you: two “a b” on each side are found four times. Each one of the "
            "right translation can be found once.",
        ),
        Mistake(
            lambda w, r, n: (
                sum(min(_grams(w, n).count(gram), _grams(r, n).count(gram)) for gram in _grams(w, n)),
                len(_grams(w, n)),
            ),
            "An n-gram that was written twice is counted twice over, once at each of its places. Go through the "
            "different ones: set(…).",
        ),
        Mistake(
            lambda w, r, n: (len(set(_grams(w, n)) & set(_grams(r, n))), len(_grams(w, n))),
            "Each kind of n-gram counts once for you, even where it stands twice on both sides: a set forgets how "
            "often. A Counter knows.",
        ),
        Mistake(
            lambda w, r, n: (len(set(_grams(w, n)) & set(_grams(r, n))), len(set(_grams(w, n)))),
            "Both numbers count kinds of n-grams, not n-grams: sets forget how often.",
        ),
        Mistake(
            lambda w, r, n: (matches(w, r, n)[0], len(_grams(r, n))),
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
            lambda w, r, n: _found_among(*([tuple(sorted(gram)) for gram in _grams(words, n)] for words in (w, r))),
            "“b a” finds “a b”: your n-grams have lost their order.",
            also=[lambda w, r, n: _found_among(*([frozenset(gram) for gram in _grams(words, n)] for words in (w, r)))],
        ),
        Mistake(
            lambda w, r, n: _found_among(*(["".join(gram) for gram in _grams(words, n)] for words in (w, r))),
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
            lambda w, r, n: _found_among(*([tuple(s[i : i + n]) for i in range(len(s))] for s in (w, r))),
            "At the end your runs become shorter than n: a slice does not complain there. T words have T - n + 1 "
            "runs of n words.",
        ),
        Mistake(
            lambda w, r, n: (matches(w, r, n)[0], len(w) - n + 1),
            "Two words have no run of four: that is 0 of them, not -1.",
            seen_in="shorter than the n-gram",
        ),
        Mistake(
            lambda w, r, n: (
                sum((Counter(_grams(w, n)[:-1]) & Counter(_grams(r, n)[:-1])).values()),
                max(len(_grams(w, n)) - 1, 0),
            ),
            "The last n-gram is missing: T words have T - n + 1 of them.",
        ),
        Mistake(
            lambda w, r, n: (matches(w, r, n)[0], len(w)),
            "You divide by the words, not by the n-grams, of which there are n - 1 fewer.",
        ),
    ],
    hints=[
        "Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1)) counts the n-grams of one side.",
        "Two Counters have &, which takes the smaller count of each: (ours & theirs).total() is what is found.",
    ],
)


def bleu(found: Sequence[int], written: Sequence[int], length: int, right_length: int) -> float:
    """The sums of `matches` over all sentences, for n = 1 … 4, and the words of both sides -> BLEU, from 0 to 100.

    The geometric mean of the four precisions, times exp(1 - right_length / length) where too few words were written.
    Nothing found for some n: 0.
    """
    if min(found) == 0:
        return 0.0
    mean_log = sum(math.log(f / w) for f, w in zip(found, written)) / len(found)
    penalty = 1.0 if length >= right_length else math.exp(1 - right_length / length)
    return 100 * penalty * math.exp(mean_log)


def _score(candidate, found, written, length, right_length):
    score = candidate(found.tolist(), written.tolist(), length, right_length)
    return score if score is None else torch.as_tensor(score).double()


def _bleu_cases(generator) -> list[Case]:
    def case(found, written, length, right_length, about=""):
        counts = {"found": torch.tensor(found), "written": torch.tensor(written)}
        return Case({**counts, "length": length, "right_length": right_length}, about=about)

    return [
        case([4, 2, 1, 1], [5, 4, 3, 2], 5, 5),
        case([80, 61, 43, 29], [90, 81, 72, 63], 90, 100),
        case([80, 61, 43, 29], [90, 81, 72, 63], 90, 75),
        case([10, 9, 8, 7], [10, 9, 8, 7], 10, 40, about="all right, but only the first quarter is written"),
        case([5, 3, 0, 0], [9, 8, 7, 6], 9, 9, about="no run of three words is found"),
    ]


def _precisions(found, written):
    return [f / w for f, w in zip(found, written)]


def _penalty(length, right_length):
    return min(1.0, math.exp(1 - right_length / length))


def _geometric(values):
    return math.prod(values) ** (1 / len(values))


scoring = Exercise(
    name="my_bleu",
    reference=bleu,
    cases=_bleu_cases,
    call=_score,
    outputs=("BLEU",),
    mistakes=[
        Mistake(
            lambda f, w, n, r: 100 * _geometric(_precisions(f, w)),
            "There is no brevity penalty: whoever writes only the words that are certain would be rewarded.",
        ),
        Mistake(
            lambda f, w, n, r: 100 * _penalty(n, r) * sum(_precisions(f, w)) / 4,
            "That is the arithmetic mean of the precisions. BLEU takes the geometric one: one precision of 0 makes "
            "all of it 0.",
        ),
        Mistake(
            lambda f, w, n, r: 100 * math.exp(1 - r / n) * _geometric(_precisions(f, w)),
            "The penalty became a reward: where more is written than is right, exp(1 - right/length) is over 1. It "
            "stays at 1 there; precision punishes the surplus.",
        ),
        Mistake(
            lambda f, w, n, r: 100 * _penalty(r, n) * _geometric(_precisions(f, w)),
            "The two lengths changed places: too long is punished, too short is not.",
        ),
        Mistake(
            lambda f, w, n, r: _penalty(n, r) * _geometric(_precisions(f, w)),
            "Your BLEU runs from 0 to 1. Papers, this one too, write it from 0 to 100.",
        ),
        Mistake(
            lambda f, w, n, r: 100 * min(1.0, n / r) * _geometric(_precisions(f, w)),
            "The penalty is exp(1 - right/length), not length/right: it is harsher on very short texts.",
        ),
        Mistake(
            lambda f, w, n, r: 100 * _penalty(n, r) * math.prod(_precisions(f, w)) / 4,
            "A quarter of the product, not its fourth root: x ** 1 / 4 is (x ** 1) / 4. Put 1 / 4 in brackets.",
        ),
        Mistake(
            lambda f, w, n, r: 0.0 if min(f) == 0 else 100 * _penalty(n, r) * sum(f) / sum(w),
            "You threw all n-grams into one pot. Each n has its precision; then their geometric mean is taken.",
            also=[lambda f, w, n, r: 100 * _penalty(n, r) * sum(f) / sum(w)],
        ),
        Mistake(
            lambda f, w, n, r: 100 * _penalty(n, r) * math.prod(_precisions(f, w)),
            "The four precisions are multiplied, but the fourth root is missing: a mean of them is asked for.",
        ),
        Mistake(
            lambda f, w, n, r: 100 * _penalty(n, r) * _geometric([(x + 1) / (y + 1) for x, y in zip(f, w)]),
            "One is added to every count. Such smoothing is in use for single sentences; the paper's BLEU, of a whole "
            "test set, has none.",
        ),
        Mistake(
            lambda f, w, n, r: 100 * _penalty(n, r) * math.exp(sum(math.log(x / y) for x, y in zip(f, w)) / 4),
            "Right as long as something is found for each n. Where nothing is, log 0 stops it: BLEU is 0 then.",
            seen_in="no run of three words is found",
        ),
        Mistake(
            lambda f, w, n, r: 100 * _penalty(n, r) * _geometric([x / y for x, y in zip(f, w) if x]),
            "A precision of 0 is left out of your mean, and what finds no run of three words is rewarded for it. Then "
            "BLEU is 0.",
            also=[lambda f, w, n, r: 100 * _penalty(n, r) * math.prod(x / y for x, y in zip(f, w) if x) ** (1 / 4)],
            seen_in="no run of three words is found",
        ),
        Mistake(
            lambda f, w, n, r: 100 * _penalty(n, r) * f[0] / w[0],
            "Only single words count for you: their order would not matter at all.",
        ),
    ],
    hints=[
        "math.prod(values) ** (1 / 4) is the geometric mean; the precisions are found / written.",
        "The penalty is 1 where length >= right_length, else math.exp(1 - right_length / length).",
    ],
)


def mean_and_error(scores: Tensor) -> tuple[Tensor, Tensor]:
    """scores (N,), one of each seed -> their mean, and the standard error of that mean"""
    return scores.mean(), scores.std() / math.sqrt(len(scores))


def _score_cases(generator) -> list[Case]:
    def case(count, about=""):
        return Case({"scores": 50 + 5 * numbers(generator, count)}, about=about)

    return [case(3), case(5), case(10), Case({"scores": torch.tensor([70.0, 70.0, 70.0])}, about="all the same")]


def _both(candidate, scores):
    """Plain numbers are as good as tensors."""
    found = candidate(scores)
    if not isinstance(found, tuple | list):
        return found
    return tuple(x if x is None else torch.as_tensor(x).double() for x in found)


errors = Exercise(
    name="my_mean_and_error",
    reference=mean_and_error,
    cases=_score_cases,
    call=_both,
    outputs=("mean", "error"),
    mistakes=[
        Mistake(
            lambda scores: (scores.mean(), scores.std()),
            "The error is the standard deviation: how far one training lies from another. The mean of N trainings is "
            "surer than one of them: divide by √N.",
            also=[lambda scores: (scores.mean(), scores.std(correction=0))],
        ),
        Mistake(
            lambda scores: (scores.mean(), scores.var() / len(scores)),
            "That is the error squared, in points squared. Take the root.",
        ),
        Mistake(
            lambda scores: (scores.mean(), scores.std() / len(scores) / 2),
            "N ** 1 / 2 is half of N, not its root: put 1 / 2 in brackets, or take math.sqrt.",
        ),
        Mistake(
            lambda scores: (scores.mean(), scores.std(correction=0) / len(scores) ** 0.5),
            "The standard deviation divides by N here. The mean was taken from the same few numbers, which lie too "
            "near to it: divide by N - 1. With three seeds that is 22 % more.",
        ),
        Mistake(
            lambda scores: (scores.mean(), scores.std() / len(scores)),
            "Divided by N in place of √N: four times as many trainings only halve the error.",
        ),
        Mistake(
            lambda scores: (scores.max(), scores.std() / len(scores) ** 0.5),
            "That is the best of the seeds. The best of ten throws of a die is a six, and says nothing of the die; "
            "the more seeds, the better it looks.",
        ),
        Mistake(
            lambda scores: (scores.mean(), scores.var() / len(scores) ** 0.5),
            "That is the variance, the square; its unit would be points squared. Take the root.",
        ),
        Mistake(
            lambda scores: (scores.mean(), (scores.max() - scores.min()) / 2),
            "Half the range grows with the number of seeds; an error of the mean shrinks.",
        ),
        Mistake(
            lambda scores: (scores.mean(), scores.std() / (len(scores) - 1) ** 0.5),
            "N - 1 stands inside the standard deviation, and torch's std has it there; under the root it is N.",
        ),
        Mistake(
            lambda scores: (scores.mean(), 1.96 * scores.std() / len(scores) ** 0.5),
            "That is a 95 % interval, about two errors to each side. The error itself is asked for.",
            also=[lambda scores: (scores.mean(), 2 * scores.std() / len(scores) ** 0.5)],
        ),
        Mistake(
            lambda scores: (scores.std() / len(scores) ** 0.5, scores.mean()),
            "The two have changed places: first the mean, then its error.",
        ),
        Mistake(
            lambda scores: (scores.median(), scores.std() / len(scores) ** 0.5),
            "That is the median. It may be a good choice, but the mean is asked for.",
        ),
    ],
    hints=["scores.std() divides by N - 1, as it should.", "The error of the mean is the deviation over √N."],
)


def translation(next_logits, right: Tensor, bos_id: int, eos_id: int, max_len: int) -> list[int]:
    """What BLEU is to judge: the words that the model writes alone, without begin and end mark, max_len at most"""
    ids = [bos_id]
    while len(ids) <= max_len:
        word = int(next_logits(torch.tensor(ids)).argmax())
        if word == eos_id:
            break
        ids.append(word)
    return ids[1:]


def _translate_with(candidate, rows, right, bos_id, eos_id, max_len):
    """The model is a table: the row of the last word read, shifted by how often it was read before."""

    def next_logits(ids):
        ids = torch.as_tensor(ids)
        return rows[(ids == ids[-1]).sum() - 1, ids[-1]]

    written = candidate(next_logits, right, bos_id, eos_id, max_len)
    return written if written is None else torch.as_tensor(written).long()


def _forced(next_logits, right):
    return [int(next_logits(right[:t]).argmax()) for t in range(1, len(right))]


def _freely(next_logits, bos, eos, words):
    ids = [bos]
    while len(ids) <= words and ids[-1] != eos:
        ids.append(int(next_logits(torch.tensor(ids)).argmax()))
    return ids


def _hunt_cases(generator) -> list[Case]:
    def case(vocab_size, right, chain, max_len, about="", bos_id=1, eos_id=2):
        """A model that writes the words of `chain`; where it reads others, it mostly says what is right."""
        rows = 0.1 * numbers(generator, 3, vocab_size, vocab_size)
        for words in (right, chain):
            for seen, (word, after) in enumerate(zip([bos_id, *words], [*words, eos_id])):
                rows[[bos_id, *words][:seen].count(word), word, after] = 5.0 + (words is chain)
        right = torch.tensor([bos_id, *right, eos_id])
        return Case({"rows": rows, "right": right, "bos_id": bos_id, "eos_id": eos_id, "max_len": max_len}, about=about)

    return [
        case(9, [3, 4, 5, 6], [3, 7, 8, 5, 6, 4], 12),
        case(9, [3, 4, 5, 6, 7], [3, 6, 3, 8, 6, 4], 12),
        case(10, [4, 5, 6, 7, 8, 9], [4, 3, 6], 9),
        case(8, [3, 4, 5], [3, 6, 4, 7, 5, 4, 6], 4, about="longer than max_len"),
        case(9, [3, 4, 5, 6], [7, 4, 8, 6, 3], 10, about="other ids for the marks", bos_id=0, eos_id=1),
    ]


forcing_hunt = Exercise(
    name="mended_translation",
    reference=translation,
    cases=_hunt_cases,
    call=_translate_with,
    outputs=("ids",),
    mistakes=[
        Mistake(
            lambda f, right, bos, eos, n: [word for word in _forced(f, right) if word != eos],
            "The bug is still there. A symptom: hand it another right translation to be compared with, and the same "
            "model writes other words.",
            also=[
                lambda f, right, bos, eos, n: list(takewhile(lambda word: word != eos, _forced(f, right))),
                lambda f, right, bos, eos, n: _forced(f, right)[:-1],
            ],
        ),
        Mistake(
            lambda f, right, bos, eos, n: [w for w in _freely(f, bos, eos, len(right) - 2)[1:] if w != eos],
            "It writes alone now, but it is stopped where the right translation ends: it is told the length, and "
            "never writes too much.",
            also=[lambda f, right, bos, eos, n: [w for w in _freely(f, bos, eos, len(right) - 1)[1:] if w != eos]],
        ),
        Mistake(
            lambda f, right, bos, eos, n: _freely(f, bos, eos, n)[1:],
            "The end mark is among the words: one n-gram more that is always right.",
        ),
        Mistake(
            lambda f, right, bos, eos, n: [w for w in _freely(f, bos, eos, n) if w != eos],
            "The begin mark is among the words: the model did not write it.",
            also=[lambda f, right, bos, eos, n: _freely(f, bos, eos, n)],
        ),
        Mistake(
            lambda f, right, bos, eos, n: _freely(f, bos, -1, n)[1:],
            "It goes on after the end mark: eos_id is what ends a sentence.",
            also=[lambda f, right, bos, eos, n: [w for w in _freely(f, bos, -1, n)[1:] if w != eos]],
        ),
        Mistake(
            lambda f, right, bos, eos, n: [w for w in _freely(f, bos, eos, n - 1)[1:] if w != eos],
            "A sentence that is cut off at max_len has one word too few. max_len counts what is written, without the "
            "begin mark; and a sentence that was cut off has no end mark to take away.",
            seen_in="longer than max_len",
        ),
        Mistake(
            lambda f, right, bos, eos, n: [w for w in _freely(f, bos, eos, n + 1)[1:] if w != eos],
            "A sentence that is cut off at max_len has one word too many.",
            seen_in="longer than max_len",
        ),
        Mistake(
            lambda f, right, bos, eos, n: [w for w in _freely(f, bos, eos, 30)[1:] if w != eos],
            "max_len does not stop it. A model that never says eos_id would write forever.",
            seen_in="longer than max_len",
        ),
        Mistake(
            lambda f, right, bos, eos, n: [w for w in _freely(lambda ids: f(ids[-1:]), bos, eos, n)[1:] if w != eos],
            "The model writes alone now, but reads only its last word. Let it read all that it has written.",
        ),
        Mistake(
            lambda f, right, bos, eos, n: right[1:-1].tolist(),
            "That is the right translation itself. Its BLEU is 100, and the model was never asked.",
        ),
    ],
    hints=[
        "What does next_logits read here, and what could it read when nobody knows the right translation?",
        "Begin with [bos_id], append what the model says, and let it read that; stop at eos_id or after max_len words.",
    ],
)
