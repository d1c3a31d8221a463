"""Accounts of a class, and what stands in the way of one."""

import os
import stat
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

pytest.importorskip("pwd", reason="a class needs Linux: Windows has no such accounts")
from tools.classroom import __main__ as start
from tools.classroom import accounts
from tools.classroom.__main__ import check_that_all_can_read, main
from tools.classroom.accounts import ClassError, make, names_in, passwords
from tools.classroom.learner import COPIED, LINKED
from tools.copies import ROOT


@pytest.fixture
def commands(monkeypatch):
    """What the system was asked to do; it isn't done."""
    asked = []
    monkeypatch.setattr(accounts, "_system", lambda *command, said="": asked.append((command, said)))
    return asked


def test_names_are_read_one_a_line(tmp_path):
    (tmp_path / "learners.txt").write_text("# Monday\nanna\n\n  ben-2 \n")
    assert names_in(tmp_path / "learners.txt") == ["anna", "ben-2"]


@pytest.mark.parametrize("name", ["Anna", "anna b", "../anna", "-rf", "a:b", "<script>", "x" * 32, "ännä", "7up"])
def test_a_name_that_could_be_something_else_is_refused(tmp_path, name):
    (tmp_path / "learners.txt").write_text(name)
    with pytest.raises(ClassError, match="A name begins with a lowercase letter"):
        names_in(tmp_path / "learners.txt")


@pytest.mark.parametrize(("text", "words"), [(None, "doesn't exist"), ("#\n", "no name"), ("a\nb\na", "'a' twice")])
def test_a_list_that_is_none_is_refused(tmp_path, text, words):
    if text is not None:
        (tmp_path / "learners.txt").write_text(text)
    with pytest.raises(ClassError, match=words):
        names_in(tmp_path / "learners.txt")


@pytest.mark.parametrize("name", ["root", "daemon"])
def test_an_account_of_the_machine_never_becomes_a_learner(tmp_path, commands, name):
    with pytest.raises(ClassError, match="already an account of this machine"):
        make(["anna", name], "course-learners", tmp_path / "sheet")
    assert commands == []


def test_each_account_gets_a_password_of_its_own_once(tmp_path, commands, monkeypatch):
    sheet = tmp_path / "sheet"
    assert make(["anna-x", "ben-x"], "course-learners", sheet) == ["anna-x", "ben-x"]
    first = passwords(sheet)
    assert set(first) == {"anna-x", "ben-x"}
    assert first["anna-x"] != first["ben-x"]
    assert min(map(len, first.values())) == 10
    assert stat.S_IMODE(sheet.stat().st_mode) == 0o600
    assert commands[-1] == (("chpasswd",), "".join(f"{name}:{password}\n" for name, password in first.items()))
    there = {"anna-x", "ben-x"}
    monkeypatch.setattr(accounts, "exists", lambda name: name in there)
    monkeypatch.setattr(accounts, "members", lambda group: sorted(there))
    make(["anna-x", "ben-x", "chen-x"], "course-learners", sheet)
    assert passwords(sheet) == {**first, "chen-x": passwords(sheet)["chen-x"]}
    assert commands[-1][1].startswith("chen-x:")


@pytest.fixture
def sheet(tmp_path, commands, monkeypatch):
    """The sheet of anna-x and ben-x; the account of anna-x was removed since."""
    sheet = tmp_path / "sheet"
    make(["anna-x", "ben-x"], "course-learners", sheet)
    monkeypatch.setattr(accounts, "exists", lambda name: name == "ben-x")
    monkeypatch.setattr(accounts, "members", lambda group: ["ben-x"])
    return sheet


def test_an_account_that_was_removed_and_comes_back_gets_a_new_password(sheet, commands):
    before = passwords(sheet)
    assert make(["anna-x", "ben-x"], "course-learners", sheet) == ["anna-x"]
    after = passwords(sheet)
    assert after["anna-x"] != before["anna-x"] and after["ben-x"] == before["ben-x"]
    assert commands[-1] == (("chpasswd",), f"anna-x:{after['anna-x']}\n")


def test_an_account_that_was_removed_leaves_the_sheet(sheet, commands):
    before = passwords(sheet)
    make(["ben-x"], "course-learners", sheet)
    assert passwords(sheet) == {"ben-x": before["ben-x"]}
    assert commands[-1] == (("groupadd", "--force", "course-learners"), "")


def test_a_password_that_could_not_be_set_is_not_on_the_sheet(tmp_path, monkeypatch):
    sheet, asked, works = tmp_path / "sheet", [], False
    there = set()

    def system(*command, said=""):
        if command[0] == "useradd":
            there.add(command[-1])
        if command[0] == "chpasswd":
            if not works:
                raise ClassError("chpasswd failed: cannot lock /etc/passwd; try again later.")
            asked.append(said)

    monkeypatch.setattr(accounts, "_system", system)
    monkeypatch.setattr(accounts, "exists", there.__contains__)
    monkeypatch.setattr(accounts, "members", lambda group: sorted(there))
    with pytest.raises(ClassError, match="cannot lock"):
        make(["anna-x"], "course-learners", sheet)
    assert passwords(sheet) == {}
    works = True
    make(["anna-x"], "course-learners", sheet)
    assert asked == [f"anna-x:{passwords(sheet)['anna-x']}\n"]


def test_what_others_cant_read_or_could_change_is_named():
    with TemporaryDirectory() as folder:  # pytest's own are closed to others
        course = Path(folder, "course")
        course.mkdir()
        with pytest.raises(ClassError, match=f"Other accounts can't read {folder}, and the class needs {course}"):
            check_that_all_can_read(course)
        Path(folder).chmod(0o755)
        course.chmod(0o755)
        check_that_all_can_read(course)
        Path(folder).chmod(0o777)
        with pytest.raises(ClassError, match=f"Every account can change {folder}"):
            check_that_all_can_read(course)


def test_a_closed_environment_is_named_though_its_python_is_the_systems(monkeypatch):
    with TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        course = Path(folder, "course")
        python = course / ".venv" / "bin" / "python"
        python.parent.mkdir(parents=True)
        python.symlink_to("/bin/sh")  # that everybody can run
        course.chmod(0o755)
        (course / ".venv").chmod(0o700)
        monkeypatch.setattr(start, "ROOT", course)
        with pytest.raises(ClassError, match=f"can't read {course}/.venv, .*: `chmod -R a\\+rX {course}/.venv`"):
            check_that_all_can_read(python)
        (course / ".venv").chmod(0o755)
        check_that_all_can_read(python)


def test_all_that_learners_use_is_looked_at(monkeypatch):
    class Looked(Exception):
        pass

    def look(*paths):
        raise Looked(paths)

    monkeypatch.setattr(start.sys, "platform", "linux")
    monkeypatch.setattr(os, "geteuid", lambda: 0, raising=False)
    monkeypatch.setattr(start, "check_that_all_can_read", look)
    with pytest.raises(Looked) as error:
        start.start([])
    folders = {path for name in [*LINKED, COPIED] if (path := ROOT / name).is_dir()}
    assert {Path(sys.executable), ROOT / "lessons", ROOT / "tools", *folders} <= set(*error.value.args)


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="only for those who aren't root")
def test_a_class_needs_root(capsys):
    assert main([]) == 1
    assert "root" in capsys.readouterr().err
