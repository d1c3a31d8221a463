"""The catalogs in `locale/`, one for each lesson and one for checks and widgets, and lessons in another language.

locale/zh_CN/LC_MESSAGES/03_masked_attention.po   its cells (context: the id of the cell) and what its exercises say
                                                  (context: "check")
locale/zh_CN/LC_MESSAGES/package.po               what checks, widgets, figures and commands say
locale/zh_CN/LC_MESSAGES/site.po                  the site's own pages (context: the file)
"""

import base64
import re
from collections.abc import Iterable
from copy import deepcopy
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path
from typing import IO, Any
from unittest.mock import patch

import nbformat
from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.pofile import read_po, write_po
from nbformat import NotebookNode

from lessons.wording import CATALOGS, ENGLISH, PACKAGE, ROOT
from tools import diagrams
from tools.translation import sources

NOTEBOOKS = ROOT / "notebooks"
IMAGES = ROOT / "images"  # English; those of other languages are in folders of their names
SITE = "site"
PAGES = (*sorted((ROOT / "tools" / "site" / "pages").glob("*.md")), *sorted((ROOT / "class").glob("*.md")))
CHECK = "check"  # the context of what exercises say
DATE = datetime(2026, 11, 23, tzinfo=UTC)  # the same in all headers: a catalog changes with its messages only
KEYWORDS = {"worded": None, "marked": None, "counted": (1, 2)}
METHODS = [("**.py", "python"), ("**.js", f"{__name__}:calls_in")]
CALL = re.compile(r'\b(worded|marked|counted)\(\s*"([^"\n]*)"(?:,\s*"([^"\n]*)")?')
NAME = re.compile(r"[a-z]+_[a-z]+")  # of code, in a diagram
HEADING = re.compile(r"^#+ (.+)$", re.M)
LINK = re.compile(r"\]\(([\w.]*)#((?:[^ ()]|\([^ ()]*\))+)\)")


def path_of(language: str, name: str) -> Path:
    return CATALOGS / language / "LC_MESSAGES" / f"{name}.po"


def names() -> list[str]:
    """The catalogs that there should be."""
    return [*sorted(path.stem for path in NOTEBOOKS.glob("*.ipynb")), PACKAGE, SITE]


@cache
def catalog(language: str, name: str) -> Catalog:
    """A catalog as it is stored; empty if there is none."""
    path = path_of(language, name)
    if not path.exists():
        return empty(language, name)
    with path.open("rb") as file:
        return read_po(file, locale=language, domain=name)


def empty(language: str, name: str) -> Catalog:
    return Catalog(
        language,
        name,
        header_comment="# The course in another language: what it says in English, and its translation. CC BY 4.0.",
        project="transformer-lessons",
        version="1.0.0",
        msgid_bugs_address="see CONTRIBUTING.md",
        creation_date=DATE,
        revision_date=DATE,
        last_translator="the authors of the course",
        language_team=language,
        fuzzy=False,
    )


def template(language: str, name: str) -> Catalog:
    """All messages of a catalog, without translations."""
    fresh = empty(language, name)
    for context, message in of_package() if name == PACKAGE else of_site() if name == SITE else of_lesson(name):
        fresh.add(message, context=context)
    return fresh


def of_package() -> Iterable[tuple[None, str | tuple[str, ...]]]:
    for folder in ("lessons", "tools"):
        found = extract_from_dir(ROOT / folder, METHODS, keywords=KEYWORDS)
        for _, _, message, _, _ in sorted(found, key=lambda each: (each[0], each[1])):
            yield None, message
    yield from ((None, message) for message in of_diagrams())


def of_diagrams() -> Iterable[str]:
    """What the diagrams ask worded() for, in words."""
    said: list[str] = []

    def note(message: str) -> str:
        said.append(message)
        return message

    with patch.object(diagrams, "worded", note):
        for draw in diagrams.DIAGRAMS.values():
            draw()
    return [message for message in dict.fromkeys(said) if sources.WORD.search(message) and not NAME.fullmatch(message)]


def of_site() -> Iterable[tuple[str, str]]:
    for path in PAGES:
        for message in sources.messages("markdown", path.read_text(encoding="utf-8")):
            yield context_of(path), message


def context_of(page: Path) -> str:
    """What the site's catalog calls a page: "pages/start.md", "class/README.md"."""
    return f"{page.parent.name}/{page.name}"


def calls_in(script: IO[bytes], *_: Any, **__: Any) -> Iterable[tuple[int, str, list[str], list[str]]]:
    """The calls in JavaScript, as Babel wants them: its own reader loses its way in templates within templates."""
    text = script.read().decode()
    for call in CALL.finditer(text):
        yield text.count("\n", 0, call.start()) + 1, call[1], [one for one in call.groups()[1:] if one], []


def of_lesson(name: str) -> Iterable[tuple[str, str]]:
    """(context, message) of its cells, in their order, and of its exercises."""
    for cell in nbformat.read(NOTEBOOKS / f"{name}.ipynb", as_version=4).cells:
        for message in sources.messages(cell.cell_type, cell.source):
            yield cell.id, message
    if name[:2].isdigit():
        from lessons.exercises import exercises_of

        for exercise in exercises_of(name).values():
            for text in exercise.texts():
                yield CHECK, text


def merged(language: str, name: str) -> Catalog:
    """The stored catalog brought up to date: what has changed is marked as fuzzy, what has gone is dropped."""
    fresh = deepcopy(catalog(language, name))
    fresh.update(template(language, name), update_creation_date=False)
    fresh.obsolete.clear()
    return fresh


def write(language: str, fresh: Catalog) -> None:
    path = path_of(language, str(fresh.domain))
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        write_po(file, fresh, width=0, ignore_obsolete=True)


def text_in(language: str, name: str, context: str, message: str) -> str:
    """The translation of a message of a cell, or the message itself."""
    found = catalog(language, name).get(message, context=context)
    return str(found.string) if found and found.string and not found.fuzzy else message


def in_language(language: str, name: str, notebook: NotebookNode) -> NotebookNode:
    """A lesson with its cells translated; its links lead to the translated headings."""
    for cell in notebook.cells:
        lookup = partial(text_in, language, name, cell.id)
        cell.source = sources.translated(cell.cell_type, cell.source, lookup)
        if "stub" in cell.metadata:
            cell.metadata.stub = cell.source
        if cell.cell_type == "markdown":
            cell.source = LINK.sub(lambda link: _relinked(language, name, *link.groups()), cell.source)
        for file in cell.get("attachments", {}):
            if (drawn := IMAGES / language / file).exists():
                cell.attachments[file]["image/png"] = base64.b64encode(drawn.read_bytes()).decode()
    return notebook


def page_in_language(language: str, page: Path) -> str:
    """A page of the site in another language, or as it is in English."""
    text = page.read_text(encoding="utf-8")
    if language == ENGLISH:
        return text
    return sources.translated("markdown", text, partial(text_in, language, SITE, context_of(page)))


def heading_anchors(language: str, page: Path) -> dict[str, str]:
    """{anchor of a heading: anchor of the translated heading} of a page of the site."""
    return dict(zip(_anchors(page.read_text(encoding="utf-8")), _anchors(page_in_language(language, page))))


def _relinked(language: str, name: str, file: str, anchor: str) -> str:
    there = anchors(language, file.removesuffix(".ipynb") or name)
    return f"]({file}#{there.get(anchor, anchor)})"


@cache
def anchors(language: str, name: str) -> dict[str, str]:
    """{anchor of a heading: anchor of the translated heading} of a lesson, as JupyterLab makes them."""
    path = NOTEBOOKS / f"{name}.ipynb"
    found: dict[str, str] = {}
    for cell in nbformat.read(path, as_version=4).cells if path.exists() else []:
        if cell.cell_type == "markdown":
            there = sources.translated("markdown", cell.source, partial(text_in, language, name, cell.id))
            found |= dict(zip(_anchors(cell.source), _anchors(there)))
    return found


def _anchors(text: str) -> list[str]:
    return [heading.replace(" ", "-") for heading in HEADING.findall(text)]
