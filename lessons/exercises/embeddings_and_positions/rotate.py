"""Lesson 06, my_rotate: turn pairs of neighboring features by the angles of their positions."""

import math

import torch

from lessons.checking.edits import edited
from lessons.checking.engine import Case, Exercise, Mistake, numbers
from lessons.positions import rotate


def _rotate_cases(generator) -> list[Case]:
    def case(t, d, about="", gradients=False):
        angles = 3 * torch.rand(t, d // 2, generator=generator)
        return Case({"x": numbers(generator, t, d), "angles": angles}, about=about, gradients=gradients)

    quarter = torch.tensor([[0.0, math.pi / 2], [math.pi / 2, math.pi]])
    return [
        Case({"x": torch.tensor([[1.0, 2.0, 3.0, 4.0]] * 2), "angles": quarter}),
        case(3, 6),
        case(4, 4),
        case(3, 8, "gradients", gradients=True),
    ]


def _turned_in_place(x, angles):
    first, second = x[..., 0::2], x[..., 1::2]
    x[..., 0::2] = first * angles.cos() - second * angles.sin()
    x[..., 1::2] = first * angles.sin() + second * angles.cos()
    return x


def _angles_repeated(x, angles):
    beside = torch.stack([-x[..., 1::2], x[..., 0::2]], dim=-1).flatten(-2)
    return x * angles.cos().repeat(1, 2) + beside * angles.sin().repeat(1, 2)


turning = Exercise(
    lesson="06",
    name="my_rotate",
    reference=rotate,
    cases=_rotate_cases,
    mistakes=[
        Mistake(
            edited(
                rotate,
                ("x[..., 0::2], x[..., 1::2]", "x.chunk(2, dim=-1)"),
                ("torch.stack", "torch.cat"),
                (".flatten(-2)", ""),
            ),
            "You paired feature i with feature i + d/2, as some published models do. Here neighbours are a pair: "
            "(0, 1), (2, 3), …",
            also=(edited(rotate, "x[..., 0::2], x[..., 1::2]", "x.chunk(2, dim=-1)"),),
        ),
        Mistake(
            edited(_turned_in_place, "first, second", "x = x.clone()\n    first, second"),
            "Every second member is wrong: when it was computed, the first had been overwritten by its turned value. "
            "(A slice such as y[..., 0::2] is no copy.) Compute both from x, then write them down.",
        ),
        Mistake(
            _turned_in_place,
            "You wrote into x itself: the caller's tensor changes, and the second members are computed from first ones "
            "that are turned already. Write into a new tensor: torch.empty_like(x).",
        ),
        Mistake(
            _angles_repeated,
            "The angles are not beside their pairs: (a, b) of one pair need the same angle. repeat_interleave(2, -1) "
            "gives angle 0, 0, 1, 1, …; repeat and cat give 0, 1, …, 0, 1, …",
        ),
        Mistake(
            lambda x, angles: rotate(x, -angles),
            "You turned the other way round. (a, b) becomes (a cos − b sin, a sin + b cos).",
        ),
        Mistake(
            edited(rotate, "cos, sin =", "sin, cos ="),
            "Cosine and sine changed places: at angle 0 nothing may move.",
        ),
        Mistake(
            edited(rotate, ("torch.stack", "torch.cat"), (".flatten(-2)", "")),
            "Each pair was turned rightly, but then all first members came in front. Put the pairs together again.",
        ),
        Mistake(
            edited(rotate, "first * cos - second * sin, first * sin + second * cos", "first * cos, second * sin"),
            "You multiplied by cosine and sine. A turn mixes the two members: (a cos − b sin, a sin + b cos).",
        ),
        Mistake(
            edited(rotate, "cos - second", "cos + second"),
            "There is no minus. A turn has one: a cos − b sin. Without it lengths change.",
        ),
        Mistake(
            edited(rotate, "sin + second", "sin - second"),
            "There is a minus too many: at angle 0 the second member changes its sign. It becomes a sin + b cos.",
        ),
    ],
    hints=[
        "First members are x[..., 0::2], second ones x[..., 1::2], each (T, d/2), as the angles are.",
        "first · cos − second · sin, and first · sin + second · cos.",
        "torch.stack([…, …], dim=-1).flatten(-2) brings the pairs back in turn.",
    ],
)
