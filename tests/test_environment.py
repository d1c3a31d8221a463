"""The environment check says in words what is wrong."""

import ast
import json
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from lessons import environment
from lessons.environment import USED, check_environment, installed, pinned, problems

ROOT = Path(__file__).resolve().parents[1]
GOOD = {"torch": "2.13.0", "numpy": "2.4.6"}


def test_nothing_is_wrong():
    assert problems((3, 11), GOOD, GOOD) == []
    assert problems((3, 14), GOOD, {**GOOD, "torch": "2.13.0+cpu"}) == []


@pytest.mark.parametrize(
    ("python", "found", "sentence"),
    [
        ((3, 10), GOOD, "this is Python 3.10; the course needs 3.11 or newer."),
        ((3, 11), {**GOOD, "torch": "2.12.1"}, "torch is 2.12.1; the lessons were made with 2.13.0."),
        ((3, 11), {**GOOD, "numpy": "2.4.7"}, "numpy is 2.4.7; the lessons were made with 2.4.6."),
        ((3, 11), {**GOOD, "numpy": None}, "numpy is not installed in the Python that this notebook runs in"),
    ],
)
def test_what_is_wrong_is_named(python, found, sentence):
    (problem,) = problems(python, GOOD, found)
    assert problem.startswith(sentence)


def test_the_packages_that_are_compared_are_pinned_and_installed():
    assert set(pinned()) == set(USED)
    assert pinned()["torch"] == "2.13.0" and None not in pinned().values()
    assert {name: version.split("+")[0] for name, version in installed().items()} == pinned()


def test_a_package_that_pip_installed_knows_what_it_needs(monkeypatch, tmp_path):
    monkeypatch.setattr(environment, "REQUIREMENTS", tmp_path / "requirements.txt")
    monkeypatch.setattr(metadata, "requires", {"transformer-lessons": ["torch==2.13.0", "numpy", "nbval"]}.get)
    assert pinned() == {"torch": "2.13.0", "numpy": None}
    assert problems((3, 11), pinned(), {"torch": "2.13.0", "numpy": "1.0"}) == []
    assert len(problems((3, 11), pinned(), {"torch": "2.12.0", "numpy": None})) == 2


def test_every_package_that_lessons_import_is_a_dependency_and_checked():
    sources = [path.read_text(encoding="utf-8") for path in (ROOT / "lessons").rglob("*.py")]
    for path in (ROOT / "notebooks").glob("*.ipynb"):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        sources += ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    imported = {name.split(".")[0] for source in sources for name in imported_by(source)}
    foreign = imported - set(sys.stdlib_module_names) - {"lessons"}
    assert {"torch", "anywidget", "sacrebleu"} <= foreign
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    asked_for = {canonicalize_name(Requirement(line).name) for line in project["dependencies"]}
    packages = metadata.packages_distributions()
    found = {name: set(map(canonicalize_name, packages.get(name, []))) for name in foreign}
    assert {name for name in foreign if not asked_for & found[name]} == set()
    assert {name for name in foreign if not found[name] & set(USED)} == set()


def imported_by(source):
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node.module


def test_a_package_that_is_not_there(monkeypatch):
    def version(name):
        if name == "seaborn":
            raise metadata.PackageNotFoundError(name)
        return "1.0"

    monkeypatch.setattr(metadata, "version", version)
    assert installed() == {name: None if name == "seaborn" else "1.0" for name in USED}


def test_what_is_printed(monkeypatch, capsys):
    check_environment()
    assert capsys.readouterr().out == "Everything is in place: Python, torch, and all that the lessons import.\n"
    monkeypatch.setattr(environment, "installed", lambda: {**pinned(), "torch": "1.0"})
    check_environment()
    assert capsys.readouterr().out == (
        "Not right: torch is 1.0; the lessons were made with 2.13.0.\n"
        "Close JupyterLab and start it with `make lab` in the folder of the course.\n"
    )
