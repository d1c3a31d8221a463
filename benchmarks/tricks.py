"""What each choice of our recipe is worth: each is replaced by the textbook's, one at a time, on the translation task.

One seed; the time until 99 % of the held-out sentences are generated without a mistake, as in benchmarks.training.
"""

import math
from collections.abc import Iterable
from dataclasses import replace
from functools import partial

from benchmarks.training import (
    ADAM,
    ENDLESS,
    EVERY,
    GIVE_UP,
    OUR_RECIPE,
    Result,
    make_ours,
    on_one_thread,
    time_to_learn,
)
from lessons.tasks import Translation
from lessons.training import Recipe

LIMIT = GIVE_UP / 2  # seconds
MORE = 3  # times as many steps, where a change needs more than the recipe has
PAPER = replace(OUR_RECIPE, schedule="paper", warmup=400, steps=ENDLESS)

# What is set back: to which recipe, and which sizes and choices of the model.
TRICKS: dict[str, tuple[Recipe, dict[str, object]]] = {
    "our recipe": (OUR_RECIPE, {}),
    "cosine → the paper's schedule": (PAPER, {}),
    "cosine → Adam at a constant 1e-3": (replace(ADAM, batch_size=OUR_RECIPE.batch_size), {}),
    "batches of 32 → of 64": (replace(OUR_RECIPE, batch_size=64), {}),
    "no smoothing → 0.1": (replace(OUR_RECIPE, smoothing=0.1), {}),
    "Pre-LN → Post-LN": (OUR_RECIPE, {"norm_first": False}),
    "learned positions → sinusoids": (OUR_RECIPE, {"positions": "sinusoids"}),
    "no dropout → 0.1": (OUR_RECIPE, {"dropout": 0.1}),
    "d_model 64 → 128": (OUR_RECIPE, {"d_model": 128, "d_ff": 512}),
}


def measure(names: Iterable[str] = TRICKS, limit: float = LIMIT, every: int = EVERY) -> None:
    """A change that fails within the recipe's steps is tried again, with a slower cosine and more steps."""
    task, first = Translation(), 0.0
    for name in names:
        recipe, changes = TRICKS[name]
        result = time_to_learn(make_ours(task, 0, recipe, **changes), give_up=limit, every=every)
        if result.steps == recipe.steps and math.isinf(result.seconds) and recipe.schedule == "cosine":
            recipe = replace(recipe, steps=MORE * recipe.steps)
            result = time_to_learn(make_ours(task, 0, recipe, **changes), give_up=limit, every=every)
        first = first or result.seconds
        print(f"{name:<34} {describe(result, first)}", flush=True)


def describe(result: Result, first: float) -> str:
    if math.isinf(result.seconds):
        return f"not reached: {result.accuracy:.0%} after {result.steps} steps"
    return f"{result.seconds:5.1f} s, {result.seconds / first:4.1f} times as long; {result.steps} steps"


def main(*, smoke: bool = False) -> None:
    on_one_thread(partial(measure, ["our recipe", "no dropout → 0.1"], limit=1e-6, every=1) if smoke else measure)
