"""lessons.environment: each thing that may be wrong is named, with the version found and the one wanted."""

import re
import sys
from importlib import metadata

import pytest

from lessons import environment
from lessons.environment import REQUIREMENTS, USED, WAY_OUT, check_environment, installed, pinned, problems

OLD = "this is Python 3.10; the course needs 3.11 or newer."
MISSING = f"torch is not installed in the Python that this notebook runs in ({sys.executable})."


@pytest.mark.parametrize(
    ("python", "found", "sentences"),
    [
        ((3, 11), {"torch": "2.13.0"}, []),
        ((3, 11), {"torch": "2.13.0+cpu"}, []),
        ((3, 12), {"torch": "2.13.0+cu126", "numpy": "1.0"}, []),
        ((4, 0), {"torch": "2.13.0"}, []),
        ((3, 10), {"torch": "2.13.0"}, [OLD]),
        ((2, 12), {"torch": "2.13.0"}, ["this is Python 2.12; the course needs 3.11 or newer."]),
        ((3, 11), {"torch": "2.12.1+cpu"}, ["torch is 2.12.1+cpu; the lessons were made with 2.13.0."]),
        ((3, 11), {"torch": "2.13.01"}, ["torch is 2.13.01; the lessons were made with 2.13.0."]),
        ((3, 11), {"torch": None}, [MISSING]),
        ((3, 11), {}, [MISSING]),
        ((3, 10), {"torch": None}, [OLD, MISSING]),
    ],
)
def test_problems(python, found, sentences):
    assert problems(python, {"torch": "2.13.0"}, found) == sentences


def test_every_problem_is_told_in_the_order_of_the_packages():
    found = {"seaborn": None, "numpy": "2.0.0", "torch": "2.13.0"}
    wanted = {"numpy": "2.4.6", "torch": "2.13.0", "seaborn": "0.13.2"}
    assert problems((3, 11), wanted, found) == [
        "numpy is 2.0.0; the lessons were made with 2.4.6.",
        f"seaborn is not installed in the Python that this notebook runs in ({sys.executable}).",
    ]


def test_pinned_reads_the_versions_of_all_that_is_used():
    versions = pinned()
    assert set(versions) == set(USED)
    for name, version in versions.items():
        assert re.search(rf"^{name}=={re.escape(version)}$", REQUIREMENTS.read_text(encoding="utf-8"), re.MULTILINE)


def test_pinned_skips_what_is_no_package(monkeypatch, tmp_path):
    file = tmp_path / "requirements.txt"
    file.write_text("# torch==1.0\n-e .\n\nwheel==1.2\nnumpy==2.0.1\ntorch==2.1.0 ; python_version > '3'\n")
    monkeypatch.setattr(environment, "REQUIREMENTS", file)
    assert pinned() == {"numpy": "2.0.1", "torch": "2.1.0"}


def test_installed(monkeypatch):
    versions = {name: metadata.version(name) for name in USED}
    assert installed() == versions

    def version(name):
        if name == "seaborn":
            raise metadata.PackageNotFoundError(name)
        return versions[name]

    monkeypatch.setattr(metadata, "version", version)
    assert installed() == versions | {"seaborn": None}


def test_all_in_place(capsys):
    assert check_environment() is None
    assert capsys.readouterr().out == "Everything is in place: Python, torch, and all that the lessons use.\n"


def test_not_all_in_place(capsys, monkeypatch):
    monkeypatch.setattr(environment, "installed", lambda: pinned() | {"torch": "1.0", "numpy": None})
    monkeypatch.setattr(sys, "version_info", (3, 9, 1, "final", 0))
    check_environment()
    assert capsys.readouterr().out.splitlines() == [
        "Not right: this is Python 3.9; the course needs 3.11 or newer.",
        f"Not right: numpy is not installed in the Python that this notebook runs in ({sys.executable}).",
        f"Not right: torch is 1.0; the lessons were made with {pinned()['torch']}.",
        "Close JupyterLab and start it with `make lab` in the folder of the course.",
    ]
    assert WAY_OUT.endswith("folder of the course.")
