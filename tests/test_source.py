"""lessons.source: source code as a page shows it."""

import html
import inspect
import re

import pytest

from lessons import attention, source
from lessons.source import NARROW, as_html

LONG = "    total = " + " + ".join(["something"] * 9)


@pytest.mark.parametrize("code", [inspect.getsource(attention).rstrip(), LONG, "a < b", 'x = f"{y!r}"  # "&amp;"'])
def test_the_text_is_the_source(code):
    assert html.unescape(re.sub(r"<[^>]*>", "", as_html(code))) == code + "\n"


def test_a_line_too_long_for_the_page_goes_on_farther_to_the_right():
    assert '"><span style="display: block; padding-left: 12ch; text-indent: -12ch">    total' in as_html(LONG)
    assert "text-indent" not in as_html(LONG[:NARROW])


def test_the_page_breaks_no_word():
    page = as_html("a = b")
    assert "word-break: normal" in page and "pre-wrap" in page


def test_the_colors_are_those_of_the_theme():
    colors = re.findall(r"color: ([^;\"]*)", as_html(inspect.getsource(source)))
    assert len(set(colors)) >= 5
    assert all(re.fullmatch(r"var\(--jp-mirror-editor-\w+-color\)", color) for color in colors)
