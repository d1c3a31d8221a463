"""A class as it runs: real accounts of this machine, JupyterHub, its proxy, and two learners who are curious.

It makes accounts and removes them again, so it runs only as root and where TEST_CLASS says so, as in `.ci/run`.
"""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import httpx
import pytest

if sys.platform != "linux" or os.geteuid() or not os.environ.get("TEST_CLASS"):
    pytest.skip("makes accounts on this machine: needs root, and TEST_CLASS=1", allow_module_level=True)
pytest.importorskip("jupyterhub", reason="JupyterHub is not installed: python tools/setup.py --class")

from tools.classroom.__main__ import FOLDER, check_that_all_can_read, install_proxy
from tools.classroom.accounts import LEARNERS, TEACHERS, ClassError, make, passwords
from tools.classroom.load import Kernel, Visitor
from tools.copies import ROOT

ANNA, BEN, TEACHER = NAMES = ("classtest-anna-of-31-characters", "classtest-ben", "classtest-teacher")
LESSON = "work/03_masked_attention.ipynb"
PATIENCE = 600  # seconds; what has not come by then will not come at all: the machine hangs


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Hub:
    def __init__(self, folder, python):
        self.folder, self.python, self.process, self.visitors = folder, python, None, []
        self.url = f"http://127.0.0.1:{free_port()}"
        self.options = [f"--JupyterHub.bind_url={self.url}", f"--JupyterHub.hub_port={free_port()}"]
        self.options.append(f"--ConfigurableHTTPProxy.api_url=http://127.0.0.1:{free_port()}")

    def start(self):
        command = [self.python, "-m", "jupyterhub", "-f", str(FOLDER / "jupyterhub_config.py"), *self.options]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        environment.pop("LESSONS_PROGRESS", None)
        with open(self.folder / "hub.log", "a") as log:
            self.process = subprocess.Popen(command, cwd=self.folder, env=environment, stdout=log, stderr=log)
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            try:
                if httpx.get(f"{self.url}/hub/login").is_success:
                    return
            except httpx.TransportError:
                pass
            time.sleep(0.3)
        raise TimeoutError((self.folder / "hub.log").read_text()[-3000:])

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(PATIENCE)

    def guest(self, name):
        self.visitors.append(Visitor(self.url, name))
        return self.visitors[-1]

    def visitor(self, name):
        visitor = self.guest(name)
        assert visitor.log_in(passwords(self.folder / "accounts.txt")[name])
        return visitor


def python_for_all(folder):
    """This Python, or if its place is closed to others, the system's with the same packages."""
    try:
        check_that_all_can_read(Path(sys.executable), Path(sys.base_prefix))
        return sys.executable
    except ClassError as reason:
        system = f"/usr/bin/python3.{sys.version_info.minor}"
        if not Path(system).exists():
            pytest.skip(f"{reason} (and there is no {system})")
    environment = folder / "venv"
    subprocess.run([system, "-m", "venv", "--without-pip", environment], check=True)
    (packages,) = environment.glob("lib/python*/site-packages")
    packages.joinpath("all.pth").write_text("\n".join(path for path in sys.path if path.endswith("-packages")))
    for name in ("etc", "share"):
        (environment / name).symlink_to(Path(httpx.__file__).parents[4] / name)
    return str(environment / "bin" / "python")


@pytest.fixture(scope="module")
def hub():
    try:
        check_that_all_can_read(ROOT)
    except ClassError as reason:
        pytest.skip(str(reason))
    install_proxy()
    place = Path(tempfile.mkdtemp(prefix="classtest-"))
    place.chmod(0o755)
    state = place / "state"
    state.mkdir(mode=0o700)
    hub = Hub(state, python_for_all(place))
    try:
        make([ANNA, BEN], LEARNERS, state / "accounts.txt")
        make([TEACHER], TEACHERS, state / "accounts.txt")
        hub.start()
        yield hub
    finally:
        for visitor in hub.visitors:
            visitor.http.close()
        if hub.process:
            hub.stop()
        for name in NAMES:
            subprocess.run(["pkill", "-KILL", "-u", name])
            subprocess.run(["userdel", "--force", "--remove", name], stderr=subprocess.DEVNULL)
        shutil.rmtree(place)


@pytest.fixture(scope="module")
def anna(hub):
    visitor = hub.visitor(ANNA)
    visitor.start()
    return visitor


def test_who_is_not_in_the_class_does_not_get_in(hub):
    assert not hub.guest(ANNA).log_in("wrong")
    assert not hub.guest("root").log_in("root")


def test_a_learners_code_reaches_nothing_of_others(hub, anna):
    work = Path("/home", BEN, "course", "work")
    subprocess.run(["runuser", "-u", BEN, "--", "mkdir", "-p", work], check=True)
    (work / "progress.jsonl").write_text("secret")
    (work / "progress.jsonl").chmod(0o666)  # even so
    places = [
        work / "progress.jsonl",
        hub.folder / "accounts.txt",
        hub.folder / "jupyterhub.sqlite",
        Path("/etc/shadow"),
    ]
    ours = [ROOT / "lessons" / "masks.py", ROOT / "notebooks" / "03_masked_attention.ipynb"]
    kernel = Kernel(anna, LESSON)
    printed, _ = kernel.run(f"""
import os, pathlib
assert pathlib.Path({str(ours[0])!r}).read_text()
for path in {list(map(str, places))!r}:
    for mode in "ra":
        try:
            open(path, mode); print("OPEN", path)
        except PermissionError: pass
for path in {list(map(str, ours))!r}:
    try:
        open(path, "a"); print("OPEN", path)
    except PermissionError: pass
for path in ("/home/{BEN}", "{hub.folder}"):
    try:
        os.listdir(path); print("LIST", path)
    except PermissionError: pass
print(pathlib.Path.home(), "done")
""")
    assert printed == f"/home/{ANNA} done\n"
    runtime = Path("/home", ANNA, ".run")
    assert '"transport": "ipc"' in next(runtime.glob("kernel-*.json")).read_text()
    kernel.close()


def test_a_learner_opens_no_page_of_another_or_of_the_teacher(hub, anna):
    ben = hub.visitor(BEN)
    assert ben.http.get(anna.own + "lab").status_code in (403, 404)
    assert ben.call("GET", f"{anna.own}api/contents/work").status_code in (403, 404)
    for path in ("/services/overview/", "/hub/admin"):
        assert ben.http.get(path).status_code == 403, path
        assert hub.guest("").http.get(path).url.path == "/hub/login"


def test_the_teacher_sees_who_has_done_what_and_no_html_of_a_learner(hub, anna):
    kernel = Kernel(anna, LESSON)
    evil = '{"lesson": "<script>", "exercise": "<script>", "verdict": "Right", "mistake": "<script>"}\\n'
    source = f"""
import os, torch
from lessons.exercises.masked_attention import future_hidden
future_hidden.check(lambda n: torch.ones(n, n).triu().bool())
open(os.environ["LESSONS_PROGRESS"], "a").write({evil!r})
"""
    assert kernel.run(source)[1]
    kernel.close()
    page = hub.visitor(TEACHER).http.get("/services/overview/")
    assert page.status_code == 200
    assert "This is the other triangle" in page.text
    assert ANNA in page.text
    assert "script" not in page.text
    assert "default-src 'none'" in page.headers["Content-Security-Policy"]


def test_a_restart_loses_nothing(hub, anna):
    kernel = Kernel(anna, LESSON)
    kernel.run("kept = 42")
    kernel.close()
    notebook = anna.call("GET", f"api/contents/{LESSON}").json()["content"]
    notebook["cells"][0]["source"] = "mine"
    saved = anna.call("PUT", f"api/contents/{LESSON}", json={"type": "notebook", "format": "json", "content": notebook})
    assert saved.is_success
    hub.stop()
    hub.start()
    again = hub.visitor(ANNA)
    again.start()
    assert again.call("GET", f"api/contents/{LESSON}").json()["content"]["cells"][0]["source"] == "mine"
    kernel = Kernel(again, LESSON)
    assert kernel.run("print(kept)") == ("42\n", True)  # the kernel, too, has gone on
    kernel.close()
    assert "This is the other triangle" in hub.visitor(TEACHER).http.get("/services/overview/").text
