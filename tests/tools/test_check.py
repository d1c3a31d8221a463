"""tools/check.py asks pyright again about whatever a change may concern, and about nothing else."""

import pytest

from tools import check

SOURCES = {
    "lessons/__init__.py": "",
    "lessons/masks.py": "import torch",
    "lessons/layers.py": "from lessons import masks",
    "lessons/widgets/__init__.py": "from .studio.widget import Studio",
    "lessons/widgets/studio/widget.py": "def draw():\n    from lessons.layers import Encoder",
    "lessons/vocabulary.py": "",
    "tools/lab.py": "import lessons.vocabulary",
    "tests/test_masks.py": "from lessons import masks",
    "pyproject.toml": "",
    "requirements-dev.txt": "",
}
MASKS = {"lessons/masks.py", "lessons/layers.py", "lessons/widgets/__init__.py", "lessons/widgets/studio/widget.py"}
ALL = {name for name in SOURCES if name.endswith(".py") and not name.startswith("tests")}


@pytest.fixture
def course(tmp_path):
    for name, source in SOURCES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(source)
    return tmp_path


@pytest.mark.parametrize(
    ("name", "source", "concerned"),
    [
        ("lessons/masks.py", "import torch\n", MASKS),
        ("lessons/masks.py", "import torch, (", MASKS),
        ("lessons/widgets/__init__.py", "", {"lessons/widgets/__init__.py"}),
        ("lessons/vocabulary.py", "a = 1", {"lessons/vocabulary.py", "tools/lab.py"}),
        ("lessons/bias.py", "", {"lessons/bias.py"}),
        ("tests/test_masks.py", "", set()),
        ("pyproject.toml", "[tool.pyright]", ALL),
        ("requirements-dev.txt", "torch", ALL),
    ],
)
def test_pyright_is_asked_about_what_a_change_concerns(course, name, source, concerned):
    before = check.fingerprints(course)
    assert set(before) == ALL
    assert check.fingerprints(course) == before
    (course / name).parent.mkdir(exist_ok=True)
    (course / name).write_text(source)
    after = check.fingerprints(course)
    assert {name for name in after if after[name] != before.get(name)} == concerned


def test_what_imports_a_file_that_is_gone_is_checked_again(course, monkeypatch):
    monkeypatch.setattr(check, "PASSED", course / "passed.json")
    assert set(check.types_to_check(check.fingerprints(course))) == ALL
    check.remember(check.fingerprints(course))
    assert check.types_to_check(check.fingerprints(course)) == []
    (course / "lessons" / "vocabulary.py").unlink()
    assert check.types_to_check(check.fingerprints(course)) == ["tools/lab.py"]
