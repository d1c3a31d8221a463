"""lessons.tasks.prose: the course's own text, and one from a file."""

import pytest

from lessons.tasks.prose import COURSE, read_prose
from tools import prose

LARGEST = 300_000  # bytes
KEPT = 0.5  # of its paragraphs: the others may have been rewritten since the file was made
KNOWN = 0.98  # of its words


def test_the_file_is_the_prose_of_this_course():
    """It need not be that of today. If it is too old: CONTRIBUTING, "A lesson", says how to renew it."""
    today, text = prose.course(), read_prose()
    paragraphs, words = text.splitlines(), text.split()
    assert len(set(paragraphs) & set(today.splitlines())) > KEPT * len(set(paragraphs))
    vocabulary = set(today.split())
    assert sum(word in vocabulary for word in words) > KNOWN * len(words)


def test_the_file_is_small_and_long_enough():
    assert COURSE.stat().st_size <= LARGEST
    assert len(read_prose().split()) > 40_000


def test_code_formulas_tables_and_marks_are_left_out():
    text = read_prose()
    for sign in ("`", "$", "|", "#", "**", "](", "</"):
        assert sign not in text
    assert min(map(len, text.splitlines())) >= prose.SHORTEST


def test_a_file_of_your_own(tmp_path):
    path = tmp_path / "mine.txt"
    path.write_text("One.\nTwo.\n", encoding="utf-8")
    assert read_prose(path) == "One.\nTwo.\n"


def test_a_file_in_another_encoding(tmp_path):
    path = tmp_path / "mine.txt"
    path.write_bytes("一。\n".encode("gb18030"))
    assert read_prose(path, encoding="gb18030") == "一。\n"


@pytest.mark.parametrize("content", [None, b"", b" \n", b"\xff\xfe\xff"])
def test_what_is_no_text_is_refused(tmp_path, content):
    path = tmp_path / "mine.txt"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ValueError, match=r"path is .*mine\.txt.*; expected"):
        read_prose(path)
