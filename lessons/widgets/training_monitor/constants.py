"""What Python and JavaScript both know of TrainingMonitor."""

WAITING, RUNNING, PAUSED = "waiting", "running", "paused"
LIVE = (RUNNING, PAUSED)
FINISHED, INTERRUPTED, FAILED = "finished", "interrupted", "stopped by an error"
