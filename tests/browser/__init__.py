"""Tests in a browser wait for what they want to see, however slow the machine is."""

PATIENCE = 600_000  # milliseconds; what has not come by then will not come at all: the machine hangs
