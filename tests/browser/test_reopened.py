"""A notebook that is opened and not run: a picture where it is not trusted, a live widget where its state is stored."""

import os
import subprocess
import sys

import nbformat
import pytest
from nbclient import NotebookClient
from playwright.sync_api import expect

from tests.widgets.samples import SAMPLES

NAME = "reopened.ipynb"
every_widget = pytest.mark.parametrize("name", SAMPLES)


def write(server, widget):
    """A notebook that has been run and saved with its widgets' state."""
    book = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(f"from lessons.widgets import {widget}\n\n{widget}()", id="widget")]
    )
    book.metadata.kernelspec = {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"}
    NotebookClient(book, store_widget_state=True).execute()
    path = server.folder / "notebooks" / NAME
    nbformat.write(book, path)
    return path


@every_widget
def test_untrusted_it_is_a_picture(lab, name):
    write(lab.server, name)
    lab.visit(f"/lab/tree/notebooks/{NAME}?reset&")
    output = lab.notebook.locator(".jp-OutputArea-output")
    expect(output).to_contain_text(f"{name}: ")
    expect(output.locator("table, pre, img, p").first).to_be_visible()
    expect(lab.notebook.locator(".lw")).to_have_count(0)
    assert lab.page_errors == []


@every_widget
def test_trusted_and_with_its_state_it_is_alive(lab, name):
    path = write(lab.server, name)
    trust = [sys.executable, "-m", "jupyter", "trust", str(path)]
    subprocess.run(trust, env={**os.environ, **lab.server.environment}, check=True, capture_output=True)
    lab.visit(f"/lab/tree/notebooks/{NAME}?reset&")
    view = lab.notebook.locator(".lw")
    expect(view).to_be_visible()
    expect(lab.notebook.locator(".jp-InputPrompt").first).to_have_text("[1]:")  # as it was stored: nothing has run
    if name == "MaskStudio":
        cell = view.locator('[data-part="allowed"] [data-at="0,1"]')
        cell.click()
        expect(cell).to_have_attribute("data-value", "1")
        expect(view.locator('[data-part="weights"] [data-at="0,1"]')).not_to_have_attribute("data-value", "0")
    view.evaluate("view => view.querySelectorAll('button:enabled, [tabindex]').forEach(element => element.click())")
    assert lab.page_errors == []
