"""Lesson 11, my_rate: warm-up, a plateau, and a straight line down to 0."""

import math

import torch

from lessons.checking.edits import edited
from lessons.checking.engine import Case, Exercise, Mistake
from lessons.wording import AND, SENTENCES, listed, marked, worded


def rate(step: int, steps: int, peak: float, warmup: int, decay: int) -> float:
    """The learning rate of a step, the first being 1: up in a line to the peak at step warmup, level, and in the last
    `decay` steps down in a line, to 0 at step `steps`. MiniCPM (arXiv 2404.06395), section 4, with a linear end.
    """
    return peak * min(1.0, step / warmup, (steps - step) / decay)


def _rates(candidate, at, steps, peak, warmup, decay):
    rates = [candidate(step, steps, peak, warmup, decay) for step in at.tolist()]
    return None if None in rates else torch.tensor([float(rate) for rate in rates])


def _rate_cases(generator) -> list[Case]:
    def case(at, steps, peak, warmup, decay, about=""):
        sizes = {"steps": steps, "peak": peak, "warmup": warmup, "decay": decay}
        return Case({"at": torch.tensor(at), **sizes}, about=about)

    return [
        case([1, 2, 4, 5, 7, 8, 9, 10], 10, 1.0, 4, 3),
        case([1, 50, 100, 101, 500, 800, 801, 900, 999, 1000], 1000, 0.004, 100, 200),
        case([1, 30, 60, 70, 80, 99], 100, 0.01, 60, 30, about="a warm-up longer than the decay"),
        case([1, 2, 20, 30, 39, 40], 40, 0.5, 1, 20, about="a warm-up of one step"),
    ]


def _cosine_end(step, steps, peak, warmup, decay):
    share = min(1.0, (steps - step) / decay)
    return peak * min(step / warmup, 0.5 - 0.5 * math.cos(math.pi * share))


def _in_three_parts(step, steps, peak, warmup, decay):
    """rate, as an if for each part."""
    if step <= warmup:
        return peak * step / warmup
    if step <= steps - decay:
        return peak
    return peak * (steps - step) / decay


def _falls_at_once(step, steps, peak, warmup, decay):
    return peak * max(0.0, min(step / warmup, (warmup + decay - step) / decay))


FALL = "(steps - step) / decay"


PARTS = {
    "warm-up": marked(
        "The warm-up differs in {count} of {tried} steps, first at step {step}: yours {mine:.4g}, "
        "expected {expected:.4g}. It is a line from peak / warmup at step 1 to the peak, {peak:g}, at step {warmup}."
    ),
    "plateau": marked(
        "The plateau differs in {count} of {tried} steps, first at step {step}: yours {mine:.4g}, "
        "expected {expected:.4g}. It is the peak, up to step {start}."
    ),
    "fall": marked(
        "The fall differs in {count} of {tried} steps, first at step {step}: yours {mine:.4g}, "
        "expected {expected:.4g}. It is a line from the peak, {peak:g}, at step {start} to 0 at step {steps}."
    ),
}
NAMES = {"warm-up": marked("the warm-up"), "plateau": marked("the plateau"), "fall": marked("the fall")}


def _each_part(case: Case, results: tuple) -> str | None:
    """Which of the three parts is wrong, and where it first is."""
    at, steps, peak, warmup, decay = case.inputs.values()
    wanted = torch.tensor([rate(step, steps, peak, warmup, decay) for step in at.tolist()])
    close = torch.isclose(results[0].to(wanted.dtype), wanted, rtol=1e-4, atol=1e-6 * peak)
    parts = {"warm-up": at <= warmup, "plateau": (at > warmup) & (at <= steps - decay), "fall": at > steps - decay}
    wrong = {name: (where & ~close).nonzero() for name, where in parts.items()}
    first = next((name for name, places in wrong.items() if len(places)), None)
    if first is None:
        return None
    place, count, tried = int(wrong[first][0]), len(wrong[first]), int(parts[first].sum())
    where = {"count": count, "tried": tried, "step": int(at[place])}
    numbers = {"mine": float(results[0][place]), "expected": float(wanted[place])}
    line = {"peak": peak, "warmup": warmup, "start": steps - decay, "steps": steps}
    told = worded(PARTS[first], **where, **numbers, **line)
    right = [worded(NAMES[name]) for name, places in wrong.items() if not len(places)]
    return listed([told, worded("What is right: {parts}.", parts=listed(right, AND)) if right else ""], SENTENCES)


schedule = Exercise(
    lesson="11",
    name="my_rate",
    reference=rate,
    cases=_rate_cases,
    call=_rates,
    outputs=("the list of rates",),
    laws=[_each_part],
    mistakes=[
        Mistake(
            edited(rate, "min(1.0, ", "min("),
            "The middle isn't level: the rate rises above the peak before it falls. Three numbers decide: the line up, "
            "the line down, and 1.",
        ),
        Mistake(
            edited(rate, "step / warmup, ", ""),
            "There is no warm-up: the rate is at its peak in the very first step.",
        ),
        Mistake(
            edited(rate, ", " + FALL, ""),
            "The rate never falls. In the last `decay` steps it must go down, to 0.",
        ),
        Mistake(
            edited(rate, FALL, "(steps - step) / (steps - warmup)"),
            "It falls from the end of the warm-up on. It should stay at the peak until the last `decay` steps.",
        ),
        Mistake(
            edited(rate, FALL, "(steps - step) / (steps - decay)"),
            "You took decay as the step at which the rate begins to fall. It is how many steps the fall takes.",
            also=(
                edited(rate, FALL, "((steps - step) / (steps - decay) if step > max(warmup, decay) else 1)"),
                edited(_in_three_parts, "step <= steps - decay", "step <= decay"),
                edited(
                    _in_three_parts, ("step <= warmup", "step < warmup"), ("step <= steps - decay", "step <= decay")
                ),
            ),
        ),
        Mistake(
            edited(rate, FALL, "((steps - step) / (steps - warmup) if step > steps - decay else 1)"),
            "The fall begins with a jump: its line is one that takes more than `decay` steps. Divide by decay.",
            also=(
                edited(_in_three_parts, FALL, "(steps - step) / steps"),
                edited(rate, FALL, "((steps - step) / (steps - warmup) if step >= steps - decay else 1)"),
            ),
        ),
        Mistake(
            _falls_at_once,
            "The fall begins right after the warm-up. First comes the plateau: the fall is the last `decay` steps.",
        ),
        Mistake(
            edited(_in_three_parts, "steps - decay", "warmup + decay"),
            "The plateau takes `decay` steps in your code. decay is the length of the fall, which begins at step "
            "steps − decay.",
        ),
        Mistake(
            edited(_in_three_parts, FALL, "((steps - step) // decay)"),
            "In the last `decay` steps the rate is 0 at once. It falls to 0 in a line; // would drop its fractions.",
        ),
        Mistake(
            edited(_in_three_parts, "peak * " + FALL, "peak - peak * step / decay"),
            "In the fall you subtract as if it had begun at step 0. Count the steps since it began, at steps − decay.",
            also=(edited(rate, FALL, "(1 if step <= steps - decay else 1 - step / decay)"),),
        ),
        Mistake(
            edited(_in_three_parts, "step / warmup", "step / steps"),
            "The warm-up divides by the number of all steps. Its line takes `warmup` steps.",
            also=(edited(_in_three_parts, ("step <= warmup", "step < warmup"), ("step / warmup", "step / steps")),),
        ),
        Mistake(
            edited(_in_three_parts, "peak * step / warmup", "step / warmup"),
            "The plateau and the fall are right. The warm-up ends at 1: multiply it by the peak, too.",
            also=(
                edited(_in_three_parts, ("step <= warmup", "step < warmup"), ("peak * step / warmup", "step / warmup")),
            ),
        ),
        Mistake(
            edited(rate, FALL, "(steps - step + 1) / decay"),
            "The fall comes one step late: at the last step the rate isn't 0 yet. At step = steps − decay it is still "
            "the peak.",
        ),
        Mistake(
            edited(rate, FALL, "(steps - step - 1) / decay"),
            "The fall comes one step early: at step = steps − decay the rate must still be the peak, and 0 only at the "
            "last step.",
            also=(
                edited(rate, FALL, "(1 if step < steps - decay else (steps - step - 1) / decay)"),
                edited(rate, FALL, "(1 if step <= steps - decay else (steps - step - 1) / decay)"),
            ),
        ),
        Mistake(
            edited(rate, "return peak", "return (steps - step) / decay if step > steps - decay else peak"),
            "The warm-up and the plateau are right. The fall starts from 1: multiply it by the peak, too.",
        ),
        Mistake(
            edited(rate, "step / warmup", "(step - 1) / warmup"),
            "The first step is step 1, and yours has the rate 0, so it changes nothing. At step = warmup the rate must "
            "be the peak.",
            also=(
                edited(rate, "step / warmup", "(step - (step < warmup)) / warmup"),
                edited(rate, "step / warmup", "(step - 1) / max(1, warmup - 1)"),
            ),
        ),
        Mistake(
            edited(rate, FALL, "(1 if step <= steps - decay else (step - (steps - decay)) / decay)"),
            "In the last `decay` steps the rate rises again. That fraction says how much of the fall is over: subtract "
            "it from 1.",
            also=(edited(rate, FALL, "(1 if step < steps - decay else (step - (steps - decay)) / decay)"),),
        ),
        Mistake(
            edited(rate, "step / warmup", "(step + 1) / warmup"),
            "Your warm-up is one step ahead: the first step is 1, not 0, so step needs no + 1.",
        ),
        Mistake(
            edited(rate, "min", "max"),
            "You took the largest of the three. Each is a limit: take the smallest.",
        ),
        Mistake(
            edited(rate, "peak * ", ""),
            "Your rate goes up to 1, whatever the peak is. Multiply by the peak.",
        ),
        Mistake(
            edited(rate, "peak * min(1.0, ", "min(peak, "),
            "The plateau is right, the two lines aren't: peak multiplies all of the min, not only its first argument.",
        ),
        Mistake(
            _cosine_end,
            "The end is half a cosine wave. Here it is a straight line.",
        ),
        Mistake(
            edited(rate, ("step / warmup", "step / decay"), (FALL, "(steps - step) / warmup")),
            "warmup and decay are swapped.",
        ),
    ],
    hints=[
        "As a fraction of the peak, the line up is step / warmup. Which line is 1 at step = steps − decay and 0 at "
        "step = steps?",
        "Each part is a limit: the rate is the smallest of the line up, 1, and the line down. Python's min takes three "
        "numbers.",
    ],
    solution="""
        def my_rate(step, steps, peak, warmup, decay):
            return peak * min(step / warmup, 1, (steps - step) / decay)
    """,
)
