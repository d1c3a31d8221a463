"""The teacher's overview: who has done what, and where a class is stuck. It reads what the checks said, and no code.

    make overview                               the accounts of the class on this machine
    make overview FILES="anna.jsonl ben.jsonl"  progress files that learners have sent; each is called as its file

Nothing in these files is trusted: only the names of the course's own exercises and mistakes are shown.
"""

import os
import stat
import sys
from collections import Counter
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from jinja2 import Environment, StrictUndefined

from lessons.checking.engine import Exercise
from lessons.exercises import NOTEBOOKS, exercises_of
from lessons.progress import MOST, NOT_YET, RIGHT, Record, records
from tools.classroom.accounts import LEARNERS, members
from tools.classroom.learner import FOLDER
from tools.copies import ROOT

TEMPLATE = Path(__file__).with_name("overview.html")
PAGE = ROOT / "class" / "state" / "overview.html"
NOT_WAITING = getattr(os, "O_NONBLOCK", 0)  # for a pipe with a name, which Windows does not have
PROGRESS = Path(FOLDER) / "work" / "progress.jsonl"


@dataclass(frozen=True)
class Met:
    """A known mistake: how many learners have made it, and who has it in their last answer."""

    name: str
    count: int
    now: Sequence[str]


@dataclass(frozen=True)
class Line:
    """An exercise: the learners whose last answer is right, those whose isn't yet, and what goes wrong."""

    lesson: str
    name: str
    right: Sequence[str]
    stuck: Sequence[str]
    met: Sequence[Met]


def page(class_records: Mapping[str, Sequence[Record]]) -> str:
    """HTML without a script: for each learner what the checks said, of each exercise and lesson."""
    lessons = {path.stem[:2]: exercises_of(path.stem) for path in sorted(NOTEBOOKS.glob("[0-9][0-9]_*.ipynb"))}
    lines = [
        line_of(number, exercise, class_records) for number, named in lessons.items() for exercise in named.values()
    ]
    totals = {number: len(named) for number, named in lessons.items() if named}
    template = Environment(autoescape=True, undefined=StrictUndefined).from_string(TEMPLATE.read_text(encoding="utf-8"))
    return template.render(
        now=datetime.now().strftime("%Y-%m-%d %H:%M"),
        totals=totals,
        learners={name: row(name, lines, totals) for name in sorted(class_records)},
        stuck=sorted((line for line in lines if line.stuck), key=lambda line: (-len(line.stuck), line.lesson)),
        lines=lines,
    )


def line_of(lesson: str, exercise: Exercise, class_records: Mapping[str, Sequence[Record]]) -> Line:
    of_this = {
        learner: [said for said in all_said if (said.lesson, said.exercise) == (lesson, exercise.name)]
        for learner, all_said in class_records.items()
    }
    last = {learner: said[-1] for learner, said in of_this.items() if said}
    count = Counter(name for said in of_this.values() for name in {one.mistake for one in said})
    known = {mistake.name for mistake in exercise.mistakes}
    met = [
        Met(name, count[name], [learner for learner, said in last.items() if said.mistake == name])
        for name in count
        if name in known
    ]
    return Line(
        lesson,
        exercise.name,
        [learner for learner, said in last.items() if said.verdict == RIGHT],
        [learner for learner, said in last.items() if said.verdict == NOT_YET],
        sorted(met, key=lambda one: (-len(one.now), -one.count, one.name)),
    )


def row(learner: str, lines: Sequence[Line], totals: Mapping[str, int]) -> dict[str, tuple[int, int]]:
    """Of each lesson: how many exercises this learner has right, and how many not yet."""
    return {
        number: (
            sum(learner in line.right for line in lines if line.lesson == number),
            sum(learner in line.stuck for line in lines if line.lesson == number),
        )
        for number in totals
    }


def records_of(learner: str) -> list[Record]:
    """What is in the progress file of an account. It is read with that account's rights: a link leads no further."""
    import pwd  # not on Windows

    account = pwd.getpwnam(learner)
    with acting_as(account.pw_uid, account.pw_gid):
        return read(Path(account.pw_dir) / PROGRESS)


def read(file: Path) -> list[Record]:
    """The records of an ordinary file; none of anything else."""
    try:
        handle = os.open(file, os.O_RDONLY | NOT_WAITING)
    except OSError:
        return []
    status = os.fstat(handle)
    if not stat.S_ISREG(status.st_mode):
        os.close(handle)
        return []
    with os.fdopen(handle, "rb") as opened:
        opened.seek(max(0, status.st_size - MOST))
        return records(opened.read(MOST).decode(errors="replace").splitlines())


@contextmanager
def acting_as(user: int, group: int) -> Generator[None]:
    """For root: go on with another account's rights. Everybody else has but their own."""
    if os.geteuid():
        yield
        return
    groups = os.getgroups()
    os.setgroups([])
    os.setegid(group)
    os.seteuid(user)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(0)
        os.setgroups(groups)


def main(files: Sequence[str]) -> int:
    if missing := [file for file in files if not Path(file).is_file()]:
        print(f"{missing[0]} is no file; expected the progress files of learners, such as anna.jsonl", file=sys.stderr)
        return 1
    names = [Path(file).stem for file in files]
    if twice := [name for name in names if names.count(name) > 1]:
        first, second, *_ = (file for file, name in zip(files, names) if name == twice[0])
        print(f"{first} and {second} would both be called {twice[0]}: give each file another name", file=sys.stderr)
        return 1
    learners = members(LEARNERS)
    if not files and not learners:
        print(
            'There is no class on this machine. For files: make overview FILES="anna.jsonl ben.jsonl"', file=sys.stderr
        )
        return 1
    if not files and os.geteuid():
        print("Only root can read what the learners of this machine have done: sudo make overview", file=sys.stderr)
        return 1
    said = {name: read(Path(file)) for name, file in zip(names, files)} or {name: records_of(name) for name in learners}
    PAGE.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with open(PAGE, "w", encoding="utf-8", opener=lambda path, flags: os.open(path, flags, 0o600)) as opened:
        opened.write(page(said))
    print(f"{len(said)} learners: {PAGE}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or os.environ.get("FILES", "").split()))
