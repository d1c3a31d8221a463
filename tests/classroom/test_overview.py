"""The teacher's page: what it says, what it never shows, and what it reads."""

import json
import os
import stat
import subprocess
import sys
from html.parser import HTMLParser
from types import SimpleNamespace

import pytest

pytest.importorskip("pwd", reason="a class needs Linux: Windows has no such accounts")
from lessons import progress
from lessons.exercises.masked_attention import future_hidden
from lessons.progress import NOT_YET, RIGHT, Record
from tools.classroom import overview
from tools.classroom.overview import page, read
from tools.copies import ROOT

MISTAKE = future_hidden.mistakes[3].name
EVIL = "<script>alert(1)</script>\"'&"


class Seen(HTMLParser):
    """The tags of a page, and its text."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.text = [], ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        assert not any(name.startswith("on") for name, _ in attrs)

    def handle_data(self, data):
        self.text += data


def causal(verdict, mistake=""):
    return Record("03", "my_causal", verdict, mistake)


def test_a_check_writes_down_the_mistake_that_it_names(tmp_path, monkeypatch):
    monkeypatch.setenv("LESSONS_PROGRESS", str(tmp_path / "progress.jsonl"))
    assert future_hidden.check(future_hidden.mistakes[3].wrong).mistake is future_hidden.mistakes[3]
    future_hidden.check(future_hidden.mistakes[3].wrong)
    future_hidden.check(future_hidden.reference)
    assert read(tmp_path / "progress.jsonl") == [causal(NOT_YET, MISTAKE), causal(RIGHT)]
    assert progress.verdicts() == {("03", "my_causal"): RIGHT}


def test_what_was_forgotten_is_not_shown(tmp_path, monkeypatch):
    monkeypatch.setenv("LESSONS_PROGRESS", str(tmp_path / "progress.jsonl"))
    progress.record("03", "my_causal", NOT_YET, MISTAKE)
    progress.forget("03")
    assert read(tmp_path / "progress.jsonl") == []


def test_it_says_who_is_stuck_where_and_by_which_mistake():
    said = {
        "anna": [causal(NOT_YET, MISTAKE)],
        "ben": [causal(NOT_YET, MISTAKE), causal(RIGHT)],
        "chen": [causal(NOT_YET)],
    }
    line = overview.line_of("03", future_hidden, said)
    assert (line.right, line.stuck) == (["ben"], ["anna", "chen"])
    assert [(one.name, one.count, one.now) for one in line.met] == [(MISTAKE, 2, ["anna"])]
    text = " ".join(Seen(page(said)).text.split())
    assert f"03 my_causal 2 1 anna, chen {MISTAKE} (anna)" in text
    assert f"{MISTAKE} (2)" in text


def test_nothing_of_a_learner_is_html():
    plain, evil = Seen(page({"anna": [causal(NOT_YET)]})), Seen(page({EVIL: [causal(NOT_YET)]}))
    assert "script" not in evil.tags
    assert evil.tags == plain.tags
    assert EVIL in evil.text


def test_only_the_courses_own_exercises_and_mistakes_are_shown():
    said = [Record("03", EVIL, NOT_YET), Record(EVIL, "my_causal", NOT_YET), causal(NOT_YET, "my secret code")]
    text = page({"anna": said})
    assert "alert" not in text
    assert "my secret code" not in text
    assert "No known mistake." in text


def test_a_name_in_a_file_that_was_sent_is_only_a_name(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(overview, "PAGE", tmp_path / "state" / "overview.html")
    sent = tmp_path / "<script>alert(1)<&>.jsonl"
    sent.write_text(json.dumps({"lesson": "03", "exercise": "my_causal", "verdict": "Right", "code": "secret"}))
    assert overview.main([str(sent)]) == 0
    assert "1 learners" in capsys.readouterr().out
    assert "script" not in Seen(overview.PAGE.read_text()).tags
    assert "secret" not in overview.PAGE.read_text()
    if os.name != "nt":
        assert stat.S_IMODE(overview.PAGE.stat().st_mode) == 0o600
        assert stat.S_IMODE(overview.PAGE.parent.stat().st_mode) == 0o700


def test_what_is_missing_is_said(monkeypatch, capsys):
    monkeypatch.setattr(overview, "members", lambda group: [])
    assert overview.main(["gone.jsonl"]) == 1
    assert "gone.jsonl is no file" in capsys.readouterr().err
    assert overview.main([]) == 1
    assert "There is no class on this machine" in capsys.readouterr().err


def test_two_files_of_one_name_are_refused(tmp_path, capsys):
    sent = [tmp_path / name / "progress.jsonl" for name in ("anna", "ben", "chen")]
    for file in sent:
        file.parent.mkdir()
        file.touch()
    assert overview.main([str(file) for file in sent]) == 1
    assert f"{sent[0]} and {sent[1]} would both be called progress" in capsys.readouterr().err


def test_without_root_it_says_how(monkeypatch, capsys):
    monkeypatch.setattr(overview, "members", lambda group: ["anna"])
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert overview.main([]) == 1
    assert "sudo make overview" in capsys.readouterr().err


WITHOUT_ACCOUNTS = """
import os, sys
sys.modules["pwd"] = sys.modules["grp"] = None
del os.O_NONBLOCK, os.geteuid, os.setgroups
from pathlib import Path
from tools.classroom import overview
overview.PAGE = Path(sys.argv[1], "overview.html")
sys.exit(overview.main(sys.argv[2:]))
"""


def test_sent_files_are_read_where_the_system_has_no_accounts_as_on_windows(tmp_path):
    sent = tmp_path / "anna.jsonl"
    sent.write_text(json.dumps({"lesson": "03", "exercise": "my_causal", "verdict": "Right"}))
    for files, said in [([sent], "1 learners"), ([], "There is no class on this machine")]:
        command = [sys.executable, "-c", WITHOUT_ACCOUNTS, tmp_path, *files]
        result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        assert said in result.stdout + result.stderr
        assert "Traceback" not in result.stderr


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes with a name")
def test_a_pipe_or_a_folder_in_the_place_of_the_file_stops_nothing(tmp_path):
    os.mkfifo(tmp_path / "progress.jsonl")
    assert read(tmp_path / "progress.jsonl") == []
    assert read(tmp_path) == []
    assert read(tmp_path / "none") == []


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can act as somebody else")
def test_a_link_leads_no_further_than_its_owner_can_go(tmp_path, monkeypatch):
    secret = tmp_path / "secret.jsonl"
    secret.write_text(json.dumps({"lesson": "03", "exercise": "my_causal", "verdict": "Right"}))
    secret.chmod(0o600)
    assert read(secret) == [causal(RIGHT)]
    (tmp_path / "course" / "work").mkdir(parents=True)
    (tmp_path / "course" / "work" / "progress.jsonl").symlink_to(secret)
    nobody = SimpleNamespace(pw_dir=str(tmp_path), pw_uid=65534, pw_gid=65534)
    monkeypatch.setattr("pwd.getpwnam", lambda name: nobody)
    before = (os.geteuid(), os.getegid(), os.getgroups())
    assert overview.records_of("anna") == []
    assert (os.geteuid(), os.getegid(), os.getgroups()) == before
