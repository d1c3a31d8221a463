"""Constants of TrainingMonitor, shared by Python and JavaScript."""

WAITING, RUNNING, PAUSED = "waiting", "running", "paused"
LIVE = (RUNNING, PAUSED)
FINISHED, INTERRUPTED, FAILED = "finished", "interrupted", "stopped by an error"
