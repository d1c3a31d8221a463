"""Every widget in a real JupyterLab: shown, worked by mouse and by keyboard, read back in the next cell."""

import pytest
from playwright.sync_api import expect

from tests.browser.work import WORK
from tests.widgets.samples import SAMPLES

# The browser paints the whole notebook at each change.
SHOW = """(cells, [first, count]) => cells.forEach((cell, place) => {
    cell.style.display = first <= place && place < first + count ? "" : "none";
})"""


def test_every_widget_is_here():
    assert set(WORK) == set(SAMPLES)


@pytest.fixture(scope="module")
def opened(shared_lab, notebook):
    """One notebook that shows every widget twice, and after each a cell that reads it."""
    cells = ["shown = {}"]
    for name, work in WORK.items():
        show = f"from lessons.widgets import {name}\n\nwidget = shown['{name}'] = {name}()\n{work.prepare}widget"
        cells += [show, f"shown['{name}']", f"widget = shown['{name}']\nprint({work.read})"]
    shared_lab.open(notebook(*cells))
    shared_lab.run_all()
    assert shared_lab.errors() == []
    return shared_lab


@pytest.fixture(scope="module")
def restarted(opened):
    show(opened, 0, 1 + 3 * len(WORK))
    opened.restart_and_run_all()
    assert opened.errors() == []
    return opened


def show(lab, first, count):
    """Only these cells; the others are there, and hidden."""
    lab.notebook.locator(".jp-Cell").evaluate_all(SHOW, [first, count])


def views_and_reading(lab, name):
    """Both views of a widget, and the number of the cell that reads it."""
    first = 1 + 3 * list(WORK).index(name)
    show(lab, first, 3)
    for cell in (first, first + 1):
        expect(lab.views(cell)).to_have_count(1)
    lab.page_errors.clear()
    return lab.views(first), lab.views(first + 1), first + 2


@pytest.mark.parametrize("name", WORK)
def test_mouse_and_keys_reach_python_and_every_view(opened, name):
    work = WORK[name]
    one, other, reading = views_and_reading(opened, name)
    one.locator(work.click).first.click()
    assert opened.printed(reading) == work.clicked

    one.locator(work.focus).first.focus()
    for key in work.keys:
        opened.page.keyboard.press(key)
    assert opened.printed(reading) == work.typed
    assert opened.notebook.locator(".jp-Cell").count() == 1 + 3 * len(WORK)  # no key has changed the notebook

    for view in (one, other):
        shown = view.locator(work.shown.selector).first
        shown.wait_for()
        if work.shown.says is not None:
            expect(shown).to_have_text(work.shown.says)
    assert opened.page_errors == []


@pytest.mark.parametrize("name", WORK)
def test_after_a_restart_the_notebook_runs_again(restarted, name):
    work = WORK[name]
    one, _, reading = views_and_reading(restarted, name)
    one.locator(work.click).first.click()
    assert restarted.printed(reading) == work.clicked
    assert restarted.page_errors == []
