"""FunctionLab where no script runs: its panels and texts."""

from typing import Any

from torch import Tensor

from lessons.widgets.function_lab.experiments import Experiment, compare, say_difference
from lessons.widgets.pictures import Panel
from lessons.wording import SENTENCES, listed, marked, worded

# Of the function's, the reference's, and their difference.
TITLES = {
    "weights": (marked("the function's weights"), marked("the reference's weights"), marked("difference of weights")),
    "output": (marked("the function's output"), marked("the reference's output"), marked("difference of output")),
}
SAYS = {"weights": marked("Weights: {difference}"), "output": marked("Output: {difference}")}


def draw(found: Experiment, tokens: list[str], key_tokens: list[str]) -> list[Panel]:
    """The mask, the outputs that change, and the comparison."""
    drawn = [Panel("mask", worded("the mask"), tokens, key_tokens, found.allowed, ~found.allowed)]
    if found.moved is not None:
        title, axes = worded("which outputs move (1)"), (worded("output"), worded("token changed"))
        drawn.append(Panel("values", title, tokens, key_tokens, found.moved.float(), None, *axes))
    pairs: list[tuple[str, Tensor | None, Tensor]] = [*found.pairs()] or [("weights", None, found.reference)]
    for name, mine, right in pairs:
        drawn += _compared(name, mine, right, found.allowed, tokens, key_tokens)
    return drawn


def _compared(
    name: str, mine: Tensor | None, right: Tensor, allowed: Tensor, tokens: list[str], key_tokens: list[str]
) -> list[Panel]:
    """The function's, the reference's and their difference; only the reference's if the function returns nothing."""
    tone, columns, axis, blocked = "weights", key_tokens, worded("key"), ~allowed
    if name == "output":
        tone, columns, axis, blocked = "values", [str(i) for i in range(right.size(1))], worded("feature"), None
    place: dict[str, Any] = {"rows": tokens, "columns": columns, "column_axis": axis}
    reference = Panel(tone, worded(TITLES[name][1]), values=right, blocked=blocked, **place)
    if mine is None:
        return [reference]
    return [
        Panel(tone, worded(TITLES[name][0]), values=mine, blocked=blocked, main=True, **place),
        reference,
        Panel("values", worded(TITLES[name][2]), values=compare(mine, right)[0], **place),
    ]


def describe(found: Experiment) -> str:
    """The problem; or what differs, what else was noticed, and the detector's verdict."""
    if found.trial.problem:
        return found.trial.problem
    said = [
        worded(SAYS[name], difference=say_difference(name, *compare(mine, right)))
        for name, mine, right in found.pairs()
    ]
    return listed([*said, *found.notes, found.verdict], SENTENCES)
