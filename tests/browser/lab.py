"""JupyterLab in a folder of its own, and one page of it, as a learner would have them."""

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

from playwright.sync_api import expect

from tests.browser import PATIENCE

ROOT = Path(__file__).parent.parent.parent
BROWSERS = ["chromium", "chromium-browser", "google-chrome"]
BROWSER_ARGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
TOKEN = "course"
FRESH = "fresh.ipynb"
# anywidget says so where a model takes two seconds, on a busy machine only, and goes on: the view is shown.
SLOW = "[anywidget] Failed to initialize model."
ERRORS = '[data-mime-type="application/vnd.jupyter.stderr"]'  # JupyterLab shows exceptions like this, too
FORGET_NUMBERS = "prompts => prompts.forEach(prompt => { prompt.textContent = '[ ]:'; })"
ALL_HAVE_RUN = """() =>
    document.querySelector('[data-mime-type="application/vnd.jupyter.stderr"]') ||
    [...document.querySelectorAll('.jp-CodeCell .jp-InputPrompt')].every(
        prompt => /\\[\\d+\\]:/.test(prompt.textContent))
"""
NUMBER = re.compile(r"\[\d+\]:")
# JupyterLab takes the address of a picture away until it has found out where it lies.
HAVE_ARRIVED = "images => images.every(image => image.getAttribute('src') && image.complete)"
PICTURES = """images => images.map(image =>
    ({alt: image.alt, width: image.naturalWidth, src: image.src.slice(0, 100)}))"""


class Server:
    """JupyterLab in a folder of its own: neither the learner's settings nor the repository are touched."""

    def __init__(self, folder):
        self.folder = folder
        self.settings = folder / "lab" / "settings"
        # All cells stay in the page, also those that are scrolled out of sight.
        self.change_setting("notebook-extension/tracker", windowingMode="none")

    def change_setting(self, plugin, **values):
        """Pages that are opened from now on have these settings."""
        path = self.settings / "@jupyterlab" / f"{plugin}.jupyterlab-settings"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(values))

    def start(self, command=None, **environment):
        """Start JupyterLab as `make lab` does, with this Python and without tools/setup.py; or another command."""
        lab = self.folder / "lab"
        self.environment = {
            "JUPYTER_CONFIG_DIR": str(lab / "config"),
            "JUPYTER_DATA_DIR": str(lab / "data"),
            "JUPYTER_RUNTIME_DIR": str(lab / "runtime"),
            "JUPYTERLAB_SETTINGS_DIR": str(self.settings),
            "JUPYTERLAB_WORKSPACES_DIR": str(lab / "workspaces"),
            "OMP_NUM_THREADS": "1",
            "LESSONS_STORED_EDITION": "",
            **environment,
        }
        options = ["--no-browser", "--allow-root", "--ServerApp.ip=127.0.0.1", f"--IdentityProvider.token={TOKEN}"]
        make_lab = ["make", "lab", "SETUP=@true", f"VENV_PYTHON={sys.executable}", f"LAB_ARGS={' '.join(options)}"]
        with (self.folder / "jupyterlab.log").open("w") as log:
            self.process = subprocess.Popen(
                [*command, *options] if command else make_lab,
                cwd=self.folder,
                env={**os.environ, **self.environment},
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self.url = wait_for(self.address).rstrip("/")
        wait_for(self.answers)

    def address(self):
        """Where JupyterLab says that it is; it takes the first port that is free."""
        assert self.process.poll() is None, (self.folder / "jupyterlab.log").read_text()
        for path in (self.folder / "lab" / "runtime").glob("jpserver-*.json"):
            with contextlib.suppress(ValueError):  # half written
                return json.loads(path.read_text())["url"]

    def answers(self):
        with contextlib.suppress(urllib.error.URLError):
            return self.request("GET", "/api/status")

    def request(self, method, path):
        headers = {"Authorization": f"token {TOKEN}"}
        request = urllib.request.Request(self.url + path, method=method, headers=headers)
        with urllib.request.urlopen(request, timeout=PATIENCE / 1000) as answer:
            return json.loads(answer.read() or "null")

    def stop_kernels(self):
        for session in self.request("GET", "/api/sessions"):
            self.request("DELETE", f"/api/sessions/{session['id']}")

    def stop(self):
        self.stop_kernels()  # kernels live in process groups of their own
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


class Lab:
    """One page of JupyterLab, with one notebook in it."""

    def __init__(self, server, page):
        self.server = server
        self.page = page
        self.page_errors = []
        self.failed = False  # a test of it has
        page.on("pageerror", self.note_error)

    def note_error(self, error):
        self.page_errors.append(str(error))

    def leave(self):
        """Show nothing; another lab may have the page."""
        self.page.remove_listener("pageerror", self.note_error)
        self.page.goto("about:blank")

    def open(self, name):
        """Open a copy of a notebook without its outputs and wait for its kernel."""
        folder = self.server.folder / "notebooks"
        notebook = without_outputs(json.loads((folder / name).read_text(encoding="utf-8")))
        (folder / FRESH).write_text(json.dumps(notebook), encoding="utf-8")
        self.show(FRESH)

    def show(self, name):
        """Open a notebook as it is stored and wait for its kernel."""
        self.visit(f"/lab/tree/notebooks/{name}?reset&")

    def visit(self, address):
        """Go to an address that shows a notebook and wait for its kernel."""
        self.page.goto(f"{self.server.url}{address}token={TOKEN}")
        self.notebook = self.page.locator(".jp-NotebookPanel:visible")
        self.prompts = self.notebook.locator(".jp-CodeCell .jp-InputPrompt")
        self.wait_for_idle()

    def wait_for_idle(self):
        """Before the kernel is there, Run All would ask which kernel to take."""
        # expect() would describe the whole page again and again while this is not there: a second for each page.
        self.page.locator("#jp-main-statusbar").get_by_text("Python 3 (ipykernel) | Idle").wait_for()

    def choose(self, menu, item):
        self.page.get_by_role("menuitem", name=menu, exact=True).click()
        self.page.get_by_role("menuitem", name=item).first.click()

    def run_all(self):
        """Run all cells and wait till each code cell has its number, or one has failed."""
        self.prompts.evaluate_all(FORGET_NUMBERS)
        self.choose("Run", re.compile("^Run All Cells$"))
        self.page.wait_for_function(ALL_HAVE_RUN, polling=200)  # milliseconds; by itself it asks at each frame

    def restart_and_run_all(self):
        """Run all cells in a new kernel, by the menu."""
        self.prompts.evaluate_all(FORGET_NUMBERS)
        self.choose("Kernel", re.compile("^Restart Kernel and Run All Cells…"))
        self.page.get_by_role("button", name="Confirm Kernel Restart").click()
        self.page.wait_for_function(ALL_HAVE_RUN, polling=200)  # milliseconds; by itself it asks at each frame

    def start_cell(self, index):
        """Run one cell, and do not wait for its end."""
        self.prompts.nth(index).evaluate("prompt => { prompt.textContent = '[ ]:'; }")
        self.notebook.locator(".jp-CodeCell").nth(index).locator(".cm-content").click()
        self.page.keyboard.press("Control+Enter")

    def wait_for_cell(self, index):
        expect(self.prompts.nth(index)).to_have_text(NUMBER)

    def run_cell(self, index):
        self.start_cell(index)
        self.wait_for_cell(index)

    def printed(self, index):
        """Run one cell that prints, and return what it prints."""
        self.run_cell(index)
        text = self.notebook.locator(".jp-CodeCell").nth(index).locator(".jp-OutputArea-output pre")
        text.wait_for()
        expect(text).not_to_be_empty()
        return text.inner_text().rstrip("\n")

    def errors(self):
        """The text of every exception and of everything written to stderr."""
        texts = self.notebook.locator(ERRORS)
        for text in texts.all():
            expect(text).not_to_be_empty()
        return texts.all_inner_texts()

    def views(self, index):
        """The widgets that a cell shows."""
        return self.notebook.locator(".jp-CodeCell").nth(index).locator(".jp-OutputArea-output .lw")

    def pictures(self, within, count):
        """Alternative text and natural width of each of so many pictures in "markdown" or in "outputs"."""
        area = {"markdown": ".jp-RenderedMarkdown", "outputs": ".jp-OutputArea-output"}[within]
        images = self.notebook.locator(f"{area} img")
        expect(images).to_have_count(count)
        wait_for(lambda: images.evaluate_all(HAVE_ARRIVED))
        return images.evaluate_all(PICTURES)


def wait_for(condition, every=0.05, patience=PATIENCE):
    """Wait until there is what `condition` returns, and return it; every: seconds; patience: milliseconds."""
    end = time.monotonic() + patience / 1000
    while time.monotonic() < end:
        if found := condition():
            return found
        time.sleep(every)
    raise TimeoutError(f"waited for {patience / 1000:.0f} seconds")


def find_browser():
    """The path of a Chromium, or None."""
    return next(filter(None, map(shutil.which, BROWSERS)), None)


def open_browser(playwright, path):
    return playwright.chromium.launch(executable_path=path, args=BROWSER_ARGS, timeout=PATIENCE)


def make_course(folder):
    """A copy of what JupyterLab shows, started in this folder."""
    for name in ["notebooks", "images", "tools"]:
        shutil.copytree(ROOT / name, folder / name)
    shutil.copy(ROOT / "Makefile", folder)
    server = Server(folder)
    server.start()
    return server


def without_outputs(notebook):
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            cell.update(outputs=[], execution_count=None)
    return notebook
