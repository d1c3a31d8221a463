"""lessons.tasks.sentence_pairs and its reader: files as the public collections have them, good and broken."""

import bz2
import gzip
import itertools
import pickle
import random
import re
import tracemalloc

import pytest
import torch

from lessons.tasks import sentence_pairs
from lessons.tasks.reader import LONGEST_LINE, read_pairs
from lessons.tasks.sentence_pairs import SAMPLE, SentencePairs, is_held_out
from lessons.tasks.stream import PairStream, prepare
from lessons.tasks.subwords import Subwords

PAD, BOS, EOS, UNK = range(4)
TWO = [("Go.", "走。"), ("I read.", "我看书。")]


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


@pytest.fixture
def save(tmp_path):
    def save(content, encoding="utf-8"):
        path = tmp_path / "pairs.tsv"
        path.write_bytes(content if isinstance(content, bytes) else content.encode(encoding))
        return path

    return save


def write_pairs(path, count):
    """A file of pairs of 1 to 60 words; word by word, the target has the same numbers as the source."""
    rng = random.Random(0)
    with path.open("w", encoding="utf-8") as file:
        for _ in range(count):
            numbers = [rng.randrange(100) for _ in range(min(60, 1 + int(rng.expovariate(0.08))))]
            print(*(f"a{n}" for n in numbers), end="\t", file=file)
            print(*(f"b{n}" for n in numbers), file=file)
    return path


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    return write_pairs(tmp_path_factory.mktemp("many") / "many.tsv", 12_000)


@pytest.fixture(scope="module")
def task(many):
    return SentencePairs(many, vocab_size=300, max_len=200)


# the reader


@pytest.mark.parametrize(
    "content",
    [
        "Go.\t走。\nI read.\t我看书。\n",
        "Go.\t走。\nI read.\t我看书。",
        "Go.\t走。\r\nI read.\t我看书。\r\n",
        "\ufeffGo.\t走。\nI read.\t我看书。\n",
        "\n\nGo.\t走。\n  \t \n\r\nI read.\t我看书。\n\n",
        "Go.\t走。\tCC-BY 2.0 (France) Attribution: tatoeba.org #1\nI read.\t我看书。\t\n",
        " Go. \t 走。\nI read.\t我看书。 \n",
    ],
    ids=["plain", "no last line end", "Windows", "byte order mark", "blank lines", "attribution", "blanks"],
)
def test_files_that_are_read(save, content):
    assert list(read_pairs(save(content))) == list(read_pairs(str(save(content)))) == TWO


def test_a_word_that_starts_as_a_packed_file_does(save):
    assert list(read_pairs(save("BZhang came.\tx\n"))) == [("BZhang came.", "x")]


def test_the_mark_of_byte_order_is_one_in_the_first_line_alone(save):
    assert list(read_pairs(save("a\tb\n\ufeffc\td\n"))) == [("a", "b"), ("\ufeffc", "d")]


def test_a_file_in_another_encoding(save):
    path = save("Go.\t走。\nI read.\t我看书。\n", "gb18030")
    assert list(read_pairs(path, encoding="gb18030")) == TWO
    assert SentencePairs(path, vocab_size=20, encoding="gb18030").count() > 0


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a\tb\nc\t\xff\xfe\n", "pairs.tsv, line 2: byte 3 is 0xff, which is not valid in utf-8; expected utf-8, or"),
        ("a\tb\n走。\t走。\n".encode("gb18030"), "pairs.tsv, line 2: byte 1 is 0xd7, which is not valid in utf-8"),
        ("a\tb\r\nc d\r\n", "pairs.tsv, line 2: no tab in 'c d'; expected source, tab, target"),
        ("a\tb\n\nc d\n", "pairs.tsv, line 3: no tab in 'c d'; expected source, tab, target"),
        ("c" * 40, f"pairs.tsv, line 1: no tab in '{'c' * 40}'; expected"),
        ("c X\n", "pairs.tsv, line 1: no tab in 'c X'; expected"),
        ("c" * 50, f"pairs.tsv, line 1: no tab in '{'c' * 40}…'; expected"),
        ("a\tb\n\td\n", r"pairs.tsv, line 2: the source is empty in '\td'; expected source, tab, target"),
        ("a\tb\nc\t \tx\n", r"pairs.tsv, line 2: the target is empty in 'c\t \tx'; expected source, tab, target"),
        ("a\tb\tc\td\n", r"pairs.tsv, line 1: 4 columns in 'a\tb\tc\td'; expected source, target, attribution"),
        ("a\tb\tc\t\n", r"pairs.tsv, line 1: 4 columns in 'a\tb\tc\t'; expected source, target, attribution"),
        ("", "pairs.tsv contains no sentence pair; expected lines of source, tab, target"),
        ("\n \r\n\n", "pairs.tsv contains no sentence pair; expected lines of source, tab, target"),
        ("\ufeff", "pairs.tsv contains no sentence pair; expected lines of source, tab, target"),
        (
            "a\tb\n" + "c" * LONGEST_LINE + "\td\n",
            "pairs.tsv, line 2: longer than 100,000 bytes; expected one sentence",
        ),
        ("a\tb\n".encode("utf-16"), "pairs.tsv, line 1: the file is in UTF-16; expected UTF-8: save it again"),
        ("走".encode("utf-16"), "pairs.tsv, line 1: the file is in UTF-16; expected UTF-8: save it again"),
        ("a\tb\n".encode("utf-16-be"), "pairs.tsv, line 1: a byte is 0, as in UTF-16 and in binary files"),
        (
            b"a\tb\nc\0\td\n",
            "pairs.tsv, line 2: a byte is 0, as in UTF-16 and in binary files; expected a text",
        ),
        (b"\x7fELF\x02\x01\0\0\n", "pairs.tsv, line 1: a byte is 0"),
        (
            gzip.compress(b"a\tb\n", mtime=0),
            "pairs.tsv, line 1: the file is compressed with gzip; expected text: unpack it first",
        ),
        (
            bz2.compress(b"a\tb\n", 1),
            "pairs.tsv, line 1: the file is compressed with bzip2; expected text: unpack it first",
        ),
        (
            bz2.compress(b"a\tb\n"),
            "pairs.tsv, line 1: the file is compressed with bzip2; expected text: unpack it first",
        ),
        (b"PK\x03\x04\0\0", "pairs.tsv, line 1: the file is compressed with zip; expected text: unpack it first"),
    ],
)
@pytest.mark.parametrize("reads", [lambda path: list(read_pairs(path)), SentencePairs], ids=["reader", "task"])
def test_a_broken_file_is_refused_by_name_and_line(save, content, message, reads):
    with pytest.raises(ValueError, match=re.escape(message)):
        reads(save(content))


@pytest.mark.parametrize("reads", [lambda path: list(read_pairs(path)), SentencePairs], ids=["reader", "task"])
def test_no_such_file_or_a_folder(tmp_path, reads):
    for path in (tmp_path / "none.tsv", tmp_path):
        with pytest.raises(ValueError, match=re.escape(f"path is {path}; expected a text file of sentence pairs")):
            reads(path)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32", "nonsense"])
def test_an_encoding_that_cannot_be_cut_into_lines(save, encoding):
    with pytest.raises(ValueError, match=f"encoding is '{encoding}'; expected one that keeps ASCII bytes"):
        list(read_pairs(save("a\tb\n"), encoding=encoding))


def test_the_longest_line_is_read(save):
    line = "c" * (LONGEST_LINE - 3) + "\td\n"
    assert [len(source) for source, _ in read_pairs(save("a\tb\n" + line))] == [1, LONGEST_LINE - 3]


def test_a_line_that_is_too_long_by_its_end_takes_no_other_with_it(save):
    corrupt = []
    line = "c" * (LONGEST_LINE - 2) + "\td\n"
    assert list(read_pairs(save(line + "a\tb\n"), on_corrupt=corrupt.append)) == [("a", "b")]
    told = "pairs.tsv, line 1: longer than 100,000 bytes; expected one sentence pair per line"
    assert [str(error) for error in corrupt] == [told]


@pytest.mark.parametrize("start", [b"\xff\xfe", b"\x1f\x8b", b"PK\x03\x04", bz2.compress(b"")[:10]])
def test_how_a_file_starts_says_nothing_of_its_other_lines(save, start):
    corrupt = []
    assert list(read_pairs(save(b"a\tb\n" + start + b"\xff\nc\td\n"), on_corrupt=corrupt.append)) == [
        ("a", "b"),
        ("c", "d"),
    ]
    assert len(corrupt) == 1 and "line 2: " in str(corrupt[0])


def test_the_reader_reads_no_further_than_asked(save):
    pairs = read_pairs(save("a\tb\nc\td\nno tab\n"))
    assert list(itertools.islice(pairs, 2)) == [("a", "b"), ("c", "d")]
    with pytest.raises(ValueError, match="line 3: no tab"):
        next(pairs)


def test_the_reader_holds_no_more_than_a_line(save):
    path = save("".join(f"sentence number {i} of a long file\t{i}\n" for i in range(12_000)))
    assert path.stat().st_size > 400_000
    tracemalloc.start()
    count = sum(1 for _ in read_pairs(path))
    highest = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count == 12_000
    assert highest < 150_000


@pytest.mark.parametrize(
    ("on_corrupt", "message"),
    [(None, "line 1: longer than 100,000 bytes"), (lambda error: None, "contains no sentence pair")],
    ids=["refused", "left out"],
)
def test_a_line_without_end_is_not_read_whole(save, on_corrupt, message):
    path = save(b"c" * 20_000_000)
    tracemalloc.start()
    with pytest.raises(ValueError, match=message):
        list(read_pairs(path, on_corrupt=on_corrupt))
    highest = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert highest < 1_000_000


# the task


def test_the_small_file_of_the_course_loads():
    task = SentencePairs()
    assert task.path == SAMPLE and task.skipped == 0
    assert task.count("train") + task.count("held_out") == len(list(read_pairs(SAMPLE))) >= 100
    assert task.count("held_out") >= 3
    assert len(task.examples(8, seeded())) == 8
    assert repr(task).startswith("SentencePairs('sentence pairs of sentence_pairs.tsv', words: ")
    assert task.difficulty == 5 and "one source sentence in 20" in task.unseen


@pytest.mark.parametrize("split", ["train", "held_out"])
def test_batches_hold_pairs_of_the_file(many, task, split):
    known = set(read_pairs(many))
    for source, target in task.examples(500, seeded(), split):
        assert (source, target) in known


@pytest.mark.parametrize("split", ["train", "held_out"])
def test_a_batch_has_marks_around_the_target_and_padding_behind(task, split):
    batch = task.batch(64, seeded(), split)
    for ids, marked in ((batch.src, False), (batch.tgt, True)):
        lengths = (ids != PAD).sum(dim=1)
        assert ids.shape == (64, lengths.max()) and ids.dtype == torch.long
        for row, length in zip(ids.tolist(), lengths.tolist()):
            assert PAD not in row[:length] and set(row[length:]) <= {PAD}
            assert (row[0] == BOS) == (row[length - 1] == EOS) == marked
            assert not {BOS, EOS, UNK} & set(row[1 : length - 1])


def test_texts_become_the_ids_of_the_batch(task):
    batch, texts = task.batch(64, seeded()), task.examples(64, seeded())
    for src, tgt, (source, target) in zip(batch.src.tolist(), batch.tgt.tolist(), texts):
        assert task.encode(source) == [i for i in src if i != PAD]
        assert task.encode(target, side="tgt") == [i for i in tgt if i != PAD]


def test_the_generator_alone_decides(tmp_path, task):
    path = write_pairs(tmp_path / "pairs.tsv", 2000)
    one, again = (SentencePairs(path, vocab_size=300, max_len=200) for _ in range(2))
    for seed in range(8):
        for ours, same in zip(one.batch(64, seeded(seed)), again.batch(64, seeded(seed))):
            assert torch.equal(ours, same)
    assert task.examples(64, seeded(3)) != task.examples(64, seeded(4))


def test_another_process_can_have_the_task(task):
    other = pickle.loads(pickle.dumps(task))
    assert other.examples(64, seeded()) == task.examples(64, seeded())
    assert other.encode("a1 a2 (a3)") == task.encode("a1 a2 (a3)")


@pytest.mark.thorough("reads thousands of pairs")
def test_held_out_sources_are_not_in_training(many, task):
    sources = {split: {s for s, _ in drawn(task, split)} for split in ("train", "held_out")}
    assert not sources["train"] & sources["held_out"]
    assert all(task.is_held_out(source) == (split == "held_out") for split in sources for source in sources[split])
    in_file = [task.is_held_out(source) for source, _ in read_pairs(many)]
    assert task.count("held_out") == sum(in_file) and task.count() == len(in_file) - sum(in_file)
    assert 0.03 < sum(in_file) / len(in_file) < 0.07


def test_what_is_held_out_stays_held_out():
    """In a later version, too: a model that was trained with this one is judged by what it has not seen."""
    assert [i for i in range(100) if is_held_out(str(i), 20)] == [6, 37, 40, 82, 94]


@pytest.mark.parametrize("other", ["le cafe\u0301 {}", "le  café {}", "le\u3000café\xa0{}"])
def test_another_spelling_of_a_source_is_in_its_split(other):
    held_out = [[is_held_out(text.format(i), 20) for i in range(200)] for text in ("le café {}", other)]
    assert held_out[0] == held_out[1] and 0 < sum(held_out[0]) < 20


def drawn(task, split):
    generator = seeded()
    return [pair for _ in range(60) for pair in task.examples(200, generator, split)]


def test_translations_of_one_source_stay_together(save):
    lines = [f"source {i}\ttarget {i} {k}\n" for i in range(60) for k in range(3)]
    task = SentencePairs(save("".join(lines)), vocab_size=60, held_out_every=3)
    assert task.count("held_out") % 3 == 0 < task.count("held_out")


def test_the_share_that_is_held_out(tmp_path):
    task = SentencePairs(write_pairs(tmp_path / "pairs.tsv", 3000), vocab_size=100, max_len=500, held_out_every=2)
    assert 0.45 < task.count("held_out") / (task.count("held_out") + task.count()) < 0.55
    assert "one source sentence in 2," in task.unseen


def test_sentences_of_like_length_are_together(task):
    """Batches have little padding; in batches of any pairs it would be most of all."""
    generator = seeded()
    batches = [task.batch(64, generator) for _ in range(100)]
    lengths = torch.cat([(batch.src != PAD).sum(dim=1) for batch in batches])
    of_any = lengths[torch.randperm(len(lengths), generator=seeded())].reshape(100, 64)
    padding = 1 - lengths.sum() / sum(batch.src.numel() for batch in batches)
    padding_of_any = 1 - lengths.sum() / (of_any.max(dim=1).values.sum() * 64)
    assert padding < 0.1 < 0.6 < padding_of_any


def test_the_order_is_that_of_the_longer_side_then_of_both_then_of_the_file():
    src, tgt = torch.tensor([(3, 5), (5, 1), (5, 4), (50, 1), (49, 49), *[(7, 7)] * 100]).T
    assert sentence_pairs._by_length(src, tgt).tolist() == [1, 0, 2, *range(5, 105), 4, 3]


def test_each_row_ends_with_its_sentence():
    sentences = sentence_pairs._Sentences()
    for ids in ([4, 5], [6], [7, 8, 9]):
        sentences.add(ids)
    assert sentences.rows(torch.tensor([2, 0, 1]), PAD).tolist() == [[7, 8, 9], [4, 5, PAD], [6, PAD, PAD]]


def test_every_pair_is_equally_likely(save):
    short, long = [f"a{i}\tb\n" for i in range(3000)], [f"{'a b ' * 20}{i}\tb\n" for i in range(1000)]
    task = SentencePairs(save("".join(short + long)), vocab_size=100)
    found = [len(source) > 20 for source, _ in drawn(task, "train")]
    assert 0.2 < sum(found) / len(found) < 0.3


def test_longer_sentences_are_left_out_and_counted(save):
    path = save("".join(f"{'a ' * n}\t{'b ' * (8 - n)}\n" for n in range(1, 8)))
    task = SentencePairs(path, vocab_size=20, max_len=5, held_out_every=1000)
    assert task.skipped == 4 and task.count() == 3
    assert {len(source.split()) for source, _ in task.examples(50, seeded())} == {3, 4, 5}


def test_subwords_are_learned_from_so_many_pairs_and_no_more(monkeypatch):
    monkeypatch.setattr(sentence_pairs, "LEARNED_FROM", 5)
    for count in (4, 5, 6, 50):
        pairs = [(str(i), "") for i in range(count)]
        found = sentence_pairs.sample_pairs(iter(pairs))
        assert len(set(found)) == len(found) == min(5, count) and {*found} <= {*pairs}


def test_the_pairs_that_are_chosen_are_any_and_always_the_same(monkeypatch):
    monkeypatch.setattr(sentence_pairs, "LEARNED_FROM", 100)
    chosen = [i for i, _ in sentence_pairs.sample_pairs((i, i) for i in range(400))]
    assert all(15 < sum(first <= i < first + 100 for i in chosen) < 35 for first in (0, 100, 200, 300))
    monkeypatch.setattr(sentence_pairs, "LEARNED_FROM", 5)
    assert [i for i, _ in sentence_pairs.sample_pairs((i, i) for i in range(20))] == [0, 1, 8, 12, 10]


def test_a_vocabulary_has_8000_pieces_a_sentence_100_and_one_in_20_is_held_out_unless_told_otherwise(tmp_path):
    path = tmp_path / "pairs.tsv"
    sources = [chr(0x4E00 + i) for i in range(8500)] + ["一" * 100, "一" * 101]
    path.write_text("".join(f"{source}\t{i % 9}\n" for i, source in enumerate(sources)), encoding="utf-8")
    prepare(tmp_path / "data", path)
    whole, stream = SentencePairs(path), PairStream(tmp_path / "data")
    assert (whole.skipped, stream.too_long) == (1, 1)
    for task in (whole, stream):
        assert len(task.src_vocab) == 8000 and "one source sentence in 20, " in task.unseen


def test_a_split_without_pairs(save):
    task = SentencePairs(save("a\tb\nc\td\n"), vocab_size=20, held_out_every=1000)
    with pytest.raises(
        ValueError, match=re.escape("split is 'held_out', but pairs.tsv has no pair in it; expected the")
    ):
        task.batch(1, seeded(), "held_out")


def test_a_file_of_held_out_pairs_alone(save):
    held_out = next(word for word in map(str, range(1000)) if SentencePairs().is_held_out(word))
    with pytest.raises(ValueError, match="has no pair to train on, only held-out ones; expected more pairs"):
        SentencePairs(save(f"{held_out}\tb\n"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_len": 0}, "max_len is 0; expected a whole number, 1 or more"),
        ({"max_len": 2.5}, "max_len is 2.5; expected a whole number, 1 or more"),
        ({"held_out_every": 1}, "held_out_every is 1; expected a whole number, 2 or more"),
        ({"vocab_size": 7}, "vocab_size is 7; expected a whole number, 8 or more"),
        ({"vocab_size": "8000"}, "vocab_size is '8000'; expected a whole number, 8 or more"),
    ],
)
def test_options_are_checked(options, message):
    with pytest.raises(ValueError, match=message):
        SentencePairs(**options)


def test_size_and_split_are_checked(task):
    with pytest.raises(ValueError, match="size is 0; expected a whole number, 1 or more"):
        task.batch(0, seeded())
    for asks in (lambda: task.batch(1, seeded(), "test"), lambda: task.count("test")):
        with pytest.raises(ValueError, match="split is 'test'; expected one of 'train', 'held_out'"):
            asks()


@pytest.mark.thorough("reads thousands of pairs")
def test_memory_is_a_few_bytes_for_each_piece(tmp_path):
    path = write_pairs(tmp_path / "pairs.tsv", 5000)
    tracemalloc.start()
    task = SentencePairs(path, vocab_size=300, max_len=200)
    kept, highest = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    pieces = sum(len(side._ids) for sides in task._splits.values() for side in sides)
    assert pieces > 130_000
    assert kept < 7 * pieces
    assert highest < 20 * pieces, "all pairs are in memory at once"


# the pieces of words

TEXTS = ["the cat reads the book (twice).", "the cats read; the dog reads.", "我们昨天读书。", "les cafés"]


def test_pieces_join_to_the_text():
    pieces = Subwords(TEXTS, vocab_size=80)
    for text in [*TEXTS, "the book, 我们 读书 cats (dog)", "(the) ((cat", "cats; cats"]:
        assert pieces.writing.join(pieces.split(text)) == text.replace(",", "<unk>")


def test_frequent_words_stay_whole_and_rare_ones_are_put_together():
    pieces = Subwords(["the cat"] * 50 + ["tea"], vocab_size=4 + 7 + 4)
    assert pieces.split("the cat tea") == ["the", "▁cat", "▁", "t", "e", "a"]


def test_a_chinese_character_is_a_piece_and_marks_stand_alone():
    pieces = Subwords(["我们 reads读书。，"] * 9, vocab_size=60)
    assert pieces.split("我们读书。，") == list("我们读书。，")


def test_a_word_without_end_is_cut():
    pieces = Subwords(["ab" * 5000] * 2, vocab_size=500)
    assert max(len(piece) for piece in pieces.words) <= 40
    assert pieces.writing.join(pieces.split("ab" * 5000)) == "ab" * 5000


def test_both_spellings_of_an_accent_are_one():
    pieces = Subwords(["les cafés"] * 9, vocab_size=40)
    assert pieces.encode("les cafe\u0301s") == pieces.encode("les cafés") and UNK not in pieces.encode("les cafés")


def test_unknown_characters_become_the_unknown_id():
    pieces = Subwords(TEXTS, vocab_size=80)
    assert pieces.encode("the Ω") == [*pieces.encode("the"), *pieces.encode("a ▁")[1:2], UNK]
    assert pieces.encode("漢字") == [UNK, UNK]


def test_the_file_decides_what_is_unknown(task):
    assert UNK in task.encode("a1 Ω") and UNK not in task.encode("a1 a2")
    assert "<unk>" in task.decode(task.encode("a1 Ω"), side="src")


@pytest.mark.parametrize("mark", ["<pad>", "<bos>", "<eos>", "<unk>"])
def test_special_words_in_a_sentence_are_text(save, mark):
    lines = [f"a {mark} b {i}\tb {mark} a {i}\n" for i in range(50)]
    task = SentencePairs(save("".join(lines)), vocab_size=200, held_out_every=1000)
    text = f"a {mark} b 7"
    assert not {PAD, BOS, EOS, UNK} & set(task.encode(text))
    assert task.decode(task.encode(text), side="src") == text
    assert [task.encode(text, side="tgt")[i] for i in (0, -1)] == [BOS, EOS]
    assert task.decode(task.encode(text, side="tgt")) == text
    assert all(mark in source and mark in target for source, target in task.examples(20, seeded()))


def test_pieces_are_used_as_a_vocabulary_is():
    pieces = Subwords(TEXTS, vocab_size=80)
    assert (pieces.pad_id, pieces.bos_id, pieces.eos_id, pieces.unk_id) == (PAD, BOS, EOS, UNK)
    assert len(pieces) == len(pieces.words) <= 80
    assert pieces.encode(["▁cat", "nonsense"], bos=True, eos=True) == [BOS, pieces.words.index("▁cat"), UNK, EOS]
    assert pieces.decode(torch.arange(len(pieces))) == pieces.words
    for bad in (-1, len(pieces)):
        with pytest.raises(ValueError, match=f"ids contains {bad}; expected ids from 0 to {len(pieces) - 1}"):
            pieces.decode([bad])


def test_a_vocabulary_keeps_to_its_size():
    assert len(Subwords([chr(0x4E00 + i) for i in range(500)], vocab_size=100)) == 100
