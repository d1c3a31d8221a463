"""Constants of ScalingLab, shared by Python and JavaScript."""

NUM_QUERIES = 100
MAX_KEYS = 16
MAX_FEATURES = 1024
STUCK = 0.99
LINE_NAMES = {False: "not scaled", True: "divided by √d"}
