"""A language in which nothing is English: whatever is said in English then is no message of a catalog."""

import re

from lessons import wording

PLACEHOLDER = re.compile(r"\{[^{}]*\}")


class Foreign(dict[str, str]):
    """A catalog that has every message: its placeholders between Chinese characters."""

    def get(self, message, default=None):
        return "中".join(["", *PLACEHOLDER.findall(message), ""])


def speak_foreign(monkeypatch):
    """In this test, until wording.use("en")."""
    monkeypatch.setattr(wording, "_catalog", lambda language, part: {} if language == "en" else Foreign())
    monkeypatch.setattr(wording, "_now", "zh_CN")


def english(text):
    """The English words of a text."""
    return {*re.findall(r"[A-Za-z_][A-Za-z_0-9]*", text)}
