"""Opens the course in JupyterLab: python -m tools.lab [options of JupyterLab]; LESSON=03 says with which lesson.

LESSONS_LANG=zh_CN says in which language; the copies stay in it until another one is chosen.

The course's settings are JupyterLab's defaults here (`tools/jupyter`): what the user has set stays, and stays stronger.
"""

import os
import sys
import tempfile
from pathlib import Path

from lessons.wording import VARIABLE, listed, worded
from tools.copies import Copies, CopyError, copies_of
from tools.language import switch
from tools.update import rename

ROOT = Path(__file__).resolve().parent.parent
FIRST_LESSON = "00"
# What Jupyter, IPython and Matplotlib would write to the user's home folder.
KEPT_AT_HOME = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "IPYTHONDIR", "MPLCONFIGDIR")


def set_environment() -> None:
    """Make JupyterLab and its kernels find the course's settings, and folders that they can write to."""
    paths = [str(ROOT / "tools" / "jupyter"), os.environ.get("JUPYTER_CONFIG_PATH", "")]
    os.environ["JUPYTER_CONFIG_PATH"] = os.pathsep.join(filter(None, paths))
    if not os.access(Path.home(), os.W_OK):
        folder = Path(tempfile.mkdtemp(prefix="course-"))
        for name in KEPT_AT_HOME:
            os.environ.setdefault(name, str(folder / name.lower()))


def make_copies() -> Copies:
    """The learner's copies in the chosen language, with one of each lesson that they had none of.

    A damaged file of the course is named, and JupyterLab opens all the same.
    """
    copies = copies_of()
    try:
        for sentence in rename(copies) + switch(copies):
            print(sentence, flush=True)
        copies.make_missing()
    except CopyError as error:
        sys.exit(worded("Your copies of the lessons cannot be made: {reason}", reason=error))
    try:
        if names := listed(copies.outdated()):
            print(
                worded("There is a new edition of {names}: `make update` brings it into your copies.", names=names),
                flush=True,
            )
    except CopyError as error:
        print(error, file=sys.stderr, flush=True)
    return copies


def chosen(names: list[str], number: str) -> str:
    """The file of the lesson with this number."""
    numbers = {name[:2]: name for name in names if name[:2].isdigit()}
    if number not in numbers:
        sys.exit(
            worded(
                "LESSON is {number!r}; expected one of {numbers}: make lab LESSON=03",
                number=number,
                numbers=listed(numbers),
            )
        )
    return numbers[number]


def main(arguments: list[str]) -> None:
    os.chdir(ROOT)  # the root of the server is the whole course, so that the copies reach ../images
    copies = make_copies()
    name = chosen(copies.names(), os.environ.get("LESSON", FIRST_LESSON))
    os.environ[VARIABLE] = copies.language  # for the kernels
    set_environment()
    from jupyterlab.labapp import LabApp

    LabApp.launch_instance([f"--LabApp.default_url=/lab/tree/work/{name}", *arguments])


if __name__ == "__main__":
    main(sys.argv[1:])
