"""Simulated learners who work through a lesson on a class's server, at the pace of people:

python -m tools.classroom.load --lesson 03 --learners 20 --minutes 20

Each logs in as an account of the sheet, loads JupyterLab's files, and runs the lesson cell by cell, with a pause of a
random length before each; meanwhile it asks and saves what JupyterLab asks and saves. It prints how long the answers
took: from sending a cell until the kernel is idle again.
"""

import argparse
import json
import os
import random
import re
import statistics
import threading
import time
import uuid
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import websocket

from tools.classroom.__main__ import SHEET, STATE
from tools.classroom.accounts import passwords
from tools.copies import ROOT

PATIENCE = 180  # seconds until a learner gives up
POLLED = ("api/kernels", "api/sessions", "api/terminals")  # by JupyterLab, every ten seconds
POLL, SAVE = 10, 120


class Visitor:
    """Somebody with a browser: logs in and has, after `start`, a server of their own."""

    def __init__(self, url: str, name: str):
        self.url, self.name = url.rstrip("/"), name
        self.own = f"/user/{name}/"
        self.http = httpx.Client(base_url=self.url, follow_redirects=True, timeout=PATIENCE)

    def log_in(self, password: str) -> bool:
        self.http.get("/hub/login")
        form = {"username": self.name, "password": password, "_xsrf": self.token("/hub/")}
        return self.http.post("/hub/login", data=form, params={"next": "/hub/home"}).url.path == "/hub/home"

    def token(self, path: str) -> str:
        """What protects a form, or a call, from being sent by another site."""
        values = [cookie.value for cookie in self.http.cookies.jar if cookie.name == "_xsrf" and cookie.path == path]
        return values[-1] or "" if values else ""

    def start(self) -> None:
        """Start the server, and wait for it."""
        self.http.get(
            f"/hub/spawn/{self.name}", headers={"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Site": "same-origin"}
        )
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            page = self.http.get(self.own + "lab")
            if page.is_success and page.url.path.startswith(self.own):
                return
            time.sleep(0.5)
        raise TimeoutError(f"the server of {self.name} did not start in {PATIENCE} s")

    def call(self, method: str, path: str, **content: Any) -> httpx.Response:
        """A call to the learner's own server, or to the `path` of another, if it begins with a slash."""
        to = path if path.startswith("/") else self.own + path
        return self.http.request(method, to, headers={"X-XSRFToken": self.token(self.own)}, **content)

    def load_lab(self) -> None:
        page = self.http.get(self.own + "lab").text
        for script in re.findall(r'<script[^>]* src="([^"]+)"', page):
            self.http.get(script)


class Kernel:
    """A kernel of a visitor's server, for one notebook."""

    def __init__(self, visitor: Visitor, notebook: str):
        session = {"path": notebook, "name": notebook, "type": "notebook", "kernel": {"name": "python3"}}
        made = visitor.call("POST", "api/sessions", json=session)
        made.raise_for_status()
        self.session = uuid.uuid4().hex
        address = (
            f"{visitor.url.replace('http', 'ws', 1)}{visitor.own}api/kernels/{made.json()['kernel']['id']}/channels"
        )
        cookies = "; ".join(
            f"{cookie.name}={cookie.value}" for cookie in visitor.http.cookies.jar if cookie.path in ("/", visitor.own)
        )
        self.socket = websocket.create_connection(
            f"{address}?session_id={self.session}&_xsrf={visitor.token(visitor.own)}", cookie=cookies, timeout=PATIENCE
        )

    def run(self, source: str) -> tuple[str, bool]:
        """What the code prints, and whether it ran to its end."""
        header = {
            "msg_id": uuid.uuid4().hex,
            "msg_type": "execute_request",
            "session": self.session,
            "username": "",
            "version": "5.3",
        }
        content = {"code": source, "silent": False, "store_history": True, "user_expressions": {}, "allow_stdin": False}
        message = {"header": header, "parent_header": {}, "metadata": {}, "content": content, "channel": "shell"}
        self.socket.send(json.dumps(message))
        printed, good = "", True
        while True:
            answer: Mapping[str, Any] = json.loads(self.socket.recv())
            if answer["parent_header"].get("msg_id") != header["msg_id"]:
                continue
            content = answer["content"]
            printed += content.get("text", "") if answer["msg_type"] == "stream" else ""
            good = good and answer["msg_type"] != "error"
            if answer["msg_type"] == "status" and content["execution_state"] == "idle":
                return printed, good

    def wait(self, seconds: float) -> None:
        """Wait, and answer the server when it asks whether somebody is still there."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0.01:
            self.socket.settimeout(left)
            with suppress(websocket.WebSocketTimeoutException):
                self.socket.recv()
        self.socket.settimeout(PATIENCE)

    def close(self) -> None:
        self.socket.close()


@dataclass
class Measured:
    """Seconds, of all learners together, and what failed."""

    servers: list[float] = field(default_factory=list)
    kernels: list[float] = field(default_factory=list)
    first: list[float] = field(default_factory=list)
    answers: list[float] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        lines = [
            f"{name:<34}{len(values):6d}  median {statistics.median(values):6.2f} s  "
            f"95 % {statistics.quantiles(values, n=20)[-1]:6.2f} s  longest {max(values):6.2f} s"
            for name, values in {
                "login until JupyterLab's page": self.servers,
                "a kernel": self.kernels,
                "first cell (imports the package)": self.first,
                "answers, with the first": self.answers,
            }.items()
            if len(values) > 1
        ]
        return "\n".join([*lines, f"failures: {len(self.failures)}", *self.failures])


def cells_of(lesson: str) -> tuple[str, list[str]]:
    """The learner's notebook, and its code."""
    (path,) = (ROOT / "notebooks").glob(f"{lesson}_*.ipynb")
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return f"work/{path.name}", ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]


def work(visitor: Visitor, password: str, lesson: str, seconds: float, arrives: float, said: Measured) -> None:
    """One learner, from the login to the last cell. Everything that goes wrong is a failure, and no more."""
    draw = random.Random(visitor.name)
    time.sleep(draw.uniform(0, arrives))
    notebook, cells = cells_of(lesson)
    done = 0
    try:
        start = time.monotonic()
        if not visitor.log_in(password):
            raise PermissionError("the login was refused")
        visitor.start()
        visitor.load_lab()
        said.servers.append(time.monotonic() - start)
        content = visitor.call("GET", f"api/contents/{notebook}").json()["content"]
        start = time.monotonic()
        kernel = Kernel(visitor, notebook)
        said.kernels.append(time.monotonic() - start)
        saved = time.monotonic()
        for done, cell in enumerate(cells):
            pause(visitor, kernel, draw.expovariate(len(cells) / seconds))
            start = time.monotonic()
            _, good = kernel.run(cell)
            said.answers.append(time.monotonic() - start)
            if not done:
                said.first.append(said.answers[-1])
            if not good:
                said.failures.append(f"{visitor.name}: an error in cell {done}")
            if time.monotonic() - saved > SAVE:
                saved = time.monotonic()
                visitor.call(
                    "PUT", f"api/contents/{notebook}", json={"type": "notebook", "content": content}
                ).raise_for_status()
        kernel.close()
    except Exception as error:  # whatever a library raises: this learner's work has stopped
        said.failures.append(f"{visitor.name}: {type(error).__name__}, {error} (before cell {done})")


def pause(visitor: Visitor, kernel: Kernel, seconds: float) -> None:
    """Wait, while JupyterLab asks its questions."""
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > POLL:
        kernel.wait(POLL)
        for path in POLLED:
            visitor.call("GET", path)
    kernel.wait(left)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tools.classroom.load")
    parser.add_argument("--url", default="http://127.0.0.1:8000")
    parser.add_argument("--sheet", type=Path, default=STATE / SHEET)
    parser.add_argument("--lesson", default="03")
    parser.add_argument("--learners", type=int, default=20)
    parser.add_argument("--minutes", type=float, default=20, help="in which a learner is through the lesson")
    parser.add_argument("--arrive", type=float, default=120, help="seconds in which all of them come")
    options = parser.parse_args()
    accounts = dict(list(passwords(options.sheet).items())[1 : 1 + options.learners])  # the first is the teacher
    said = Measured()
    threads = [
        threading.Thread(
            target=work,
            args=(Visitor(options.url, name), password, options.lesson, 60 * options.minutes, options.arrive, said),
        )
        for name, password in accounts.items()
    ]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        time.sleep(60)
        print(f"load average {os.getloadavg()[0]:.2f}, {len(said.answers)} answers", flush=True)
    print(f"{len(threads)} learners, lesson {options.lesson} in {options.minutes:g} minutes, {os.cpu_count()} cores")
    print(said)


if __name__ == "__main__":
    main()
