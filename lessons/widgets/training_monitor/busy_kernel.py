"""Jupyter while a cell runs: lets clicks arrive, and tells how the cell ended."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

from IPython import get_ipython


@contextmanager
def reachable(comm: Any) -> Generator[None]:
    """Inside `with`, the browser's messages arrive while a cell runs.

    JupyterLab sends it to a subshell of the kernel, a thread of its own. From its version 7.4 on, ipykernel leads it
    to the thread that was the last to send something by this `comm` instead, and that one is busy with the cell.
    """
    if comm is None:
        yield
        return
    comm._reply_subshell_for = lambda data, addressed: addressed
    try:
        yield
    finally:
        del comm._reply_subshell_for


def when_the_cell_ends(tell: Callable[[BaseException | None], None]) -> bool:
    """Call this once, with the exception that ended the cell, or None. False outside Jupyter, where nothing ends."""
    shell = get_ipython()
    if shell is None:
        return False

    def once(result: Any) -> None:
        shell.events.unregister("post_run_cell", once)
        tell(result.error_in_exec)

    shell.events.register("post_run_cell", once)
    return True
