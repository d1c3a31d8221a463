"""What a learner sees: the notebooks in JupyterLab, in a browser."""

import ast
import json
import re

import nbformat
import pytest
from playwright.sync_api import expect

from lessons import widgets
from tests.browser.lab import SLOW
from tests.notebooks.cells import NOTEBOOKS, code_cells, needed_for

STAND_IN = "Image"  # what JupyterLab puts where a picture has no alternative text
FIRST = "00_start_here"
STEPS = re.compile(r"\bsteps=\d+")


@pytest.fixture
def dark_theme(server):
    server.change_setting("apputils-extension/themes", theme="JupyterLab Dark")
    yield
    server.change_setting("apputils-extension/themes")


def assert_shown(pictures, *, told=True):
    for picture in pictures:
        assert picture["width"] > 0, picture
        assert not told or picture["alt"].strip() not in ("", STAND_IN), picture


def in_markdown(name):
    """How many pictures the markdown cells ask for."""
    texts = [cell.source for cell in NOTEBOOKS[name].cells if cell.cell_type == "markdown"]
    return sum(len(re.findall(r"!\[|<img ", text)) for text in texts)


def in_outputs(name):
    """How many pictures are stored in the outputs."""
    outputs = [output.get("data", {}) for cell in code_cells(name) for output in cell.outputs]
    return sum(("image/png" in data) + data.get("text/html", "").count("<img ") for data in outputs)


def has_a_picture(cell):
    stored = cell.source if cell.cell_type == "markdown" else json.dumps(cell.get("outputs"))
    return re.search(r'!\[|<img |"image/', stored)


def shows_a_widget(cell):
    calls = [node.func for node in ast.walk(ast.parse(cell.source)) if isinstance(node, ast.Call)]
    return any(isinstance(called, ast.Name) and called.id in widgets.__all__ for called in calls)


def test_make_lab_opens_the_first_notebook(lab):
    lab.visit("/?")
    expect(lab.page).to_have_url(re.compile(rf"/work/{FIRST}\.ipynb$"))
    assert_shown(lab.pictures("markdown", in_markdown(FIRST)))
    lab.pictures("outputs", 0)
    assert lab.page.get_by_text("Jupyter news").count() == 0  # the question whether to fetch them
    assert lab.page_errors == []


def test_a_notebook_runs_from_a_fresh_kernel(lab):
    lab.open(f"{FIRST}.ipynb")
    lab.pictures("outputs", 0)
    lab.run_all()
    assert lab.errors() == []
    assert_shown(lab.pictures("markdown", in_markdown(FIRST)))
    assert_shown(lab.pictures("outputs", in_outputs(FIRST)))
    assert lab.page_errors == []


def test_every_picture_of_the_lessons_is_shown_in_the_dark_theme(dark_theme, lab):
    """All cells with a picture as they are stored, in one notebook; no code, an editor of which costs much."""
    every = nbformat.v4.new_notebook(metadata=NOTEBOOKS[FIRST].metadata)
    for name, lesson in NOTEBOOKS.items():
        for cell in filter(has_a_picture, lesson.cells):
            source = cell.source if cell.cell_type == "markdown" else ""
            shown = {**cell, "id": f"{name}-{cell.id}", "source": source, "metadata": {}}  # none of them folded
            every.cells.append(nbformat.from_dict(shown))
    nbformat.write(every, lab.server.folder / "notebooks" / "every.ipynb")
    lab.show("every.ipynb")
    expect(lab.page.locator("body")).to_have_attribute("data-jp-theme-light", "false")
    assert_shown(lab.pictures("markdown", sum(map(in_markdown, NOTEBOOKS))))
    # JupyterLab leaves out the alternative text of a stored PNG; a learner's own run has it, as the test above shows.
    assert_shown(lab.pictures("outputs", sum(map(in_outputs, NOTEBOOKS))), told=False)
    assert lab.page_errors == []


def test_every_widget_of_the_lessons_is_shown(lab, notebook):
    """One notebook of all cells that show a widget, each after those that it needs; a training takes 25 steps."""
    cells = []
    for name in NOTEBOOKS:
        of_lesson = code_cells(name)
        cells += needed_for(of_lesson, [place for place, cell in enumerate(of_lesson) if shows_a_widget(cell)])
    lab.open(notebook(*(STEPS.sub("steps=25", cell.source) for cell in cells)))
    lab.run_all()
    assert lab.errors() == []
    for place, cell in enumerate(cells):
        expect(lab.views(place)).to_have_count(int(shows_a_widget(cell)))
        if shows_a_widget(cell):
            lab.views(place).wait_for()
    assert [error for error in lab.page_errors if error != SLOW] == []
