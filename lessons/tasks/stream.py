"""A task from files of sentence pairs of any size: prepared once on disk, then read a window at a time."""

import json
import os
import shutil
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from functools import partial
from itertools import accumulate
from pathlib import Path
from random import Random
from typing import Any, NamedTuple, TypeVar
from zlib import crc32

import numpy as np
import torch
from torch import Tensor

from lessons._checks import positive, switch, whole
from lessons.tasks.reader import check_encoding, read_pairs
from lessons.tasks.sentence_pairs import is_held_out, sample_pairs
from lessons.tasks.subwords import SMALLEST, Subwords
from lessons.tasks.task import HELD_OUT, SPLITS, TRAIN, Batch, Task, check_draw
from lessons.wording import worded

T = TypeVar("T")
Numbers = np.ndarray[Any, np.dtype[np.int64]]
ABOUT = "about.json"
MAX_LEN = 100  # subwords of a sentence, unless told otherwise
WRITTEN_AT_ONCE = 2**16  # numbers
CHECKS: dict[str, Callable[..., None]] = {  # of each setting of `prepare` and `PairStream`
    "vocab_size": partial(whole, SMALLEST),
    "max_len": positive,
    "held_out_every": partial(whole, 2),
    "skip_corrupt": switch,
    "encoding": check_encoding,
    "window": positive,
}


def check_settings(**settings: object) -> None:
    """A ValueError names the first that `prepare` or `PairStream` would refuse."""
    for name, value in settings.items():
        CHECKS[name](**{name: value})


def check_files(paths: Iterable[str | Path]) -> None:
    """A ValueError names the first that is no file."""
    for path in map(Path, paths):
        if not path.is_file():
            raise ValueError(f"paths contains {str(path)!r}, where no file is; expected files of sentence pairs")


def prepare(
    folder: str | Path,
    *paths: str | Path,
    vocab_size: int = 8000,
    max_len: int = MAX_LEN,
    held_out_every: int = 20,
    skip_corrupt: bool = False,
    encoding: str = "utf-8",
    watch: Callable[[Iterable[tuple[str, str]]], Iterable[tuple[str, str]]] = iter,
) -> None:
    """Write the pairs of some files into a new folder, as ids, for `PairStream`. An interrupted call leaves no folder.

    vocab_size: the maximum for each side. max_len: longer sentences, counted in subwords, are left out. held_out_every:
    about one in this many source sentences is held out. skip_corrupt: lines that are no pair are left out; otherwise
    the first is a ValueError that names file and line. watch: what the pairs pass through, such as tqdm, which shows
    how far it is; they do twice.
    """
    folder = Path(folder)
    check_settings(
        vocab_size=vocab_size,
        max_len=max_len,
        held_out_every=held_out_every,
        skip_corrupt=skip_corrupt,
        encoding=encoding,
    )
    if not paths:
        raise ValueError("paths is empty; expected one file of sentence pairs or more")
    check_files(paths)
    if folder.exists():
        raise ValueError(f"folder is {str(folder)!r}, which exists; expected a new one")
    corrupt = 0

    def leave_out(error: ValueError) -> None:
        nonlocal corrupt
        corrupt += 1

    def pairs() -> Iterator[tuple[str, str]]:
        nonlocal corrupt
        corrupt = 0
        for path in paths:
            yield from read_pairs(path, encoding=encoding, on_corrupt=leave_out if skip_corrupt else None)

    learned_from = sample_pairs(pair for pair in watch(pairs()) if not is_held_out(pair[0], held_out_every))
    if not learned_from:
        raise ValueError("paths has no pair to train on, only held-out ones; expected more pairs")
    vocabs = [Subwords(side, vocab_size=vocab_size) for side in zip(*learned_from)]
    temporary = folder.with_name(f".{folder.name}.preparing")
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir(parents=True)
    try:
        with ExitStack() as stack:
            writers = {split: _Writer(stack, temporary, split) for split in SPLITS}
            too_long = 0
            for source, target in watch(pairs()):
                src, tgt = vocabs[0].encode(source), vocabs[1].encode(target, bos=True, eos=True)
                if len(src) > max_len or len(tgt) > max_len + 2:  # BOS and EOS
                    too_long += 1
                else:
                    writers[HELD_OUT if is_held_out(source, held_out_every) else TRAIN].add(src, tgt)
            splits = {split: writer.finish() for split, writer in writers.items()}
        pairs_to_train_on, _ = splits[TRAIN]
        if not pairs_to_train_on:
            raise ValueError(f"max_len is {max_len}, and each pair to train on is longer; expected a larger one")
        about = {
            "files": [Path(path).name for path in paths],
            "splits": splits,
            "held_out_every": held_out_every,
            "too_long": too_long,
            "corrupt": corrupt,
            "vocabs": [vocab.to_json() for vocab in vocabs],
        }
        (temporary / ABOUT).write_text(json.dumps(about))
        os.replace(temporary, folder)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


class PairStream(Task):
    """The pairs of a folder that `prepare` wrote, each exactly once in an epoch; in memory is one window of them.

    In each epoch the windows come in a new order, and in each window the batches and what is in them: pairs of similar
    length; the last batch is smaller. The batch of a step depends only on step, seed, size, window and folder, so that
    training resumes anywhere, with any number of processes. window: pairs in memory.

    `files`, `corrupt`, `too_long`: what was prepared, and how many lines and pairs were left out.
    """

    def __init__(self, folder: str | Path, *, window: int = 10_000):
        check_settings(window=window)
        self.folder = Path(folder)
        about = _read_about(self.folder)
        self.files, self.corrupt, self.too_long = about["files"], about["corrupt"], about["too_long"]
        self._checksums = {split: list(numbers) for split, numbers in about["splits"].items()}
        self._pairs = {split: _Pairs(self.folder, split, numbers[0]) for split, numbers in self._checksums.items()}
        source, target = (Subwords.from_json(text) for text in about["vocabs"])
        unseen = worded(
            "Whole sentences: about one source sentence in {every}, with all its translations.",
            every=about["held_out_every"],
        )
        super().__init__("sentence pairs", 5, unseen, (source, target), (source.writing, target.writing))
        self._window = window
        self._epoch: _Epoch | None = None
        self._read: tuple[object, _Rows, list[list[int]]] | None = None  # the last window, and its batches

    def count(self, split: str = TRAIN) -> int:
        """The number of pairs in a split."""
        check_draw(1, split)
        return len(self._pairs[split])

    def steps_per_epoch(self, size: int) -> int:
        """The number of batches in an epoch; `size` pairs are in each but the last of a window."""
        positive(size=size)
        return sum(-(-len(window) // size) for window in self._windows())

    def about(self) -> dict[str, object]:
        return {"pairs and checksums": self._checksums, "window": self._window}

    def step_batch(self, size: int, *, step: int, seed: int, share: tuple[int, int] = (0, 1)) -> Batch:
        """As `Task.step_batch`. Of a small last batch a process may get nothing: (0, 2)."""
        positive(step=step)
        epoch, number = divmod(step - 1, self.steps_per_epoch(size))
        key = size, seed, epoch
        if self._epoch is None or self._epoch.key != key:
            self._epoch = _plan(self._windows(), key)
        place = bisect_right(self._epoch.ends, number)
        window = self._epoch.windows[place]
        if self._read is None or self._read[0] != (key, window):
            rows = self._pairs[TRAIN].read(window)
            self._read = (key, window), rows, rows.batches(size, _shuffler(f"{seed} {epoch} {window.start}"))
        _, rows, batches = self._read
        first, every = share
        return self._padded(rows, batches[number - self._epoch.ends[place]][first::every])

    def batch(self, size: int, generator: torch.Generator, split: str = TRAIN) -> Batch:
        """Pairs drawn at random, all from one window, which is drawn first."""
        check_draw(size, split)
        windows = self._windows(split)
        window = windows[int(torch.randint(len(windows), (), generator=generator))]
        places = torch.randint(len(window), (size,), generator=generator)
        return self._padded(self._pairs[split].read(window), places.tolist())

    def _windows(self, split: str = TRAIN) -> list[range]:
        total = len(self._pairs[split])
        if not total:
            raise ValueError(f"split is {split!r}, but {self.folder} has no pair in it; expected the other split")
        return [range(start, min(start + self._window, total)) for start in range(0, total, self._window)]

    def _padded(self, rows: "_Rows", which: list[int]) -> Batch:
        pads = self.src_vocab.pad_id, self.tgt_vocab.pad_id
        return Batch(*(rows.side(side, which, pad_id) for side, pad_id in enumerate(pads)))


class _Epoch(NamedTuple):
    """key: batch size, seed and number of the epoch. ends: how many batches come before each window, and in all."""

    key: tuple[int, int, int]
    windows: list[range]
    ends: list[int]


def _plan(windows: list[range], key: tuple[int, int, int]) -> _Epoch:
    size, seed, epoch = key
    order = _shuffler(f"{seed} {epoch}")(windows)
    return _Epoch(key, order, list(accumulate(-(-len(window) // size) for window in order)))


class _Writer:
    """Writes sentences of ids into two files, which the stack closes: the ids, and where each sentence ends."""

    def __init__(self, stack: ExitStack, folder: Path, split: str):
        self._files = [stack.enter_context((folder / name).open("wb")) for name in _file_names(split)]
        self._ids, self._ends = array("i"), array("q")
        self._written, self._pairs, self._checksum = 0, 0, 0

    def add(self, src: list[int], tgt: list[int]) -> None:
        for ids in (src, tgt):
            self._ids.extend(ids)
            self._ends.append(self._written + len(self._ids))
        self._pairs += 1
        if len(self._ids) >= WRITTEN_AT_ONCE:
            self._flush()

    def finish(self) -> tuple[int, int]:
        """The number of pairs, and a checksum of their ids."""
        self._flush()
        return self._pairs, self._checksum

    def _flush(self) -> None:
        content = self._ids.tobytes()
        self._files[0].write(content)
        self._files[1].write(self._ends.tobytes())
        self._checksum = crc32(content, self._checksum)
        self._written += len(self._ids)
        self._ids, self._ends = array("i"), array("q")


class _Pairs:
    """The pairs of a split, on disk."""

    def __init__(self, folder: Path, split: str, pairs: int):
        self._ids, self._ends = (folder / name for name in _file_names(split))
        self._count = pairs
        _check_size(self._ends, 16 * pairs)
        _check_size(self._ids, 4 * self._end(2 * pairs))

    def __len__(self) -> int:
        return self._count

    def read(self, window: range) -> "_Rows":
        first = self._end(2 * window.start)
        ends = np.fromfile(self._ends, np.int64, 2 * len(window), offset=16 * window.start)
        ids = np.fromfile(self._ids, np.int32, int(ends[-1]) - first, offset=4 * first)
        starts = np.concatenate([[first], ends])
        return _Rows(ids.astype(np.int64), starts - first)

    def _end(self, sentence: int) -> int:
        """Where the sentence before this one ends."""
        if sentence == 0:
            return 0
        return int(np.fromfile(self._ends, np.int64, 1, offset=8 * (sentence - 1))[0])


class _Rows(NamedTuple):
    """Pairs in memory. ids (N,): source, target, source, … starts (2 · pairs + 1,)."""

    ids: Numbers
    starts: Numbers

    def batches(self, size: int, shuffle: Callable[[list[Any]], list[Any]]) -> list[list[int]]:
        """The places of all pairs in a new order, cut into batches of similar length."""
        lengths = np.diff(self.starts).reshape(-1, 2).max(axis=1).tolist()
        places = sorted(shuffle(list(range(len(lengths)))), key=lengths.__getitem__)
        return shuffle([places[i : i + size] for i in range(0, len(places), size)])

    def side(self, side: int, places: list[int], pad_id: int) -> Tensor:
        """The sources (0) or targets (1) of some pairs, (B, T), padded."""
        if not places:
            return torch.zeros(0, 2, dtype=torch.long)
        sentence = 2 * np.array(places) + side
        first, end = self.starts[sentence, None], self.starts[sentence + 1, None]  # (B, 1)
        place = first + np.arange((end - first).max())  # (B, T)
        ids = self.ids.take(place, mode="clip")
        ids[place >= end] = pad_id
        return torch.from_numpy(ids)


def _shuffler(seed: str) -> Callable[[list[T]], list[T]]:
    """A function that gives things in a new order. It uses only random(), which is the same in all versions."""
    rng = Random(seed)
    return lambda things: sorted(things, key=lambda _: rng.random())


def _check_size(path: Path, size: int) -> None:
    if not path.is_file() or path.stat().st_size != size:
        raise ValueError(f"folder is {str(path.parent)!r}, where {path.name} is incomplete; prepare it again")


def _file_names(split: str) -> tuple[str, str]:
    return f"{split}.ids", f"{split}.ends"


def _read_about(folder: Path) -> dict[str, Any]:
    try:
        return json.loads((folder / ABOUT).read_bytes())
    except (OSError, ValueError):
        raise ValueError(
            f"folder is {str(folder)!r}, where {ABOUT} can't be read; expected what prepare() wrote"
        ) from None
