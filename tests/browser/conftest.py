"""A browser, a JupyterLab for all tests, and a page of it for each."""

import os

import nbformat
import pytest
from nbclient import NotebookClient
from playwright.sync_api import sync_playwright

from tests.browser.lab import Lab, find_browser, make_course, open_browser


@pytest.fixture(scope="session")
def browser():
    path = find_browser()
    if not path:
        complain = pytest.fail if os.environ.get("REQUIRE_BROWSER") else pytest.skip
        complain("no browser found; on Debian: `sudo apt install chromium`")
    with sync_playwright() as playwright:
        browser = open_browser(playwright, path)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def server(browser, tmp_path_factory):
    server = make_course(tmp_path_factory.mktemp("course"))
    yield server
    server.stop()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if call.when == "call":
        item.failed = report.failed
    return report


@pytest.fixture
def lab(request, browser, server, tmp_path):
    page = browser.new_page(viewport={"width": 1400, "height": 1000})
    yield Lab(server, page)
    if getattr(request.node, "failed", False):
        page.screenshot(path=tmp_path / "failure.png")
        print(f"Screenshot: {tmp_path / 'failure.png'}")
    page.close()
    server.stop_kernels()


@pytest.fixture
def notebook(server):
    """Write a notebook of code cells into the course and return its name."""

    def write(*cells, run=False):
        book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in cells])
        for i, cell in enumerate(book.cells):
            cell.id = f"cell-{i}"
        book.metadata.kernelspec = {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"}
        if run:
            NotebookClient(book, store_widget_state=False).execute()
        (server.folder / "notebooks" / "widget.ipynb").write_text(nbformat.writes(book), encoding="utf-8")
        return "widget.ipynb"

    return write
