"""What the learner's code says when it fails, with the line of theirs that did it."""

import sys
import traceback
from pathlib import Path

from lessons.wording import SENTENCES, listed, worded

LONGEST = 240  # characters of what the learner's code says, an exception or a print
PACKAGE = Path(__file__).parents[2]
INSTALLED = tuple(f"{Path(folder)}/" for folder in (sys.prefix, sys.base_prefix, PACKAGE))


def explain(error: BaseException) -> str:
    """An exception, and the learner's line that caused it."""
    said = cut(traceback.format_exception_only(error)[-1])
    return listed([worded("{text}.", text=said.removesuffix(".")), *line_of(error)], SENTENCES)


def line_of(error: BaseException) -> list[str]:
    """The innermost line of the learner's code in an exception's traceback, if there is one, in a sentence."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if not frame.filename.startswith((*INSTALLED, "<frozen")):
            line = cut(frame.line)
            return [worded("Line {number} of your code: {line}.", number=frame.lineno, line=line)] if line else []
    return []


def cut(text: str | None) -> str:
    text = (text or "").strip()
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
