"""A real JupyterLab: every widget by mouse and keyboard in Firefox, lessons with theirs in Firefox and WebKit."""

import json
from typing import NamedTuple

import pytest

from tests.browser import PATIENCE
from tests.browser.lab import ALL_HAVE_RUN, ERRORS, FRESH, SLOW, TOKEN, without_outputs
from tests.browser.work import WORK, cell, operate

IS_IDLE = "() => document.querySelector('#jp-main-statusbar')?.textContent.includes('Python 3 (ipykernel) | Idle')"
NAME_VIEWS = "names => document.querySelectorAll('.lw').forEach((view, i) => { view.id = names[i]; })"
NAME_LAST_CELL = "() => { [...document.querySelectorAll('.jp-CodeCell')].at(-1).id = 'last'; }"
ALL_TEXTS = "selector => [...document.querySelectorAll(selector)].map(element => element.textContent)"
LAB, STUDIO = ".lw:has(.fl-verdict)", ".lw:has(.mask-settings)"
FIGURE = """text => [...document.querySelectorAll('.fe-box img')].some(image => image.alt.includes(text))"""


class Lesson(NamedTuple):
    """What is run, and the CSS selectors of what is clicked and of what then can be seen.

    cells: those that the widgets need, by id; all if there are none. edit: it trains for two steps only.
    slider: of an explorer: its name, and the words of its figure one step to the right.
    """

    deeds: tuple[tuple[str, str], ...]
    cells: tuple[str, ...] = ()
    edit: tuple[str, str] = ("", "")
    slider: tuple[str, str] | None = None


LESSONS = {
    "00_start_here": Lesson(
        deeds=(
            ('[data-part="tools"] button', '[data-part="changes"] li'),
            (f"{STUDIO} {cell('allowed', 1, 3)}", f"{STUDIO} {cell('allowed', 1, 3)}[data-value='1']"),
        )
    ),
    "03_masked_attention": Lesson(
        cells=("imports", "my-masked-weights", "lab", "studio"),
        deeds=(
            (f"{LAB} {cell('allowed', 0, 1)}", f"{LAB} {cell('allowed', 0, 1)}[data-value='1']"),
            (f"{STUDIO} {cell('allowed', 1, 3)}", f"{STUDIO} {cell('allowed', 1, 3)}[data-value='1']"),
        ),
    ),
    "11_training": Lesson(
        cells=("imports", "rates", "paper-shape", "task", "first-loss", "the-sentence", "train"),
        edit=("steps=250", "steps=2"),
        deeds=(('[data-part="log_axis"]', '[data-part="log_axis"]:checked'),),
        slider=("warmup", "warmup=150"),
    ),
    "12_decoding": Lesson(
        cells=("imports", "my-distribution", "see-it-code", "next-word", "explorer"),
        deeds=(('[data-part="step"]', '[data-part="sentence"] li:nth-child(2)'),),
        slider=("temperature", "temperature=1.1"),
    ),
}

in_firefox = pytest.mark.parametrize("any_browser", ["firefox"], indirect=True)
in_both = pytest.mark.parametrize("any_browser", ["firefox", "webkit"], indirect=True)


def run_all(visitor, server, name, lesson=None):
    """Open a copy of a notebook without its outputs, and run it by the menu."""
    folder = server.folder / "notebooks"
    notebook = without_outputs(json.loads((folder / name).read_text(encoding="utf-8")))
    if lesson and lesson.cells:
        notebook["cells"] = [cell for cell in notebook["cells"] if cell["id"] in lesson.cells]
        for each in notebook["cells"]:
            each["source"] = "".join(each["source"]).replace(*lesson.edit)
    (folder / FRESH).write_text(json.dumps(notebook), encoding="utf-8")
    address = f"{server.url}/lab/tree/notebooks/{FRESH}?reset&token={TOKEN}"
    visitor.goto(address)
    try:
        visitor.wait_until(IS_IDLE, patience=PATIENCE / 4)
    except TimeoutError:  # seen once in WebKit: JupyterLab never heard of its kernel
        visitor.goto(address)
        visitor.wait_until(IS_IDLE)
    visitor.click(".lm-MenuBar-item:nth-child(4)")
    visitor.wait_for('[data-command="runmenu:run-all"]', "Run All Cells")
    visitor.click('[data-command="runmenu:run-all"]')
    visitor.wait_until(ALL_HAVE_RUN, every=0.2)  # seconds; to ask takes 3 to 6 ms from what runs
    assert visitor.evaluate(ALL_TEXTS, ERRORS) == []


@pytest.fixture
def clean(server):
    yield
    server.stop_kernels()


@in_firefox
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


@in_both
@pytest.mark.parametrize("name", LESSONS)
def test_a_lesson_runs_and_each_of_its_widgets_answers(any_browser, server, clean, name):
    lesson = LESSONS[name]
    run_all(any_browser, server, f"{name}.ipynb", lesson)
    for click, seen in lesson.deeds:
        any_browser.wait_for(click)
        any_browser.click(click)
        any_browser.wait_for(seen)
    if lesson.slider:
        slider, words = lesson.slider
        any_browser.wait_for(f'.fe-box [aria-label="{slider}"]')
        any_browser.focus(f'.fe-box [aria-label="{slider}"]')
        any_browser.press("ArrowRight")
        any_browser.wait_until(FIGURE, words)
    assert [said for said in any_browser.complaints() if said != f"Error: {SLOW}"] == []
