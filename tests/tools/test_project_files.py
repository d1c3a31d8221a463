"""The files around the code agree with each other: version, licenses, workflow, hooks."""

import json
import re
import tomllib
from pathlib import Path

import pytest
import yaml

from tools import check

ROOT = Path(__file__).parents[2]
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = SETTINGS["project"]
TEMPLATES = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))


def read_yaml(name):
    return yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))


def test_the_version_is_the_same_everywhere():
    citation = read_yaml("CITATION.cff")
    newest = re.search(r"^## (\S+) \((\S+)\)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert newest.groups() == (PROJECT["version"], str(citation["date-released"]))
    assert citation["version"] == PROJECT["version"]


def test_the_licenses_are_there():
    texts = [(ROOT / name).read_text(encoding="utf-8") for name in PROJECT["license-files"]]
    for text, words in zip(texts, ["MIT License", "Creative Commons Attribution 4.0 International", "Apache"]):
        assert words in text
    assert PROJECT["license"].split(" AND ") == read_yaml("CITATION.cff")["license"]


def test_all_files_of_the_package_are_installed_with_it():
    named = SETTINGS["tool"]["setuptools"]["package-data"].items()
    found = {path for package, patterns in named for pattern in patterns for path in glob(package, pattern)}
    files = {path for path in (ROOT / "lessons").rglob("*") if path.is_file() and "__pycache__" not in path.parts}
    assert {path for path in files if path.suffix != ".py"} == found


def glob(package, pattern):
    return ROOT.joinpath(*package.split(".")).glob(pattern)


def test_the_workflow_runs_the_checks_on_every_system_and_python():
    jobs = read_yaml(".github/workflows/tests.yml")["jobs"]
    assert jobs["everything"]["steps"][-1]["run"] == "bash .ci/run"
    matrix = jobs["check"]["strategy"]["matrix"]
    assert [system.partition("-")[0] for system in matrix["system"]] == ["ubuntu", "windows", "macos"]
    assert matrix["python"] == ["3.11", "3.12", "3.13", "3.14"]
    for step in jobs["check"]["steps"][-2:]:
        command = step["run"].partition("/python ")[2] or step["run"].partition("python ")[2]
        assert command in (ROOT / "Makefile").read_text(encoding="utf-8").replace("$(SETUP)", "tools/setup.py")


def test_hooks_run_what_the_check_runs():
    (repository,) = read_yaml(".pre-commit-config.yaml")["repos"]
    for hook in repository["hooks"]:
        tool = re.fullmatch(r"\.venv/bin/python -m (\w+).*", hook["entry"]).group(1)
        assert f'"{tool}"' in (ROOT / "tools" / "check.py").read_text(encoding="utf-8")


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.stem)
def test_an_issue_template_asks_for_something(path):
    template = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert template["name"] and template["description"]
    assert any(field.get("validations", {}).get("required") for field in template["body"])


def test_binder_and_codespaces_set_up_what_is_here():
    """Both have not run yet: what they name is there at least."""
    setup = (ROOT / "tools" / "setup.py").read_text(encoding="utf-8")
    after_build = (ROOT / ".binder" / "postBuild").read_text(encoding="utf-8")
    assert (ROOT / ".binder" / "postBuild").stat().st_mode & 0o111
    assert re.search(r"uv==[\d.]+", after_build).group() == re.search(r'UV, .* = "(uv==[\d.]+)"', setup).group(1)
    container = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text(encoding="utf-8"))
    named = re.findall(r"[\w-]+\.txt|tools/\w+\.py|tools\.\w+", after_build + container["postCreateCommand"])
    assert {"requirements.txt", "requirements-no-deps.txt", "tools/setup.py", "tools.lab"} == set(named)
    for name in named:
        path = name if name.endswith((".txt", ".py")) else name.replace(".", "/") + ".py"
        assert (ROOT / path).is_file(), name
    pythons = [(ROOT / ".binder" / "runtime.txt").read_text(encoding="utf-8"), container["image"]]
    assert {re.search(r"3\.\d+", python).group() for python in pythons} == {"3.12"}
    assert PROJECT["requires-python"] == ">=3.11,<3.15"


def test_the_page_of_where_it_runs_names_tests_that_are_there():
    page = (ROOT / "tools" / "site" / "pages" / "where_it_runs.md").read_text(encoding="utf-8")
    for name in re.findall(r"`(tests/[\w/.]+)`", page):
        assert (ROOT / name).exists(), name


def test_make_check_leaves_out_kinds_of_tests_that_there_are_and_make_test_none():
    options = SETTINGS["tool"]["pytest"]["ini_options"]
    assert set(check.LEFT_OUT) <= {re.match(r"\w+", marker)[0] for marker in options["markers"]}
    assert "-m" not in options["addopts"]
