"""A learner's progress: the latest result of each check, in one small file that can be deleted at any time.

Each line of the file is one JSON record, appended in one write. So several notebooks can write at the same time, and
a truncated line doesn't damage the others. The environment variable LESSONS_PROGRESS names another file; if it is
empty, nothing is stored.
"""

import json
import os
from pathlib import Path

FILE = Path(__file__).resolve().parents[1] / "work" / "progress.jsonl"
MOST = 2**20  # bytes that are read, from the end of the file: more than ten thousand records
VERDICTS = RIGHT, NOT_YET = "Right", "Not yet"


def kept_in() -> Path | None:
    """The file that stores the progress, or None if nothing is stored."""
    named = os.environ.get("LESSONS_PROGRESS")
    return FILE if named is None else Path(named) if named else None


def record(lesson: str, exercise: str, verdict: str) -> None:
    """Store the verdict of a check, "Right" or "Not yet". If the disk can't be written to, nothing happens."""
    if verdict not in VERDICTS:
        raise ValueError(f"verdict is {verdict!r}; expected 'Right' or 'Not yet'")
    if verdicts().get((lesson, exercise)) != verdict:
        _append({"lesson": lesson, "exercise": exercise, "verdict": verdict})


def forget(lesson: str) -> None:
    """Forget all results of this lesson's checks."""
    if any(of_lesson == lesson for of_lesson, _ in verdicts()):
        _append({"lesson": lesson, "forget": True})


def verdicts() -> dict[tuple[str, str], str]:
    """The latest verdict of each check: {(lesson, exercise): verdict}."""
    found: dict[tuple[str, str], str] = {}
    for line in _lines():
        try:
            entry = json.loads(line)
            if entry.get("forget"):
                found = {key: verdict for key, verdict in found.items() if key[0] != entry["lesson"]}
            elif entry["verdict"] in VERDICTS:
                found[entry["lesson"], entry["exercise"]] = entry["verdict"]
        except (ValueError, KeyError, AttributeError, TypeError, RecursionError):
            continue  # truncated, or written by another program
    return found


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
