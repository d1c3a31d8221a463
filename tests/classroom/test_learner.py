"""What a learner of a class finds at home."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from uuid import uuid4

import pytest
import zmq
from jupyter_core.paths import jupyter_runtime_dir

pytest.importorskip("pwd", reason="a class needs Linux: Windows has no such accounts")
from tools.classroom import learner
from tools.classroom.accounts import NAME
from tools.classroom.learner import LINKED, prepare
from tools.copies import ROOT


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    folder = tmp_path_factory.mktemp("learner") / "course"
    assert prepare(folder) == []
    return folder


@pytest.fixture
def folder(prepared, tmp_path):
    return shutil.copytree(prepared, tmp_path / "course", symlinks=True)


def test_it_looks_like_the_course_with_copies_of_their_own(folder):
    for name in LINKED:
        assert (folder / name).readlink() == ROOT / name
    names = {path.name for path in (ROOT / "notebooks").glob("*.ipynb")}
    assert {path.name for path in (folder / "work").glob("*.ipynb")} == names
    assert not any(path.is_symlink() for path in [folder / "work", *folder.glob("work/*"), *folder.glob("images/*")])
    assert sorted(os.listdir(folder / "images")) == sorted(os.listdir(ROOT / "images"))


def test_a_new_start_loses_nothing_and_follows_the_course_where_it_moved(folder, tmp_path):
    mine = folder / "work" / "03_masked_attention.ipynb"
    mine.write_text(mine.read_text().replace("Your turn", "My turn"))
    before = mine.read_text()
    moved = tmp_path / "moved"
    moved.symlink_to(ROOT)
    assert prepare(folder, moved) == []
    assert mine.read_text() == before
    assert (folder / "lessons").readlink() == moved / "lessons"


def test_reset_works_on_the_learners_copy(folder):
    environment = {**os.environ, "COURSE_FOLDER": str(folder), "LESSONS_PROGRESS": str(folder / "work/progress.jsonl")}
    mine = folder / "work" / "03_masked_attention.ipynb"
    stub = "def my_causal(num_queries):"
    assert stub in mine.read_text()
    mine.write_text(mine.read_text().replace(stub, stub + "  # mine"))
    command = [sys.executable, "-m", "tools.reset", "03"]
    result = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert "1 exercise is back at the start" in result.stdout, result.stderr
    assert stub + "  # mine" not in mine.read_text()


def test_the_longest_name_leaves_room_for_the_sockets_of_kernels(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "environ", {**os.environ, "HOME": str(tmp_path)})
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(learner, "prepare", lambda folder: folder.mkdir() or [])
    monkeypatch.setattr(os, "execv", lambda *_: None)
    learner.main([])
    runtime = Path(jupyter_runtime_dir()).relative_to(tmp_path)
    socket = Path("/home", "x" * 31, runtime, f"kernel-{uuid4()}-ipc-5")
    assert NAME.fullmatch("x" * 31) and len(str(socket)) <= zmq.IPC_PATH_MAX_LEN
