"""Constants of ScalingLab, shared by Python and JavaScript."""

from lessons.wording import marked

NUM_QUERIES = 100
MAX_KEYS = 16
MAX_FEATURES = 1024
STUCK = 0.99
LINE_NAMES = {False: marked("not scaled"), True: marked("divided by √d")}
