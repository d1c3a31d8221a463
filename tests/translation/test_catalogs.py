"""The catalogs: complete, up to date, and in each message what its English has, too."""

import ast
import io
import re

import pytest
from babel.messages.pofile import write_po

from lessons.wording import ENGLISH, ROOT, available
from tests.notebooks.cells import NOTEBOOKS
from tests.translation.test_sources import shape
from tools.translation import catalogs, sources
from tools.translation.rules import problems

LANGUAGES = [language for language in available() if language != ENGLISH]
NO_TEXT = re.compile(r"\$\$.*?\$\$|^\|.*\|$|`[^`]*`", re.M | re.S)

every_catalog = pytest.mark.parametrize(
    ("language", "name"), [(language, name) for language in LANGUAGES for name in catalogs.names()]
)


def pairs(language, name):
    """(context, message, translation) of all messages."""
    for message in catalogs.catalog(language, name):
        if message.id:
            one = message.id if isinstance(message.id, str) else message.id[-1]
            text = message.string if isinstance(message.string, str) else message.string[0]
            yield message.context, one, text


def test_there_is_chinese():
    assert "zh_CN" in LANGUAGES


@every_catalog
def test_it_is_up_to_date_with_the_english_text(language, name):
    fresh = catalogs.merged(language, name)
    messages = [message for message in fresh if message.id]
    assert messages
    assert [message.id for message in messages if message.fuzzy] == [], "stale: run make translate, and translate these"
    assert [one for _, one, text in pairs(language, name) if not text] == []
    written = io.BytesIO()
    write_po(written, fresh, width=0, ignore_obsolete=True)
    assert written.getvalue() == catalogs.path_of(language, name).read_bytes(), "run make translate"


def test_no_message_hides_in_an_f_string():
    """Before Python 3.12 Babel finds none there."""
    calls = [
        f"{path.name}: {ast.unparse(call)}"
        for folder in ("lessons", "tools")
        for path in sorted((ROOT / folder).rglob("*.py"))
        for string in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(string, ast.JoinedStr)
        for call in ast.walk(string)
        if isinstance(call, ast.Call) and getattr(call.func, "id", None) in catalogs.KEYWORDS
        if call.args and isinstance(call.args[0], ast.Constant)
    ]
    assert calls == []


@every_catalog
def test_each_translation_has_what_its_message_has(language, name):
    wrong = {one: list(problems(one, text)) for _, one, text in pairs(language, name) if text}
    assert {one: said for one, said in wrong.items() if said} == {}


@every_catalog
def test_no_text_stays_english(language, name):
    """In code, what stays as it is are data: tokens, names, and sentences of the lesson's own English examples."""
    in_code = {
        (cell.id, message)
        for cell in (NOTEBOOKS[name].cells if name in NOTEBOOKS else [])
        if cell.cell_type == "code"
        for message in sources.messages("code", cell.source)
    }
    everything = list(pairs(language, name))
    same = [(context, one) for context, one, text in everything if one == text]
    assert len(same) < 0.4 * len(everything)
    texts = [NO_TEXT.sub("", one) for context, one in same if (context, one) not in in_code]
    assert [text for text in texts if len(text.split()) > 8] == []


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", NOTEBOOKS)
def test_the_code_is_the_same_but_for_its_words(language, name):
    for cell in NOTEBOOKS[name].cells:
        if cell.cell_type == "code":
            new = sources.translated(
                "code",
                cell.source,
                lambda message: catalogs.text_in(language, name, cell.id, message),  # noqa: B023
            )
            assert shape(new) == shape(cell.source)


@pytest.mark.parametrize("language", LANGUAGES)
def test_links_lead_to_the_translated_headings(language):
    for name in NOTEBOOKS:
        notebook = catalogs.in_language(language, name, catalogs.nbformat.read(catalogs.NOTEBOOKS / f"{name}.ipynb", 4))
        text = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
        for file, anchor in catalogs.LINK.findall(text):
            there = catalogs.anchors(language, file.removesuffix(".ipynb") or name)
            assert anchor in there.values() or file.removesuffix(".ipynb") not in {"", *NOTEBOOKS}, (name, file, anchor)
