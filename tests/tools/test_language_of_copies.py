"""A learner's copies change their language, and nothing that the learner wrote is lost."""

import os

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from lessons import wording
from tools import lab
from tools.copies import Copies, CopyError, copies_of, read, write
from tools.language import switch
from tools.translation import catalogs
from tools.update import update

NAME = "03_masks.ipynb"
CHINESE = {"# Masks": "# 掩码", "Your mask.": "你的掩码。", "The end": "结束"}


def lesson():
    stub = 'def f():\n    """Your mask."""\n    ...'
    return new_notebook(
        cells=[
            new_markdown_cell("# Masks", id="title"),
            new_code_cell(stub, id="mine", metadata={"tags": ["exercise"], "stub": stub}),
            new_code_cell("exercises.f.check(f)", id="check"),
            new_markdown_cell("The end", id="end"),
        ]
    )


@pytest.fixture
def course(tmp_path, monkeypatch):
    """A course with one lesson, whose catalog is above."""
    monkeypatch.setattr(catalogs, "text_in", lambda language, name, context, message: CHINESE.get(message, message))
    write(lesson(), tmp_path / "notebooks" / NAME)
    return tmp_path


def sources(course):
    return [cell.source for cell in read(course / "work" / NAME).cells]


def says(course, name, source):
    notebook = read(course / "work" / NAME)
    next(cell for cell in notebook.cells if cell.id == name).source = source
    write(notebook, course / "work" / NAME)


IN_CHINESE = ["# 掩码", 'def f():\n    """你的掩码。"""\n    ...', "exercises.f.check(f)", "结束"]


def test_new_copies_are_in_the_language(course):
    copies = Copies(course, "zh_CN")
    assert switch(copies) == []
    copies.make_missing()
    assert sources(course) == IN_CHINESE
    assert copies.outdated() == []
    assert read(course / "work" / NAME).cells[1].metadata.stub == IN_CHINESE[1]


def test_copies_that_nobody_changed_are_made_anew_without_a_word(course):
    Copies(course, "en").make_missing()
    assert switch(Copies(course, "zh_CN")) == []
    assert sources(course) == IN_CHINESE
    assert [path.name for path in (course / "work").glob("*.ipynb")] == [NAME]
    switch(Copies(course, "en"))
    assert sources(course) == [cell.source for cell in lesson().cells]


def test_what_the_learner_wrote_stays_and_the_copy_before_is_kept(course):
    Copies(course, "en").make_missing()
    says(course, "mine", "def f(): return 1")
    says(course, "end", "The end, I say")
    (done,) = switch(Copies(course, "zh_CN"))
    assert done.startswith(f"{NAME} is in zh_CN now; as it was before: 03_masks 2")
    assert sources(course) == ["# 掩码", "def f(): return 1", "exercises.f.check(f)", "The end, I say"]
    (before,) = (path for path in (course / "work").glob("*.ipynb") if path.name != NAME)
    assert "The end, I say" in before.read_text(encoding="utf-8")
    assert Copies(course, "zh_CN").outdated() == []


def test_it_is_done_once(course):
    copies = Copies(course, "zh_CN")
    switch(copies)
    copies.make_missing()
    says(course, "end", "mine")
    assert switch(copies) == []
    assert copies.made_in() == "zh_CN"
    assert sources(course)[-1] == "mine"


def test_a_copy_that_cannot_be_read_stops_it_and_nothing_is_lost(course):
    Copies(course, "en").make_missing()
    (course / "work" / NAME).write_text("no notebook", encoding="utf-8")
    with pytest.raises(CopyError, match="is not a valid notebook"):
        switch(Copies(course, "zh_CN"))
    assert (course / "work" / NAME).read_text(encoding="utf-8") == "no notebook"
    assert Copies(course, "zh_CN").made_in() == "en"


def test_an_update_in_another_language_takes_no_answer_for_an_old_one(course):
    Copies(course, "en").make_missing()
    says(course, "mine", "def f(): return 1")
    done, failed = update(Copies(course, "zh_CN"))
    assert len(done) == 1 and failed == []
    assert sources(course) == ["# 掩码", "def f(): return 1", "exercises.f.check(f)", "结束"]
    assert Copies(course).made_in() == "zh_CN"


def test_a_renamed_lesson_changes_its_language_too(course):
    Copies(course, "en").make_missing()
    says(course, "mine", "def f(): return 1")
    (course / "notebooks" / NAME).rename(course / "notebooks" / "03_hiding.ipynb")
    assert update(Copies(course, "zh_CN"))[1] == []
    renamed = read(course / "work" / "03_hiding.ipynb")
    assert [cell.source for cell in renamed.cells] == ["# 掩码", "def f(): return 1", "exercises.f.check(f)", "结束"]


def test_a_copy_that_cannot_be_read_stops_an_update_in_another_language(course):
    Copies(course, "en").make_missing()
    (course / "work" / NAME).write_text("no notebook", encoding="utf-8")
    done, (failed,) = update(Copies(course, "zh_CN"))
    assert done == [] and "is not a valid notebook" in failed
    assert Copies(course, "zh_CN").made_in() == "en"


def test_a_language_that_was_given_to_an_update_stays(course, monkeypatch):
    Copies(course, "en").make_missing()
    monkeypatch.setenv("LESSONS_LANG", "en")
    update(Copies(course, "en"))
    assert wording.read_choice(course / "work" / ".course" / "language") == "en"


@pytest.fixture
def started(course, monkeypatch):
    """What JupyterLab is started with, in this course."""
    found = []
    monkeypatch.chdir(course)
    monkeypatch.setattr(lab, "ROOT", course)
    monkeypatch.setattr(lab, "FIRST_LESSON", "03")
    monkeypatch.setattr(lab, "copies_of", lambda: copies_of(course))
    monkeypatch.setattr(wording, "CHOICE", course / "work" / ".course" / "language")
    monkeypatch.setattr(wording, "_now", None)
    monkeypatch.setattr("jupyterlab.labapp.LabApp.launch_instance", found.append)
    for name in ("LC_ALL", "LC_MESSAGES", "LANG", "LESSONS_LANG", "LESSON", "JUPYTER_CONFIG_PATH"):
        monkeypatch.delenv(name, raising=False)
    return found


def test_the_language_is_chosen_once(course, started, monkeypatch):
    english = [cell.source for cell in lesson().cells]
    for given, wanted in [("zh_CN", IN_CHINESE), (None, IN_CHINESE), ("en", english), (None, english)]:
        monkeypatch.setattr(wording, "_now", None)
        monkeypatch.delenv("LESSONS_LANG", raising=False)
        if given:
            monkeypatch.setenv("LESSONS_LANG", given)
        lab.main([])
        assert sources(course) == wanted
        assert os.environ["LESSONS_LANG"] == Copies(course).made_in()
    assert len(started) == 4


def test_the_systems_language_counts_where_none_was_chosen(course, started, monkeypatch):
    monkeypatch.setenv("LANG", "zh_CN.UTF-8")
    lab.main([])
    assert sources(course) == IN_CHINESE


def test_an_unknown_language_is_refused(course, started, monkeypatch):
    monkeypatch.setenv("LESSONS_LANG", "zh_XX")
    with pytest.raises(SystemExit, match=r"LESSONS_LANG is 'zh_XX'; expected one of en, zh_CN"):
        lab.main([])
    assert not started
    assert not (course / "work").exists()
