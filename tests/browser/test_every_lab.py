"""Every widget in a real JupyterLab: shown, worked by mouse and by keyboard, read back in the next cell."""

from dataclasses import dataclass

import pytest
from playwright.sync_api import expect

from tests.widgets.samples import SAMPLES


@dataclass(frozen=True)
class Work:
    """What is done in a view, by selectors, and what Python prints after it.

    shown: an element that every view has when all is done. prepare: code that gives the widget something to show.
    """

    click: str
    clicked: str
    focus: str
    keys: tuple[str, ...]
    typed: str
    read: str
    shown: str
    prepare: str = ""


def cell(part, row, column):
    return f'[data-part="{part}"] [data-at="{row},{column}"]'


RUN = """from types import SimpleNamespace

for _ in widget.watch(SimpleNamespace(step=step, loss=1 / step) for step in range(1, 7)):
    pass
"""
WORK = {
    "AttentionExplorer": Work(
        click='[data-head="2"]',
        clicked="2 None",
        focus='[aria-label="queries"] [role="option"] >> nth=0',
        keys=("ArrowDown", "Space"),
        typed="2 1",
        read="widget.head, widget.query",
        shown='[aria-label="queries"] [aria-selected="true"]:text-is("cat")',
    ),
    "FunctionLab": Work(
        click=cell("allowed", 0, 1),
        clicked="True False",
        focus=cell("allowed", 0, 1),
        keys=("ArrowDown", "ArrowDown", "ArrowLeft", "Space"),
        typed="True True",
        read="widget.allowed[0, 1].item(), (~widget.allowed[2, 0]).item()",
        shown=cell("allowed", 2, 0) + '[data-value="0"]',
    ),
    "MaskStudio": Work(
        click=cell("allowed", 1, 3),
        clicked="[[1, 3]]",
        focus=cell("allowed", 1, 3),
        keys=("ArrowDown", "Space", "ArrowLeft", "Enter"),
        typed="[[1, 3], [2, 2], [2, 3]]",
        read="widget.edits",
        shown=cell("allowed", 2, 2) + '[data-value="0"]',
    ),
    "DecodingExplorer": Work(
        click='[data-part="step"]',
        clicked="['thanks'] set()",
        focus='[data-part="list"] [data-id] >> nth=0',
        keys=("ArrowDown", "Enter", "PageDown"),
        typed="['thanks', 'you', '<eos>'] {1}",
        read="widget.sentence, widget.own",
        shown='[data-part="sentence"] li:nth-child(4) b:text-is("<eos>")',
    ),
    "DotProductStepper": Work(
        click='[data-part="next"]',
        clicked="1 1 3",
        focus=cell("table", 1, 3),
        keys=("ArrowUp", "PageDown", "PageDown"),
        typed="3 0 3",
        read="widget.step, widget.row, widget.column",
        shown='[data-step="3"][aria-current="step"]',
    ),
    "HeadSplitter": Work(
        click='[data-part="next"]',
        clicked="3 2",
        focus='[data-part="num_heads"]',
        keys=("ArrowRight",),
        typed="3 3",
        read="widget.step, widget.num_heads",
        shown='[data-step="3"][aria-current="step"]',
    ),
    "PositionLab": Work(
        click=cell("table", 7, 3),
        clicked="7 1 16",
        focus='[data-part="num_positions"]',
        keys=("ArrowRight", "ArrowRight"),
        typed="7 1 18",
        read="widget.second, widget.pair, widget.num_positions",
        shown='[data-part="num_positions-shown"]:text-is("18")',
    ),
    "ScalingLab": Work(
        click='[data-part="scaled"]',
        clicked="64 False",
        focus='[data-part="d"]',
        keys=("ArrowRight", "ArrowRight"),
        typed="256 False",
        read="widget.d, widget.scaled",
        shown='[data-part="d-shown"]:text-is("256")',
    ),
    "ShapeTour": Work(
        click='[data-part="next"]',
        clicked="1 0",
        focus='[data-step="1"]',
        keys=("ArrowDown", "End"),
        typed="17 0",
        read="widget.step, widget.sentence",
        shown='[data-step="17"][aria-current="step"]',
    ),
    "TrainingMonitor": Work(
        click='[data-part="log_axis"]',
        clicked="True None",
        focus='[data-part="loss"]',
        keys=("ArrowLeft", "ArrowLeft"),
        typed="True 4",
        read="widget.log_axis, widget.cursor",
        shown='[data-part="loss"][aria-valuetext="step 4: loss 0.250"]',
        prepare=RUN,
    ),
}


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
    opened.restart_and_run_all()
    assert opened.errors() == []
    return opened


def views_and_reading(lab, name):
    """Both views of a widget, and the number of the cell that reads it."""
    first = 1 + 3 * list(WORK).index(name)
    for cell in (first, first + 1):
        expect(lab.views(cell)).to_have_count(1)
    lab.page_errors.clear()
    return lab.views(first), lab.views(first + 1), first + 2


@pytest.mark.parametrize("name", WORK)
def test_mouse_and_keys_reach_python_and_every_view(opened, name):
    work = WORK[name]
    one, other, reading = views_and_reading(opened, name)
    one.locator(work.click).click()
    assert opened.printed(reading) == work.clicked

    one.locator(work.focus).focus()
    for key in work.keys:
        opened.page.keyboard.press(key)
    assert opened.printed(reading) == work.typed
    assert opened.notebook.locator(".jp-Cell").count() == 1 + 3 * len(WORK)  # no key has changed the notebook

    for view in (one, other):
        expect(view.locator(work.shown)).to_be_visible()
    assert opened.page_errors == []


@pytest.mark.parametrize("name", WORK)
def test_after_a_restart_the_notebook_runs_again(restarted, name):
    work = WORK[name]
    one, _, reading = views_and_reading(restarted, name)
    one.locator(work.click).click()
    assert restarted.printed(reading) == work.clicked
    assert restarted.page_errors == []
