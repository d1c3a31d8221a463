"""One folder per notebook, one file per exercise: the reference, the cases, the known mistakes and the hints."""

import importlib
from pathlib import Path

from lessons.checking.engine import Exercise
from lessons.checking.overview import Overview, summarize

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"


def exercises_of(notebook: str) -> dict[str, Exercise]:
    """The exercises of a notebook such as "03_masked_attention", by the name that the lesson calls them by."""
    module = importlib.import_module(f"lessons.exercises.{notebook[3:]}")
    return {name: thing for name, thing in vars(module).items() if isinstance(thing, Exercise)}


def show_progress() -> Overview:
    """What the checks have said so far, for each lesson."""
    notebooks = sorted(NOTEBOOKS.glob("[0-9][0-9]_*.ipynb"))
    return summarize({path: [exercise.name for exercise in exercises_of(path.stem).values()] for path in notebooks})
