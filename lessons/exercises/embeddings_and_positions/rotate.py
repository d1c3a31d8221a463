"""Lesson 06, my_rotate: rotate pairs of neighboring features by the angles of their positions."""

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
        case(1, 6, "a single token"),
    ]


def _rotated_in_place(x, angles):
    first, second = x[..., 0::2], x[..., 1::2]
    x[..., 0::2] = first * angles.cos() - second * angles.sin()
    x[..., 1::2] = first * angles.sin() + second * angles.cos()
    return x


def _angles_repeated(x, angles):
    crosswise = torch.stack([-x[..., 1::2], x[..., 0::2]], dim=-1).flatten(-2)
    return x * angles.cos().repeat(1, 2) + crosswise * angles.sin().repeat(1, 2)


def _angle_of_the_feature(x, angles):
    return torch.stack(
        [torch.stack([row[i] * turn[i].cos() for i in range(0, len(row), 2)]) for row, turn in zip(x, angles)]
    )


def _halves_and_neighbors(x, angles):
    first, second = x.chunk(2, dim=-1)
    crosswise = torch.cat([-second, first], dim=-1)
    return x * angles.cos().repeat_interleave(2, dim=-1) + crosswise * angles.sin().repeat_interleave(2, dim=-1)


def _rolled(x, angles, by=1, signs=(-1.0, 1.0)):
    crosswise = torch.tensor(signs).repeat(x.size(-1) // 2) * x.roll(by, dims=-1)
    return x * angles.cos().repeat_interleave(2, dim=-1) + crosswise * angles.sin().repeat_interleave(2, dim=-1)


turning = Exercise(
    lesson="06",
    name="my_rotate",
    reference=rotate,
    cases=_rotate_cases,
    call=lambda candidate, x, angles: candidate(x, angles.detach()),  # positions, which nothing learns
    mistakes=[
        Mistake(
            edited(
                rotate,
                ("x[..., 0::2], x[..., 1::2]", "x.chunk(2, dim=-1)"),
                ("torch.stack", "torch.cat"),
                (".flatten(-2)", ""),
            ),
            "You paired feature i with feature i + d/2, as some libraries do. Here neighbors are a pair: (0, 1), "
            "(2, 3), …",
            also=(edited(rotate, "x[..., 0::2], x[..., 1::2]", "x.chunk(2, dim=-1)"),),
        ),
        Mistake(
            edited(_rotated_in_place, "first, second", "x = x.clone()\n    first, second"),
            "The second members come from first ones that were already rotated: you had overwritten them. (A slice "
            "such as y[..., 0::2] is not a copy.) Compute both from x, then store them.",
        ),
        Mistake(
            _rotated_in_place,
            "You changed x itself: the caller's tensor changes, and the second members are computed from first ones "
            "that are already rotated. Use a new tensor: torch.empty_like(x).",
        ),
        Mistake(
            _angles_repeated,
            "The angles don't line up with their pairs: both members of a pair need the same angle. "
            "repeat_interleave(2, -1) gives angle 0, 0, 1, 1, …; repeat and cat give 0, 1, …, 0, 1, …",
        ),
        Mistake(
            lambda x, angles: rotate(x, -angles),
            "You rotated in the opposite direction. (a, b) becomes (a cos − b sin, a sin + b cos).",
        ),
        Mistake(
            edited(rotate, "cos, sin =", "sin, cos ="),
            "Cosine and sine are swapped: at angle 0 nothing must change.",
        ),
        Mistake(
            edited(rotate, ("torch.stack", "torch.cat"), (".flatten(-2)", "")),
            "Each pair is rotated correctly, but the result has all first members in front. Put the "
            "pairs together again.",
        ),
        Mistake(
            edited(rotate, "first * cos - second * sin, first * sin + second * cos", "first * cos, second * sin"),
            "You only multiplied by cosine and sine. A rotation mixes the two members: (a cos − b sin, a sin + b cos).",
        ),
        Mistake(
            edited(rotate, "cos - second", "cos + second"),
            "The minus is missing. A rotation has one: a cos − b sin. Without it, lengths change.",
        ),
        Mistake(
            edited(rotate, "sin + second", "sin - second"),
            "There is one minus too many: at angle 0 the second member changes its sign. Use a sin + b cos.",
        ),
        Mistake(
            _halves_and_neighbors,
            "Two ways to form pairs are mixed: each feature meets the one d/2 away, but the angles are those of "
            "neighbors. In the pair (0, 1), feature 0 becomes x0 cos − x1 sin, and feature 1 becomes x0 sin + x1 cos.",
        ),
        Mistake(
            _rolled,
            "x.roll moves every feature by one place, so one member of each pair meets a feature of another pair. "
            "Swap the two within each pair: torch.stack([-second, first], dim=-1).flatten(-2).",
            also=(
                edited(_rolled, "by=1", "by=-1"),
                edited(_rolled, "(-1.0, 1.0)", "(1.0, 1.0)"),
                edited(_rolled, ("by=1", "by=-1"), ("(-1.0, 1.0)", "(-1.0, -1.0)")),
            ),
        ),
        Mistake(
            edited(rotate, "x[..., 0::2], x[..., 1::2]", "x[0::2], x[1::2]"),
            "x and the angles do not fit: pairs are formed along the last axis of x. x[0::2] takes every second "
            "*token*; x[..., 0::2] takes the first member of each pair, and is (T, d / 2), like the angles.",
            also=(edited(rotate, "x[..., 0::2], x[..., 1::2]", "x, x"),),
        ),
        Mistake(
            lambda x, angles: rotate(x, torch.deg2rad(angles)),
            "The angles were converted, from degrees or to degrees. They are in radians, as cos and sin expect.",
            also=(lambda x, angles: rotate(x, torch.rad2deg(angles)),),
        ),
        Mistake(
            lambda x, angles: rotate(x, angles[:1].expand_as(angles)),
            "Every token is rotated by the angles of the first. Token t has row t of the angles.",
        ),
        Mistake(
            lambda x, angles: rotate(x, angles[:, :1].expand_as(angles)),
            "Every pair is rotated by the angle of the first pair. Pair i has column i of the angles.",
        ),
        Mistake(
            edited(rotate, "first * sin + second * cos", "first * cos + second * sin"),
            "The first members are right, the second ones are not: cosine and sine are swapped there. "
            "Use a sin + b cos.",
        ),
        Mistake(
            edited(rotate, ("torch.stack(rotated, dim=-1).flatten(-2)", "torch.stack(rotated).reshape(x.shape)")),
            "Each pair is rotated correctly, but its members are in other places: reshape fills row by row, and does "
            "not bring the members together. Stack along a new last axis: torch.stack([…, …], dim=-1).flatten(-2).",
            also=(edited(rotate, "rotated, dim=-1", "rotated"),),
        ),
        Mistake(
            edited(rotate, ".flatten(-2)", ""),
            "Each pair is rotated correctly, but the pairs are still on an axis of their own, (T, d / 2, 2). "
            ".flatten(-2) joins the last two axes.",
        ),
        Mistake(
            _angle_of_the_feature,
            "There are half as many angles as features: features 2 i and 2 i + 1 are pair i, and have the angle "
            "angles[t, i].",
            also=(
                edited(
                    _angle_of_the_feature,
                    ("row[i]", "x[t, i]"),
                    ("turn[i]", "angles[t, i]"),
                    ("for row, turn in zip(x, angles)", "for t, row in enumerate(x)"),
                ),
            ),
        ),
        Mistake(
            edited(rotate, "first, second =", "second, first ="),
            "The two members of a pair are swapped: the first one is x[..., 0::2], the second one x[..., 1::2].",
        ),
        Mistake(
            edited(rotate, "first * sin + second * cos", "second"),
            "Only the first members changed. A rotation changes both: (a cos − b sin, a sin + b cos).",
        ),
        Mistake(
            edited(rotate, "first * cos - second * sin", "first"),
            "Only the second members changed. A rotation changes both: (a cos − b sin, a sin + b cos).",
        ),
        Mistake(
            lambda x, angles: x @ torch.tensor([[angles.cos(), -angles.sin()], [angles.sin(), angles.cos()]]),
            "torch.tensor(…) makes a tensor of numbers, and angles.cos() is a table. Work with the members of the "
            "pairs, all at once: a cos − b sin, and a sin + b cos.",
        ),
    ],
    hints=[
        "The first members are x[..., 0::2], the second ones x[..., 1::2]. Each is (T, d/2), like the angles.",
        "The new pair: first · cos − second · sin, and first · sin + second · cos.",
        "torch.stack([…, …], dim=-1).flatten(-2) puts the members back in alternating order.",
    ],
    solution="""
        def my_rotate(x, angles):
            first, second = x[..., 0::2], x[..., 1::2]  # (T, d / 2) each
            new_first = first * angles.cos() - second * angles.sin()
            new_second = first * angles.sin() + second * angles.cos()
            return torch.stack([new_first, new_second], dim=-1).flatten(-2)
    """,
    in_package="lessons.positions.rotate",
)
