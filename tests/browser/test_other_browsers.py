"""A real JupyterLab in Firefox: every widget by mouse and keyboard, and lessons from top to bottom."""

import json

import pytest

from tests.browser.lab import ALL_HAVE_RUN, ERRORS, FRESH, TOKEN, without_outputs
from tests.browser.work import WORK, operate

LESSONS = ["00_start_here", "03_masked_attention"]
IS_IDLE = "() => document.querySelector('#jp-main-statusbar')?.textContent.includes('Python 3 (ipykernel) | Idle')"
NAME_VIEWS = "names => document.querySelectorAll('.lw').forEach((view, i) => { view.id = names[i]; })"
NAME_LAST_CELL = "() => { [...document.querySelectorAll('.jp-CodeCell')].at(-1).id = 'last'; }"
ALL_TEXTS = "selector => [...document.querySelectorAll(selector)].map(element => element.textContent)"

pytestmark = pytest.mark.parametrize("any_browser", ["firefox"], indirect=True)


def run_all(visitor, server, name):
    """Open a copy of a notebook without its outputs, and run it by the menu."""
    folder = server.folder / "notebooks"
    notebook = without_outputs(json.loads((folder / name).read_text(encoding="utf-8")))
    (folder / FRESH).write_text(json.dumps(notebook), encoding="utf-8")
    visitor.goto(f"{server.url}/lab/tree/notebooks/{FRESH}?reset&token={TOKEN}")
    visitor.wait_until(IS_IDLE)
    visitor.click(".lm-MenuBar-item:nth-child(4)")
    visitor.wait_for('[data-command="runmenu:run-all"]', "Run All Cells")
    visitor.click('[data-command="runmenu:run-all"]')
    visitor.wait_until(ALL_HAVE_RUN)
    assert visitor.evaluate(ALL_TEXTS, ERRORS) == []


@pytest.fixture
def clean(server):
    yield
    server.stop_kernels()


def test_every_widget_is_operated(any_browser, server, notebook, clean):
    cells = [f"from lessons.widgets import {', '.join(WORK)}"]
    cells += [f"widget = shown_{name} = {name}()\n{work.prepare}widget" for name, work in WORK.items()]
    cells.append("".join(f"widget = shown_{name}\nprint({work.read})\n" for name, work in WORK.items()))
    run_all(any_browser, server, notebook(*cells))
    any_browser.wait_until("count => document.querySelectorAll('.lw').length === count", len(WORK))
    any_browser.evaluate(NAME_VIEWS, list(WORK))
    any_browser.complaints()
    for name in WORK:
        operate(any_browser, name, f"#{name}")
    assert any_browser.complaints() == []
    any_browser.evaluate(NAME_LAST_CELL)
    any_browser.click("#last .cm-content")
    any_browser.press("Control+Enter")
    any_browser.wait_for("#last .jp-OutputArea-output pre", "\n".join(work.typed for work in WORK.values()))


@pytest.mark.parametrize("name", LESSONS)
def test_a_lesson_runs_from_top_to_bottom(any_browser, server, clean, name):
    run_all(any_browser, server, f"{name}.ipynb")
    assert any_browser.complaints() == []
