"""JupyterLab in a folder of its own, and one page of it, as a learner would have them."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

from playwright.sync_api import expect

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
SECONDS = 1000  # Playwright counts in milliseconds
ERRORS = '[data-mime-type="application/vnd.jupyter.stderr"]'  # JupyterLab shows exceptions like this, too
ALL_HAVE_RUN = """() =>
    document.querySelector('[data-mime-type="application/vnd.jupyter.stderr"]') ||
    [...document.querySelectorAll('.jp-CodeCell .jp-InputPrompt')].every(
        prompt => /\\[\\d+\\]:/.test(prompt.textContent))
"""
# A picture that is missing stays 0 wide; the others get up to five seconds to arrive.
PICTURES = """images => Promise.all(images.map(async image => {
    for (let tries = 0; tries < 50 && !image.naturalWidth; tries++)
        await new Promise(resolve => setTimeout(resolve, 100));
    return {alt: image.alt, width: image.naturalWidth, src: image.src.slice(0, 100)};
}))"""


class Server:
    """JupyterLab in a folder of its own: neither the learner's settings nor the repository are touched."""

    def __init__(self, folder):
        self.folder = folder
        self.settings = folder / "lab" / "settings"
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.url = f"http://127.0.0.1:{free.getsockname()[1]}"
        # All cells stay in the page, also those that are scrolled out of sight.
        self.change_setting("notebook-extension/tracker", windowingMode="none")

    def change_setting(self, plugin, **values):
        """Pages that are opened from now on have these settings."""
        path = self.settings / "@jupyterlab" / f"{plugin}.jupyterlab-settings"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(values))

    def start(self):
        """Start JupyterLab as `make lab` does, with this Python and without tools/setup.py."""
        lab = self.folder / "lab"
        self.environment = {
            "JUPYTER_CONFIG_DIR": str(lab / "config"),
            "JUPYTER_DATA_DIR": str(lab / "data"),
            "JUPYTER_RUNTIME_DIR": str(lab / "runtime"),
            "JUPYTERLAB_SETTINGS_DIR": str(self.settings),
            "JUPYTERLAB_WORKSPACES_DIR": str(lab / "workspaces"),
            "OMP_NUM_THREADS": "1",
        }
        port = self.url.rpartition(":")[2]
        options = ["--no-browser", "--allow-root", f"--IdentityProvider.token={TOKEN}"]
        options += ["--ServerApp.ip=127.0.0.1", f"--ServerApp.port={port}", "--ServerApp.port_retries=0"]
        with (self.folder / "jupyterlab.log").open("w") as log:
            self.process = subprocess.Popen(
                ["make", "lab", "SETUP=@true", f"VENV_PYTHON={sys.executable}", f"LAB_ARGS={' '.join(options)}"],
                cwd=self.folder,
                env={**os.environ, **self.environment},
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self.wait()

    def wait(self):
        for _ in range(300):
            try:
                return self.request("GET", "/api/status")
            except urllib.error.URLError:
                assert self.process.poll() is None, (self.folder / "jupyterlab.log").read_text()
                time.sleep(0.2)
        raise TimeoutError("JupyterLab does not answer")

    def request(self, method, path):
        headers = {"Authorization": f"token {TOKEN}"}
        request = urllib.request.Request(self.url + path, method=method, headers=headers)
        with urllib.request.urlopen(request) as answer:
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
        page.on("pageerror", lambda error: self.page_errors.append(str(error)))

    def open(self, name):
        """Open a notebook without its outputs and wait for its kernel."""
        path = self.server.folder / "notebooks" / name
        notebook = without_outputs(json.loads(path.read_text(encoding="utf-8")))
        path.write_text(json.dumps(notebook), encoding="utf-8")
        self.cells = notebook["cells"]
        self.visit(f"/lab/tree/notebooks/{name}?reset&")

    def visit(self, address):
        """Go to an address that shows a notebook and wait for its kernel."""
        self.page.goto(f"{self.server.url}{address}token={TOKEN}")
        self.notebook = self.page.locator(".jp-NotebookPanel:visible")
        self.wait_for_idle()

    def wait_for_idle(self):
        # Before the kernel is there, Run All would ask which kernel to take.
        expect(self.page.get_by_text("Python 3 (ipykernel) | Idle")).to_be_visible(timeout=60 * SECONDS)

    def run_all(self):
        """Run all cells and wait till each code cell has its number, or one has failed."""
        self.page.get_by_role("menuitem", name="Run", exact=True).click()
        self.page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
        self.page.wait_for_function(ALL_HAVE_RUN, timeout=120 * SECONDS)
        self.wait_for_idle()

    def run_cell(self, index):
        """Run one cell, and return what it prints."""
        code = self.notebook.locator(".jp-CodeCell").nth(index)
        code.locator(".cm-content").click()
        self.page.keyboard.press("Control+Enter")
        self.wait_for_idle()
        self.page.wait_for_timeout(300)
        return code.locator(".jp-OutputArea-output pre").all_inner_texts()

    def restart(self):
        """Restart the kernel, by the menu."""
        self.page.get_by_role("menuitem", name="Kernel", exact=True).click()
        self.page.get_by_role("menuitem", name=re.compile("^Restart Kernel…")).first.click()
        self.page.get_by_role("button", name="Confirm Kernel Restart").click()
        self.wait_for_idle()

    def errors(self):
        """The text of every exception and of everything written to stderr."""
        return self.notebook.locator(ERRORS).all_inner_texts()

    def pictures(self, within):
        """Alternative text and natural width of each picture in "markdown" or in "outputs"."""
        area = {"markdown": ".jp-RenderedMarkdown", "outputs": ".jp-OutputArea-output"}[within]
        images = self.notebook.locator(f"{area} img")
        return images.evaluate_all(PICTURES)


def find_browser():
    """The path of a Chromium, or None."""
    return next(filter(None, map(shutil.which, BROWSERS)), None)


def open_browser(playwright, path):
    return playwright.chromium.launch(executable_path=path, args=BROWSER_ARGS)


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
