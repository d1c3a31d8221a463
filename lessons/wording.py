"""The language in which the course speaks: English, or one that has catalogs in `locale/`.

The English text is in the code. A catalog (a .po file of gettext) has the same text in another language. What a catalog
lacks stays English. The environment variable LESSONS_LANG names the language; without it, the one chosen with
`make lab LESSONS_LANG=…` is kept, and if none was chosen, the system's language counts.
"""

import ctypes
import locale
import os
import re
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from string import Formatter
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
CATALOGS = ROOT / "locale"
CHOICE = ROOT / "work" / ".course" / "language"
VARIABLE = "LESSONS_LANG"
ENGLISH = "en"
PACKAGE = "package"  # the catalog of checks and widgets; the others are named after their lessons

CHINESE = re.compile("[\u3400-\u9fff]")

_now: str | None = None  # None until it is asked for


def available() -> list[str]:
    """The languages that the course has, such as ["en", "zh_CN"]."""
    return [ENGLISH, *sorted(path.parent.name for path in CATALOGS.glob("*/LC_MESSAGES"))]


def supported(name: str) -> str | None:
    """The language of the course that a name such as "zh-CN.UTF-8", "zh" or "en_US" means; None without one."""
    wanted = name.partition(".")[0].partition("@")[0].replace("-", "_").lower()
    for language in available():
        if wanted == language.lower() or wanted == language.partition("_")[0] or wanted.startswith(f"{language}_"):
            return language
    return None


def named(name: str) -> str:
    """The language that LESSONS_LANG means, or a ValueError."""
    if (language := supported(name)) is None:
        raise ValueError(f"{VARIABLE} is {name!r}; expected one of {', '.join(available())}")
    return language


def system_language() -> str:
    """The language of the user's system, or English where the course does not have it."""
    if sys.platform == "win32":
        said = [locale.windows_locale.get(ctypes.windll.kernel32.GetUserDefaultUILanguage())]
    else:
        said = [os.environ.get(name) for name in ("LC_ALL", "LC_MESSAGES", "LANG")]
    first = next(filter(None, said), ENGLISH)
    return supported(first) or ENGLISH


def read_choice(path: Path) -> str | None:
    """The language that was chosen once, if the file says one that the course has."""
    try:
        return supported(path.read_text(encoding="utf-8").strip())
    except (OSError, UnicodeDecodeError):
        return None


def language() -> str:
    """The current language."""
    global _now
    if _now is None:
        given = os.environ.get(VARIABLE)
        _now = named(given) if given else read_choice(CHOICE) or system_language()
    return _now


def use(name: str) -> None:
    """From now on, checks, widgets and figures speak this language: "en", "zh_CN"."""
    global _now
    _now = named(name)


def tag() -> str:
    """The current language as HTML names it: "en", "zh-CN"."""
    return language().replace("_", "-")


def worded(message: str, /, **values: Any) -> str:
    """A message of the package in the current language, with its {placeholders} filled in from `values`."""
    text = _catalog(language(), PACKAGE).get(message, message)
    return _filled(text, values) if values else text


def _filled(text: str, values: dict[str, Any]) -> str:
    """The text with its {placeholders} filled in. A space beside one is for code: `k`; a Chinese name needs none."""
    if language() == ENGLISH:
        return text.format(**values)
    said = ""
    for before, name, form, conversion in Formatter().parse(text):
        if before[:1] == " " and CHINESE.match(said[-1:]) and CHINESE.match(before[1:2]):
            before = before[1:]
        said += before
        if name is not None:
            value = f"{{{name}{'!' + conversion if conversion else ''}{':' + form if form else ''}}}".format(**values)
            if said[-1:] == " " and CHINESE.match(said[-2:-1]) and CHINESE.match(value):
                said = said[:-1]
            said += value
    return said


def counted(one: str, many: str, count: int, /, **values: Any) -> str:
    """Like worded(), of two messages: for 1, and for any other count. `{count}` in them is the count."""
    english = one if count == 1 else many
    return _filled(_catalog(language(), PACKAGE).get(one, english), {"count": count, **values})


def marked(message: str) -> str:
    """The message as it is: a table of messages marks them so for the catalog, and worded() is called with them."""
    return message


COMMA = marked("{items}, {item}")
SEMICOLON = marked("{items}; {item}")
AND = marked("{items} and {item}")
OR = marked("{items} or {item}")
SENTENCES = marked("{items} {item}")


def listed(items: Iterable[str], joined: str = COMMA) -> str:
    """The items in a row, without empty ones; joined: how one follows the others, such as COMMA, AND or SENTENCES."""
    row = ""
    for item in filter(None, items):
        row = worded(joined, items=row, item=item) if row else item
    return row


def worded_in_lesson(lesson: str, message: str) -> str:
    """A text of an exercise, or the title "# 03 · …"; lesson: its number, "03"."""
    return _catalog(language(), lesson).get(message, message)


@cache
def _catalog(name: str, part: str) -> dict[str, str]:
    """{English: translated} of one catalog: the package's, or a lesson's title and all that its exercises say."""
    if name == ENGLISH:
        return {}
    from babel.messages.pofile import read_po

    found: dict[str, str] = {}
    pattern = part if part == PACKAGE else f"{part}_*"
    for path in (CATALOGS / name / "LC_MESSAGES").glob(f"{pattern}.po"):
        with path.open("rb") as file:
            for message in read_po(file, locale=name):
                key, text = _one_of(message.id), _one_of(message.string)
                wanted = part == PACKAGE or message.context == "check" or key.startswith("# ")
                if wanted and key and text and not message.fuzzy:
                    found[key] = text
    return found


def _one_of(text: Any) -> str:
    """The text, or of plural forms the first: Chinese has no other."""
    return text if isinstance(text, str) else text[0]
