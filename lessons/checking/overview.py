"""How far you have come, lesson by lesson."""

import html
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lessons import progress
from lessons.wording import worded, worded_in_lesson


@dataclass(frozen=True)
class Lesson:
    """number: "03". right, tried: how many of its exercises are right, and how many were tried and are not yet."""

    number: str
    title: str
    right: int
    tried: int
    total: int

    def __str__(self) -> str:
        return f"{self.number}  {self.counts()}"

    def counts(self) -> str:
        if self.tried:
            return worded("{right} of {total}, {tried} tried", right=self.right, total=self.total, tried=self.tried)
        return worded("{right} of {total}", right=self.right, total=self.total)


@dataclass(frozen=True)
class Overview:
    """All lessons with exercises, in words and as a table."""

    lessons: tuple[Lesson, ...]

    def __repr__(self) -> str:
        right, total = sum(x.right for x in self.lessons), sum(x.total for x in self.lessons)
        head = worded("{right} of {total} exercises are right", right=right, total=total)
        return "\n".join([head, *map(str, self.lessons)])

    def _repr_html_(self) -> str:
        def label(lesson: Lesson) -> str:
            return worded("lesson {number}", number=lesson.number)

        head, *_ = repr(self).splitlines()
        rows = "".join(
            f'<tr><th scope="row">{x.number}</th><td style="text-align: left">{html.escape(x.title)}</td>'
            f'<td><progress value="{x.right}" max="{x.total}" aria-label="{label(x)}"></progress></td>'
            f"<td>{x.counts()}</td></tr>"
            for x in self.lessons
        )
        return f"<table><caption>{head}</caption>{rows}</table>"


def summarize(exercises: Mapping[Path, Sequence[str]]) -> Overview:
    """What the checks have said so far; exercises: for each notebook, the names that its checks go by."""
    said = progress.verdicts()
    return Overview(tuple(_lesson(path, names, said) for path, names in exercises.items()))


def _lesson(path: Path, exercises: Sequence[str], said: dict[tuple[str, str], str]) -> Lesson:
    number = path.stem[:2]
    verdicts = [said.get((number, exercise)) for exercise in exercises]
    right, tried = verdicts.count(progress.RIGHT), verdicts.count(progress.NOT_YET)
    return Lesson(number, _title(path), right, tried, len(exercises))


def _title(path: Path) -> str:
    """The heading of a notebook, in the current language, without its number."""
    first = json.loads(path.read_text(encoding="utf-8"))["cells"][0]["source"]
    return worded_in_lesson(path.stem[:2], "".join(first).splitlines()[0]).partition("· ")[2]
