"""How the browser splits a sentence as its task does, and joins a translation."""

import json
from typing import Any

from lessons.tasks import Task, Translation
from lessons.tasks.task import CHARACTERS, SPACED


def split(task: Task, sentence: str) -> list[str]:
    """The tokens of a source sentence."""
    return task.writing().split(sentence)


def name_of(task: Task) -> str:
    """The rule of this name in sentence.js; "" where only Python can split."""
    known = {id(CHARACTERS): "characters", id(SPACED): "spaces"}
    return "english" if isinstance(task, Translation) else known.get(id(task.writing()), "")


def quoted(value: Any) -> str:
    """A text or a number as it is written in Python, and the same in JavaScript."""
    return json.dumps(value, ensure_ascii=False)
