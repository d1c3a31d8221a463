"""TrainingMonitor: a training run, live."""
