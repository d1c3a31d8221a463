"""A notebook with unsaved changes is open in JupyterLab while `make update` brings a new edition: nothing is lost."""

import os
import subprocess
import sys

import pytest
from nbformat.v4 import new_markdown_cell
from playwright.sync_api import expect

from tests.browser.lab import wait_for
from tools.copies import Copies, read, write

NAME = "00_start_here.ipynb"
TYPED = "# typed, and not saved yet"
NEWS = "# The new edition"


def update(server):
    environment = {**os.environ, "PYTHONPATH": str(server.folder)}
    command = [sys.executable, "-m", "tools.update"]
    return subprocess.run(
        command, cwd=server.folder, env=environment, capture_output=True, text=True, check=True
    ).stdout


@pytest.fixture
def copies(server):
    """The learner's copies; the edition is put back in the end."""
    copies = Copies(server.folder)
    before = read(copies.notebooks / NAME)
    yield copies
    write(before, copies.notebooks / NAME)


@pytest.mark.parametrize("answer", ["Overwrite", "Revert"])
def test_jupyterlab_asks_and_the_answer_decides(lab, server, copies, answer):
    lab.visit(f"/lab/tree/work/{NAME}?reset&")
    lab.notebook.locator(".jp-CodeCell .cm-content").first.click()
    lab.page.keyboard.press("Control+Home")
    lab.page.keyboard.type(f"{TYPED}\n")
    edition = read(copies.notebooks / NAME)
    edition.cells.append(new_markdown_cell(NEWS, id=f"news-{answer}"))
    write(edition, copies.notebooks / NAME)
    assert f"{NAME} is up to date" in update(server)
    lab.page.keyboard.press("Control+s")
    dialog = lab.page.locator(".jp-Dialog")
    expect(dialog).to_contain_text("has changed on disk")
    dialog.get_by_role("button", name=answer).click()
    expect(dialog).to_have_count(0)
    if answer == "Revert":
        expect(lab.notebook.get_by_text(NEWS)).to_have_count(1)
        return
    own = copies.own / NAME
    wait_for(lambda: TYPED in own.read_text(encoding="utf-8"))
    assert f"{NAME} is up to date" in update(server)
    assert own.read_text(encoding="utf-8").count(NEWS) == own.read_text(encoding="utf-8").count(TYPED) == 1
