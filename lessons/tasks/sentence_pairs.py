"""A task from a file of sentence pairs, in the format of public collections: source, tab, target."""

from array import array
from collections.abc import Iterator
from pathlib import Path
from random import Random
from zlib import crc32

import torch
from torch import Tensor

from lessons._checks import positive, whole
from lessons.tasks.reader import read_pairs
from lessons.tasks.subwords import Subwords, plain
from lessons.tasks.task import HELD_OUT, SPLITS, TRAIN, Batch, Task, check_draw
from lessons.wording import worded

SAMPLE = Path(__file__).with_name("sentence_pairs.tsv")  # a small file, English and Chinese
LEARNED_FROM = 50_000  # random pairs of the file, from which the subwords are learned
BUCKET = 512  # pairs of similar length, from which a batch is drawn


class SentencePairs(Task):
    """The pairs of a file, stored as ids, 4 bytes each.

    vocab_size: the maximum for each side. max_len: longer sentences, counted in subwords, are left out; `skipped`
    counts them. held_out_every: about one in this many source sentences is held out. encoding: of the file.
    """

    def __init__(
        self,
        path: str | Path = SAMPLE,
        *,
        vocab_size: int = 8000,
        max_len: int = 100,
        held_out_every: int = 20,
        encoding: str = "utf-8",
    ):
        positive(max_len=max_len)
        whole(2, held_out_every=held_out_every)
        self.path, self.skipped, self._every = Path(path), 0, held_out_every
        learned_from = sample_pairs(
            pair for pair in read_pairs(path, encoding=encoding) if not self.is_held_out(pair[0])
        )
        if not learned_from:
            raise ValueError(f"{self.path.name} has no pair to train on, only held-out ones; expected more pairs")
        sources, targets = zip(*learned_from)
        vocabs = Subwords(sources, vocab_size=vocab_size), Subwords(targets, vocab_size=vocab_size)
        unseen = worded(
            "Whole sentences: about one source sentence in {every}, with all its translations. Characters "
            "that never occur in training become <unk>.",
            every=held_out_every,
        )
        name = f"sentence pairs of {self.path.name}"
        super().__init__(name, 5, unseen, vocabs, (vocabs[0].writing, vocabs[1].writing))
        self._splits = self._load(read_pairs(path, encoding=encoding), *vocabs, max_len)

    def is_held_out(self, source: str) -> bool:
        """Whether a source sentence is held out."""
        return is_held_out(source, self._every)

    def count(self, split: str = TRAIN) -> int:
        """The number of pairs in a split."""
        check_draw(1, split)
        return len(self._splits[split][0])

    def batch(self, size: int, generator: torch.Generator, split: str = TRAIN) -> Batch:
        """Pairs of similar length, so that there is little padding; each pair of the split is equally likely."""
        check_draw(size, split)
        sides = self._splits[split]
        total = len(sides[0])
        if total == 0:
            raise ValueError(f"split is {split!r}, but {self.path.name} has no pair in it; expected the other split")
        first = int(torch.randint(total, (), generator=generator)) // BUCKET * BUCKET
        places = first + torch.randint(min(BUCKET, total - first), (size,), generator=generator)  # (B,)
        rows = self._order[split][places]
        return Batch(*(side.rows(rows, vocab.pad_id) for side, vocab in zip(sides, (self.src_vocab, self.tgt_vocab))))

    def _load(
        self, pairs: Iterator[tuple[str, str]], src_vocab: Subwords, tgt_vocab: Subwords, max_len: int
    ) -> dict[str, tuple["_Sentences", "_Sentences"]]:
        splits = {split: (_Sentences(), _Sentences()) for split in SPLITS}
        for source, target in pairs:
            src, tgt = src_vocab.encode(source), tgt_vocab.encode(target, bos=True, eos=True)
            if len(src) > max_len or len(tgt) > max_len + 2:  # BOS and EOS
                self.skipped += 1
                continue
            srcs, tgts = splits[HELD_OUT if self.is_held_out(source) else TRAIN]
            srcs.add(src)
            tgts.add(tgt)
        self._order = {split: _by_length(*(side.lengths() for side in sides)) for split, sides in splits.items()}
        return splits


class _Sentences:
    """Sentences of ids, stored in one array of 4-byte numbers, and the start of each sentence."""

    def __init__(self) -> None:
        self._ids, self._starts = array("i"), array("q", [0])

    def __len__(self) -> int:
        return len(self._starts) - 1

    def add(self, ids: list[int]) -> None:
        self._ids.extend(ids)
        self._starts.append(len(self._ids))

    def lengths(self) -> Tensor:
        return torch.tensor(self._starts).diff()

    def rows(self, which: Tensor, pad_id: int) -> Tensor:
        """Some of the sentences as (B, T), padded with pad_id."""
        starts = torch.frombuffer(self._starts, dtype=torch.long)
        ids = torch.frombuffer(self._ids, dtype=torch.int32)
        first, end = starts[which, None], starts[which + 1, None]  # (B, 1)
        place = first + torch.arange(int((end - first).max()))  # (B, T)
        return ids[place.clamp(max=len(ids) - 1)].long().where(place < end, pad_id)


def _by_length(src: Tensor, tgt: Tensor) -> Tensor:
    """The order of the pairs from short to long, first by the longer side, then by the sum of both."""
    return (torch.maximum(src, tgt) * 2**20 + src + tgt).argsort(stable=True)


def is_held_out(source: str, every: int) -> bool:
    """Whether a source sentence, however its accents and blanks are written, is the one in `every` that is held out."""
    return crc32(plain(source).encode()) % every == 0


def sample_pairs(pairs: Iterator[tuple[str, str]]) -> list[tuple[str, str]]:
    """At most LEARNED_FROM pairs, each equally likely; the choice depends only on the file."""
    rng, kept = Random(0), []
    for i, pair in enumerate(pairs):
        if i < LEARNED_FROM:
            kept.append(pair)
        elif (place := int(rng.random() * (i + 1))) < LEARNED_FROM:
            kept[place] = pair
    return kept
