"""tools/check.py asks pyright again after any change of what it reads."""

import shutil

import pytest

from tools.check import fingerprint


@pytest.fixture
def course(tmp_path):
    for name in ["lessons/masks.py", "tools/lab.py", "pyproject.toml", "requirements-dev.txt", "tests/test_masks.py"]:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("a")
    return tmp_path


@pytest.mark.parametrize("name", ["lessons/masks.py", "tools/lab.py", "pyproject.toml", "requirements-dev.txt"])
def test_any_change_of_what_pyright_reads_is_another_fingerprint(course, name):
    before = fingerprint(course)
    (course / name).write_text("b")
    assert fingerprint(course) != before
    (course / name).write_text("a")
    assert fingerprint(course) == before


def test_a_new_name_is_another_fingerprint_and_a_test_is_not(course):
    before = fingerprint(course)
    (course / "tests" / "test_masks.py").write_text("b")
    assert fingerprint(course) == before
    shutil.move(course / "lessons" / "masks.py", course / "lessons" / "mask.py")
    assert fingerprint(course) != before
