"""A vocabulary of pieces of words, learned from sentences: frequent words stay whole, rare ones are put together."""

from collections.abc import Iterable

from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers
from torch import Tensor

from lessons.tasks.task import Writing
from lessons.vocabulary import BOS, EOS, PAD, UNK


class Subwords:
    """Pieces and their ids, by byte pair encoding (arXiv 1508.07909); used as a `Vocabulary` is.

    A piece that begins a word starts with ▁. A character that was not in the sentences becomes `unk_id`.
    """

    def __init__(self, sentences: Iterable[str], *, vocab_size: int):
        if not isinstance(vocab_size, int) or vocab_size < 8:
            raise ValueError(f"vocab_size is {vocab_size}; expected a whole number, 8 or more")
        self._tokenizer = Tokenizer(models.BPE(unk_token=UNK))
        self._tokenizer.normalizer = normalizers.NFC()
        self._tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
            [pre_tokenizers.Metaspace(), pre_tokenizers.Punctuation("isolated")]
        )
        self._tokenizer.decoder = decoders.Metaspace()
        trainer = trainers.BpeTrainer(
            vocab_size=vocab_size,
            special_tokens=[PAD, BOS, EOS, UNK],
            limit_alphabet=vocab_size // 2,
            show_progress=False,
        )
        self._tokenizer.train_from_iterator(sentences, trainer)
        self._tokenizer.encode_special_tokens = True  # "<eos>" in a sentence is text, not the mark
        self.words = [self._tokenizer.id_to_token(i) for i in range(self._tokenizer.get_vocab_size())]
        self._ids = {word: i for i, word in enumerate(self.words)}
        self.pad_id, self.bos_id, self.eos_id, self.unk_id = (self._ids[w] for w in (PAD, BOS, EOS, UNK))

    def __len__(self) -> int:
        return len(self.words)

    @property
    def writing(self) -> Writing:
        return Writing(self.split, self._tokenizer.decoder.decode)

    def split(self, text: str) -> list[str]:
        """The pieces of a text."""
        return self._tokenizer.encode(text).tokens

    def encode(self, sentence: str | list[str], *, bos: bool = False, eos: bool = False) -> list[int]:
        """The ids of a text, or of its pieces."""
        pieces = self.split(sentence) if isinstance(sentence, str) else sentence
        ids = [self._ids.get(piece, self.unk_id) for piece in pieces]
        return [self.bos_id] * bos + ids + [self.eos_id] * eos

    def encode_all(self, texts: list[str]) -> list[list[int]]:
        """The ids of many texts, on all cores, without marks."""
        return [encoding.ids for encoding in self._tokenizer.encode_batch_fast(texts)]

    def decode(self, ids: Iterable[int] | Tensor) -> list[str]:
        """The pieces behind the ids. An id that no piece has is a ValueError."""
        ids = ids.tolist() if isinstance(ids, Tensor) else list(ids)
        for i in ids:
            if not isinstance(i, int) or not 0 <= i < len(self.words):
                raise ValueError(f"ids holds {i}; expected ids from 0 to {len(self.words) - 1}")
        return [self.words[i] for i in ids]
