"""tools/site: where it may build."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.notebooks.cells import ROOT
from tools.site import build as site


class Stopped(Exception):
    """Somebody stopped the build, when the first page was prepared."""


@pytest.fixture(autouse=True)
def stops(monkeypatch):
    def stop(*_):
        raise Stopped

    monkeypatch.setattr(site, "page_in_language", stop)


def files_in(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


@pytest.mark.parametrize("name", ["pages", "pages-source"])
def test_a_folder_with_something_else_in_it_is_left_as_it_is(tmp_path, name):
    (tmp_path / name).mkdir()
    (tmp_path / name / "thesis.txt").touch()
    with pytest.raises(FileExistsError, match=f"{name} is not empty, and no earlier build of the site made it"):
        site.build(tmp_path / "pages")
    assert files_in(tmp_path) == [name, f"{name}/thesis.txt"]


def test_the_folder_one_is_in_is_left_as_it_is(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "thesis.txt").touch()
    with pytest.raises(FileExistsError):
        site.build(Path())
    assert files_in(tmp_path) == ["thesis.txt"]


def test_what_an_earlier_build_made_is_replaced_also_where_it_was_stopped(tmp_path):
    target = tmp_path / "pages"
    target.mkdir()
    for _ in range(2):
        with pytest.raises(Stopped):
            site.build(target)
        assert not target.exists()
        target.mkdir()
        (target / "old.html").touch()


@pytest.mark.thorough("starts a process that imports Sphinx")
def test_the_command_says_it_in_a_sentence(tmp_path):
    (tmp_path / "thesis.txt").touch()
    result = subprocess.run([sys.executable, "-m", "tools.site", tmp_path], cwd=ROOT, capture_output=True, text=True)
    assert result.returncode == 1
    assert result.stderr == f"{tmp_path} is not empty, and no earlier build of the site made it: name another folder\n"
    assert files_in(tmp_path) == ["thesis.txt"]
