"""The JavaScript of a widget and its styles, each put together into one piece."""

import json
import re
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from lessons import wording

FOLDER = Path(__file__).parent
BETWEEN_QUOTES = re.compile(r'(?="([^"\\\n]+)")')  # overlapping: an attribute in quotes may hold a text in quotes
IMPORT = re.compile(r'^import [^;]*? from "(?P<path>\.[^"]+)";\n', flags=re.MULTILINE)


def front_end(name: str, script: str = "view.js") -> str:
    """The JavaScript of a widget as one module: a script and all that it imports, each file after those it needs.

    anywidget loads one module, so the imports give way to what they import.
    """
    return "\n".join(IMPORT.sub("", source(path)) for path in _with_imports(FOLDER / name / script))


def source(path: Path) -> str:
    """A file of JavaScript. constants.js is written here: the constants of constants.py, under the same names."""
    if path.name != "constants.js":
        return path.read_text(encoding="utf-8")
    known = vars(import_module(f"lessons.widgets.{path.parent.name}.constants"))
    constants = {name: json.dumps(value, ensure_ascii=False) for name, value in known.items() if name.isupper()}
    return "".join(f"export const {name} = {value};\n" for name, value in constants.items())


def _with_imports(path: Path) -> list[Path]:
    found: list[Path] = []
    for imported in IMPORT.finditer(source(path)):
        found += _with_imports((path.parent / imported["path"]).resolve())
    return list(dict.fromkeys([*found, path.resolve()]))


def wording_of(script: str) -> dict[str, Any]:
    """What the JavaScript of a widget needs to speak the current language: the messages that differ from English."""
    here = wording.language() != wording.ENGLISH
    messages = {text: said for text in _texts(script) if (said := wording.worded(text)) != text} if here else {}
    return {"language": wording.tag(), "messages": messages}


@cache
def _texts(script: str) -> list[str]:
    """All that a script has between two quotation marks."""
    return sorted(set(BETWEEN_QUOTES.findall(script)))


def style(name: str = "") -> str:
    """The style sheets that all widgets share, and those of the widget of this name, if it has any."""
    shared = [FOLDER / "shared" / sheet for sheet in ("base.css", "grid.css")]
    own = sorted((FOLDER / name).glob("*.css")) if name else []
    return "\n".join(sheet.read_text(encoding="utf-8") for sheet in [*shared, *own])
