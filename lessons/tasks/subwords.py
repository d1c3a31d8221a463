"""A vocabulary of subwords, learned from sentences: frequent words are one token, rare words several."""

import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from unicodedata import normalize

from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from lessons._checks import whole
from lessons.tasks.task import Writing
from lessons.vocabulary import SPECIAL, UNK, Vocabulary

BLANK = "▁"  # in a subword: the blank before a word
CJK = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Chinese characters and Japanese syllables
LONGEST = 40  # characters of a word; longer ones are split
UNIT = re.compile(rf"{BLANK}?[{CJK}]|{BLANK}?[^\W{CJK}]{{1,{LONGEST}}}|{BLANK}?.", re.DOTALL)
SMALLEST = 8  # vocabulary
REMEMBERED = 2**16  # words whose subwords are cached


class Subwords(Vocabulary):
    """Subwords and their ids, learned by byte pair encoding (arXiv 1508.07909).

    Words and punctuation are separated, and a Chinese character is a word by itself. A subword after a blank starts
    with ▁. A character that is not in the sentences becomes `unk_id`. vocab_size: the maximum, 8 or more.
    """

    def __init__(self, sentences: Iterable[str], *, vocab_size: int):
        whole(SMALLEST, vocab_size=vocab_size)
        tokenizer = Tokenizer(models.BPE(unk_token=UNK))
        tokenizer.pre_tokenizer = pre_tokenizers.CharDelimiterSplit("\n")
        trainer = trainers.BpeTrainer(
            vocab_size=vocab_size,
            special_tokens=list(SPECIAL),
            limit_alphabet=vocab_size - len(SPECIAL),
            show_progress=False,
        )
        tokenizer.train_from_iterator(("\n".join(_units(sentence)) for sentence in sentences), trainer)
        self._use(tokenizer)

    @classmethod
    def from_json(cls, text: str) -> "Subwords":
        """The subwords that `to_json` wrote."""
        subwords = cls.__new__(cls)
        subwords._use(Tokenizer.from_str(text))
        return subwords

    def to_json(self) -> str:
        """All that was learned, as JSON, in the format of the library tokenizers."""
        return self._tokenizer.to_str()

    def _use(self, tokenizer: Tokenizer) -> None:
        self._tokenizer, ids = tokenizer, tokenizer.get_vocab()
        Vocabulary.__init__(self, sorted(ids, key=ids.__getitem__))
        bpe = tokenizer.model
        self._pieces = lru_cache(REMEMBERED)(lambda unit: [token.id for token in bpe.tokenize(unit)])

    def __reduce__(self) -> tuple[Callable[[str], "Subwords"], tuple[str]]:
        """What pickle stores for another process: the JSON, because a cache can't go there."""
        return type(self).from_json, (self.to_json(),)

    @property
    def writing(self) -> Writing:
        return Writing(self.split, _join)

    def split(self, text: str) -> list[str]:
        """The subwords of a text."""
        return self.decode(self.encode(text))

    def _ids_of(self, text: str) -> list[int]:
        pieces = self._pieces
        return [i for unit in _units(text) for i in pieces(unit)]


def plain(text: str) -> str:
    """The text in NFC, where é is one character, with single blanks. Two that differ only there have the same ids."""
    return " ".join(normalize("NFC", text).split())


def _join(pieces: list[str]) -> str:
    return "".join(pieces).replace(BLANK, " ").strip()


def _units(text: str) -> list[str]:
    """Words, punctuation and Chinese characters, each with the blank before it."""
    return UNIT.findall(plain(text).replace(" ", BLANK))
