"""Vocabularies: tokens and their ids. And padding, for sentences of different lengths in one batch."""

from collections.abc import Iterable, Sequence

import torch
from torch import Tensor

PAD, BOS, EOS, UNK = "<pad>", "<bos>", "<eos>", "<unk>"
SPECIAL = (PAD, BOS, EOS, UNK)


class Vocabulary:
    """All known words and their ids. The special tokens come first: <pad>, <bos>, <eos>, <unk>."""

    def __init__(self, words: Iterable[str]):
        self.words = list(dict.fromkeys([*SPECIAL, *words]))
        self._ids = {word: i for i, word in enumerate(self.words)}
        self.pad_id, self.bos_id, self.eos_id, self.unk_id = (self._ids[word] for word in SPECIAL)

    def __len__(self) -> int:
        return len(self.words)

    def encode(self, sentence: str | Sequence[str], *, bos: bool = False, eos: bool = False) -> list[int]:
        """The ids of a sentence: a list of words, or a text that is split at white space.

        An unknown word becomes `unk_id`. bos and eos add the BOS and EOS tokens.
        """
        ids = self._ids_of(sentence) if isinstance(sentence, str) else [self._id(word) for word in sentence]
        return [self.bos_id] * bos + ids + [self.eos_id] * eos

    def _ids_of(self, text: str) -> list[int]:
        return [self._id(word) for word in text.split()]

    def _id(self, word: str) -> int:
        return self._ids.get(word, self.unk_id)

    def decode(self, ids: Iterable[int] | Tensor) -> list[str]:
        """The words of the ids. An id without a word is a ValueError."""
        ids = ids.tolist() if isinstance(ids, Tensor) else list(ids)
        for i in ids:
            if not isinstance(i, int) or not 0 <= i < len(self.words):
                raise ValueError(f"ids contains {i}; expected ids from 0 to {len(self.words) - 1}")
        return [self.words[i] for i in ids]


def pad_batch(sentences: Sequence[Sequence[int]], *, pad_id: int) -> Tensor:
    """Sentences of ids as one tensor (B, T). T is the length of the longest; shorter ones end in pad_id."""
    if len(sentences) == 0:
        raise ValueError("sentences is empty; expected one sentence or more")
    longest = max(len(sentence) for sentence in sentences)
    return torch.tensor([[*s, *[pad_id] * (longest - len(s))] for s in sentences], dtype=torch.long)
