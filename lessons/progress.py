"""How far a learner has come: what each check said last, in one small file that may be deleted at any time.

Each line of the file is one JSON record, put at the end in one piece, so that several notebooks may write at once, and
a line that was cut off harms no other. The environment variable LESSONS_PROGRESS names another file; where it is
empty, nothing is kept.
"""

import json
import os
from pathlib import Path

FILE = Path(__file__).resolve().parents[1] / "work" / "progress.jsonl"
MOST = 2**20  # bytes that are read, from the end: more than ten thousand records
VERDICTS = RIGHT, NOT_YET = "Right", "Not yet"


def kept_in() -> Path | None:
    """Where progress is kept; None where it is not."""
    named = os.environ.get("LESSONS_PROGRESS")
    return FILE if named is None else Path(named) if named else None


def record(lesson: str, exercise: str, verdict: str) -> None:
    """Keep what a check said, "Right" or "Not yet". A disk that cannot be written to is no reason to stop a lesson."""
    if verdict not in VERDICTS:
        raise ValueError(f"verdict is {verdict!r}; expected 'Right' or 'Not yet'")
    if verdicts().get((lesson, exercise)) != verdict:
        _append({"lesson": lesson, "exercise": exercise, "verdict": verdict})


def forget(lesson: str) -> None:
    """As if no check of this lesson had ever been run."""
    if any(of_lesson == lesson for of_lesson, _ in verdicts()):
        _append({"lesson": lesson, "forget": True})


def verdicts() -> dict[tuple[str, str], str]:
    """What was said last: {(lesson, exercise): verdict}."""
    found: dict[tuple[str, str], str] = {}
    for line in _lines():
        try:
            entry = json.loads(line)
            if entry.get("forget"):
                found = {key: verdict for key, verdict in found.items() if key[0] != entry["lesson"]}
            elif entry["verdict"] in VERDICTS:
                found[entry["lesson"], entry["exercise"]] = entry["verdict"]
        except (ValueError, KeyError, AttributeError, TypeError, RecursionError):
            continue  # cut off, or written by something else
    return found


def _lines() -> list[str]:
    file = kept_in()
    try:
        lines = [] if file is None else _end(file, MOST).decode(errors="replace").splitlines()
    except OSError:
        return []
    return [line for line in lines if line.startswith("{")]  # to refuse a line costs more than to read one


def _end(file: Path, size: int) -> bytes:
    """The last bytes of a file, so many at most."""
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
