"""MaskStudio in a real JupyterLab: mouse and keys reach Python, Python reaches every view."""

import json

from playwright.sync_api import expect

SHOW = "from lessons.widgets import MaskStudio\nstudio = MaskStudio()\nstudio"
READ = "print(studio.edits, studio.allowed[1, 3].item(), studio.convention, studio.kind, studio.history)"


def views(lab):
    return lab.notebook.locator(".lw")


def cell(view, part, row, column):
    return view.locator(f'[data-part="{part}"] [data-at="{row},{column}"]')


def start(lab, name):
    lab.page.on("console", lambda line: print(line.text) if line.type == "error" else None)
    lab.open(name)
    lab.run_all()
    assert lab.errors() == []
    expect(views(lab).first).to_be_visible()


def test_clicks_and_keys_reach_python_before_the_next_cell(lab, notebook):
    start(lab, notebook(SHOW, READ))
    view = views(lab).first
    cell(view, "allowed", 1, 3).click()
    expect(cell(view, "allowed", 1, 3)).to_have_attribute("data-value", "1")
    assert lab.run_cell(1) == ["[[1, 3]] True True = may look decoder self-attention [[[1, 3]]]\n"]

    cell(view, "allowed", 1, 3).focus()
    for key in ["ArrowDown", "Space", "ArrowLeft", "ArrowLeft", "Enter"]:
        lab.page.keyboard.press(key)
    assert lab.run_cell(1) == [
        "[[1, 3], [2, 1], [2, 3]] True True = may look decoder self-attention [[[1, 3]], [[2, 3]], [[2, 1]]]\n"
    ]
    assert lab.notebook.locator(".jp-Cell").count() == 2  # no key has changed the notebook

    cell(view, "allowed", 2, 1).focus()
    lab.page.keyboard.press("Control+z")
    view.locator('[data-part="convention"]').select_option("True = blocked")
    expect(cell(view, "allowed", 1, 3)).to_have_text("False")
    assert lab.run_cell(1) == ["[[1, 3], [2, 3]] True True = blocked decoder self-attention [[[1, 3]], [[2, 3]]]\n"]
    assert lab.page_errors == []


def test_many_fast_clicks_and_a_cell_right_behind_them(lab, notebook):
    start(lab, notebook(SHOW, "print(studio.edits)"))
    view = views(lab).first
    cell(view, "allowed", 0, 0).focus()
    for key in ["Space", "ArrowRight"] * 5:
        lab.page.keyboard.press(key)
    assert lab.run_cell(1) == ["[[0, 0], [0, 1], [0, 2], [0, 3], [0, 4]]\n"]


def test_python_reaches_every_view(lab, notebook):
    change = 'studio.kind = "cross-attention"\nstudio.toggle(2, 5)\nstudio.fill = "0 after the softmax"'
    start(lab, notebook(SHOW, "studio", change))
    first, second = views(lab).nth(0), views(lab).nth(1)
    for view in (first, second):
        expect(cell(view, "allowed", 2, 5)).to_have_attribute("data-value", "1")
        expect(view.locator('[data-part="kind"]')).to_have_value("cross-attention")
        expect(view.locator('[data-part="fill"]')).to_have_value("0 after the softmax")
    cell(second, "allowed", 0, 0).click()
    expect(cell(first, "allowed", 0, 0)).to_have_attribute("data-value", "0")
    first.locator('[data-part="source"]').fill("a new sentence <pad>")
    first.locator('[data-part="source"]').press("Enter")
    expect(cell(second, "weights", 0, 3)).to_have_attribute("data-value", "0")
    expect(second.locator('[data-part="allowed"] [role="columnheader"]')).to_have_count(5)
    second.locator("summary").click()
    expect(second.locator(".lw-code")).to_have_count(4)
    expect(second.locator(".lw-code pre").first).to_contain_text("from lessons import masks")
    assert lab.page_errors == []


def test_after_a_restart_the_notebook_runs_again(lab, notebook):
    start(lab, notebook(SHOW, READ))
    cell(views(lab).first, "allowed", 1, 3).click()
    lab.restart()
    lab.run_all()
    assert lab.errors() == []
    view = views(lab).first
    expect(cell(view, "allowed", 1, 3)).to_have_attribute("data-value", "0")
    cell(view, "allowed", 1, 3).click()
    assert lab.run_cell(1)[0].startswith("[[1, 3]] True")


def test_a_notebook_that_was_not_run_here_shows_the_picture(lab, notebook):
    name = notebook(SHOW.replace("\nstudio\n", "\nstudio.toggle(0, 0)\n") + "\n", run=True)
    stored = json.loads((lab.server.folder / "notebooks" / name).read_text(encoding="utf-8"))
    assert "text/html" in stored["cells"][0]["outputs"][0]["data"]
    lab.visit(f"/lab/tree/notebooks/{name}?reset&")
    tables = lab.notebook.locator(".jp-OutputArea-output table")
    expect(tables).to_have_count(4)
    expect(tables.nth(2)).to_contain_text("×")
    expect(views(lab)).to_have_count(0)
