"""lessons.tasks.stream: each pair once an epoch, the same batches for any number of processes, little memory."""

import itertools
import json
import os
import pickle
import re
import sys
import tracemalloc
import zlib
from collections import Counter

import pytest
import torch

from lessons.tasks import stream as stream_module
from lessons.tasks.sentence_pairs import is_held_out
from lessons.tasks.stream import PairStream, prepare
from lessons.tasks.task import HELD_OUT, SPLITS

EVERY = 5


def write(path, count, first=0):
    path.write_text("".join(f"s{i} {'x ' * (i % 7)}\tt{i}\n" for i in range(first, first + count)), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two files of 60 and 47 pairs, prepared."""
    folder = tmp_path_factory.mktemp("stream")
    files = write(folder / "a.tsv", 60), write(folder / "b.tsv", 47, first=60)
    prepare(folder / "data", *files, held_out_every=EVERY, vocab_size=400)
    return folder / "data"


@pytest.fixture
def stream(folder):
    return PairStream(folder, window=10)


def texts(stream, batch):
    return [(stream.decode(src, side="src"), stream.decode(tgt)) for src, tgt in zip(*batch)]


def epoch(stream, size, number=0, seed=0, share=(0, 1)):
    steps = stream.steps_per_epoch(size)
    wanted = range(number * steps + 1, (number + 1) * steps + 1)
    return [texts(stream, stream.step_batch(size, step=step, seed=seed, share=share)) for step in wanted]


def written():
    pairs = [(f"s{i} {'x ' * (i % 7)}".strip(), f"t{i}") for i in range(107)]
    return {split: [p for p in pairs if is_held_out(p[0], EVERY) == (split == HELD_OUT)] for split in SPLITS}


def test_the_task_says_what_it_is(stream):
    assert (stream.name, stream.difficulty) == ("sentence pairs", 5)
    assert stream.unseen == "Whole sentences: about one source sentence in 5, with all its translations."


@pytest.mark.parametrize("size", [1, 4, 10, 64])
def test_each_pair_is_read_exactly_once_an_epoch(stream, size):
    for number in range(2):
        assert sorted(itertools.chain(*epoch(stream, size, number))) == sorted(written()["train"])


def test_held_out_pairs_are_read_only_for_evaluation(stream):
    assert [stream.count(split) for split in SPLITS] == [len(written()[split]) for split in SPLITS]
    drawn = {
        pair
        for seed in range(8)
        for pair in texts(stream, stream.batch(9, torch.Generator().manual_seed(seed), HELD_OUT))
    }
    assert drawn == set(written()[HELD_OUT])
    drawn = texts(stream, stream.batch(20, torch.Generator().manual_seed(0)))
    assert set(drawn) <= set(written()["train"])


def test_the_generator_alone_decides(stream):
    first, again, other = (texts(stream, stream.batch(9, torch.Generator().manual_seed(seed))) for seed in (5, 5, 6))
    assert first == again != other


def test_the_order_is_another_in_each_epoch_and_for_each_seed(stream):
    orders = [epoch(stream, 4), epoch(stream, 4, number=1), epoch(stream, 4, seed=1)]
    assert all(a != b for a, b in itertools.combinations(orders, 2))
    firsts = [order[0][0] for order in orders]
    assert len(set(firsts)) > 1, "the windows, too, come in another order"


def test_a_batch_depends_on_its_step_only(folder, stream):
    steps = list(range(1, 3 * stream.steps_per_epoch(4)))
    straight = [texts(stream, stream.step_batch(4, step=step, seed=3)) for step in steps]
    again = PairStream(folder, window=10)
    backwards = [texts(again, again.step_batch(4, step=step, seed=3)) for step in reversed(steps)]
    assert straight == backwards[::-1]


def test_another_process_can_have_the_task(stream):
    first = texts(stream, stream.step_batch(4, step=1, seed=0))
    other = pickle.loads(pickle.dumps(stream))
    assert texts(other, other.step_batch(4, step=1, seed=0)) == first


@pytest.mark.parametrize("count", [2, 3, 5])
def test_the_shares_of_some_processes_are_the_batch(stream, count):
    shares = [epoch(stream, 4, share=(rank, count)) for rank in range(count)]
    for whole, *parts in zip(epoch(stream, 4), *shares):
        assert [pair for row in itertools.zip_longest(*parts) for pair in row if pair] == whole


def test_a_batch_holds_pairs_of_similar_length(folder):
    stream = PairStream(folder)
    longest = [max(batch_side.size(1) for batch_side in stream.step_batch(8, step=s, seed=0)) for s in range(1, 11)]
    drawn = [stream.batch(8, torch.Generator().manual_seed(s)).src.size(1) for s in range(10)]
    assert sum(longest) < 0.8 * sum(drawn) and longest != sorted(longest)


def test_an_empty_share_has_no_pair(folder):
    stream = PairStream(folder, window=9)
    sizes = Counter(len(stream.step_batch(4, step=s, seed=0, share=(1, 2)).src) for s in range(1, 10))
    assert sizes[0] > 0
    empty = next(b for s in range(1, 10) if not len((b := stream.step_batch(4, step=s, seed=0, share=(1, 2))).src))
    assert [(tuple(ids.shape), ids.dtype) for ids in empty] == [((0, 2), torch.long)] * 2


def test_the_ids_are_those_of_the_vocabularies(stream):
    batch = stream.step_batch(6, step=2, seed=0)
    for (src, tgt), (source, target) in zip(zip(*batch), texts(stream, batch)):
        assert src[src != 0].tolist() == stream.encode(source)
        assert tgt[tgt != 0].tolist() == stream.encode(target, side="tgt")


def test_what_is_left_out_is_counted(tmp_path):
    path = tmp_path / "pairs.tsv"
    path.write_bytes(b"a\tb\nno tab\n" + b"x" * 250_000 + b"\n\xff\tc\n" + b"y " * 200 + b"\tz\nd\te\n\nf\tg\n")
    with pytest.raises(ValueError, match=r"pairs\.tsv, line 2: no tab in 'no tab'; expected source, tab, target"):
        prepare(tmp_path / "data", path)
    assert not (tmp_path / "data").exists()
    prepare(tmp_path / "data", path, skip_corrupt=True, held_out_every=1000)
    stream = PairStream(tmp_path / "data")
    assert (stream.corrupt, stream.too_long, stream.count()) == (3, 1, 3)
    assert stream.files == ["pairs.tsv"]


def test_longer_sentences_of_either_side_are_left_out_and_counted(tmp_path):
    path = tmp_path / "pairs.tsv"
    path.write_text("".join(f"{'a ' * n}\t{'b ' * (8 - n)}\n" for n in range(1, 8)), encoding="utf-8")
    prepare(tmp_path / "data", path, vocab_size=20, max_len=5, held_out_every=1000)
    stream = PairStream(tmp_path / "data")
    assert stream.too_long == 4 and sorted(len(s.split()) for s, _ in epoch(stream, 9)[0]) == [3, 4, 5]


def test_what_is_written_in_parts_is_what_is_written_at_once(tmp_path, monkeypatch, folder):
    monkeypatch.setattr(stream_module, "WRITTEN_AT_ONCE", 7)
    files = folder.with_name("a.tsv"), folder.with_name("b.tsv")
    prepare(tmp_path / "data", *files, held_out_every=EVERY, vocab_size=400)
    parts, whole = ({path.name: path.read_bytes() for path in made.iterdir()} for made in (tmp_path / "data", folder))
    assert parts == whole


def test_the_folders_above_are_made(tmp_path):
    prepare(tmp_path / "runs" / "first" / "data", write(tmp_path / "pairs.tsv", 9))
    assert PairStream(tmp_path / "runs" / "first" / "data").count() > 0


def test_what_a_killed_preparation_left_is_removed(tmp_path):
    left = tmp_path / ".data.preparing"
    left.mkdir()
    (left / "half").write_text("")
    prepare(tmp_path / "data", write(tmp_path / "pairs.tsv", 9))
    assert not left.exists() and not (tmp_path / "data" / "half").exists()


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a name is always text")
def test_a_file_whose_name_is_no_text(tmp_path):
    path = tmp_path / os.fsdecode(b"\xff.tsv")
    prepare(tmp_path / "data", write(path, 9))
    assert PairStream(tmp_path / "data").files == [path.name]


def test_the_pairs_can_be_watched_as_they_are_read(tmp_path):
    watched = []

    def watch(pairs):
        watched.append(list(pairs))
        return watched[-1]

    prepare(tmp_path / "data", write(tmp_path / "pairs.tsv", 9), held_out_every=EVERY, watch=watch)
    assert watched == [[(f"s{i} {'x ' * (i % 7)}".strip(), f"t{i}") for i in range(9)]] * 2


def test_a_file_that_is_no_text_is_refused_even_so(tmp_path):
    path = tmp_path / "pairs.tsv"
    path.write_bytes("a\tb\n".encode("utf-16"))
    with pytest.raises(ValueError, match=r"pairs\.tsv, line 1: the file is in UTF-16; expected UTF-8"):
        prepare(tmp_path / "data", path, skip_corrupt=True)


@pytest.mark.parametrize("error", [KeyboardInterrupt(), OSError(28, "No space left on device")], ids=repr)
def test_an_interrupted_preparation_leaves_nothing(tmp_path, monkeypatch, error):
    def stop(self):
        raise error

    path = write(tmp_path / "pairs.tsv", 50)
    monkeypatch.setattr(stream_module._Writer, "finish", stop)
    with pytest.raises(type(error)):
        prepare(tmp_path / "data", path)
    assert [file.name for file in tmp_path.iterdir()] == ["pairs.tsv"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_len": 0}, "max_len is 0"),
        ({"held_out_every": 1}, "held_out_every is 1; expected a whole number, 2 or more"),
        ({"skip_corrupt": "yes"}, "skip_corrupt is 'yes'; expected True or False"),
        ({"vocab_size": 3}, "vocab_size is 3"),
        ({"encoding": "utf-16"}, "encoding is 'utf-16'; expected one that keeps ASCII bytes"),
        ({"encoding": 5}, "encoding is 5; expected one that keeps ASCII bytes"),
    ],
)
def test_errors_of_preparing(tmp_path, monkeypatch, options, message):
    path = write(tmp_path / "pairs.tsv", 50)
    monkeypatch.setattr(stream_module, "read_pairs", None)  # refused before the first line is read
    with pytest.raises(ValueError, match=message):
        prepare(tmp_path / "data", path, **options)
    assert not (tmp_path / "data").exists()


def test_errors_of_files_and_folders(tmp_path, folder):
    path = write(tmp_path / "pairs.tsv", 50)
    with pytest.raises(ValueError, match=r"^paths is empty; expected one file of sentence pairs or more$"):
        prepare(tmp_path / "data")
    with pytest.raises(ValueError, match=r"paths contains .*b\.tsv', where no file is; expected files of"):
        prepare(tmp_path / "data", path, tmp_path / "b.tsv")
    with pytest.raises(ValueError, match=re.escape(f"folder is {str(folder)!r}, which exists; expected a new one")):
        prepare(folder, path)
    message = f"folder is {str(tmp_path)!r}, where about.json can't be read; expected what prepare() wrote"
    with pytest.raises(ValueError, match=re.escape(message)):
        PairStream(tmp_path)
    with pytest.raises(ValueError, match="window is 0"):
        PairStream(folder, window=0)
    with pytest.raises(ValueError, match="size is 0"):
        PairStream(folder).step_batch(0, step=1, seed=0)
    with pytest.raises(ValueError, match="step is 0; expected a whole number, 1 or more"):
        PairStream(folder).step_batch(1, step=0, seed=0)


def test_a_split_without_pairs(tmp_path):
    path = write(tmp_path / "pairs.tsv", 9)
    prepare(tmp_path / "data", path, held_out_every=1000)
    message = f"split is 'held_out', but {tmp_path / 'data'} has no pair in it; expected the other split"
    with pytest.raises(ValueError, match=re.escape(message)):
        PairStream(tmp_path / "data").batch(1, torch.Generator(), HELD_OUT)
    with pytest.raises(ValueError, match=r"^max_len is 1, and each pair to train on is longer; expected a larger one$"):
        prepare(tmp_path / "nothing", path, max_len=1, vocab_size=8)
    held_out = next(word for word in map(str, range(1000)) if is_held_out(word, EVERY))
    path.write_text(f"{held_out}\tb\n")
    with pytest.raises(ValueError, match=r"^paths has no pair to train on, only held-out ones; expected more pairs$"):
        prepare(tmp_path / "nothing", path, held_out_every=EVERY)
    assert not (tmp_path / "nothing").exists()


def test_a_folder_without_pairs_to_train_on(tmp_path):
    """As an older `prepare` left it, if each pair was too long."""
    prepare(tmp_path / "data", write(tmp_path / "pairs.tsv", 9))
    for name in ("train.ids", "train.ends"):
        (tmp_path / "data" / name).write_bytes(b"")
    about = json.loads((tmp_path / "data" / "about.json").read_text())
    about["splits"]["train"] = [0, 0]
    (tmp_path / "data" / "about.json").write_text(json.dumps(about))
    stream = PairStream(tmp_path / "data")
    message = re.escape(f"split is 'train', but {tmp_path / 'data'} has no pair in it; expected the other split")
    for wrong in (lambda: stream.step_batch(4, step=1, seed=0), lambda: stream.batch(4, torch.Generator())):
        with pytest.raises(ValueError, match=message):
            wrong()


@pytest.mark.parametrize("name", ["train.ids", "train.ends", "held_out.ids"])
@pytest.mark.parametrize("damage", ["missing", "shorter"])
def test_an_incomplete_folder_is_refused(tmp_path, name, damage):
    prepare(tmp_path / "data", write(tmp_path / "pairs.tsv", 50))
    file = tmp_path / "data" / name
    file.unlink() if damage == "missing" else file.write_bytes(file.read_bytes()[:-8])
    message = f"folder is {str(tmp_path / 'data')!r}, where {name} is incomplete; prepare it again"
    with pytest.raises(ValueError, match=re.escape(message)):
        PairStream(tmp_path / "data")


def test_a_folder_is_known_by_its_pairs_and_the_window(folder, stream):
    known = {split: [len(of), zlib.crc32((folder / f"{split}.ids").read_bytes())] for split, of in written().items()}
    assert stream.about() == {"pairs and checksums": known, "window": 10}
    assert PairStream(folder).about() == {"pairs and checksums": known, "window": 10_000}


def test_other_pairs_are_another_training(tmp_path, folder):
    prepare(tmp_path / "data", write(tmp_path / "pairs.tsv", 107))
    abouts = [PairStream(tmp_path / "data").about(), PairStream(folder).about(), PairStream(folder, window=9).about()]
    assert all(a != b for a, b in itertools.combinations(abouts, 2))
    assert json.loads(json.dumps(abouts)) == abouts


@pytest.mark.thorough("writes and reads many pairs")
def test_the_memory_does_not_grow_with_the_file(tmp_path):
    """Ten times the pairs, in windows of the same size; learning the subwords is not counted."""
    peaks = []
    for count in (6_000, 60_000):
        path = tmp_path / f"{count}.tsv"
        path.write_text("".join(f"a{i % 90} b\tc{i % 80}\n" for i in range(count)), encoding="utf-8")
        prepare(tmp_path / str(count), path, vocab_size=100)
        stream = PairStream(tmp_path / str(count), window=1000)
        tracemalloc.start()
        for step in range(1, stream.steps_per_epoch(50) + 1):
            stream.step_batch(50, step=step, seed=0)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.3 * peaks[0]
