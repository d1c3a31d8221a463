"""explore in a real JupyterLab: sliders by keyboard and by name, an error, and values that are skipped."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.accessible import told, violations
from tests.browser.lab import SLOW
from tests.browser.test_every_widget import DARK

SHOW = """import time
from lessons.plots import plot_weights
from lessons.widgets import explore
import torch

calls = []


def weights(d, kind="sharp"):
    calls.append(d)
    time.sleep(0.2)
    if d == 3:
        raise ValueError("not three")
    return plot_weights(torch.eye(2) if kind == "sharp" else torch.full((2, 2), 0.5))


explorer = explore(weights, d=(1, 50), kind=["sharp", "even"])
explorer"""
READ = "print(calls[-1], len(calls), explorer.controls['d'].value, explorer.controls['kind'].value)"


@pytest.fixture(scope="module")
def lab(shared_lab, notebook):
    shared_lab.open(notebook(SHOW, READ))
    shared_lab.run_all()
    yield shared_lab
    assert shared_lab.errors() == [] and shared_lab.page_errors == []


def test_by_keyboard_with_names_an_error_and_the_newest_value(lab):
    picture = lab.notebook.locator(".fe-box img")
    expect(picture).to_have_attribute("alt", "The figure that weights(d=25, kind='sharp') gives")

    slider = lab.notebook.get_by_role("slider", name="d")
    slider.focus()
    for _ in range(20):  # each call takes 0.2 seconds
        lab.page.keyboard.press("ArrowLeft")
    expect(picture).to_have_attribute("alt", re.compile(r"\(d=5, "))
    last, count, value, _ = lab.printed(1).split()
    assert last == value == "5" and int(count) < 21

    slider.focus()
    lab.page.keyboard.press("ArrowLeft")
    expect(picture).to_have_attribute("alt", re.compile(r"\(d=4, "))
    lab.page.keyboard.press("ArrowLeft")
    problem = lab.notebook.get_by_role("alert")
    expect(problem).to_contain_text("weights(d=3, kind='sharp'): ValueError: not three. Line 13 of your code: raise")
    expect(picture).to_have_attribute("alt", re.compile(r"\(d=4, "))

    lab.notebook.get_by_label("kind").select_option("even")
    expect(problem).to_contain_text("kind='even'")
    slider.focus()
    lab.page.keyboard.press("ArrowLeft")
    expect(picture).to_have_attribute("alt", "The figure that weights(d=2, kind='even') gives")
    expect(problem).to_have_count(0)  # an empty one is not there for a screen reader
    assert lab.printed(1).split()[2:] == ["2", "even"]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_it_is_accessible_in_both_themes_and_fits_a_phone(lab, theme):
    box = lab.notebook.locator(".fe-box")
    sheet = lab.page.add_style_tag(content=DARK.replace(":root", "html:root")) if theme == "dark" else None
    found = violations(lab.page, theme, context=".fe-box")
    ground = box.evaluate("e => getComputedStyle(e).backgroundColor")
    wide = box.evaluate(
        """box => {
            box.style.width = "300px";
            const [wide, room] = [box.scrollWidth, box.clientWidth];
            box.style.width = "";
            return wide - room;
        }"""
    )
    if sheet:
        sheet.evaluate("e => e.remove()")
    assert not found, told(found)
    assert ground == {"light": "rgb(255, 255, 255)", "dark": "rgb(17, 17, 17)"}[theme]
    assert wide <= 1


def test_it_answers_though_its_module_came_late(lab):
    """anywidget gives up a model whose module is not there after two seconds; here, at once."""
    lab.page.evaluate("""() => {
        window.patience = AbortSignal.timeout;
        AbortSignal.timeout = () => ({ addEventListener: (_, giveUp) => giveUp() }); }""")
    lab.run_cell(0)
    picture = lab.notebook.locator(".fe-box img")
    expect(picture).to_have_attribute("alt", "The figure that weights(d=25, kind='sharp') gives")
    lab.page.evaluate("AbortSignal.timeout = patience")
    lab.notebook.get_by_role("slider", name="d").focus()
    lab.page.keyboard.press("ArrowLeft")
    expect(picture).to_have_attribute("alt", "The figure that weights(d=24, kind='sharp') gives")
    assert lab.page_errors == [SLOW]
    lab.page_errors.clear()
