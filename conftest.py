"""Settings of every test, made before torch is imported; the kernels that tests start inherit them."""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # two threads that wait for a busy core are slower than one
os.environ["LESSONS_PROGRESS"] = ""  # what tests check is nobody's progress
