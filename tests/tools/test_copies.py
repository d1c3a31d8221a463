"""A learner's copies: made without outputs, brought up to date and reset, and never a cell of theirs is lost."""

import json
import os
import re
import shutil
import subprocess
import sys
from copy import deepcopy

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from lessons import progress, wording
from tests.notebooks.cells import ROOT
from tools import merge, reset, update
from tools.copies import STATES, Copies, CopyError, dated, read, write

NAME = "03_masked_attention.ipynb"


def code(name, source, **metadata):
    return new_code_cell(source, id=name, metadata=metadata)


def text(name, source):
    return new_markdown_cell(source, id=name)


def exercise(name, stub):
    return code(name, stub, tags=["exercise"], stub=stub)


def lesson():
    """The edition: text, a cell with an output, an exercise, its check, and text."""
    shown = code("shown", "print(1)", tags=["answers-prediction"], jupyter={"outputs_hidden": True})
    shown.outputs, shown.execution_count = [new_output("stream", text="1\n")], 1
    cells = [
        text("title", "# Masks"),
        shown,
        exercise("mine", "def f(): ..."),
        code("check", "exercises.f.check(f)"),
        text("end", "The end"),
    ]
    return new_notebook(cells=cells)


@pytest.fixture
def course(tmp_path, monkeypatch):
    """A course with one lesson, and a learner's copy of it."""
    monkeypatch.setenv("LESSONS_PROGRESS", str(tmp_path / "work" / "progress.jsonl"))
    copies = Copies(tmp_path)
    write(lesson(), copies.notebooks / NAME)
    copies.make_missing()
    return copies


def publish(course, *changes, name=NAME):
    """A new edition: each change does something to the notebook."""
    notebook = read(course.notebooks / name)
    for change in changes:
        change(notebook)
    write(notebook, course.notebooks / name)


def learn(course, *changes, name=NAME):
    """The learner does something in the copy."""
    notebook = read(course.own / name)
    for change in changes:
        change(notebook)
    write(notebook, course.own / name)


def place_of(notebook, name):
    return [cell.id for cell in notebook.cells].index(name)


def cell_of(notebook, name):
    return notebook.cells[place_of(notebook, name)]


def says(name, source):
    return lambda notebook: cell_of(notebook, name).update(source=source)


def without(name):
    return lambda notebook: notebook.cells.pop(place_of(notebook, name))


def after(name, *cells):
    def change(notebook):
        place = place_of(notebook, name) + 1 if name else 0
        notebook.cells[place:place] = deepcopy(list(cells))

    return change


def moved(name, place):
    return lambda notebook: notebook.cells.insert(place, notebook.cells.pop(place_of(notebook, name)))


def sources(course, name=NAME):
    return [cell.source for cell in read(course.own / name).cells]


def all_that_is_kept(course):
    """Every source in every file of the learner's folder."""
    return [cell.source for path in course.own.glob("*.ipynb") for cell in read(path).cells]


ANSWER = says("mine", "def f(): return 1")
NOTE = text("note", "a note of mine")
NOTED = after("shown", NOTE)
NEW_START = merge.NEW_STUB.format("def f(x): ...")
PLAIN = ["# Masks", "print(1)", "def f(): ...", "exercises.f.check(f)", "The end"]
ANSWERED = ["# Masks", "print(1)", "def f(): return 1", "exercises.f.check(f)", "The end"]
SITUATIONS = {  # what the learner did, what the new edition changed, and what the copy then contains
    "nothing, nothing": ([], [], PLAIN),
    "nothing, a text": ([], [says("end", "End")], [*PLAIN[:4], "End"]),
    "nothing, a new stub": ([], [says("mine", "def f(x): ...")], [*PLAIN[:2], "def f(x): ...", *PLAIN[3:]]),
    "an answer, nothing": ([ANSWER], [], ANSWERED),
    "an answer, a text": ([ANSWER], [says("title", "# All masks")], ["# All masks", *ANSWERED[1:]]),
    "an answer, a new stub": (
        [ANSWER],
        [says("mine", "def f(x): ...")],
        [*ANSWERED[:3], NEW_START, *ANSWERED[3:]],
    ),
    "an answer, its exercise removed": (
        [ANSWER],
        [without("mine"), without("check")],
        ["# Masks", "print(1)", merge.ANSWER_OF_OLD, "def f(): return 1", "The end"],
    ),
    "an answer, its exercise moved to the end": (
        [ANSWER],
        [moved("mine", 4)],
        ["# Masks", "print(1)", "exercises.f.check(f)", "The end", "def f(): return 1"],
    ),
    "the answer that is the new stub": (
        [says("mine", "def f(x): ...")],
        [says("mine", "def f(x): ...")],
        [*PLAIN[:2], "def f(x): ...", *PLAIN[3:]],
    ),
    "a changed cell, nothing": ([says("shown", "print(2)")], [], ["# Masks", "print(2)", *PLAIN[2:]]),
    "a changed cell, another one changed": (
        [says("shown", "print(2)")],
        [says("end", "End")],
        ["# Masks", "print(2)", *PLAIN[2:4], "End"],
    ),
    "a cell that both changed": (
        [says("shown", "print(2)")],
        [says("shown", "print(3)")],
        ["# Masks", "print(3)", merge.YOURS_OF_OLD, "print(2)", *PLAIN[2:]],
    ),
    "a cell that both changed in the same way": (
        [says("shown", "print(3)")],
        [says("shown", "print(3)")],
        ["# Masks", "print(3)", *PLAIN[2:]],
    ),
    "a changed cell that is removed": (
        [says("shown", "print(2)")],
        [without("shown")],
        ["# Masks", "print(2)", *PLAIN[2:]],
    ),
    "a note, nothing": ([NOTED], [], [*PLAIN[:2], "a note of mine", *PLAIN[2:]]),
    "a note, a text after it": ([NOTED], [says("end", "End")], [*PLAIN[:2], "a note of mine", *PLAIN[2:4], "End"]),
    "a note, its neighbor removed": (
        [NOTED],
        [without("shown")],
        ["# Masks", merge.GONE, "a note of mine", *PLAIN[2:]],
    ),
    "a note, its neighbor moved": (
        [NOTED],
        [moved("shown", 4)],
        ["# Masks", *PLAIN[2:], "print(1)", "a note of mine"],
    ),
    "two notes, their neighbor removed": (
        [after("shown", NOTE, text("second", "another"))],
        [without("shown")],
        ["# Masks", merge.GONE, "a note of mine", "another", *PLAIN[2:]],
    ),
    "a note at the top, a new title": (
        [after("", NOTE)],
        [says("title", "# All masks")],
        ["a note of mine", "# All masks", *PLAIN[1:]],
    ),
    "a note, a cell added at its place": (
        [NOTED],
        [after("shown", text("more", "more"))],
        [*PLAIN[:2], "a note of mine", "more", *PLAIN[2:]],
    ),
    "nothing, a cell added": ([], [after("shown", text("more", "more"))], [*PLAIN[:2], "more", *PLAIN[2:]]),
    "nothing, a cell removed": ([], [without("shown")], ["# Masks", *PLAIN[2:]]),
    "nothing, cells moved": ([], [moved("title", 4)], [*PLAIN[1:], "# Masks"]),
    "a cell moved, a text": ([moved("end", 0)], [says("title", "# All masks")], ["# All masks", *PLAIN[1:]]),
    "a text deleted, another one changed": (
        [without("end")],
        [says("title", "# All masks")],
        ["# All masks", *PLAIN[1:4]],
    ),
    "a text deleted that is changed": ([without("end")], [says("end", "End")], [*PLAIN[:4], "End"]),
    "an exercise deleted, a text": ([without("mine")], [says("end", "End")], [*PLAIN[:2], PLAIN[3], "End"]),
    "all deleted, a text": ([lambda notebook: notebook.cells.clear()], [says("end", "End")], ["End"]),
    "an answer split in two, a text": (
        [says("mine", "def f():"), after("mine", code("half", "    return 1", tags=["exercise"], stub="def f(): ..."))],
        [says("end", "End")],
        [*PLAIN[:2], "def f():", "    return 1", PLAIN[3], "End"],
    ),
    "a copied cell, a text": (
        [after("end", code("copy", "print(1)"))],
        [says("title", "# All masks")],
        ["# All masks", *PLAIN[1:], "print(1)"],
    ),
    "a cell made Markdown, that cell": (
        [lambda notebook: notebook.cells.__setitem__(1, text("shown", "print(1)"))],
        [says("shown", "print(3)")],
        ["# Masks", "print(3)", merge.YOURS_OF_OLD, "print(1)", *PLAIN[2:]],
    ),
    "everything, everything": (
        [ANSWER, NOTED, says("shown", "print(2)"), without("end")],
        [says("mine", "def f(x): ..."), says("shown", "print(3)"), without("check"), after("title", text("n", "new"))],
        ["# Masks", "new", "print(3)", merge.YOURS_OF_OLD, "print(2)", "a note of mine", ANSWERED[2], NEW_START],
    ),
}


@pytest.mark.one_of(3)
@pytest.mark.parametrize("name", SITUATIONS)
def test_both_sides_changed(course, name):
    learned, published, expected = SITUATIONS[name]
    learn(course, *learned)
    before = (course.own / NAME).read_bytes()
    old_edition, mine = sources(course), {c.source for c in read(course.own / NAME).cells} - set(PLAIN)
    publish(course, *published)
    done, failed = update.update(course)
    assert not failed
    assert sources(course) == expected
    assert mine <= set(sources(course))
    assert set(old_edition) <= set(all_that_is_kept(course)), "the copy of before is next to it"
    assert (before == (course.own / NAME).read_bytes()) is not bool(done)
    assert len(list(course.own.glob("*.ipynb"))) == 1 + len(done)
    assert update.update(course) == ([], []), "a second time there is nothing to do"
    assert sources(course) == expected
    nbformat.validate(read(course.own / NAME))


@pytest.mark.one_of(3)
@pytest.mark.parametrize("name", SITUATIONS)
def test_without_the_edition_before_nothing_is_lost_either(course, name):
    learned, published, _ = SITUATIONS[name]
    learn(course, *learned)
    mine = sources(course)
    publish(course, *published)
    (course.origin / NAME).unlink()
    assert update.update(course)[1] == []
    assert set(mine) <= set(all_that_is_kept(course))
    exercises = [cell for cell in read(course.own / NAME).cells if "stub" in cell.metadata]
    assert len({cell.id for cell in exercises}) == len(exercises) <= 1


def test_a_copy_has_no_output_and_nothing_is_folded(course):
    shown = cell_of(read(course.own / NAME), "shown")
    assert (shown.outputs, shown.execution_count) == ([], None)
    assert shown.metadata == {"tags": ["answers-prediction"]}
    assert cell_of(read(course.own / NAME), "mine").metadata.stub == "def f(): ..."
    assert cell_of(read(course.notebooks / NAME), "shown").outputs, "the edition stays as it is"


def test_outputs_stay_where_the_code_does(course):
    def run(notebook):
        cell_of(notebook, "shown").update(outputs=[new_output("stream", text="1\n")], execution_count=7)
        cell_of(notebook, "check").update(outputs=[new_output("stream", text="no")], execution_count=8)

    learn(course, run)
    publish(course, says("check", "exercises.g.check(f)"))
    update.update(course)
    after_it = read(course.own / NAME)
    assert cell_of(after_it, "shown").execution_count == 7 and cell_of(after_it, "shown").outputs
    assert cell_of(after_it, "check").execution_count is None and not cell_of(after_it, "check").outputs


def test_an_unchanged_course_is_not_read_again(course, monkeypatch):
    course.outdated()
    asked = []
    monkeypatch.setattr(Copies, "is_outdated", lambda self, name: asked.append(name))
    assert course.outdated() == asked == []
    learn(course, lambda notebook: notebook.cells.append(text("own", "A note")))
    assert course.outdated() == [] and asked == [NAME]
    publish(course, lambda notebook: notebook.cells.append(text("more", "More")))
    course.outdated()
    Copies(course.own.parent, "zh_CN").outdated()
    assert asked == [NAME] * 3


@pytest.mark.parametrize("content", ["", "{", "[]", '{"x": 1}'])
def test_what_is_known_of_the_copies_may_be_anything(course, content):
    (course.origin / STATES).write_text(content)
    publish(course, lambda notebook: notebook.cells.append(text("more", "More")))
    assert course.outdated() == course.outdated() == [NAME]


def test_outputs_of_the_edition_alone_are_no_new_edition(course):
    publish(course, lambda notebook: cell_of(notebook, "shown").update(outputs=[], execution_count=3))
    assert course.outdated() == []


def test_lessons_added_renamed_and_removed(course):
    learn(course, ANSWER)
    write(lesson(), course.notebooks / "04_heads.ipynb")
    (course.notebooks / NAME).rename(course.notebooks / "03_masks.ipynb")
    done, failed = update.update(course)
    assert (done, failed) == ([f"{NAME} is now 03_masks.ipynb.", "04_heads.ipynb is new."], [])
    assert sources(course, "03_masks.ipynb") == ANSWERED
    (course.notebooks / "03_masks.ipynb").unlink()
    assert update.update(course) == ([], [])
    assert sources(course, "03_masks.ipynb") == ANSWERED


def test_a_renamed_lesson_that_also_changed(course):
    learn(course, ANSWER)
    (course.notebooks / NAME).rename(course.notebooks / "03_masks.ipynb")
    publish(course, says("end", "End"), name="03_masks.ipynb")
    assert update.update(course)[1] == []
    assert sources(course, "03_masks.ipynb") == [*ANSWERED[:4], "End"]


def renamed(course, old, new):
    (course.notebooks / old).rename(course.notebooks / new)


def test_a_reset_does_not_hide_the_answers_of_a_renamed_lesson(course, capsys):
    learn(course, NOTED)
    renamed(course, NAME, "03_masks.ipynb")
    assert reset.main("03", course.own.parent) == 0
    assert f"{NAME} is now 03_masks.ipynb." in capsys.readouterr().out
    assert "a note of mine" in sources(course, "03_masks.ipynb")
    assert [path.name for path in course.own.glob("*.ipynb")] == ["03_masks.ipynb"]


def test_a_renamed_copy_takes_the_place_of_one_in_which_nothing_was_written(course):
    learn(course, ANSWER)
    renamed(course, NAME, "03_masks.ipynb")
    course.make_missing()
    learn(course, lambda notebook: cell_of(notebook, "shown").update(execution_count=1), name="03_masks.ipynb")
    assert update.update(course) == ([f"{NAME} is now 03_masks.ipynb."], [])
    assert sources(course, "03_masks.ipynb") == ANSWERED
    assert not (course.own / NAME).exists()


@pytest.mark.parametrize("spoil", [lambda path: path.write_text("{"), lambda path: path.unlink()])
@pytest.mark.parametrize("known", [True, False])
def test_a_renamed_copy_takes_no_place_where_something_was_written(course, spoil, known):
    learn(course, ANSWER)
    renamed(course, NAME, "03_masks.ipynb")
    course.make_missing()
    learn(course, NOTED, name="03_masks.ipynb")
    if not known:
        spoil(course.origin / "03_masks.ipynb")
    update.update(course)
    assert "a note of mine" in sources(course, "03_masks.ipynb")
    assert sources(course) == ANSWERED
    (course.own / "03_masks.ipynb").write_text("{")
    update.update(course)
    assert (course.own / "03_masks.ipynb").read_text() == "{"


@pytest.mark.parametrize("content", ["<<<<<<< HEAD", "{", b"\xff\xfe\x00"])
def test_a_damaged_file_of_the_course_is_not_taken_for_the_learners(course, content):
    learn(course, ANSWER)
    write(lesson(), course.notebooks / "04_heads.ipynb")
    (course.notebooks / NAME).write_bytes(content if isinstance(content, bytes) else content.encode())
    for there in (True, False):
        done, (failed,) = update.update(course)
        assert done == ["04_heads.ipynb is new."] * there
        assert f"`git checkout HEAD -- notebooks/{NAME}`" in failed
        assert "move it away" not in failed
        assert (course.own / NAME).exists() is there
        (course.own / NAME).unlink(missing_ok=True)
    shutil.copy(course.notebooks / "04_heads.ipynb", course.notebooks / NAME)
    assert update.update(course) == ([f"{NAME} is new."], [])


@pytest.mark.parametrize("command", [update.main, lambda root: reset.main("03", root)])
def test_an_unknown_language_gets_a_sentence(course, monkeypatch, command):
    monkeypatch.setattr(wording, "_now", None)
    monkeypatch.setenv("LESSONS_LANG", "fr")
    with pytest.raises(SystemExit, match=r"LESSONS_LANG is 'fr'; expected one of en, zh_CN"):
        command(course.own.parent)


@pytest.mark.parametrize(
    ("content", "story"),
    [
        ("", "not a valid notebook"),
        ("{", "not a valid notebook"),
        ("[]", "not a valid notebook"),
        ('{"cells": []}', "not a valid notebook"),
        ('<<<<<<< HEAD\n{"cells": []}\n=======\n', "conflict markers"),
        ('{"cells": [],\n<<<<<<< HEAD\n"metadata": {}, "nbformat": 4}', "conflict markers"),
        ('{"worksheets": [], "metadata": {}, "nbformat": 3, "nbformat_minor": 0}', "has notebook format 3; expected 4"),
        ('{"cells": [], "metadata": {}, "nbformat": 5, "nbformat_minor": 0}', "format|valid"),
        ('{"cells": [{"cell_type": "poem"}], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}', "not a valid"),
        (b"\xff\xfe\x00", "cannot be read"),
    ],
)
def test_a_file_that_is_no_notebook_is_left_as_it_is(course, capsys, content, story):
    content = content if isinstance(content, bytes) else content.encode()
    (course.own / NAME).write_bytes(content)
    publish(course, says("end", "End"))
    assert update.main(course.own.parent) == 1
    assert re.search(story, capsys.readouterr().err)
    assert reset.main("03", course.own.parent) == 1
    said = capsys.readouterr().err
    assert re.search(story, said) and "Traceback" not in said and said.count("\n") == 1
    assert (course.own / NAME).read_bytes() == content
    assert len(list(course.own.glob("*.ipynb"))) == 1


def test_one_broken_copy_does_not_stop_the_others(course):
    write(lesson(), course.notebooks / "04_heads.ipynb")
    course.make_missing()
    (course.own / NAME).write_text("{")
    publish(course, says("end", "End"), name="04_heads.ipynb")
    done, failed = update.update(course)
    assert len(done) == len(failed) == 1
    assert sources(course, "04_heads.ipynb")[-1] == "End"


def test_a_notebook_of_an_older_jupyter_has_no_ids_and_keeps_its_cells(course):
    older = json.loads((course.own / NAME).read_text())
    older["nbformat_minor"] = 4
    for cell in older["cells"]:
        del cell["id"]
    older["cells"][2]["source"] = "def f(): return 1"
    (course.own / NAME).write_text(json.dumps(older))
    publish(course, says("end", "End"))
    assert update.update(course)[1] == []
    assert {"def f(): return 1", "End"} <= set(sources(course))


def test_two_cells_with_the_same_id(course):
    twice = read(course.own / NAME)
    twice.cells.append(deepcopy(cell_of(twice, "mine")))
    twice.cells[-1].source = "def f(): return 2"
    (course.own / NAME).write_text(json.dumps(twice))
    publish(course, says("end", "End"))
    assert update.update(course)[1] == []
    assert "def f(): return 2" in sources(course)


def test_a_copy_that_is_read_only(course, monkeypatch):
    learn(course, ANSWER)
    publish(course, says("end", "End"))
    before = (course.own / NAME).read_bytes()
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # root may write to every file
    done, (failed,) = update.update(course)
    assert not done and "cannot be written (Permission denied)" in failed
    assert (course.own / NAME).read_bytes() == before


class FullDisk:
    """Writing fails at the nth file, when it is to take its place."""

    def __init__(self, monkeypatch, fails_at):
        self.left = fails_at
        self.replace = os.replace
        monkeypatch.setattr(os, "replace", self)

    def __call__(self, *paths):
        self.left -= 1
        if self.left < 0:
            raise OSError(28, "No space left on device")
        return self.replace(*paths)


@pytest.mark.parametrize("fails_at", range(3))
def test_a_full_disk_loses_nothing_and_the_next_update_goes_on(course, monkeypatch, fails_at):
    learn(course, ANSWER, NOTED, says("shown", "print(2)"))
    mine = sources(course)
    publish(course, says("mine", "def f(x): ..."), says("shown", "print(3)"))
    with monkeypatch.context() as patch:
        FullDisk(patch, fails_at)
        _, (failed,) = update.update(course)
        assert "cannot be written (No space left on device)" in failed
    assert set(mine) <= set(all_that_is_kept(course))
    assert not list(course.own.glob("**/.*tmp"))
    assert update.update(course)[1] == []
    both = ["print(3)", merge.YOURS_OF_OLD, "print(2)", "a note of mine", ANSWERED[2], NEW_START]
    assert sources(course) == ["# Masks", *both, *ANSWERED[3:]]


def test_an_open_notebook_is_told_to_be_loaded_again(course, capsys):
    learn(course, ANSWER)
    publish(course, says("end", "End"))
    update.main(course.own.parent)
    assert "If one of these notebooks is open in JupyterLab, reload it" in capsys.readouterr().out
    update.main(course.own.parent)
    assert capsys.readouterr().out == "Your copies are up to date.\n"


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (says("title", "# All masks"), ["# All masks", *ANSWERED[1:]]),
        (after("end", text("news", "News")), [*ANSWERED, "News"]),
        (without("shown"), [ANSWERED[0], *ANSWERED[2:]]),
    ],
    ids=["changed", "added", "removed"],
)
def test_a_copy_that_was_saved_over_an_update_gets_it_again(course, change, expected):
    """JupyterLab had it open, with an answer that was not saved, and the learner chose Overwrite."""
    opened = read(course.own / NAME)
    publish(course, change)
    update.update(course)
    ANSWER(opened)
    write(opened, course.own / NAME)
    assert course.outdated() == [NAME]
    assert update.update(course)[1] == []
    assert sources(course) == expected
    assert course.outdated() == []


def test_a_name_with_the_time_is_never_taken_twice(tmp_path):
    path = tmp_path / NAME
    for _ in range(3):
        dated(path).touch()
    assert len(list(tmp_path.iterdir())) == 3


def test_the_learners_own_title_and_kernel_stay(course):
    learn(course, lambda notebook: notebook.metadata.update(title="mine"))
    publish(course, says("end", "End"))
    update.update(course)
    assert read(course.own / NAME).metadata.title == "mine"


# --- make reset ------------------------------------------------------------------------------------------------


def test_the_exercises_go_back_and_nothing_else(course, capsys):
    def run(notebook):
        for cell in notebook.cells:
            if cell.cell_type == "code":
                cell.update(outputs=[new_output("stream", text="…")], execution_count=1)

    learn(course, ANSWER, NOTED, run)
    progress.record("03", "f", "Right")
    progress.record("08", "g", "Right")
    assert reset.main("03", course.own.parent) == 0
    assert sources(course) == [*PLAIN[:2], "a note of mine", *PLAIN[2:]]
    ran = {cell.id for cell in read(course.own / NAME).cells if cell.get("outputs")}
    assert ran == {"shown"}
    assert progress.verdicts() == {("08", "g"): "Right"}
    assert f"{NAME}: 1 exercise is back at the start. As it was before: 03_masked" in capsys.readouterr().out
    assert "def f(): return 1" in all_that_is_kept(course)


def test_with_nothing_to_reset_no_file_is_touched(course, capsys):
    before = (course.own / NAME).stat().st_mtime_ns
    assert reset.main("03", course.own.parent) == 0
    assert (course.own / NAME).stat().st_mtime_ns == before
    assert "0 exercises are back at the start.\n" in capsys.readouterr().out
    assert len(list(course.own.glob("*.ipynb"))) == 1


@pytest.mark.parametrize(
    "change",
    [
        without("mine"),
        lambda notebook: (without("mine")(notebook), without("check")(notebook)),
        lambda notebook: notebook.cells.__setitem__(2, text("mine", "def f(): ...")),
        after("mine", code("half", "    return 1", tags=["exercise"], stub="def f(): ...")),
        after("title", code("half", "def f():", tags=["exercise"], stub="def f(): ...")),
    ],
)
def test_exercises_that_were_deleted_split_or_made_text_are_restored_once(course, change):
    learn(course, ANSWER, change)
    assert reset.main("03", course.own.parent) == 0
    wanted = [source for source in PLAIN if source in sources(course)]
    assert sources(course) == wanted and "def f(): ..." in wanted


def test_a_duplicate_made_by_jupyterlab_is_another_file(course):
    duplicate = course.own / "03_masked_attention-Copy1.ipynb"
    learn(course, ANSWER)
    duplicate.write_bytes((course.own / NAME).read_bytes())
    before = duplicate.read_bytes()
    assert reset.main("03", course.own.parent) == 0
    assert sources(course) == PLAIN and duplicate.read_bytes() == before


def test_a_copy_that_is_not_there_is_made(course):
    (course.own / NAME).unlink()
    assert reset.main("03", course.own.parent) == 0
    assert sources(course) == PLAIN


@pytest.mark.parametrize("number", ["", "3", "17", "*", "../03", "03 08", "'", '"; rm -rf x; "'])
def test_a_lesson_that_is_not_there_is_said(course, capsys, number):
    assert reset.main(number, course.own.parent) == 1
    said = capsys.readouterr().err
    assert said == f"LESSON is {number!r}; expected one of 03: make reset LESSON=03\n"


@pytest.mark.one_of(5)
@pytest.mark.parametrize("number", ["", "'", '"; echo no; "', "$(echo no)", "`echo no`"])
def test_make_hands_every_name_over(number):
    variables = ["SETUP=@true", f"VENV_PYTHON={sys.executable}", f"LESSON={number.replace('$', '$$')}"]
    done = subprocess.run(["make", "reset", *variables], cwd=ROOT, capture_output=True, text=True)
    assert f"LESSON is {number!r}; expected one of 00, 01," in done.stderr and "Traceback" not in done.stderr


# --- the course itself -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    root = tmp_path_factory.mktemp("course")
    (root / "notebooks").symlink_to(ROOT / "notebooks")
    (root / "images").symlink_to(ROOT / "images")
    copies = Copies(root)
    copies.make_missing()
    return copies


def test_every_lesson_has_its_copy_and_the_copies_are_up_to_date(whole):
    assert [path.name for path in sorted(whole.own.glob("*.ipynb"))] == whole.names()
    assert whole.outdated() == []
    assert update.update(whole) == ([], [])


def test_every_link_and_picture_of_a_copy_is_found_from_its_folder(whole):
    found = 0
    for name in whole.names():
        for cell in read(whole.own / name).cells:
            if cell.cell_type == "markdown":
                for target in re.findall(r"\]\(([^)#\s]+)|(?:src|href)=\"([^\"#]+)", cell.source):
                    path = "".join(target)
                    if not re.match(r"\w+:", path):
                        assert (whole.own / path).exists(), (name, path)
                        found += 1
    assert found > 20


def test_git_ignores_the_copies():
    ignored = subprocess.run(["git", "check-ignore", f"work/{NAME}", "work/.course/x"], cwd=ROOT, capture_output=True)
    assert ignored.returncode == 0


def test_an_error_names_the_file():
    with pytest.raises(CopyError, match=r"nowhere\.ipynb cannot be read"):
        read(ROOT / "nowhere.ipynb")
