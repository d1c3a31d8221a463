"""One text to learn from, in place of pairs: the prose of this course, or a file of your own."""

from pathlib import Path

# lessons 00 to 15 of 26 November 2026 without code and formulas, by tools/prose.py
COURSE = Path(__file__).with_name("course.txt")


def read_prose(path: str | Path = COURSE, *, encoding: str = "utf-8") -> str:
    """The text of a file, a paragraph on each line; by default the course's own prose of 26 November 2026, about 46,000
    words.

    ValueError for a file that isn't there, isn't text in this encoding, or has no text.
    """
    path = Path(path)
    try:
        text = path.read_text(encoding=encoding)
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"path is {str(path)!r}; expected a text file in {encoding} ({error})") from error
    if not text.strip():
        raise ValueError(f"path is {str(path)!r}, which has no text; expected a file with some words")
    return text
