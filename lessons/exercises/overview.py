"""How far one has come, lesson by lesson."""

import html
import importlib
import json
from dataclasses import dataclass
from pathlib import Path

from lessons import progress
from lessons.exercises.engine import Exercise

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"


@dataclass(frozen=True)
class Lesson:
    """number: "03". right, tried: how many of its exercises are right, and how many were tried and are not yet."""

    number: str
    title: str
    right: int
    tried: int
    total: int

    def __str__(self) -> str:
        tried = f", {self.tried} tried" if self.tried else ""
        return f"{self.number}  {self.right} of {self.total}{tried}"


@dataclass(frozen=True)
class Overview:
    """All lessons with exercises, in words and as a table."""

    lessons: tuple[Lesson, ...]

    def __repr__(self) -> str:
        right, total = sum(x.right for x in self.lessons), sum(x.total for x in self.lessons)
        return "\n".join([f"{right} of {total} exercises are right", *map(str, self.lessons)])

    def _repr_html_(self) -> str:
        head, *_ = repr(self).splitlines()
        rows = "".join(
            f'<tr><th scope="row">{x.number}</th><td style="text-align: left">{html.escape(x.title)}</td>'
            f'<td><progress value="{x.right}" max="{x.total}" aria-label="lesson {x.number}"></progress></td>'
            f"<td>{str(x)[4:]}</td></tr>"
            for x in self.lessons
        )
        return f"<table><caption>{head}</caption>{rows}</table>"


def show_progress() -> Overview:
    """What the checks have said so far, for each lesson."""
    said = progress.verdicts()
    return Overview(tuple(_lesson(path, said) for path in sorted(NOTEBOOKS.glob("[0-9][0-9]_*.ipynb"))))


def _lesson(path: Path, said: dict[tuple[str, str], str]) -> Lesson:
    number, _, name = path.stem.partition("_")
    module = importlib.import_module(f"lessons.exercises.{name}")
    exercises = [thing.name for thing in vars(module).values() if isinstance(thing, Exercise)]
    verdicts = [said.get((name, exercise)) for exercise in exercises]
    right, tried = verdicts.count(progress.RIGHT), verdicts.count(progress.NOT_YET)
    return Lesson(number, _title(path), right, tried, len(exercises))


def _title(path: Path) -> str:
    """The heading of a notebook, without its number."""
    first = json.loads(path.read_text(encoding="utf-8"))["cells"][0]["source"]
    return "".join(first).splitlines()[0].partition("· ")[2]
