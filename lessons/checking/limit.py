"""A time limit for code that may not end: a second thread interrupts it, so it works on every system."""

import ctypes
import threading
import time
from collections.abc import Callable
from typing import TypeVar

Result = TypeVar("Result")
SECONDS = 30.0
AGAIN = 0.005  # how soon the next interruption follows, in case the code catches every exception


class TooLong(BaseException):
    """Raised in the middle of the code that has run for too long."""


def limited(work: Callable[[], Result]) -> Result:
    """What the work gives; raises TooLong once it has taken SECONDS, half of them with the processor at work.

    On a busy machine it therefore waits longer, up to four times as long. Python code is interrupted wherever it is,
    again and again until it leaves; one long call into C (time.sleep, a huge matrix product) only once it returns.
    """
    watchdog = _Watchdog()
    watchdog.start()
    try:
        watchdog.armed = True
        result = work()
        if watchdog.barked:  # and every exception was caught
            raise TooLong
        return result
    finally:
        watchdog.armed = False
        while True:
            try:
                watchdog.end()
                for _ in range(10):  # at the next turn of a loop at the latest, what was sent arrives
                    pass
                break
            except TooLong:
                continue


class _Watchdog(threading.Thread):
    def __init__(self) -> None:
        super().__init__(name="time limit", daemon=True)
        self.armed = self.barked = False
        self.watched = threading.get_ident()
        self.working = threading.Lock()
        self.working.acquire()

    def run(self) -> None:
        start, worked, pause = time.monotonic(), time.process_time(), SECONDS
        while not self.working.acquire(timeout=pause):
            passed = time.monotonic() - start
            over = passed >= 4 * SECONDS or (passed >= SECONDS and time.process_time() - worked >= SECONDS / 2)
            if over and self.armed:  # raise TooLong over there, as soon as Python code runs again
                self.barked = True
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(self.watched), ctypes.py_object(TooLong))
            pause = AGAIN if over else SECONDS / 50

    def end(self) -> None:
        if self.working.locked():
            self.working.release()
        self.join()
