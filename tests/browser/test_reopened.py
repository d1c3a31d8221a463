"""A notebook that is opened and not run: a picture where it is not trusted, a live widget where its state is stored."""

import os
import subprocess
import sys

import nbformat
import pytest
from playwright.sync_api import expect

from tests.browser.conftest import page_of_lab
from tests.widgets.samples import SAMPLES

every_widget = pytest.mark.parametrize("name", SAMPLES)


@pytest.fixture(scope="module")
def stored(server, notebook):
    """A notebook that shows every widget, has been run, and was saved with their state."""
    name = notebook(*(f"from lessons.widgets import {widget}\n\n{widget}()" for widget in SAMPLES), run=True)
    return nbformat.read(server.folder / "notebooks" / name, as_version=4)


@pytest.fixture(scope="module")
def untrusted(server, pages, stored):
    nbformat.write(stored, server.folder / "notebooks" / "untrusted.ipynb")
    with page_of_lab(server, pages) as lab:
        lab.show("untrusted.ipynb")
        yield lab


@pytest.fixture(scope="module")
def trusted(server, pages, stored):
    path = server.folder / "notebooks" / "trusted.ipynb"
    stored.metadata["title"] = "trusted"  # what is trusted is this content, whatever its name
    nbformat.write(stored, path)
    trust = [sys.executable, "-m", "jupyter", "trust", str(path)]
    subprocess.run(trust, env={**os.environ, **server.environment}, check=True, capture_output=True)
    with page_of_lab(server, pages) as lab:
        show_stored_widgets(lab, "trusted.ipynb")
        yield lab


def show_stored_widgets(lab, name):
    """Open a notebook until its widgets are there, but no more than a few times.

    JupyterLab may lose them all: where the kernel connects while they are being read from the notebook, it takes
    those of the kernel, which has none, for all there are.
    """
    for _ in range(5):
        lab.show(name)
        lost = lab.notebook.get_by_text("Error displaying widget: model not found")
        expect(lost.or_(lab.notebook.locator(".lw"))).to_have_count(len(SAMPLES))
        if not lost.count():
            return


def cell_of(lab, name):
    return lab.notebook.locator(".jp-CodeCell").nth(list(SAMPLES).index(name))


@every_widget
def test_untrusted_it_is_a_picture(untrusted, name):
    output = cell_of(untrusted, name).locator(".jp-OutputArea-output")
    expect(output).to_contain_text(f"{name}: ")
    output.locator("table, pre, img, p").first.wait_for()
    expect(untrusted.notebook.locator(".lw")).to_have_count(0)
    assert untrusted.page_errors == []


@every_widget
def test_trusted_and_with_its_state_it_is_alive(trusted, name):
    trusted.page_errors.clear()
    cell = cell_of(trusted, name)
    view = cell.locator(".lw")
    view.wait_for()
    expect(cell.locator(".jp-InputPrompt")).to_have_text(f"[{list(SAMPLES).index(name) + 1}]:")  # nothing has run
    if name == "MaskStudio":
        pair = view.locator('[data-part="allowed"] [data-at="0,1"]')
        pair.click()
        expect(pair).to_have_attribute("data-value", "1")
        expect(view.locator('[data-part="weights"] [data-at="0,1"]')).not_to_have_attribute("data-value", "0")
    view.evaluate("view => view.querySelectorAll('button:enabled, [tabindex]').forEach(element => element.click())")
    assert trusted.page_errors == []
