"""The requirements: what pyproject.toml asks for, on every system and for every Python."""

import ast
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
RUNTIME = PYPROJECT["project"]["dependencies"]
DEVELOPMENT = PYPROJECT["dependency-groups"]["dev"]
CLASS = PYPROJECT["dependency-groups"]["class"]
FILES = ["requirements.txt", "requirements-dev.txt", "requirements-class.txt"]
LOCKS = {name: (ROOT / name).read_text(encoding="utf-8") for name in FILES}
SYSTEMS = ["x86_64-manylinux_2_28", "aarch64-manylinux_2_28", "windows", "macos"]
PYTHONS = ["3.11.0", "3.11.2", "3.12.0", "3.13.0", "3.14.0", "3.14.1"]
# Installed and used, but not imported by `lessons`.
TOOLS = {"jupyterlab", "ipykernel", "ipywidgets", "nbformat", "nbval", "pip", "sacrebleu"}
DISTRIBUTIONS = {"PIL": "pillow"}  # where the name that is imported is another
CUDA = re.compile(r"^(nvidia|cuda|triton)", re.MULTILINE)


def names(requirements):
    return {Requirement(line).name.lower() for line in requirements}


def imported_by_lessons():
    found = set()
    for path in (ROOT / "lessons").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                found |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and not node.level:
                found.add(node.module.partition(".")[0])
    return {DISTRIBUTIONS.get(name, name.lower()) for name in found - sys.stdlib_module_names - {"lessons"}}


def test_a_learner_installs_what_the_lessons_import_and_a_few_tools():
    assert names(RUNTIME) == imported_by_lessons() | TOOLS


def test_every_dependency_has_its_reason():
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    for requirement in [*RUNTIME, *DEVELOPMENT, *CLASS]:
        assert re.search(rf'^    "{re.escape(requirement)}", +# \S', text, re.MULTILINE), requirement


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_names_exact_versions_and_nothing_else(name):
    for line in LOCKS[name].splitlines():
        (version,) = Requirement(line).specifier
        assert version.operator == "=="


@pytest.mark.parametrize("name", LOCKS)
def test_nobody_installs_cuda(name):
    assert not CUDA.search(LOCKS[name])


def test_development_comes_on_top():
    assert set(LOCKS["requirements.txt"].splitlines()) < set(LOCKS["requirements-dev.txt"].splitlines())
    assert names(DEVELOPMENT) <= names(LOCKS["requirements-dev.txt"].splitlines())
    for name in ["playwright", "axe-playwright-python", "ruff", "pyright", "mutmut"]:
        assert name not in names(LOCKS["requirements.txt"].splitlines())


def test_a_class_has_the_versions_that_learners_and_developers_have():
    """So that one environment can have it all."""
    learner, developer, of_a_class = (
        {line.partition("==")[0]: line for line in lock.splitlines()} for lock in LOCKS.values()
    )
    assert learner.items() < of_a_class.items()
    assert all(developer.get(name, line) == line for name, line in of_a_class.items())
    assert names(CLASS) <= set(of_a_class)
    assert not names(CLASS) & set(learner)


@pytest.mark.network
@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.parametrize("system", SYSTEMS)
def test_the_lock_serves_every_system_and_python(system, python):
    """All that pyproject.toml asks for there is in the lock, and each has a wheel. Nothing is installed."""
    pytest.importorskip("uv", reason="uv, which the set-up of this edition brings along, is not installed")
    command = [sys.executable, "-m", "uv", "pip", "compile", "pyproject.toml", "--group", "dev", "--quiet"]
    command += ["--no-header", "--no-annotate", "--only-binary", ":all:", "--constraints", "requirements-dev.txt"]
    command += ["--python", sys.executable, "--python-version", python, "--python-platform", system]
    environment = {**os.environ, "MACOSX_DEPLOYMENT_TARGET": "14.0"}
    for more in (["--offline"], []):  # what uv remembers of the index is quicker, and may be too little
        result = subprocess.run([*command, *more], cwd=ROOT, env=environment, capture_output=True, text=True)
        if result.returncode == 0:
            break
    if "Failed to fetch" in result.stderr:
        pytest.skip("the package index cannot be reached")
    assert result.returncode == 0, result.stderr
    marked = {"python_version": python.rpartition(".")[0], "python_full_version": python}
    locked = [Requirement(line) for line in LOCKS["requirements-dev.txt"].splitlines()]
    locked = {f"{pin.name}{pin.specifier}" for pin in locked if not pin.marker or may_hold(pin.marker, marked)}
    assert set(result.stdout.splitlines()) <= locked


def may_hold(marker, values):
    """Whether a marker holds for this Python on one of the systems."""
    systems = [
        {"sys_platform": "linux", "os_name": "posix", "platform_machine": "x86_64"},
        {"sys_platform": "darwin", "os_name": "posix", "platform_machine": "arm64"},
        {"sys_platform": "win32", "os_name": "nt", "platform_machine": "AMD64"},
    ]
    return any(marker.evaluate({**values, **system}) for system in systems)
