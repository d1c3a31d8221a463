"""Checks that Python and the packages are the ones that the lessons need, and says what to do if not."""

import sys
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement

from lessons.wording import marked, worded

REQUIREMENTS = Path(__file__).resolve().parent.parent / "requirements.txt"
DISTRIBUTION = "transformer-lessons"
USED = (
    "torch",
    "numpy",
    "matplotlib",
    "pillow",
    "seaborn",
    "tokenizers",
    "safetensors",
    "sacrebleu",
    "tqdm",
    "babel",
    "jupyterlab",
    "ipykernel",
    "ipython",
    "ipywidgets",
    "anywidget",
    "traitlets",
    "pygments",
    "packaging",
)
WAY_OUT = marked("Close JupyterLab and start it with `make lab` in the folder of the course.")
ALL_RIGHT = marked("Everything is in place: Python, torch, and all that the lessons import.")


def check_environment() -> None:
    """Print one line for each problem and how to fix it, or one line that says that everything is fine."""
    wrong = problems(sys.version_info[:2], pinned(), installed())
    for problem in wrong:
        print(worded("Not right: {problem}", problem=problem))
    print(worded(WAY_OUT if wrong else ALL_RIGHT))


def problems(python: tuple[int, int], wanted: Mapping[str, str | None], found: dict[str, str | None]) -> list[str]:
    """One sentence per problem. wanted, found: versions by package; None means any, and not installed."""
    sentences = []
    if python < (3, 11):
        here = f"{python[0]}.{python[1]}"
        sentences.append(worded("this is Python {here}; the course needs 3.11 or newer.", here=here))
    for name, version in wanted.items():
        here = found.get(name)
        if here is None:
            sentences.append(
                worded(
                    "{name} is not installed in the Python that this notebook runs in ({python}).",
                    name=name,
                    python=sys.executable,
                )
            )
        elif version is not None and here.split("+")[0] != version:
            sentences.append(
                worded("{name} is {here}; the lessons were made with {version}.", name=name, here=here, version=version)
            )
    return sentences


def pinned() -> dict[str, str | None]:
    """The versions of the packages that the lessons use: in requirements.txt, or, where pip has installed `lessons`
    without this file, in what it asks for. None means any version.
    """
    if REQUIREMENTS.exists():
        lines = REQUIREMENTS.read_text(encoding="utf-8").splitlines()
    else:
        lines = metadata.requires(DISTRIBUTION) or []
    wanted = [Requirement(line) for line in lines if line and line[0] not in "#-"]
    return {
        requirement.name: next((pin.version for pin in requirement.specifier), None)
        for requirement in wanted
        if requirement.name in USED
    }


def installed() -> dict[str, str | None]:
    """The installed versions."""

    def version(name: str) -> str | None:
        try:
            return metadata.version(name)
        except metadata.PackageNotFoundError:
            return None

    return {name: version(name) for name in USED}
