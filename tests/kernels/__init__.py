"""The kernels that tests start: forked from one process that has imported torch, instead of importing it again.

    conftest.py     says where kernels come from: a kernelspec that hides the installed one
    launch.py       stands for a kernel where Jupyter looks: asks for it, passes signals on, ends with it
    warm.py         has everything imported, and forks

A kernel is otherwise as always: a process with its own environment, folder, and output. Where a system can't fork, the
installed kernelspec is used.
"""

import atexit
import json
import os
import shutil
import sys
import tempfile
from pathlib import Path

NAME = "Python 3 (ipykernel)"


def use_forked_kernels() -> None:
    """From now on, Jupyter in this process and those that it starts finds these kernels."""
    if sys.platform != "linux" or "COURSE_WARM_KERNELS" in os.environ:
        return
    folder = Path(tempfile.mkdtemp(prefix="kernels"))
    spec = folder / "kernels" / "python3"
    spec.mkdir(parents=True)
    launch = [sys.executable, "-I", "-S", str(Path(__file__).with_name("launch.py")), "{connection_file}"]
    described = {"argv": launch, "display_name": NAME, "language": "python", "metadata": {"debugger": True}}
    (spec / "kernel.json").write_text(json.dumps(described), encoding="utf-8")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    os.environ["COURSE_WARM_KERNELS"] = f"{folder}:{os.getpid()}"
    os.environ["JUPYTER_PATH"] = os.pathsep.join(filter(None, [str(folder), os.environ.get("JUPYTER_PATH")]))
