"""TrainingMonitor: watches a training run, and keeps its last picture."""

import sys
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from IPython.display import DisplayHandle, display
from matplotlib.figure import Figure
from torch import Tensor
from traitlets import validate

from lessons._checks import optional, switch, whole
from lessons.widgets.base import LessonWidget, computed, synced
from lessons.widgets.front_end import front_end, style
from lessons.widgets.pictures import Drawing, Panel, format_number
from lessons.widgets.training_monitor import busy_kernel, charts, recording
from lessons.widgets.training_monitor.constants import (
    FAILED,
    FINISHED,
    INTERRUPTED,
    LIVE,
    PAUSED,
    RUNNING,
    WAITING,
)
from lessons.wording import listed, worded

BETWEEN = 0.1  # seconds between two updates of the picture
BLOCK = 20  # points sent again with each update
MOST = 10**9


class TrainingMonitor(LessonWidget):
    """A training run: its loss, measurements, and the attention weights of one sentence.

    total: the steps that the run will have, or None. log_axis: a logarithmic axis for the loss.
    cursor: the step that is read out; None follows the run. digits: decimals in the stored picture.

    `watch(progresses)` hands on each of them, anything that has .step and .loss, and maybe .learning_rate.
    While it runs, `paused` halts it after the present step, and `stopping` ends it there.
    """

    _esm = front_end("training_monitor")
    _css = style("training_monitor")

    total, log_axis, cursor, digits, paused, stopping = (synced() for _ in range(6))
    status, reason, earlier, recent, latest, stride, measured, attention = (computed() for _ in range(8))

    def __init__(self, total: int | None = None, log_axis: bool = False, digits: int = 2, **options: Any):
        self._lock = threading.RLock()  # the browser's messages come in a thread of their own while a cell runs
        self._left = self._asked = False
        self._displays: list[DisplayHandle] = []
        self._forget()
        start = {"cursor": None, "paused": False, "stopping": False, **options}
        super().__init__(self._picture(), total=total, log_axis=log_axis, digits=digits, **start)

    # A run

    def watch(self, progresses: Iterable) -> Iterator:
        """Yield each progress after drawing it; wait while paused.

        `status` says how it ended; exceptions get through. A second run continues after the first.
        """
        try:
            run = iter(progresses)
        except TypeError:
            raise ValueError(f"progresses is {progresses!r}; expected an iterable of steps") from None
        return self._watch(run)

    def _watch(self, run: Any) -> Iterator:
        if self._status in LIVE:
            raise ValueError(f"status is {self._status!r}; expected a monitor that watches no other run")
        self.stopping = self._left = False
        self._show(RUNNING)
        try:
            with busy_kernel.reachable(self.comm):
                for progress in run:
                    self._add(progress)
                    yield progress
                    self._wait()
                    if self.stopping:
                        reason = worded("stopped after step {step}; the model keeps what it learned", step=self.step)
                        self._end(INTERRUPTED, reason)
                        return
            self._end(FINISHED)
        except GeneratorExit:
            if not sys.is_finalizing():
                self._end(INTERRUPTED, worded("the loop ended after step {step}", step=self.step))
                self._left = True
            raise
        except BaseException as error:
            self._end(*_why(error))
            raise
        finally:
            if hasattr(run, "close"):
                run.close()

    def measure(self, **numbers: float) -> None:
        """Named numbers from 0 to 1, at the current step."""
        read = {name: recording.read_measure(name, value) for name, value in numbers.items()}
        names = {**self._measures, **read}
        if len(names) > recording.MAX_NAMES:
            raise ValueError(
                f"measure has {len(names)} names, {', '.join(names)}; expected {recording.MAX_NAMES} at most"
            )
        with self._lock:
            for name, value in read.items():
                curve = self._measures.setdefault(name, recording.Curve(recording.MAX_MEASURES))
                again = curve.latest is not None and curve.latest[0] == self.step
                (curve.replace if again else curve.add)([self.step, value])
            self._refresh()

    def show_weights(
        self, weights: Any, rows: Sequence[str] | None = None, columns: Sequence[str] | None = None
    ) -> None:
        """The attention weights (T, S) of one sentence, at the current step."""
        self._weights = recording.read_weights(weights, rows, columns, self.step)
        self._refresh()

    def clear(self) -> None:
        """Forget the run."""
        if self._status in LIVE:
            raise ValueError(f"status is {self._status!r}; expected a run that has ended")
        self._forget()
        self.cursor = None
        self._refresh(at_once=True)

    @property
    def step(self) -> int:
        """The latest step; 0 before the first."""
        return self._curve.latest[0] if self._curve.latest else 0

    @property
    def steps(self) -> list[int]:
        """The steps that are drawn: of a long run every `stride`-th, and the latest."""
        return [step for step, _, _ in self._curve.points]

    @property
    def losses(self) -> list[float]:
        """The losses at these steps, with six digits."""
        return [float(loss) for _, loss, _ in self._curve.points]

    @property
    def measures(self) -> dict[str, list[tuple[int, float]]]:
        """Steps and numbers by name."""
        return {name: [(step, value) for step, value in curve.points] for name, curve in self._measures.items()}

    @property
    def weights(self) -> Tensor | None:
        """(T, S), the last ones that were shown."""
        return None if self._weights is None else recording.weights_of(self._weights)

    # What happens in a run

    def _forget(self) -> None:
        self._status, self._reason = WAITING, ""
        self._curve = recording.Curve()
        self._measures: dict[str, recording.Curve] = {}
        self._weights: dict | None = None
        self._sent = -BETWEEN

    def _add(self, progress: Any) -> None:
        before = self._curve.latest
        point = recording.read_progress(progress, None if before is None else before[0])
        with self._lock:
            self._curve.add(point)
            if self.total is not None and point[0] > self.total:
                self.total = point[0]
        self._refresh(at_once=before is None)

    def _wait(self) -> None:
        if not self.paused or self.stopping:
            return
        self._show(PAUSED)
        while self.paused and not self.stopping:
            time.sleep(0.05)
        self._show(RUNNING)

    def _cell_ends(self, error: BaseException | None) -> None:
        """Only now we know whether an exception ended the loop, and what to store with the notebook."""
        if error is not None and self._left:
            self._end(*_why(error))
        data, metadata = self._repr_mimebundle_()
        for shown in self._displays:
            shown.update(data, metadata=metadata, raw=True)
        self._left = self._asked = False

    def _end(self, status: str, reason: str = "") -> None:
        self.paused = self.stopping = False
        self._show(status, reason)

    def _show(self, status: str, reason: str = "") -> None:
        self._status, self._reason = status, reason
        self._refresh(at_once=True)

    # The browser

    def _picture(self) -> dict[str, Any]:
        """The traits that the run sets. Final points are separate from those that are sent often."""
        kept = self._curve.kept
        settled = len(kept) // BLOCK * BLOCK
        return {
            "status": self._status,
            "reason": self._reason,
            "earlier": kept[:settled],
            "recent": kept[settled:],
            "latest": self._curve.latest,
            "stride": self._curve.stride,
            "measured": {name: curve.points for name, curve in self._measures.items()},
            "attention": self._weights,
        }

    def _refresh(self, *, at_once: bool = False) -> None:
        """Tell the browser what is new, in one message; while it runs, only if the last one is not too recent."""
        if not self._asked:
            self._asked = busy_kernel.when_the_cell_ends(self._cell_ends)
        now = time.monotonic()
        if not at_once and self._status in LIVE and now - self._sent < BETWEEN:
            return
        self._sent = now
        with self._lock:
            self._compute(**self._picture())

    def notify_change(self, change: Any) -> None:
        with self._lock:
            super().notify_change(change)

    def set_state(self, sync_data: Any) -> None:
        """A click that arrives after a run has ended doesn't affect the next one."""
        with self._lock:
            self._check_names(sync_data)
            over = self._status not in LIVE
            late = [name for name in ("paused", "stopping") if over and sync_data.get(name) is True]
            if late:
                self.send_state(late)
            super().set_state({name: value for name, value in sync_data.items() if name not in late})

    # Validation

    @validate("paused", "stopping", "log_axis")
    def _check_switch(self, proposal: dict) -> bool:
        switch(**{proposal["trait"].name: proposal["value"]})
        return proposal["value"]

    @validate("total", "cursor")
    def _check_step(self, proposal: dict) -> int | None:
        name, value = proposal["trait"].name, proposal["value"]
        low = max(self.step, 1) if name == "total" else 0
        optional(partial(whole, low, MOST), **{name: value})
        return value

    @validate("digits")
    def _check_digits(self, proposal: dict) -> int:
        whole(0, 4, digits=proposal["value"])
        return proposal["value"]

    # Pictures

    def panels(self) -> list[Panel]:
        """Some of the losses, some of what was measured, and the weights."""
        return charts.panels(self._curve.points, self._measures, self._weights, self.digits)

    def drawing(self) -> Drawing | None:
        return charts.draw_loss(self._curve.points, self.total, self.log_axis, self.digits)

    def note(self) -> str:
        return "" if self._status == FAILED else self._reason

    def figure(self) -> Figure:
        """The loss, what was measured, and the weights, by lessons.plots."""
        return charts.figure(self.steps, self.losses, self.measures, self._weights, self.log_axis)

    def _ipython_display_(self) -> None:
        """Show it in a way that lets the stored picture be renewed after the run."""
        data, metadata = self._repr_mimebundle_()
        shown = display(data, metadata=metadata, raw=True, display_id=True)
        self._displays = [*self._displays[-3:], *([shown] if shown else [])]

    def __repr__(self) -> str:
        said = [worded(self._status)]
        if self._curve.latest is not None:
            without = worded("step {step}", step=self.step)
            said.append(
                without if self.total is None else worded("step {step} of {count}", step=self.step, count=self.total)
            )
            said.append(worded("loss {loss}", loss=format_number(float(self._curve.latest[1]), self.digits)))
        for name, curve in self._measures.items():
            said.append(f"{recording.in_words(name)} {curve.points[-1][1]:.{self.digits}f}")
        text = worded("TrainingMonitor: {what}", what=listed(said))
        return worded("{where}: {what}", where=text, what=self._reason) if self._status == FAILED else text


def _why(error: BaseException) -> tuple[str, str]:
    if isinstance(error, KeyboardInterrupt):
        return INTERRUPTED, worded("by the keyboard or the Jupyter button; the model keeps what it learned")
    return FAILED, recording.say_error(error)
