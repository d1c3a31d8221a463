"""Settings of every test, made before torch is imported; the kernels that tests start inherit them."""

import gc
import os
import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from tests.kernels import use_forked_kernels

os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # each kernel and program that a test starts would compile the course
os.environ.setdefault("OMP_NUM_THREADS", "1")  # two threads that wait for a busy core are slower than one
os.environ["LESSONS_PROGRESS"] = ""  # what tests check is nobody's progress
os.environ["LESSONS_STORED_EDITION"] = "1"  # notebooks that are run are compared with it
os.environ["LESSONS_LANG"] = "en"  # whatever the language of the system

use_forked_kernels()
gc.set_threshold(20_000)  # from 700 new objects on, looking for unused circles took a tenth of the tests' time

ROOT = Path(__file__).parent
# tests/classroom and tests/tools wait for servers and the package index: beside what computes, not alone at the end.
LONGEST_FIRST = [
    "notebooks",
    "tests/translation",
    "tests/browser",
    "tests/classroom",
    "tests/tools",
    "tests/notebooks",
    "tests/exercises",
    "tests",
]
BY_LESSON = re.compile(
    r"(?P<file>tests/(?:notebooks/test_journey|exercises/test_exercises|translation/test_translated_lessons)\.py)"
    r"::\w+\[(?P<lesson>\w+)"
)
# What one worker runs, because all of it shares something that takes long to start.
TOGETHER = {
    # To import transformers takes four seconds.
    "transformers": {
        "tests/language_model/test_generating.py",
        "tests/language_model/test_parity.py",
        "tests/test_benchmarks.py",
        "tests/test_mask_table.py",
        "tests/test_pretrained.py",
    },
    # A server, and a page that has compiled JupyterLab, take twenty.
    "JupyterLab": {
        "tests/browser/test_benchmarks.py",
        "tests/browser/test_every_lab.py",
        "tests/browser/test_explore_lab.py",
        "tests/browser/test_jupyterlab.py",
        "tests/browser/test_mask_studio_lab.py",
        "tests/browser/test_other_browsers.py",
        "tests/browser/test_reopened.py",
        "tests/browser/test_training_monitor_lab.py",
        "tests/browser/test_update_while_open.py",
    },
}
UNITS = {file: f"with {shared}" for shared, files in TOGETHER.items() for file in files}
PATIENCE = 600  # seconds that nbval waits for what a kernel has to say


@cache
def folders_of(path):
    """The folders of the repository that a file is in: asked once for each file, not for each test."""
    return {folder.as_posix() for folder in path.relative_to(ROOT).parents}


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Mark by folder and place in a sweep, and order so that the workers finish together."""
    of_the_sweep = Counter()
    for item in items:
        if item.path.suffix == ".ipynb":
            item.add_marker("notebook")
            item.output_timeout = PATIENCE
        if "tests/browser" in folders_of(item.path):
            item.add_marker("browser")
        if rare := item.get_closest_marker("one_of"):
            function = item.nodeid.partition("[")[0]
            if of_the_sweep[function] % rare.args[0]:
                item.add_marker("thorough")
            of_the_sweep[function] += 1
    items.sort(key=lambda item: [folder not in folders_of(item.path) for folder in LONGEST_FIRST])


def pytest_collection_finish():
    gc.collect()
    gc.freeze()  # what collecting has made stays to the end: it need not be looked through again and again


@pytest.hookimpl(optionalhook=True, wrapper=True)
def pytest_xdist_auto_num_workers(config):
    """One for each core, and one more where browsers are: half of their time is waiting."""
    cores = yield
    return cores + ("not browser" not in config.option.markexpr)


def unit_of(nodeid):
    """What one worker runs in one piece: a file, or of a long file of independent tests, one lesson."""
    if of_lesson := BY_LESSON.match(nodeid):
        return "{file} {lesson}".format(**of_lesson.groupdict())
    file = nodeid.split("::")[0]
    return UNITS.get(file, file)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    from xdist.scheduler import LoadScopeScheduling

    scheduler = LoadScopeScheduling(config, log)
    scheduler._split_scope = unit_of
    return scheduler
