"""A learner's progress: the latest result of each check, in one small file that can be deleted at any time.

Each line of the file is one JSON record, appended in one write. So several notebooks can write at the same time, and
a truncated line doesn't damage the others. The environment variable LESSONS_PROGRESS names another file; if it is
empty, nothing is stored.
"""

import json
import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

FILE = Path(__file__).resolve().parents[1] / "work" / "progress.jsonl"
MOST = 2**20  # bytes that are read, from the end of the file: more than ten thousand records
VERDICTS = RIGHT, NOT_YET = "Right", "Not yet"


@dataclass(frozen=True)
class Record:
    """What a check said. mistake: the beginning of what it said about a known mistake; empty if it named none."""

    lesson: str
    exercise: str
    verdict: str
    mistake: str = ""


def kept_in() -> Path | None:
    """The file that stores the progress, or None if nothing is stored."""
    named = os.environ.get("LESSONS_PROGRESS")
    return FILE if named is None else Path(named) if named else None


def record(lesson: str, exercise: str, verdict: str, mistake: str = "") -> None:
    """Store what a check said: "Right" or "Not yet". If the disk can't be written to, nothing happens."""
    if verdict not in VERDICTS:
        raise ValueError(f"verdict is {verdict!r}; expected 'Right' or 'Not yet'")
    new = Record(lesson, exercise, verdict, mistake)
    if _latest(records(_lines())).get((lesson, exercise)) != new:
        _append({name: value for name, value in asdict(new).items() if value})


def forget(lesson: str) -> None:
    """Forget all results of this lesson's checks."""
    if any(of_lesson == lesson for of_lesson, _ in verdicts()):
        _append({"lesson": lesson, "forget": True})


def verdicts() -> dict[tuple[str, str], str]:
    """The latest verdict of each check: {(lesson, exercise): verdict}."""
    return {check: said.verdict for check, said in _latest(records(_lines())).items()}


def records(lines: Iterable[str]) -> list[Record]:
    """What the lines of a file say, from the oldest; without what was forgotten, and what another program wrote."""
    found: list[Record] = []
    for line in lines:
        try:
            entry = json.loads(line)
            if entry.get("forget"):
                found = [said for said in found if said.lesson != entry["lesson"]]
                continue
            said = Record(entry["lesson"], entry["exercise"], entry["verdict"], entry.get("mistake", ""))
        except (ValueError, KeyError, AttributeError, TypeError, RecursionError):
            continue  # truncated, or written by another program
        if said.verdict in VERDICTS and all(isinstance(value, str) for value in asdict(said).values()):
            found.append(said)
    return found


def _latest(said: Iterable[Record]) -> dict[tuple[str, str], Record]:
    return {(one.lesson, one.exercise): one for one in said}


def _lines() -> list[str]:
    file = kept_in()
    try:
        lines = [] if file is None else _end(file, MOST).decode(errors="replace").splitlines()
    except OSError:
        return []
    return [line for line in lines if line.startswith("{")]  # parsing a bad line takes longer than a good one


def _end(file: Path, size: int) -> bytes:
    """The last `size` bytes of a file, or all if it is shorter."""
    with file.open("rb") as opened:
        opened.seek(max(0, opened.seek(0, os.SEEK_END) - size))
        return opened.read(size)


def _append(entry: dict[str, object]) -> None:
    file = kept_in()
    if file is None:
        return
    line = json.dumps(entry, ensure_ascii=False) + "\n"
    try:
        file.parent.mkdir(exist_ok=True)
        whole = not file.exists() or _end(file, 1) in (b"", b"\n")
        handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        try:
            os.write(handle, (line if whole else "\n" + line).encode())
        finally:
            os.close(handle)
    except OSError:
        return
