"""Constants of TrainingMonitor, shared by Python and JavaScript."""

from lessons.wording import marked

WAITING, RUNNING, PAUSED = marked("waiting"), marked("running"), marked("paused")
LIVE = (RUNNING, PAUSED)
FINISHED, INTERRUPTED, FAILED = marked("finished"), marked("interrupted"), marked("stopped by an error")
MEASURES = (marked("words"), marked("sentences"), marked("held out"), marked("whole sentences"))  # as lessons call them
