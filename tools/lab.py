"""Opens the course in JupyterLab: python -m tools.lab [options of JupyterLab].

The course's settings are JupyterLab's defaults here (`tools/jupyter`): what the user has set stays, and stays stronger.
"""

import os
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FIRST_LESSON = "notebooks/00_start_here.ipynb"
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


def main(arguments: list[str]) -> None:
    os.chdir(ROOT)  # the root of the server is the whole course, so that the notebooks reach ../images
    set_environment()
    from jupyterlab.labapp import LabApp

    LabApp.launch_instance([f"--LabApp.default_url=/lab/tree/{FIRST_LESSON}", *arguments])


if __name__ == "__main__":
    main(sys.argv[1:])
