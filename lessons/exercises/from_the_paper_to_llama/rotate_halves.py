"""Lesson 16, my_rotate_halves: rotary positions with the pairs that Hugging Face's Llama uses."""

import math

import torch
from torch import Tensor

from lessons.checking.edits import edited
from lessons.checking.engine import Case, Exercise, Mistake, numbers
from lessons.positions import rotate


def rotate_halves(x: Tensor, angles: Tensor) -> Tensor:
    """x (T, d), angles (T, d / 2) -> (T, d): feature i and feature i + d / 2 are rotated by angle i."""
    first, second = x.chunk(2, dim=-1)  # (T, d / 2) each
    cos, sin = angles.cos(), angles.sin()
    return torch.cat([first * cos - second * sin, first * sin + second * cos], dim=-1)


def _rotate_cases(generator) -> list[Case]:
    def case(t, d, about="", gradients=False):
        angles = 3 * torch.rand(t, d // 2, generator=generator)
        return Case({"x": numbers(generator, t, d), "angles": angles}, about, gradients)

    quarter = torch.tensor([[0.0, math.pi / 2], [math.pi / 2, math.pi]])
    return [
        Case({"x": torch.tensor([[1.0, 2.0, 3.0, 4.0]] * 2), "angles": quarter}),
        case(3, 6),
        case(4, 8),
        case(3, 4, "gradients", gradients=True),
        case(1, 6, "a single token"),
    ]


def _two_products(x, angles):
    first, second = x.chunk(2, dim=-1)
    other = torch.cat([-second, first], dim=-1)
    cos, sin = angles.cos().repeat(1, 2), angles.sin().repeat(1, 2)
    return x * cos + other * sin


def _first_overwritten(x, angles):
    first, second = x.chunk(2, dim=-1)
    first = first * angles.cos() - second * angles.sin()
    return torch.cat([first, first * angles.sin() + second * angles.cos()], dim=-1)


turning = Exercise(
    lesson="16",
    name="my_rotate_halves",
    reference=rotate_halves,
    cases=_rotate_cases,
    call=lambda candidate, x, angles: candidate(x, angles.detach()),  # positions, which nothing learns
    mistakes=[
        Mistake(
            rotate,
            "You rotated neighbors: features 0 and 1, 2 and 3. Here feature i goes with feature i + d / 2: "
            "x.chunk(2, dim=-1).",
        ),
        Mistake(
            lambda x, angles: rotate_halves(x, angles).unflatten(-1, (2, -1)).mT.flatten(-2),
            "The pairs are right, but you put them back as neighbors. The first members fill the first half, the "
            "second members the second half: torch.cat.",
        ),
        Mistake(
            lambda x, angles: rotate_halves(x.unflatten(-1, (-1, 2)).mT.flatten(-2), angles),
            "You took neighbors as pairs, 0 and 1, 2 and 3, and only put the results into halves. The pairs are i and "
            "i + d / 2: x.chunk(2, dim=-1).",
        ),
        Mistake(
            _first_overwritten,
            "You changed the first half before the second one was computed from it. Keep the old one until both are "
            "done.",
        ),
        Mistake(
            edited(rotate_halves, "first * sin + second * cos", "first * cos + second * sin"),
            "The second half has cosine and sine swapped: it is a sin + b cos.",
        ),
        Mistake(
            lambda x, angles: rotate_halves(x, -angles),
            "You rotated in the opposite direction. (a, b) becomes (a cos − b sin, a sin + b cos).",
        ),
        Mistake(
            edited(rotate_halves, "cos, sin =", "sin, cos ="),
            "Cosine and sine are swapped: at angle 0 nothing must change.",
        ),
        Mistake(
            edited(rotate_halves, "cos - second", "cos + second"),
            "The minus is missing. A rotation has one: a cos − b sin. Without it, lengths change.",
        ),
        Mistake(
            edited(rotate_halves, "sin + second", "sin - second"),
            "There is one minus too many: at angle 0 the second half changes its sign. Use a sin + b cos.",
        ),
        Mistake(
            edited(
                rotate_halves, "first * cos - second * sin, first * sin + second * cos", "first * cos, second * sin"
            ),
            "You only multiplied by cosine and sine. A rotation mixes the two members: (a cos − b sin, a sin + b cos).",
        ),
        Mistake(
            edited(
                _two_products,
                ("angles.cos().repeat(1, 2)", "angles.cos().repeat_interleave(2, dim=-1)"),
                ("angles.sin().repeat(1, 2)", "angles.sin().repeat_interleave(2, dim=-1)"),
            ),
            "The angles don't line up with their pairs. With halves they come as 0, 1, …, 0, 1, …: repeat or cat. "
            "repeat_interleave, 0, 0, 1, 1, …, is for neighbors.",
        ),
        Mistake(
            edited(
                rotate_halves,
                "[first * cos - second * sin, first * sin + second * cos]",
                "[first * sin + second * cos, first * cos - second * sin]",
            ),
            "The halves are swapped in your result: a cos − b sin belongs to the first half.",
        ),
        Mistake(
            edited(rotate_halves, "x.chunk(2, dim=-1)", "x.chunk(2)"),
            "d features don't fit d / 2 angles. Halves of the features are x.chunk(2, dim=-1); without dim, chunk cuts "
            "the tokens. To multiply all of x at once, write the angles twice: torch.cat([angles, angles], dim=-1).",
        ),
        Mistake(
            edited(rotate_halves, "second * cos], dim=-1)", "second * cos])"),
            "torch.cat without dim puts the halves below each other, as more tokens. They belong side by side: dim=-1.",
        ),
        Mistake(
            edited(rotate_halves, "torch.cat", "torch.stack"),
            "torch.stack makes a new axis. The halves belong side by side, in the axis that is there: torch.cat.",
        ),
        Mistake(
            edited(rotate_halves, "first * sin + second * cos", "second"),
            "Only the first half is rotated. Both members of a pair change.",
        ),
        Mistake(
            lambda x, angles: rotate_halves(x, angles[:, :1]),
            "All pairs of a token get the same angle. Pair i has its own: angles[:, i].",
        ),
        Mistake(
            lambda x, angles: x * angles.cos().repeat(1, 2) + x * angles.sin().repeat(1, 2),
            "Each feature is only multiplied. A rotation mixes the two members of a pair: (a cos − b sin, "
            "a sin + b cos).",
        ),
    ],
    hints=[
        "first, second = x.chunk(2, dim=-1): each is (T, d / 2), like the angles.",
        "The new halves: first · cos − second · sin, and first · sin + second · cos.",
        "torch.cat([…, …], dim=-1) puts the first half in front of the second.",
    ],
    solution="""
        def my_rotate_halves(x, angles):
            first, second = x.chunk(2, dim=-1)  # (T, d / 2) each
            new_first = first * angles.cos() - second * angles.sin()
            new_second = first * angles.sin() + second * angles.cos()
            return torch.cat([new_first, new_second], dim=-1)
    """,
    in_package="lessons.language_model.rotate_halves",
)
