"""Lesson 11, my_rate: the learning rate of the paper, which rises and then falls."""

import torch

from lessons.checking.edits import edited
from lessons.checking.engine import Case, Exercise, Mistake


def rate(step: int, d_model: int, warmup: int) -> float:
    """d_model^-0.5 · min(step^-0.5, step · warmup^-1.5), the first step being 1"""
    return d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)


def _rates(candidate, steps, d_model, warmup):
    rates = [candidate(step, d_model, warmup) for step in steps.tolist()]
    return None if None in rates else torch.tensor([float(rate) for rate in rates])


def _rate_cases(generator) -> list[Case]:
    return [
        Case({"steps": torch.tensor([1, 2, 4, 16]), "d_model": 16, "warmup": 4}),
        Case({"steps": torch.tensor([1, 50, 100, 101, 1000]), "d_model": 64, "warmup": 100}),
        Case({"steps": torch.tensor([4000, 100_000]), "d_model": 512, "warmup": 4000}, about="the paper's own numbers"),
    ]


schedule = Exercise(
    lesson="11",
    name="my_rate",
    reference=rate,
    cases=_rate_cases,
    call=_rates,
    outputs=("the rates",),
    mistakes=[
        Mistake(
            edited(rate, "* min", "* max"),
            "You took the larger of the two: the rate starts high, falls, then rises forever. Take the smaller one.",
        ),
        Mistake(
            edited(rate, "d_model**-0.5 * ", ""),
            "The factor d_model^-0.5 is missing: a wider model takes smaller steps.",
        ),
        Mistake(
            edited(rate, "min(step**-0.5, step * warmup**-1.5)", "step * warmup**-1.5"),
            "It rises forever: after the warm-up, step^-0.5 is the smaller one.",
        ),
        Mistake(
            edited(rate, "min(step**-0.5, step * warmup**-1.5)", "step**-0.5"),
            "There is no warm-up: the rate is largest at the very first step. Is the second argument of min there, and "
            "does its warmup have the exponent -1.5?",
        ),
        Mistake(
            edited(rate, "warmup**-1.5", "warmup**-0.5"),
            "The exponent of warmup is -1.5, not -0.5: only then are the two equal at step = warmup.",
        ),
        Mistake(
            edited(rate, "d_model**-0.5", "d_model**0.5"),
            "d_model has the exponent -0.5: you multiplied by its square root instead of dividing by it.",
        ),
        Mistake(
            edited(rate, "step**-0.5", "warmup**-0.5"),
            "After the warm-up your rate stays constant. It should fall, as step^-0.5.",
        ),
        Mistake(
            edited(rate, "d_model**-0.5 * min(", "min(d_model**-0.5 * "),
            "d_model^-0.5 multiplies the whole min, not only its first argument.",
        ),
        Mistake(
            edited(rate, ("step**-0.5", "step**-1 / 2"), ("warmup**-1.5", "warmup**-3 / 2")),
            "Python takes powers first: x ** -1/2 is half of 1/x. Write x ** -0.5, or use parentheses.",
            also=[
                edited(
                    rate,
                    ("d_model**-0.5", "d_model**-1 / 2"),
                    ("step**-0.5", "step**-1 / 2"),
                    ("warmup**-1.5", "warmup**-3 / 2"),
                ),
                edited(rate, "d_model**-0.5", "d_model**-1 / 2"),
            ],
        ),
        Mistake(
            edited(rate, ("step**-0.5", "(step + 1) ** -0.5"), ("step * ", "(step + 1) * ")),
            "Your rates are those of the step after: here the first step is 1, not 0, so step needs no + 1.",
        ),
        Mistake(
            edited(rate, ("d_model**-0.5", "warmup**-0.5"), ("warmup**-1.5", "d_model**-1.5")),
            "d_model and warmup are swapped.",
        ),
        Mistake(
            edited(rate, "d_model**-0.5", "512**-0.5"),
            "d_model isn't used: you took the paper's 512, whatever d_model is.",
        ),
        Mistake(
            edited(rate, "warmup**-1.5", "4000**-1.5"),
            "warmup isn't used: you took the paper's 4000, whatever warmup is.",
        ),
    ],
    hints=["In Python, x^-0.5 is x ** -0.5.", "Python's min takes two numbers. At step = warmup, both are equal."],
    solution="""
        def my_rate(step, d_model, warmup):
            return d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)
    """,
    in_package="lessons.training.paper_rate",
)
