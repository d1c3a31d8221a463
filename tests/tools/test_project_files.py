"""The files around the code agree with each other: version, licenses, workflow, hooks."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml

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
