"""TrainingMonitor in a real JupyterLab, while the cell with the training loop runs."""

import json
import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import page_of_lab
from tests.browser.lab import ERRORS, FRESH, wait_for

MAKE = """import itertools
import time
from pathlib import Path
from types import SimpleNamespace

from lessons.widgets import TrainingMonitor

ENOUGH = Path("enough")


def fit(start):
    for step in itertools.count(start + 1):
        if ENOUGH.exists():
            return
        time.sleep(0.02)
        yield SimpleNamespace(step=step, loss=1 / step, learning_rate=0.001)


seen, said = [], set()
monitor = TrainingMonitor(total=400)
monitor"""
RUN = """for progress in monitor.watch(fit(monitor.step)):
    seen.append(progress.step)
    said.add(monitor.status)
    if progress.step % 20 == 0:
        monitor.measure(held_out=1 - 1 / progress.step)
print("the end", monitor)"""
SAY = """print(monitor.status, monitor.step, monitor.paused, monitor.stopping, said)
print(seen == list(range(1, monitor.step + 1)))"""
IN_THE_BODY = """for progress in monitor.watch(fit(monitor.step)):
    print("in the body")
    time.sleep(600)"""
FAILING = """for progress in monitor.watch(fit(monitor.step)):
    raise RuntimeError("no room")"""
CELLS = MAKE, RUN, SAY, IN_THE_BODY, FAILING
STEP = re.compile(r"step (\d+) of \d+")


@pytest.fixture(scope="module")
def opened(shared_lab, notebook):
    shared_lab.open(notebook(*CELLS))
    return shared_lab


@pytest.fixture
def lab(opened):
    """A notebook that shows a new monitor."""
    opened.choose("Edit", "Clear Outputs of All Cells")
    yield show_a_new_monitor(opened)
    enough(opened)


@pytest.fixture
def lab_of_one_thread(server, pages, notebook):
    """A front end that leads all messages to the thread of the cells."""
    server.change_setting("apputils-extension/kernels-settings", commsOverSubshells="disabled")
    with page_of_lab(server, pages) as lab:
        lab.open(notebook(*CELLS))
        yield show_a_new_monitor(lab)
    server.change_setting("apputils-extension/kernels-settings")


def show_a_new_monitor(lab):
    said_enough(lab).unlink(missing_ok=True)
    lab.run_cell(0)
    expect(lab.views(0)).to_have_count(1)
    expect(part(lab, "status")).to_have_text("waiting")
    return lab


def said_enough(lab):
    return lab.server.folder / "notebooks" / "enough"


def enough(lab):
    """End the training: it goes on for as long as the test needs."""
    said_enough(lab).touch()


def part(lab, name):
    return lab.notebook.locator(f'.lw [data-part="{name}"]')


def start(lab, index):
    """Start a cell and do not wait for its end."""
    lab.start_cell(index)
    expect(part(lab, "status")).to_have_text("running")


def step(lab):
    return int(STEP.search(part(lab, "progress").inner_text())[1])


def output(lab, index):
    return lab.notebook.locator(".jp-CodeCell").nth(index).locator(".jp-OutputArea-output")


def say(lab):
    """What Python says of the monitor: the statuses that the training has seen, and the step that it has reached."""
    status, reached, *rest = lab.printed(2).split(maxsplit=2)
    return f"{status} {' '.join(rest)}", int(reached)


def test_pause_and_go_on_while_the_cell_runs(lab):
    start(lab, 1)
    expect(part(lab, "progress")).to_have_text(re.compile(r"step \d\d+ of"))
    part(lab, "pause").click()
    expect(part(lab, "status")).to_have_text("paused")
    expect(part(lab, "pause")).to_have_text("Go on")
    part(lab, "pause").focus()
    lab.page.keyboard.press("Space")
    expect(part(lab, "status")).to_have_text("running")
    enough(lab)
    expect(part(lab, "status")).to_have_text("finished")
    lab.wait_for_cell(1)
    said, reached = say(lab)
    assert said == "finished False False {'running'}\nTrue"  # no step was taken while it was paused
    expect(part(lab, "progress")).to_contain_text(f"step {reached} of")
    expect(output(lab, 1)).to_contain_text(f"the end TrainingMonitor: finished, step {reached} of")
    lab.page.keyboard.press("Control+s")
    wait_for(lambda: f"TrainingMonitor: finished, step {reached} of" in stored_text(lab))
    assert lab.errors() == [] and lab.page_errors == []


def stored_text(lab):
    """What is kept of the monitor for those who open the notebook without a kernel."""
    try:
        book = json.loads((lab.server.folder / "notebooks" / FRESH).read_text(encoding="utf-8"))
    except ValueError:  # half written
        return ""
    return "".join("".join(shown["data"]["text/plain"]) for shown in book["cells"][0]["outputs"])


def test_stop_while_paused_ends_the_loop_and_a_second_run_goes_on(lab):
    start(lab, 1)
    part(lab, "pause").click()
    expect(part(lab, "status")).to_have_text("paused")
    part(lab, "stop").click()
    expect(part(lab, "status")).to_have_text("interrupted")
    lab.wait_for_cell(1)
    said, reached = say(lab)
    assert said == "interrupted False False {'running'}\nTrue"
    expect(part(lab, "reason")).to_contain_text(f"stopped after step {reached}")
    start(lab, 1)
    expect(part(lab, "progress")).not_to_contain_text(f"step {reached} ")
    assert step(lab) > reached
    part(lab, "stop").click()
    lab.wait_for_cell(1)
    assert say(lab)[0] == "interrupted False False {'running'}\nTrue"
    assert lab.errors() == [] and lab.page_errors == []


def in_the_training(lab):
    start(lab, 1)
    expect(part(lab, "progress")).to_have_text(re.compile(r"step \d\d+ of"))
    return 1


def in_the_body(lab):
    start(lab, 3)
    expect(output(lab, 3)).to_have_text("in the body")
    return 3


@pytest.mark.parametrize("begin", [in_the_training, in_the_body])
def test_the_interrupt_of_jupyter_keeps_the_picture(lab, begin):
    cell = begin(lab)
    lab.choose("Kernel", re.compile("^Interrupt Kernel"))
    expect(part(lab, "status")).to_have_text("interrupted")
    lab.wait_for_cell(cell)
    expect(part(lab, "reason")).to_contain_text("by the keyboard or the Jupyter button")
    expect(lab.notebook.locator(ERRORS)).to_have_count(1)
    assert [error.strip().splitlines()[-1].split(":")[0] for error in lab.errors()] == ["KeyboardInterrupt"]
    said, reached = say(lab)
    assert reached >= 1
    assert said.startswith("interrupted False False")
    expect(part(lab, "progress")).to_contain_text(f"step {reached} of")
    assert lab.page_errors == []


def test_an_error_in_the_body_of_the_loop_is_named(lab):
    lab.run_cell(4)
    expect(part(lab, "status")).to_have_text("stopped by an error")
    expect(part(lab, "reason")).to_have_text("Stopped by an error: RuntimeError: no room.")
    assert len(lab.errors()) == 1
    assert lab.printed(2).startswith("stopped by an error 1 False False")


def test_a_click_that_comes_too_late_pauses_nothing(lab_of_one_thread):
    lab = lab_of_one_thread
    start(lab, 1)
    part(lab, "pause").click()
    enough(lab)
    expect(part(lab, "status")).to_have_text("finished")
    lab.wait_for_cell(1)
    expect(part(lab, "pause")).to_have_text("Pause")
    assert say(lab)[0] == "finished False False {'running'}\nTrue"
    assert lab.errors() == [] and lab.page_errors == []
