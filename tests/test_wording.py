"""The language in which checks, widgets and figures speak."""

import ctypes
import locale
import sys
from types import SimpleNamespace

import pytest

from lessons import wording

SYSTEM = ["LC_ALL", "LC_MESSAGES", "LANG"]
CATALOG = """\
msgid ""
msgstr ""
"Content-Type: text/plain; charset=utf-8\\n"
"Plural-Forms: nplurals=1; plural=0;\\n"

msgid "Right"
msgstr "正确"

msgid "{count} of {total} rows"
msgstr "{total} 行中的 {count} 行"

msgid "the {name} of {owner} differs: {count}"
msgstr "{owner} 的 {name} 不同：{count} 处"

msgid "{what!r} is {size:.2f}"
msgstr "{what!r} 为 {size:.2f}"

msgid "{count} place"
msgid_plural "{count} places"
msgstr[0] "{count} 处"

#, fuzzy
msgid "Not yet"
msgstr "过时了"

msgid "Hint"
msgstr ""
"""
OF_LESSON = """\
msgid ""
msgstr ""
"Content-Type: text/plain; charset=utf-8\\n"

msgctxt "check"
msgid "weights"
msgstr "权重"

msgctxt "a-cell"
msgid "scores"
msgstr "得分"
"""


@pytest.fixture(autouse=True)
def catalogs(tmp_path, monkeypatch):
    """Two small catalogs, and nothing chosen."""
    folder = tmp_path / "locale" / "zh_CN" / "LC_MESSAGES"
    folder.mkdir(parents=True)
    (folder / "package.po").write_text(CATALOG, encoding="utf-8")
    (folder / "03_masked_attention.po").write_text(OF_LESSON, encoding="utf-8")
    monkeypatch.setattr(wording, "CATALOGS", tmp_path / "locale")
    monkeypatch.setattr(wording, "CHOICE", tmp_path / "work" / ".course" / "language")
    monkeypatch.setattr(wording, "_now", None)
    for name in [wording.VARIABLE, *SYSTEM]:
        monkeypatch.delenv(name, raising=False)
    wording._catalog.cache_clear()
    yield
    wording._catalog.cache_clear()


def choose(name):
    wording.CHOICE.parent.mkdir(parents=True)
    wording.CHOICE.write_text(name, encoding="utf-8")


def test_available():
    assert wording.available() == ["en", "zh_CN"]


@pytest.mark.parametrize(
    "name, language",
    {
        "zh": "zh_CN",
        "zh_CN": "zh_CN",
        "zh-CN": "zh_CN",
        "ZH_cn": "zh_CN",
        "zh_CN.UTF-8": "zh_CN",
        "zh_CN.GB18030@pinyin": "zh_CN",
        "zh_CN@pinyin": "zh_CN",
        "en": "en",
        "en_US.UTF-8": "en",
        "zh_TW": None,
        "zhuang": None,
        "de_DE": None,
        "C": None,
        "": None,
    }.items(),
)
def test_names(name, language):
    assert wording.supported(name) == language


def test_the_variable_counts_before_all_else(monkeypatch):
    choose("en")
    monkeypatch.setenv("LANG", "en_US.UTF-8")
    monkeypatch.setenv(wording.VARIABLE, "zh-CN")
    assert wording.language() == "zh_CN"


def test_what_was_chosen_counts_before_the_system(monkeypatch):
    choose("zh_CN\n")
    monkeypatch.setenv("LANG", "en_US.UTF-8")
    assert wording.language() == "zh_CN"


@pytest.mark.parametrize("content", [b"", b"klingon", b"\xff\xfe"])
def test_a_damaged_choice_is_none(content):
    choose("")
    wording.CHOICE.write_bytes(content)
    assert wording.read_choice(wording.CHOICE) is None
    assert wording.language() == "en"


@pytest.mark.parametrize(
    "system, language",
    [
        ({}, "en"),
        ({"LANG": "zh_CN.UTF-8"}, "zh_CN"),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": "en_US.UTF-8"}, "en"),
        ({"LANG": "en_US.UTF-8", "LC_MESSAGES": "zh_CN.UTF-8"}, "zh_CN"),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": ""}, "zh_CN"),
        ({"LANG": "zh_TW.UTF-8"}, "en"),
        ({"LANG": "C.UTF-8"}, "en"),
    ],
)
def test_the_language_of_the_system(monkeypatch, system, language):
    monkeypatch.setattr(sys, "platform", "linux")
    for name, value in system.items():
        monkeypatch.setenv(name, value)
    assert wording.language() == language


@pytest.mark.parametrize("code, language", [(0x0804, "zh_CN"), (0x0404, "en"), (0x0409, "en"), (0xFFFF, "en")])
def test_the_language_of_windows(monkeypatch, code, language):
    kernel = SimpleNamespace(GetUserDefaultUILanguage=lambda: code)
    monkeypatch.setattr(ctypes, "windll", SimpleNamespace(kernel32=kernel), raising=False)
    monkeypatch.setattr(sys, "platform", "win32")
    assert 0xFFFF not in locale.windows_locale
    assert wording.language() == language


def test_an_unknown_language_is_refused(monkeypatch):
    with pytest.raises(ValueError, match="LESSONS_LANG is 'klingon'; expected one of en, zh_CN"):
        wording.use("klingon")
    monkeypatch.setenv(wording.VARIABLE, "klingon")
    with pytest.raises(ValueError, match="klingon"):
        wording.language()


def test_switching_at_run_time():
    assert wording.worded("Right") == "Right"
    wording.use("zh")
    assert wording.worded("Right") == "正确"
    wording.use("en")
    assert wording.worded("Right") == "Right"


def test_what_a_catalog_lacks_stays_english():
    wording.use("zh_CN")
    assert [*map(wording.worded, ["Solution", "Hint", "Not yet"])] == ["Solution", "Hint", "Not yet"]
    assert wording.counted("{count} row", "{count} rows", 2) == "2 rows"


def test_placeholders():
    message = "{count} of {total} rows"
    assert wording.worded(message, count=2, total=5) == "2 of 5 rows"
    assert wording.worded("{} and {x}") == "{} and {x}"  # without values, braces mean nothing
    wording.use("zh_CN")
    assert wording.worded(message, count=2, total=5) == "5 行中的 2 行"


def test_how_a_value_is_written():
    message = "{what!r} is {size:.2f}"
    for language, said in (("en", "'k' is 0.50"), ("zh_CN", "'k' 为 0.50")):
        wording.use(language)
        assert wording.worded(message, what="k", size=0.5) == said


def test_the_language_of_a_page():
    assert wording.tag() == "en"
    wording.use("zh_CN")
    assert wording.tag() == "zh-CN"


def test_a_space_beside_a_placeholder_is_for_code():
    message = "the {name} of {owner} differs: {count}"
    assert wording.worded(message, name="output", owner="you", count=2) == "the output of you differs: 2"
    wording.use("zh_CN")
    assert wording.worded(message, name="`k`", owner="f", count=2) == "f 的 `k` 不同：2 处"
    assert wording.worded(message, name="输出", owner="你", count=2) == "你的输出不同：2 处"
    assert wording.worded(message, name="输出", owner="f", count=2) == "f 的输出不同：2 处"
    assert wording.worded(message, name="我 们", owner="他 们", count=2) == "他 们的我 们不同：2 处"


def test_counting():
    def places(count):
        return wording.counted("{count} place", "{count} places", count)

    assert [*map(places, [0, 1, 2])] == ["0 places", "1 place", "2 places"]
    wording.use("zh_CN")
    assert [*map(places, [0, 1, 2])] == ["0 处", "1 处", "2 处"]


def test_texts_of_an_exercise():
    assert wording.worded_in_lesson("03", "weights") == "weights"
    wording.use("zh_CN")
    assert wording.worded_in_lesson("03", "weights") == "权重"
    assert wording.worded_in_lesson("03", "scores") == "scores"  # says a cell, not a check
    assert wording.worded_in_lesson("04", "weights") == "weights"
    assert wording.worded_in_lesson("", "weights") == "weights"


def test_lists():
    assert wording.listed([]) == wording.listed(["", ""]) == ""
    assert wording.listed(["a", ""]) == wording.listed(["", "a"]) == "a"
    assert wording.listed(["a", "{b}", "c"]) == "a, {b}, c"
    assert wording.listed(["a", "b", "c"], wording.AND) == "a and b and c"
    assert wording.listed(["One.", "Two."], wording.SENTENCES) == "One. Two."
