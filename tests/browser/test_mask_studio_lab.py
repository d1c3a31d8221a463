"""MaskStudio in a real JupyterLab: every key and click in its order, and every view of it the same."""

import pytest
from playwright.sync_api import expect

from tests.browser import bare

SHOW = "from lessons.widgets import MaskStudio\nstudio = MaskStudio()\nstudio"
READ = "print(studio.edits, studio.allowed[1, 3].item(), studio.convention, studio.kind, studio.history)"
CHANGE = 'studio.kind = "cross-attention"\nstudio.toggle(2, 5)\nstudio.fill = "0 after the softmax"'


@pytest.fixture(scope="module")
def opened(shared_lab, notebook):
    shared_lab.open(notebook(SHOW, "studio", READ, "print(studio.edits)", CHANGE))
    return shared_lab


@pytest.fixture
def lab(opened):
    """A new studio, shown twice."""
    for cell in (0, 1):
        opened.run_cell(cell)
        expect(opened.views(cell)).to_have_count(1)
    yield opened
    assert opened.errors() == [] and opened.page_errors == []


def cell(view, part, row, column):
    return view.locator(f'[data-part="{part}"] [data-at="{row},{column}"]')


def test_clicks_and_keys_reach_python_before_the_next_cell(lab):
    view = lab.views(0)
    cell(view, "allowed", 1, 3).click()
    expect(cell(view, "allowed", 1, 3)).to_have_attribute("data-value", "1")
    assert lab.printed(2) == "[[1, 3]] True True = may attend decoder self-attention [[[1, 3]]]"

    cell(view, "allowed", 1, 3).focus()
    for key in ["ArrowDown", "Space", "ArrowLeft", "ArrowLeft", "Enter"]:
        lab.page.keyboard.press(key)
    history = "[[[1, 3]], [[2, 3]], [[2, 1]]]"
    assert lab.printed(2) == f"[[1, 3], [2, 1], [2, 3]] True True = may attend decoder self-attention {history}"
    assert lab.notebook.locator(".jp-Cell").count() == 5  # no key has changed the notebook

    cell(view, "allowed", 2, 1).focus()
    lab.page.keyboard.press("Control+z")
    view.locator('[data-part="convention"]').select_option("True = blocked")
    expect(cell(view, "allowed", 1, 3)).to_have_text("False")
    assert lab.printed(2) == "[[1, 3], [2, 3]] True True = blocked decoder self-attention [[[1, 3]], [[2, 3]]]"


def test_many_fast_clicks_and_a_cell_right_behind_them(lab):
    cell(lab.views(0), "allowed", 0, 0).focus()
    for key in ["Space", "ArrowRight"] * 5:
        lab.page.keyboard.press(key)
    assert lab.printed(3) == "[[0, 0], [0, 1], [0, 2], [0, 3], [0, 4]]"


def test_python_reaches_every_view(lab):
    first, second = lab.views(0), lab.views(1)
    lab.run_cell(4)
    for view in (first, second):
        expect(cell(view, "allowed", 2, 5)).to_have_attribute("data-value", "1")
        expect(view.locator('[data-part="kind"]')).to_have_value("cross-attention")
        expect(view.locator('[data-part="fill"]')).to_have_value("0 after the softmax")
    cell(second, "allowed", 0, 0).click()
    expect(cell(first, "allowed", 0, 0)).to_have_attribute("data-value", "0")
    first.locator('[data-part="source"]').fill("a new sentence <pad>")
    first.locator('[data-part="source"]').press("Enter")
    expect(cell(second, "weights", 0, 3)).to_have_attribute("data-value", "0")
    expect(second.locator('[data-part="allowed"] [role="columnheader"]')).to_have_count(5)
    second.locator("summary").click()
    expect(second.locator(".lw-code")).to_have_count(4)
    expect(second.locator(".lw-code pre").first).to_contain_text("from lessons import masks")

    bare.give_clipboard(lab.page, True)
    last = second.locator(".lw-code").last
    button = last.get_by_role("button", name=f"Copy the code for {last.locator('header > span').first.text_content()}")
    assert bare.press_copy(lab.page, button) == [["Copied", "Copied"], ["Copy", ""]]
    assert lab.page.evaluate("window.copied") == last.locator("pre").text_content()
