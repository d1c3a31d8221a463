"""Checks that Python and the packages are the ones that the lessons need, and says what to do if not."""

import sys
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement

REQUIREMENTS = Path(__file__).resolve().parent.parent / "requirements.txt"
USED = ("torch", "numpy", "matplotlib", "seaborn", "jupyterlab", "ipykernel")
WAY_OUT = "Close JupyterLab and start it with `make lab` in the folder of the course."


def check_environment() -> None:
    """Print one line for each problem and how to fix it, or one line that says that everything is fine."""
    wrong = problems(sys.version_info[:2], pinned(), installed())
    for problem in wrong:
        print(f"Not right: {problem}")
    print(WAY_OUT if wrong else "Everything is in place: Python, torch, and all that the lessons use.")


def problems(python: tuple[int, int], wanted: dict[str, str], found: dict[str, str | None]) -> list[str]:
    """One sentence per problem. wanted, found: versions by package; None means not installed."""
    sentences = []
    if python < (3, 11):
        sentences.append(f"this is Python {python[0]}.{python[1]}; the course needs 3.11 or newer.")
    for name, version in wanted.items():
        here = found.get(name)
        if here is None:
            sentences.append(f"{name} is not installed in the Python that this notebook runs in ({sys.executable}).")
        elif here.split("+")[0] != version:
            sentences.append(f"{name} is {here}; the lessons were made with {version}.")
    return sentences


def pinned() -> dict[str, str]:
    """The versions in requirements.txt, for the packages that the lessons use."""
    versions = {}
    for line in REQUIREMENTS.read_text(encoding="utf-8").splitlines():
        if line and line[0] not in "#-":
            requirement = Requirement(line)
            if requirement.name in USED:
                versions[requirement.name] = next(iter(requirement.specifier)).version
    return versions


def installed() -> dict[str, str | None]:
    """The installed versions."""

    def version(name: str) -> str | None:
        try:
            return metadata.version(name)
        except metadata.PackageNotFoundError:
            return None

    return {name: version(name) for name in USED}
