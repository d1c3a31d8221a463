"""What the checks said is kept, shown and forgotten."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from lessons import progress
from lessons.exercises import decoder, show_progress, start_here
from tests.notebooks.test_notebooks import NOTEBOOKS, ROOT

RIGHT, NOT_YET = "Right", "Not yet"


@pytest.fixture
def file(tmp_path, monkeypatch):
    path = tmp_path / "progress.jsonl"
    monkeypatch.setenv("LESSONS_PROGRESS", str(path))
    return path


def test_the_last_word_counts(file):
    progress.record("encoder", "my_norm", NOT_YET)
    progress.record("encoder", "my_norm", RIGHT)
    progress.record("decoder", "my_norm", NOT_YET)
    assert progress.verdicts() == {("encoder", "my_norm"): RIGHT, ("decoder", "my_norm"): NOT_YET}


def test_the_file_stays_small(file):
    for _ in range(5):
        progress.record("encoder", "my_norm", RIGHT)
    assert len(file.read_text().splitlines()) == 1


def test_one_lesson_is_forgotten(file):
    progress.record("encoder", "my_norm", RIGHT)
    progress.record("decoder", "my_layer", RIGHT)
    progress.forget("encoder")
    assert progress.verdicts() == {("decoder", "my_layer"): RIGHT}
    progress.record("encoder", "my_norm", RIGHT)
    assert ("encoder", "my_norm") in progress.verdicts()


def test_what_was_never_begun_is_forgotten_without_a_word(file):
    progress.forget("encoder")
    assert not file.exists()
    progress.record("decoder", "my_layer", RIGHT)
    kept = file.read_text()
    progress.forget("encoder")
    assert file.read_text() == kept


def test_the_only_lesson_is_forgotten(file):
    progress.record("encoder", "my_norm", RIGHT)
    progress.forget("encoder")
    assert progress.verdicts() == {}


def test_a_record_holds_what_there_is_to_say(file):
    file.touch()
    progress.record("encoder", "my_norm", RIGHT)
    progress.record("encoder", "my_norm", NOT_YET, "Zeilen – nicht Spalten")
    first, second = file.read_text(encoding="utf-8").splitlines()
    assert first == '{"lesson": "encoder", "exercise": "my_norm", "verdict": "Right"}'
    assert second.endswith('"verdict": "Not yet", "mistake": "Zeilen – nicht Spalten"}')


def test_a_line_that_was_cut_off_harms_no_other(file):
    progress.record("encoder", "one", RIGHT)
    with file.open("a", encoding="utf-8") as opened:
        opened.write('{"lesson": "encoder", "exerc')
    progress.record("encoder", "two", RIGHT)
    assert progress.verdicts() == {("encoder", "one"): RIGHT, ("encoder", "two"): RIGHT}


@pytest.mark.parametrize(
    "line",
    [
        *("[]", "3", "null", "\x00"),
        '{"verdict": "Right"}',
        '{"lesson": 1, "verdict": []}',
        '{"lesson": 1, "exercise": "one", "verdict": "Right"}',
        '{"lesson": "encoder", "exercise": "one", "verdict": "Good"}',
    ],
)
def test_strange_lines_are_passed_over(file, line):
    file.write_text(line + "\n")
    progress.record("encoder", "one", RIGHT)
    assert progress.verdicts() == {("encoder", "one"): RIGHT}


def test_bytes_that_are_no_text_are_passed_over(file):
    file.write_bytes(b"{\xff}\n")
    progress.record("encoder", "one", RIGHT)
    assert progress.verdicts() == {("encoder", "one"): RIGHT}


@pytest.mark.parametrize("junk", ["[" * 200_000, "[" * 2_000_000, "junk\n" * 300_000, '{"a":' * 100_000])
def test_junk_costs_little_and_hides_nothing_that_comes_after_it(file, junk):
    file.write_text(junk)
    progress.record("encoder", "one", RIGHT)
    assert progress.verdicts() == {("encoder", "one"): RIGHT}
    progress.record("encoder", "two", RIGHT)
    assert len(progress.verdicts()) == 2


def test_no_more_than_the_end_of_a_huge_file_is_read(file, monkeypatch):
    with file.open("wb") as opened:
        opened.truncate(2**30)
    progress.record("encoder", "one", RIGHT)
    read, end = [], progress._end
    monkeypatch.setattr(progress, "_end", lambda *arguments: read.append(end(*arguments)) or read[-1])
    assert progress.verdicts() == {("encoder", "one"): RIGHT}
    assert sum(map(len, read)) <= progress.MOST


def test_many_notebooks_may_write(file):
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda i: progress.record("encoder", f"my_{i}", RIGHT), range(100)))
    assert len(progress.verdicts()) == 100


def test_a_folder_that_cannot_be_written_to_is_no_error(tmp_path, monkeypatch):
    monkeypatch.setenv("LESSONS_PROGRESS", str(tmp_path / "no" / "such" / "file"))
    progress.record("encoder", "one", RIGHT)
    assert progress.verdicts() == {}


def test_the_folder_of_the_copies_is_made(tmp_path, monkeypatch):
    monkeypatch.setenv("LESSONS_PROGRESS", str(tmp_path / "work" / "progress.jsonl"))
    progress.record("encoder", "one", RIGHT)
    assert len(progress.verdicts()) == 1


def test_an_empty_name_keeps_nothing_and_none_means_the_folder_of_the_course(monkeypatch):
    monkeypatch.setenv("LESSONS_PROGRESS", "")
    assert progress.kept_in() is None
    progress.record("encoder", "one", RIGHT)
    assert progress.verdicts() == {}
    monkeypatch.delenv("LESSONS_PROGRESS")
    assert progress.kept_in() == ROOT / "work" / "progress.jsonl"
    assert "work/" in (ROOT / ".gitignore").read_text().splitlines()


def test_a_verdict_is_one_of_two(file):
    with pytest.raises(ValueError, match=r"^verdict is 'Good'; expected 'Right' or 'Not yet'$"):
        progress.record("encoder", "one", "Good")


def test_checks_are_kept_and_an_unattempted_one_is_not(file):
    decoder.asking.check(lambda *inputs: None)
    assert not file.exists()
    decoder.asking.check(decoder.asking.reference)
    start_here.row_means.check(lambda x: x.mean(dim=0))
    assert progress.verdicts() == {
        ("08", "my_ask_memory"): RIGHT,
        ("00", start_here.row_means.name): NOT_YET,
    }


def test_the_overview_counts(file):
    before = show_progress()
    assert [lesson.number for lesson in before.lessons] == [name[:2] for name in NOTEBOOKS]
    assert all(lesson.right == lesson.tried == 0 for lesson in before.lessons)
    decoder.asking.check(decoder.asking.reference)
    decoder.three.check(lambda *inputs: inputs[0])
    eight = show_progress().lessons[8]
    assert (eight.number, eight.title, eight.right, eight.tried, eight.total) == ("08", "The decoder", 1, 1, 5)
    assert repr(show_progress()).splitlines()[0].startswith("1 of ")
    assert "08  1 of 5, 1 tried" in repr(show_progress())
    page = show_progress()._repr_html_()
    assert 'value="1" max="5" aria-label="lesson 08"' in page and "The decoder" in page


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_every_exercise_keeps_its_stub(name):
    for cell in NOTEBOOKS[name].cells:
        tagged = "exercise" in cell.metadata.get("tags", [])
        assert cell.metadata.get("stub") == (cell.source if tagged else None)


def test_the_file_is_no_program(file):
    progress.record("encoder", "one", RIGHT)
    assert file.stat().st_mode & 0o111 == 0
