"""The catalogs in `locale/`, one for each lesson and one for checks and widgets, and lessons in another language.

locale/zh_CN/LC_MESSAGES/03_masked_attention.po   its cells (context: the id of the cell) and what its exercises say
                                                  (context: "check")
locale/zh_CN/LC_MESSAGES/package.po               what checks, widgets and figures say
"""

import re
from collections.abc import Iterable
from copy import deepcopy
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

import nbformat
from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.pofile import read_po, write_po
from nbformat import NotebookNode

from lessons.wording import CATALOGS, PACKAGE, ROOT
from tools.translation import sources

NOTEBOOKS = ROOT / "notebooks"
CHECK = "check"  # the context of what exercises say
DATE = datetime(2026, 11, 23, tzinfo=UTC)  # the same in all headers: a catalog changes with its messages only
KEYWORDS = {"worded": None, "marked": None, "counted": (1, 2)}
METHODS = [("**.py", "python"), ("**.js", "javascript")]
OPTIONS = {"**.js": {"parse_template_string": True}}
HEADING = re.compile(r"^#+ (.+)$", re.M)
LINK = re.compile(r"\]\(([\w.]*)#([^ )]+)\)")


def path_of(language: str, name: str) -> Path:
    return CATALOGS / language / "LC_MESSAGES" / f"{name}.po"


def names() -> list[str]:
    """The catalogs that there should be."""
    return [*sorted(path.stem for path in NOTEBOOKS.glob("*.ipynb")), PACKAGE]


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
    for context, message in of_package() if name == PACKAGE else of_lesson(name):
        fresh.add(message, context=context)
    return fresh


def of_package() -> Iterable[tuple[None, str | tuple[str, ...]]]:
    found = extract_from_dir(ROOT / "lessons", METHODS, OPTIONS, KEYWORDS)
    return [(None, message) for _, _, message, _, _ in sorted(found, key=lambda each: (each[0], each[1]))]


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

        def lookup(message: str, context: str = cell.id) -> str:
            return text_in(language, name, context, message)

        cell.source = sources.translated(cell.cell_type, cell.source, lookup)
        if "stub" in cell.metadata:
            cell.metadata.stub = cell.source
        if cell.cell_type == "markdown":
            cell.source = LINK.sub(lambda link: _relinked(language, name, *link.groups()), cell.source)
    return notebook


def _relinked(language: str, name: str, file: str, anchor: str) -> str:
    there = anchors(language, file.removesuffix(".ipynb") or name)
    return f"]({file}#{there.get(anchor, anchor)})"


@cache
def anchors(language: str, name: str) -> dict[str, str]:
    """{anchor of a heading: anchor of the translated heading}, as JupyterLab makes them."""
    path = NOTEBOOKS / f"{name}.ipynb"
    found: dict[str, str] = {}
    for cell in nbformat.read(path, as_version=4).cells if path.exists() else []:
        if cell.cell_type == "markdown":
            lookup = lambda message: text_in(language, name, cell.id, message)  # noqa: B023, E731
            there = HEADING.findall(sources.translated("markdown", cell.source, lookup))
            found |= {_anchor(old): _anchor(new) for old, new in zip(HEADING.findall(cell.source), there)}
    return found


def _anchor(heading: str) -> str:
    return heading.replace(" ", "-")
