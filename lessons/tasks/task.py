"""What every task of this folder is: sentence pairs without end, as padded ids or as texts.

A task has two splits. "held_out" holds only combinations that "train" never shows, though it shows all their parts;
the task's `unseen` says in words which combinations these are.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from random import Random
from typing import NamedTuple, TypeVar

import torch
from torch import Tensor

from lessons._checks import one_of, positive
from lessons.vocabulary import Vocabulary, pad_batch

T = TypeVar("T")
SPLITS = TRAIN, HELD_OUT = "train", "held_out"


class Batch(NamedTuple):
    """src (B, S): the words alone. tgt (B, T): begin mark, words, end mark. Both are filled up with pad_id."""

    src: Tensor
    tgt: Tensor


class Writing(NamedTuple):
    """How a text is cut into the words that a model sees, and how they are joined again."""

    split: Callable[[str], list[str]]
    join: Callable[[list[str]], str]


SPACED = Writing(str.split, " ".join)
CHARACTERS = Writing(list, "".join)


class Task:
    """Sentence pairs to learn from. A task of its own gives `pairs`, or `batch` where it can make ids at once.

    name: for the reader. difficulty: 1, learned in a minute, to 5. unseen: which combinations are held out.
    """

    def __init__(
        self,
        name: str,
        difficulty: int,
        unseen: str,
        vocabs: tuple[Vocabulary, Vocabulary],
        writings: tuple[Writing, Writing],
    ):
        self.name, self.difficulty, self.unseen = name, difficulty, unseen
        self.src_vocab, self.tgt_vocab = vocabs
        self._writing = {"src": writings[0], "tgt": writings[1]}
        self._vocab = {"src": vocabs[0], "tgt": vocabs[1]}

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, words: {len(self.src_vocab)} and {len(self.tgt_vocab)})"

    def pairs(self, size: int, rng: Random, split: str) -> list[tuple[list[str], list[str]]]:
        """So many pairs (words of the source, words of the target) of a split."""
        raise NotImplementedError

    def batch(self, size: int, generator: torch.Generator, split: str = TRAIN) -> Batch:
        """So many pairs as ids, padded to the longest among them. The generator alone decides which."""
        check_draw(size, split)
        pairs = self.pairs(size, Random(draw_seed(generator)), split)
        src = pad_batch([self.src_vocab.encode(src) for src, _ in pairs], pad_id=self.src_vocab.pad_id)
        encoded = [self.tgt_vocab.encode(tgt, bos=True, eos=True) for _, tgt in pairs]
        return Batch(src, pad_batch(encoded, pad_id=self.tgt_vocab.pad_id))

    def examples(self, size: int, generator: torch.Generator, split: str = TRAIN) -> list[tuple[str, str]]:
        """The texts of what `batch` gives for the same arguments."""
        src, tgt = self.batch(size, generator, split)
        return [(self.decode(s, side="src"), self.decode(t)) for s, t in zip(src, tgt)]

    def encode(self, text: str, *, side: str = "src") -> list[int]:
        """The ids of a text: of the source the words alone, of the target (side="tgt") with begin and end mark."""
        _check_side(side)
        marks = side == "tgt"
        return self._vocab[side].encode(self._writing[side].split(text), bos=marks, eos=marks)

    def decode(self, ids: Iterable[int] | Tensor, *, side: str = "tgt") -> str:
        """The text of some ids, up to the first end mark; begin marks and padding are left away."""
        _check_side(side)
        ids, vocab = ids.tolist() if isinstance(ids, Tensor) else list(ids), self._vocab[side]
        if vocab.eos_id in ids:
            ids = ids[: ids.index(vocab.eos_id)]
        return self._writing[side].join(vocab.decode([i for i in ids if i not in (vocab.pad_id, vocab.bos_id)]))


def draw_seed(generator: torch.Generator) -> int:
    """A whole number from the generator, which starts a faster source of random numbers."""
    return int(torch.randint(2**62, (), generator=generator))


def pick(rng: Random, choices: Sequence[T]) -> T:
    """One of the choices. It asks rng for nothing but random(), which every version of Python keeps the same."""
    return choices[int(rng.random() * len(choices))]


def check_draw(size: int, split: str) -> None:
    positive(size=size)
    one_of(SPLITS, split=split)


def _check_side(side: str) -> None:
    one_of(("src", "tgt"), side=side)


def longest_words(words: Iterable[str]) -> Callable[[str], list[str]]:
    """A function that cuts a text without blanks: always the longest known word, and else one character."""
    known = "|".join(map(re.escape, sorted(words, key=len, reverse=True)))
    return re.compile(rf"{known}|\S").findall


def words_of(*texts: str) -> list[str]:
    """The words of all texts, each once, in alphabetical order."""
    return sorted({word for text in texts for word in text.split()})


def make_vocabulary(*texts: str) -> Vocabulary:
    return Vocabulary(words_of(*texts))
