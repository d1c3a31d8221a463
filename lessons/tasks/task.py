"""The base class of all tasks: an endless supply of sentence pairs, as padded ids or as texts.

A task has two splits. "held_out" contains only combinations that never occur in "train", though all their parts do;
`unseen` describes these combinations in words.
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
SEED_STRIDE = 1_000_003  # steps of two different seeds draw the same numbers only after this many steps
SEEDS = 2**32  # torch uses 32 bits of a seed


class Batch(NamedTuple):
    """src (B, S): only the words. tgt (B, T): BOS, words, EOS. Both are padded with pad_id."""

    src: Tensor
    tgt: Tensor


class Writing(NamedTuple):
    """How a text is split into the words that a model sees, and how they are joined again."""

    split: Callable[[str], list[str]]
    join: Callable[[list[str]], str]


SPACED = Writing(str.split, " ".join)
CHARACTERS = Writing(list, "".join)


class Task:
    """Sentence pairs to learn from. A subclass implements `pairs`, or `batch` if it can generate ids directly.

    difficulty: from 1, the easiest, to 5. unseen: describes which combinations are held out.
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
        """`size` pairs (words of the source, words of the target) of a split, "train" or "held_out"."""
        raise NotImplementedError

    def batch(self, size: int, generator: torch.Generator, split: str = TRAIN) -> Batch:
        """`size` pairs as ids, padded to the longest of them. They depend only on the generator's state."""
        check_draw(size, split)
        pairs = self.pairs(size, Random(draw_seed(generator)), split)
        src = pad_batch([self.src_vocab.encode(src) for src, _ in pairs], pad_id=self.src_vocab.pad_id)
        encoded = [self.tgt_vocab.encode(tgt, bos=True, eos=True) for _, tgt in pairs]
        return Batch(src, pad_batch(encoded, pad_id=self.tgt_vocab.pad_id))

    def step_batch(self, size: int, *, step: int, seed: int, share: tuple[int, int] = (0, 1)) -> Batch:
        """The batch of a step of training, counted from 1; it depends only on step and seed.

        share (i, n): of its pairs, every n-th from number i on. The n slices together are the batch.
        """
        src, tgt = self.batch(size, torch.Generator().manual_seed(step_seed(seed, step)))
        first, every = share
        return Batch(src[first::every], tgt[first::every])

    def about(self) -> dict[str, object]:
        """What must be the same when a training is resumed, in plain Python types: words, and pairs of a fixed seed."""
        words = len(self.src_vocab), len(self.tgt_vocab)
        return {"name": self.name, "words": words, "pairs": self.examples(3, torch.Generator().manual_seed(0))}

    def examples(self, size: int, generator: torch.Generator, split: str = TRAIN) -> list[tuple[str, str]]:
        """The texts (source, target) of what `batch` returns for the same arguments."""
        src, tgt = self.batch(size, generator, split)
        return [(self.decode(s, side="src"), self.decode(t)) for s, t in zip(src, tgt)]

    def encode(self, text: str, *, side: str = "src") -> list[int]:
        """The ids of a text: only the words for the source; BOS, words, EOS for the target (side="tgt")."""
        _check_side(side)
        is_target = side == "tgt"
        return self._vocab[side].encode(self._writing[side].split(text), bos=is_target, eos=is_target)

    def writing(self, side: str = "src") -> Writing:
        """How the texts of this side are split into words, and joined again."""
        _check_side(side)
        return self._writing[side]

    def decode(self, ids: Iterable[int] | Tensor, *, side: str = "tgt") -> str:
        """The text of some ids, up to the first EOS and without BOS and padding."""
        _check_side(side)
        ids, vocab = ids.tolist() if isinstance(ids, Tensor) else list(ids), self._vocab[side]
        if vocab.eos_id in ids:
            ids = ids[: ids.index(vocab.eos_id)]
        return self._writing[side].join(vocab.decode([i for i in ids if i not in (vocab.pad_id, vocab.bos_id)]))


def step_seed(seed: int, step: int) -> int:
    """The seed of a step's random numbers: its batch and its dropout."""
    return (seed * SEED_STRIDE + step) % SEEDS


def draw_seed(generator: torch.Generator) -> int:
    """A whole number from the generator: the seed of Python's generator, which is faster."""
    return int(torch.randint(2**62, (), generator=generator))


def pick(rng: Random, choices: Sequence[T]) -> T:
    """One of the choices. It uses only rng.random(), whose numbers are the same in all versions of Python."""
    return choices[int(rng.random() * len(choices))]


def check_draw(size: int, split: str) -> None:
    positive(size=size)
    one_of(SPLITS, split=split)


def _check_side(side: str) -> None:
    one_of(("src", "tgt"), side=side)


def longest_words(words: Iterable[str]) -> Callable[[str], list[str]]:
    """A function that splits a text without blanks: always off the longest known word, or one unknown character."""
    known = "|".join(map(re.escape, sorted(words, reverse=True)))  # 我们 before 我
    return re.compile(rf"{known}|\S").findall


def words_of(*texts: str) -> list[str]:
    """All words of the texts, each once, sorted."""
    return sorted({word for text in texts for word in text.split()})


def make_vocabulary(*texts: str) -> Vocabulary:
    return Vocabulary(words_of(*texts))
