"""TrainingMonitor in a real JupyterLab, while the cell with the training loop runs."""

import json
import re
import time

import pytest
from playwright.sync_api import expect

from tests.browser.lab import ERRORS

MAKE = """import time
from types import SimpleNamespace

from lessons.widgets import TrainingMonitor


def fit(steps, start=0):
    for step in range(start + 1, start + steps + 1):
        time.sleep(0.02)
        yield SimpleNamespace(step=step, loss=1 / step, learning_rate=0.001)


monitor = TrainingMonitor(total=400)
monitor"""
RUN = """seen = []
for progress in monitor.watch(fit(400, monitor.step)):
    seen.append(progress.step)
    if progress.step % 20 == 0:
        monitor.measure(held_out=progress.step / 400)
print("the end", monitor)"""
IN_THE_BODY = """for progress in monitor.watch(fit(400, monitor.step)):
    time.sleep(600)"""
SAY = "print(monitor.status, monitor.step, len(monitor.steps) > 3, monitor.paused, monitor.stopping)"
STEP = re.compile(r"step (\d+) of 400")
SECONDS = 1000


@pytest.fixture
def shown(lab, notebook):
    """A notebook whose first cell has shown the monitor."""

    def show(*cells):
        lab.open(notebook(MAKE, *cells))
        lab.run_cell(0)
        expect(lab.notebook.locator(".lw")).to_have_count(1, timeout=30 * SECONDS)
        return lab

    return show


@pytest.fixture
def one_thread(server):
    """A front end that leads all messages to the thread of the cells."""
    server.change_setting("apputils-extension/kernels-settings", commsOverSubshells="disabled")
    yield
    server.change_setting("apputils-extension/kernels-settings")


def part(lab, name):
    return lab.notebook.locator(f'.lw [data-part="{name}"]')


def start(lab, index):
    """Start a cell and do not wait for its end."""
    lab.notebook.locator(".jp-CodeCell").nth(index).locator(".cm-content").click()
    lab.page.keyboard.press("Control+Enter")
    expect(part(lab, "status")).to_have_text("running", timeout=20 * SECONDS)


def step(lab):
    return int(STEP.search(part(lab, "progress").inner_text())[1])


def stored_text(path):
    """What is kept of the monitor for those who open the notebook without a kernel."""
    book = json.loads(path.read_text(encoding="utf-8"))
    return "".join("".join(shown["data"]["text/plain"]) for shown in book["cells"][0]["outputs"])


def wait_for(condition):
    for _ in range(50):
        if condition():
            return
        time.sleep(0.1)
    raise AssertionError("waited for 5 seconds")


def output(lab, index):
    return lab.notebook.locator(".jp-CodeCell").nth(index).locator(".jp-OutputArea-output")


def test_pause_and_go_on_while_the_cell_runs(shown):
    lab = shown(RUN, SAY)
    start(lab, 1)
    expect(part(lab, "progress")).to_have_text(re.compile(r"step [1-9]\d of 400"))
    part(lab, "pause").click()
    expect(part(lab, "status")).to_have_text("paused", timeout=5 * SECONDS)
    expect(part(lab, "pause")).to_have_text("Go on")
    before = step(lab)
    lab.page.wait_for_timeout(1000)
    assert step(lab) == before < 400
    part(lab, "pause").focus()
    lab.page.keyboard.press("Space")
    expect(part(lab, "status")).to_have_text("running", timeout=5 * SECONDS)
    expect(part(lab, "status")).to_have_text("finished", timeout=60 * SECONDS)
    lab.wait_for_idle()
    expect(output(lab, 1)).to_have_text("the end TrainingMonitor: finished, step 400 of 400, loss 0.00, held out 1.00")
    assert lab.run_cell(2) == ["finished 400 True False False\n"]
    lab.page.keyboard.press("Control+s")
    path = lab.server.folder / "notebooks" / "widget.ipynb"
    wait_for(lambda: "TrainingMonitor: finished, step 400 of 400" in stored_text(path))
    assert lab.errors() == [] and lab.page_errors == []


def test_stop_while_paused_ends_the_loop_and_a_second_run_goes_on(shown):
    lab = shown(RUN, "print(seen == list(range(1, monitor.step + 1)), monitor.status)", RUN)
    start(lab, 1)
    part(lab, "pause").click()
    expect(part(lab, "status")).to_have_text("paused", timeout=5 * SECONDS)
    part(lab, "stop").click()
    expect(part(lab, "status")).to_have_text("interrupted", timeout=5 * SECONDS)
    lab.wait_for_idle()
    expect(part(lab, "reason")).to_contain_text(f"stopped after step {step(lab)}")
    assert lab.run_cell(2) == ["True interrupted\n"]
    before = step(lab)
    start(lab, 3)
    expect(part(lab, "progress")).not_to_contain_text(f"step {before} ")
    assert step(lab) > before
    part(lab, "stop").click()
    lab.wait_for_idle()
    assert lab.errors() == [] and lab.page_errors == []


@pytest.mark.parametrize("cell", [RUN, IN_THE_BODY], ids=["in the training", "in the body of the loop"])
def test_the_interrupt_of_jupyter_keeps_the_picture(shown, cell):
    lab = shown(RUN.replace("400", "8"), cell, SAY)
    lab.run_cell(1)
    start(lab, 2)
    lab.page.wait_for_timeout(400)
    lab.page.get_by_role("menuitem", name="Kernel", exact=True).click()
    lab.page.get_by_role("menuitem", name=re.compile("^Interrupt Kernel")).first.click()
    expect(part(lab, "status")).to_have_text("interrupted", timeout=20 * SECONDS)
    lab.wait_for_idle()
    expect(part(lab, "reason")).to_contain_text("by the keyboard or the button of Jupyter")
    expect(lab.notebook.locator(ERRORS)).to_have_count(1)
    assert [error.strip().splitlines()[-1].split(":")[0] for error in lab.errors()] == ["KeyboardInterrupt"]
    reached = step(lab)
    assert reached > 8
    assert lab.run_cell(3) == [f"interrupted {reached} True False False\n"]
    assert lab.page_errors == []


def test_an_error_in_the_body_of_the_loop_is_named(shown):
    lab = shown('for progress in monitor.watch(fit(400)):\n    raise RuntimeError("no room")', SAY)
    lab.run_cell(1)
    expect(part(lab, "status")).to_have_text("stopped by an error")
    expect(part(lab, "reason")).to_have_text("Stopped by an error: RuntimeError: no room.")
    assert len(lab.errors()) == 1
    assert lab.run_cell(2) == ["stopped by an error 1 False False False\n"]


def test_a_click_that_comes_too_late_pauses_nothing(one_thread, shown):
    lab = shown(RUN.replace("fit(400", "fit(100"), SAY)
    start(lab, 1)
    part(lab, "pause").click()
    expect(part(lab, "status")).to_have_text("finished", timeout=20 * SECONDS)
    lab.wait_for_idle()
    expect(part(lab, "pause")).to_have_text("Pause")
    assert lab.run_cell(2) == ["finished 100 True False False\n"]
    assert lab.errors() == [] and lab.page_errors == []
