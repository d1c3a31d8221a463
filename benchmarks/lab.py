"""A notebook of cells in a real JupyterLab, as a learner has it, for the benchmarks of widgets."""

import base64
import json
import tempfile
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

import nbformat
from playwright.sync_api import expect, sync_playwright

from tests.browser import PATIENCE
from tests.browser.lab import Lab, find_browser, make_course, open_browser

NAME = "benchmark.ipynb"
BINARY = 2  # the kind of websocket frame in which Jupyter sends


@contextmanager
def open_lab() -> Generator[Lab | None]:
    """JupyterLab in a browser; None where there is no Chromium."""
    path = find_browser()
    if not path:
        print("no Chromium found: how fast they answer is not measured")
        yield None
        return
    expect.set_options(timeout=PATIENCE)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = open_browser(playwright, path)
        server = make_course(Path(folder))
        try:
            page = browser.new_page(viewport={"width": 1400, "height": 1000})
            page.set_default_timeout(PATIENCE)
            yield Lab(server, page)
        finally:
            server.stop()
            browser.close()


def open_cells(lab: Lab, cells: Sequence[str]) -> None:
    """A notebook of these cells, none of which has been run."""
    write_cells(lab, cells)
    lab.open(NAME)


def write_cells(lab: Lab, cells: Sequence[str]) -> None:
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in cells])
    book.metadata.kernelspec = {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"}
    nbformat.write(book, lab.server.folder / "notebooks" / NAME)


def listen(lab: Lab) -> list[int]:
    """A list that grows by the size of each message, in both directions."""
    sent: list[int] = []
    session = lab.page.context.new_cdp_session(lab.page)
    session.send("Network.enable")
    for way in ("Network.webSocketFrameSent", "Network.webSocketFrameReceived"):
        session.on(way, lambda event: sent.append(content_bytes(event["response"])))
    return sent


def content_bytes(frame: dict) -> int:
    """The bytes that a comm message says, of Jupyter's binary frames: a table of places, then the parts."""
    if frame["opcode"] != BINARY:
        return 0
    data = base64.b64decode(frame["payloadData"])
    count = int.from_bytes(data[:8], "little")
    places = [int.from_bytes(data[8 * i : 8 * i + 8], "little") for i in range(1, count + 1)]
    header, content = (data[places[i] : places[i + 1]] for i in (1, 4))
    return len(content) if json.loads(header)["msg_type"] == "comm_msg" else 0
