"""A browser and a JupyterLab for all tests of a worker, and a page of it for each test or each module."""

import inspect
import os
from contextlib import contextmanager

import nbformat
import pytest
from nbclient import NotebookClient
from playwright.sync_api import expect, sync_playwright

from tests.browser import PATIENCE, bare
from tests.browser.lab import Lab, make_course, open_browser
from tests.browser.visitors import PACKAGES, find_path, open_visitor

expect.set_options(timeout=PATIENCE)


def path_of(name):
    """Where a browser is; without it, its tests are skipped, or fail where each browser must be there."""
    path = find_path(name)
    if not path:
        complain = pytest.fail if os.environ.get("REQUIRE_BROWSER") else pytest.skip
        complain(f"no {name} found; on Debian: `sudo apt install {PACKAGES[name]}`")
    return path


@pytest.fixture(scope="session")
def playwright():
    with sync_playwright() as playwright:
        yield playwright


@pytest.fixture(scope="session")
def browser(playwright):
    browser = open_browser(playwright, path_of("chromium"))
    yield browser
    browser.close()


@pytest.fixture(scope="module")
def any_browser(request, playwright):
    """A page of the browser that the test names."""
    name = request.param
    with open_visitor(name, path_of(name), playwright) as visitor:
        yield visitor


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    """A test whose browser crashes runs once more, in a new one: WebKit's page has died in one of some thirty runs."""
    visitor = pyfuncitem.funcargs.get("any_browser")
    if visitor is None:
        return None
    arguments = {name: pyfuncitem.funcargs[name] for name in inspect.signature(pyfuncitem.obj).parameters}
    try:
        pyfuncitem.obj(**arguments)
    except Exception as error:
        if not visitor.has_crashed(error):
            raise
        visitor.restart()
        pyfuncitem.obj(**arguments)
    return True


@pytest.fixture(scope="session")
def address():
    """Where the bare page is."""
    with bare.serve() as address:
        yield address


@pytest.fixture(scope="session")
def bare_pages():
    return []


@pytest.fixture
def page(browser, bare_pages, address):
    """A bare page, the same for all tests of a worker, but loaded anew: to open one costs four times as much."""
    if bare_pages and bare_pages[-1].failed:
        bare_pages.pop().close()
    if not bare_pages:
        bare_pages.append(bare.open_page(browser))
    page = bare_pages[-1]
    bare.load(page, address)
    yield page
    assert page.complaints == []


@pytest.fixture
def touched(browser, address):
    """A bare page under a finger."""
    page = browser.new_page(has_touch=True)
    page.goto(address)
    yield page
    page.close()


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    server = make_course(tmp_path_factory.mktemp("course"))
    yield server
    server.stop()


@pytest.fixture(scope="session")
def pages(browser):
    """What all pages of JupyterLab share, so that only the first one has to load it; those that are free stay open."""
    context = browser.new_context(viewport={"width": 1400, "height": 1000})
    context.set_default_timeout(PATIENCE)
    context.free = []
    yield context
    context.close()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    during = call.when != "teardown"  # after the last test, the browser is gone
    if (
        report.failed
        and during
        and (lab := next((arg for arg in item.funcargs.values() if isinstance(arg, Lab)), None))
    ):
        path = lab.server.folder / f"{item.name.replace('/', ' ')}.png"
        lab.failed = True
        lab.page.screenshot(path=path)
        report.sections.append(("Screenshot", str(path)))
    elif report.failed and "page" in item.funcargs:
        item.funcargs["page"].failed = True  # who knows what is left of it
    return report


@contextmanager
def page_of_lab(server, pages):
    """A page that has compiled JupyterLab before, if one is free."""
    lab = Lab(server, pages.free.pop() if pages.free else pages.new_page())
    yield lab
    if lab.failed:
        lab.page.close()
    else:
        lab.leave()
        pages.free.append(lab.page)
    server.stop_kernels()


@pytest.fixture
def lab(server, pages):
    with page_of_lab(server, pages) as lab:
        yield lab


@pytest.fixture(scope="module")
def shared_lab(server, pages):
    """One page for all tests of a module."""
    with page_of_lab(server, pages) as lab:
        yield lab


@pytest.fixture(scope="session")
def notebook(server):
    """Write a notebook of code cells into the course and return its name."""

    def write(*cells, run=False):
        """run: it has been run, and is stored with the state of its widgets."""
        book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in cells])
        for i, cell in enumerate(book.cells):
            cell.id = f"cell-{i}"
        book.metadata.kernelspec = {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"}
        if run:
            NotebookClient(book, startup_timeout=PATIENCE // 1000, store_widget_state=True).execute()
        (server.folder / "notebooks" / "widget.ipynb").write_text(nbformat.writes(book), encoding="utf-8")
        return "widget.ipynb"

    return write
