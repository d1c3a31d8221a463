"""A vocabulary of pieces of words, learned from sentences: frequent words stay whole, rare ones are put together."""

import re
from collections.abc import Iterable
from functools import lru_cache
from unicodedata import normalize

from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from torch import Tensor

from lessons._checks import whole
from lessons.tasks.task import Writing
from lessons.vocabulary import BOS, EOS, PAD, UNK

BLANK = "▁"  # in a piece, for the blank before a word
CJK = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Chinese characters and Japanese syllables
LONGEST = 40  # characters of a word; what goes on is cut
UNIT = re.compile(rf"{BLANK}?[{CJK}]|{BLANK}?[^\W{CJK}]{{1,{LONGEST}}}|{BLANK}?.", re.DOTALL)
REMEMBERED = 2**16  # words whose pieces are kept at hand


class Subwords:
    """Pieces and their ids, by byte pair encoding (arXiv 1508.07909); used as a `Vocabulary` is.

    Words are parted from marks, and a Chinese character is a word by itself. A piece after a blank starts with ▁. A
    character that was not in the sentences becomes `unk_id`.
    """

    def __init__(self, sentences: Iterable[str], *, vocab_size: int):
        whole(8, vocab_size=vocab_size)
        special = [PAD, BOS, EOS, UNK]
        tokenizer = Tokenizer(models.BPE(unk_token=UNK))
        tokenizer.pre_tokenizer = pre_tokenizers.CharDelimiterSplit("\n")
        trainer = trainers.BpeTrainer(
            vocab_size=vocab_size,
            special_tokens=special,
            limit_alphabet=vocab_size - len(special),
            show_progress=False,
        )
        tokenizer.train_from_iterator(("\n".join(_units(sentence)) for sentence in sentences), trainer)
        self._ids = tokenizer.get_vocab()
        self.words = sorted(self._ids, key=self._ids.__getitem__)
        self.pad_id, self.bos_id, self.eos_id, self.unk_id = (self._ids[w] for w in special)
        bpe = tokenizer.model
        self._pieces = lru_cache(REMEMBERED)(lambda unit: [token.id for token in bpe.tokenize(unit)])

    def __len__(self) -> int:
        return len(self.words)

    @property
    def writing(self) -> Writing:
        return Writing(self.split, lambda pieces: "".join(pieces).replace(BLANK, " ").strip())

    def split(self, text: str) -> list[str]:
        """The pieces of a text."""
        return self.decode(self.encode(text))

    def encode(self, sentence: str | list[str], *, bos: bool = False, eos: bool = False) -> list[int]:
        """The ids of a text, or of its pieces."""
        if isinstance(sentence, str):
            pieces = self._pieces
            ids = [i for unit in _units(sentence) for i in pieces(unit)]
        else:
            ids = [self._ids.get(piece, self.unk_id) for piece in sentence]
        return [self.bos_id] * bos + ids + [self.eos_id] * eos

    def decode(self, ids: Iterable[int] | Tensor) -> list[str]:
        """The pieces behind the ids. An id that no piece has is a ValueError."""
        ids = ids.tolist() if isinstance(ids, Tensor) else list(ids)
        for i in ids:
            if not isinstance(i, int) or not 0 <= i < len(self.words):
                raise ValueError(f"ids holds {i}; expected ids from 0 to {len(self.words) - 1}")
        return [self.words[i] for i in ids]


def _units(text: str) -> list[str]:
    """Words, marks and Chinese characters, each with the blank before it; composed, so that é is one character."""
    return UNIT.findall(BLANK.join(normalize("NFC", text).split()))
