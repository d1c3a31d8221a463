"""Links in a translated lesson lead to its translated headings."""

import pytest
from nbformat.v4 import new_markdown_cell, new_notebook

from tools.copies import write
from tools.translation import catalogs

CHINESE = {"## Two masks": "## 两个掩码", "## Three paths (torch 2.13)": "## 三条路径（torch 2.13）"}


@pytest.fixture(autouse=True)
def lesson(tmp_path, monkeypatch):
    monkeypatch.setattr(catalogs, "NOTEBOOKS", tmp_path)
    monkeypatch.setattr(catalogs, "text_in", lambda language, name, context, message: CHINESE.get(message, message))
    write(new_notebook(cells=[new_markdown_cell("\n\n".join(CHINESE))]), tmp_path / "13_inside.ipynb")
    catalogs.anchors.cache_clear()
    yield
    catalogs.anchors.cache_clear()


@pytest.mark.parametrize(
    ("link", "translated"),
    [
        ("[a](#Two-masks)", "[a](#两个掩码)"),
        ("([a](13_inside.ipynb#Two-masks))", "([a](13_inside.ipynb#两个掩码))"),
        ("([a](#Three-paths-(torch-2.13)))", "([a](#三条路径（torch-2.13）))"),
        ("[a](#Unknown)", "[a](#Unknown)"),
    ],
)
def test_links_lead_to_the_translated_headings(link, translated):
    notebook = new_notebook(cells=[new_markdown_cell(link)])
    assert catalogs.in_language("zh_CN", "13_inside", notebook).cells[0].source == translated
