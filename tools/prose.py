"""The text that lesson 16 trains a language model on: the course's own prose, without code, formulas and tables.

python -m tools.prose    writes lessons/tasks/course.txt again, from lessons 00 to 15 as they are now

The file stays as it is when a lesson changes: lesson 16 quotes it, and says what was measured on it. CONTRIBUTING says
what else to renew with it.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import nbformat

ROOT = Path(__file__).resolve().parent.parent
LESSONS = sorted((ROOT / "notebooks").glob("[01][0-9]_*.ipynb"))[:16]
FILE = ROOT / "lessons" / "tasks" / "course.txt"
LEFT_OUT = re.compile(r"```.*?```|\$\$.*?\$\$|!\[[^\]]*\]\([^)]*\)|</?[a-z][^>]*>", re.S)
LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
SIGN = re.compile(r"^(#+|\d+\.|[-*]) |\*+")  # of a heading, a list or bold type
WRITTEN = re.compile(r"[A-Za-z0-9 .,;:?!'\"()/%+=<>·×√−–’…-]+")  # a sentence of other characters is left out
SHORTEST = 30  # characters of a paragraph


def paragraphs(path: Path) -> Iterator[str]:
    """The paragraphs of a lesson, each on one line, without the sentences that contain code or a formula."""
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type != "markdown" or cell.id == "in-a-hurry":
            continue
        text = LINK.sub(r"\1", LEFT_OUT.sub(" ", cell.source))
        for paragraph in re.split(r"\n\s*\n|\n(?=\d+\. |[-*] |\|)", text):
            words = " ".join(SIGN.sub("", paragraph.strip()).split())
            kept = " ".join(filter(WRITTEN.fullmatch, re.split(r"(?<=[.?!:]) ", words)))
            if len(kept) >= SHORTEST:
                yield kept


def course() -> str:
    """All paragraphs of the lessons before 16."""
    return "\n".join(paragraph for path in LESSONS for paragraph in paragraphs(path)) + "\n"


if __name__ == "__main__":
    FILE.write_text(course(), encoding="utf-8")
    print(f"{FILE.name}: {FILE.stat().st_size:,} bytes, {len(course().split()):,} words")
