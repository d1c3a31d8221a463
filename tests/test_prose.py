"""lessons.tasks.prose: the course's own text, and one from a file."""

import pytest

from lessons.tasks.prose import COURSE, read_prose
from tools import prose

LARGEST = 300_000  # bytes
MISSING = 0.1  # of the paragraphs may have been rewritten since the file was made


def test_the_file_has_almost_all_that_the_lessons_say_today():
    today = set(prose.course().splitlines())
    assert len(today - set(read_prose().splitlines())) <= MISSING * len(today), "run: python -m tools.prose"


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


@pytest.mark.parametrize("content", [None, b"", b" \n", b"\xff\xfe\xff"])
def test_what_is_no_text_is_refused(tmp_path, content):
    path = tmp_path / "mine.txt"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ValueError, match=r"path is .*mine\.txt.*; expected"):
        read_prose(path)
