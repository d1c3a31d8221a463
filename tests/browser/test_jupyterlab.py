"""What a learner sees: the notebooks in JupyterLab, in a browser."""

import re

import pytest

STAND_IN = "Image"  # what JupyterLab puts where a picture has no alternative text
NOTEBOOK = "01_qkv_by_hand.ipynb"
WITH_WIDGETS = [
    "03_masked_attention.ipynb",
    "06_embeddings_and_positions.ipynb",
    "08_decoder.ipynb",
    "09_transformer.ipynb",
    "10_mask_tutorial.ipynb",
    "11_training.ipynb",
    "12_decoding.ipynb",
    "13_inside_torch_attention.ipynb",
    "14_a_trained_model.ipynb",
]


@pytest.fixture
def dark_theme(server):
    server.change_setting("apputils-extension/themes", theme="JupyterLab Dark")
    yield
    server.change_setting("apputils-extension/themes")


def assert_shown(pictures):
    assert pictures
    for picture in pictures:
        assert picture["width"] > 0, picture
        assert picture["alt"].strip() not in ("", STAND_IN), picture


def pictures_written(cells):
    """How many pictures the markdown cells ask for."""
    sources = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]
    return sum(len(re.findall(r"!\[|<img ", source)) for source in sources)


def test_make_lab_opens_the_first_notebook(lab):
    lab.visit("/?")
    assert lab.page.url.endswith("/00_start_here.ipynb")
    assert lab.page.get_by_text("Jupyter news").count() == 0  # the question whether to fetch them
    assert lab.page_errors == []


def test_notebook_runs_from_a_fresh_kernel(lab):
    lab.open(NOTEBOOK)
    assert lab.pictures("outputs") == []
    lab.run_all()
    assert lab.errors() == []
    assert len(lab.pictures("markdown")) == pictures_written(lab.cells)
    assert_shown(lab.pictures("markdown"))
    assert_shown(lab.pictures("outputs"))
    assert lab.page_errors == []


@pytest.mark.parametrize("name", WITH_WIDGETS)
def test_a_lesson_with_a_widget_runs_from_a_fresh_kernel(lab, name):
    lab.open(name)
    lab.run_all()
    assert lab.errors() == []
    assert_shown(lab.pictures("outputs"))
    widgets = lab.notebook.locator(".jp-OutputArea-output .lw")
    assert widgets.count() >= 1
    for widget in widgets.all():
        assert widget.is_visible()
    assert lab.page_errors == []


def test_notebook_in_the_dark_theme(dark_theme, lab):
    lab.open(NOTEBOOK)
    assert lab.page.locator("body").get_attribute("data-jp-theme-light") == "false"
    assert_shown(lab.pictures("markdown"))
    assert lab.page_errors == []
