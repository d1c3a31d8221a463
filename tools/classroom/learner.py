"""Starts a learner's own server, as that learner: python -m tools.classroom.learner [options of JupyterHub's server].

In their home, the folder `course` looks like the course: `work/` is the learner's own, `images/` a copy, and the rest
are links to the course that is installed for all, which they can only read.
"""

import os
import shutil
import sys
from pathlib import Path

from tools.copies import ROOT, Copies, CopyError
from tools.lab import set_environment
from tools.update import update

FOLDER = "course"
COPIED = "images"  # which Jupyter doesn't show through a link
SOCKETS = ".run"  # of kernels: with Jupyter's own folder, a path is too long for the system if the name has 23 letters
LINKED = (".venv", "lessons", "notebooks", "tools", "Makefile", "README.md")


def prepare(folder: Path, course: Path = ROOT) -> list[str]:
    """Make the folder, or bring it up to date with the course. Returns what can't be done, a sentence each."""
    folder.mkdir(mode=0o700, exist_ok=True)
    for name in LINKED:
        link = folder / name
        if link.is_symlink() and link.readlink() != course / name:
            link.unlink()  # the course was moved
        if not link.is_symlink() and not link.exists():
            link.symlink_to(course / name)
    shutil.copytree(course / COPIED, folder / COPIED, dirs_exist_ok=True)
    return update(Copies(folder))[1]


def main(arguments: list[str]) -> None:
    folder = Path.home() / FOLDER
    try:
        failed = prepare(folder)
    except (OSError, shutil.Error, CopyError) as error:
        failed = [f"{folder} cannot be made ready ({error})."]
    for sentence in failed:
        print(sentence, file=sys.stderr, flush=True)
    os.environ["COURSE_FOLDER"] = str(folder)
    os.environ["LESSONS_PROGRESS"] = str(folder / "work" / "progress.jsonl")
    os.environ["JUPYTER_RUNTIME_DIR"] = str(Path.home() / SOCKETS)
    set_environment()
    os.chdir(folder)
    os.execv(sys.executable, [sys.executable, "-m", "jupyterhub.singleuser", *arguments])


if __name__ == "__main__":
    main(sys.argv[1:])
