"""What the learner's code says when it fails, with the line of theirs that did it."""

import sys
import traceback
from pathlib import Path

LONGEST = 240  # characters of what the learner's code says, an exception or a print
PACKAGE = Path(__file__).parents[2]
INSTALLED = tuple(f"{Path(folder)}/" for folder in (sys.prefix, sys.base_prefix, PACKAGE))


def explain(error: BaseException) -> str:
    """An exception, and the learner's line that caused it."""
    said = cut(traceback.format_exception_only(error)[-1])
    return f"{said}{'' if said.endswith('.') else '.'}{line_of(error)}"


def line_of(error: BaseException) -> str:
    """The innermost line of the learner's code in an exception's traceback."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if not frame.filename.startswith((*INSTALLED, "<frozen")):
            return f" Line {frame.lineno} of your code: {cut(frame.line)}." if frame.line else ""
    return ""


def cut(text: str | None) -> str:
    text = (text or "").strip()
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
