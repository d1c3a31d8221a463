"""Lesson 06, my_sinusoids: the paper's table of sines and cosines."""

import math

import torch

from lessons.checking.edits import edited
from lessons.checking.engine import Case, Exercise, Mistake
from lessons.positions import sinusoids


def _in_plain_steps(num_positions, d_model):
    pair = torch.arange((d_model + 1) // 2)
    angles = torch.arange(num_positions)[:, None] / 10000 ** (2 * pair / d_model)
    table = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)
    return table[:, :d_model].float()


def _each_its_own(num_positions, d_model, times=1):
    feature = torch.arange(d_model)
    angles = torch.arange(num_positions)[:, None] / 10000 ** (times * feature / d_model)
    return torch.where(feature % 2 == 0, angles.sin(), angles.cos())


def _even_only(num_positions, d_model):
    table = torch.zeros(num_positions, d_model)
    angles = torch.arange(num_positions)[:, None] / 10000 ** (torch.arange(0, d_model, 2) / d_model)
    table[:, 0::2] = angles.sin()
    table[:, 1::2] = angles.cos()
    return table


def _pair_by_pair(num_positions, d_model):
    table = torch.zeros(num_positions, d_model)
    for t in range(num_positions):
        for i in range(0, d_model, 2):
            table[t, i] = math.sin(t / 10000 ** (i / d_model))
            table[t, i + 1] = math.cos(t / 10000 ** (i / d_model))
    return table


def _whole_pairs_only(num_positions, d_model):
    table = sinusoids(num_positions, d_model)
    if d_model % 2:
        table[:, -1] = 0
    return table


waves = Exercise(
    lesson="06",
    name="my_sinusoids",
    reference=sinusoids,
    cases=lambda generator: [
        Case({"num_positions": t, "d_model": d}, about=about)
        for t, d, about in [
            (3, 4, ""),
            (5, 8, ""),
            (6, 6, ""),
            (4, 5, "an odd number of features"),
            (600, 2, "many positions"),
            (1, 6, "a single position"),
        ]
    ],
    mistakes=[
        Mistake(
            edited(_in_plain_steps, "2 * pair", "pair"),
            "Your waves get longer too slowly: the exponent of pair i is 2i / D. With i / D, or with 100 in place of "
            "the base 10000, you get these numbers.",
        ),
        Mistake(
            edited(_in_plain_steps, "2 * pair", "4 * pair"),
            "Your waves get longer too fast: you have the 2 of 2i twice. arange(0, D, 2) already gives 0, 2, 4, …",
        ),
        Mistake(
            _each_its_own,
            "Sine and cosine of a pair need the *same* angle. You gave each feature its own exponent.",
            also=(lambda t, d: _each_its_own(t, d, times=2),),
        ),
        Mistake(
            edited(_in_plain_steps, ("torch.stack", "torch.cat"), (".flatten(-2)", "")),
            "All the sines come first, then all the cosines. Here they alternate: sin, cos, sin, cos, …",
        ),
        Mistake(
            edited(_in_plain_steps, "angles.sin(), angles.cos()", "angles.cos(), angles.sin()"),
            "Sine and cosine are swapped: feature 0 is a sine, feature 1 a cosine.",
        ),
        Mistake(
            edited(_in_plain_steps, "torch.arange(num_positions)", "torch.arange(1, num_positions + 1)"),
            "Your positions start at 1. The first one is position 0, where sines are 0 and cosines are 1.",
        ),
        Mistake(
            _even_only,
            "With an odd D there is one more sine than cosines: the last angle has no cosine.",
            also=(_pair_by_pair, edited(_in_plain_steps, "[:, :d_model]", "")),
            seen_in="an odd number of features",
        ),
        Mistake(
            _whole_pairs_only,
            "With an odd D you left the last feature at 0. It is the sine of one more angle: there are (D + 1) // 2 "
            "angles, half of D rounded up.",
            seen_in="an odd number of features",
        ),
        Mistake(
            lambda t, d: sinusoids(t, d + d % 2)[:, :d],
            "With an odd D you made a table for D + 1 features and cut it. Then the exponents contain D + 1, too; "
            "they are 2i / D.",
            seen_in="an odd number of features",
        ),
        Mistake(
            edited(_in_plain_steps, "2 * pair / d_model", "pair / (d_model // 2)"),
            "With an odd D, d_model // 2 is half of D rounded down, and the exponents are too large. They are 2i / D.",
            seen_in="an odd number of features",
        ),
        Mistake(
            edited(_in_plain_steps, "(2 * pair / d_model)", "(2 * pair) / d_model"),
            "Already sin 1, feature 0 of position 1, is wrong: ** binds more tightly than /, so you divided by D once "
            "more at the end. Put the exponent in parentheses: 10000 ** (2i / D).",
        ),
        Mistake(
            edited(_in_plain_steps, "/ 10000", "* 10000"),
            "Your waves get *shorter* from left to right: you multiplied by 10000^(2i / D). Divide by it.",
            also=(edited(_in_plain_steps, ("/ 10000", "* 10000"), ("// 2)", "// 2, dtype=torch.float64)")),),
        ),
        Mistake(
            edited(_in_plain_steps, "angles.cos()", "angles.sin()"),
            "Every feature is a sine. The odd ones are cosines.",
        ),
        Mistake(
            edited(_in_plain_steps, "10000", "1000"),
            "The base is 10000. (Other models use other bases; this is the paper's.)",
        ),
        Mistake(
            edited(_in_plain_steps, "2 * pair / d_model", "2 * pair // d_model"),
            "Every pair has the same angle, t: the exponent is 0 everywhere. (// divides and rounds down; use /.)",
            also=(edited(_in_plain_steps, " / 10000 ** (2 * pair / d_model)", " * torch.ones(len(pair))"),),
        ),
        Mistake(
            edited(_in_plain_steps, ("(d_model + 1)", "d_model"), ("[:, :d_model]", "")),
            "With an odd D the last column is missing. It is one more sine: there are (D + 1) // 2 angles, half of D "
            "rounded up.",
            seen_in="an odd number of features",
            also=(edited(_even_only, "torch.arange(0, d_model, 2)", "2 * torch.arange(d_model // 2)"),),
        ),
        Mistake(
            lambda t, d: sinusoids(d, t),
            "The two arguments are swapped: the table has a row for each position and a column for each feature.",
        ),
        Mistake(
            lambda t, d: sinusoids(t, d).T,
            "Rows and columns are swapped: the table has a row for each position, (T, D).",
        ),
        Mistake(
            edited(_in_plain_steps, "angles.sin(), angles.cos()", "angles.deg2rad().sin(), angles.deg2rad().cos()"),
            "The angles were converted, from degrees or to degrees. They are in radians, as sin and cos expect.",
            also=(
                edited(_in_plain_steps, "angles.sin(), angles.cos()", "angles.rad2deg().sin(), angles.rad2deg().cos()"),
            ),
        ),
        Mistake(
            edited(_in_plain_steps, " / 10000", " * 2 * math.pi / 10000"),
            "Your angles contain a factor 2π. The paper has none: the first pair moves by one radian per position.",
        ),
        Mistake(
            edited(
                _in_plain_steps,
                (" / 10000 ** (2 * pair / d_model)", " + 0 * pair"),
                (
                    "[angles.sin(), angles.cos()], dim=-1)",
                    "[f(angles) / 10000 ** (2 * pair / d_model) for f in (torch.sin, torch.cos)], dim=-1)",
                ),
            ),
            "You divided the sines and cosines. Divide the position, and take the sine and cosine of that: sin(t / …).",
        ),
        Mistake(
            edited(_in_plain_steps, "10000", "math.e"),
            "Your base is e: exp(−2i / D) alone is e^(−2i / D). The base is 10000: exp(−2i / D · log 10000).",
        ),
        Mistake(
            edited(_in_plain_steps, "2 * pair", "2 * (pair + 1)"),
            "Your pairs count from 1. The first one is pair 0, and its exponent is 0: its angle is t itself.",
        ),
        Mistake(
            edited(_in_plain_steps, "(2 * pair / d_model)", "torch.linspace(0, 1, len(pair))"),
            "Your exponents run from 0 to 1. They are 2i / D, so the last one stays below 1: with D = 4 they are 0 and "
            "0.5.",
        ),
        Mistake(
            edited(_even_only, "angles.cos()", "angles[:, :-1].cos()"),
            "You left out the last cosine for every D. Only an odd D has one cosine less: angles[:, : d_model // 2].",
        ),
        Mistake(
            edited(_in_plain_steps, "[:, None]", ""),
            "Positions and exponents are both rows. Make the positions a column, torch.arange(T)[:, None]: then each "
            "of them meets each pair.",
        ),
        Mistake(
            edited(_even_only, ("table[:, 0::2]", "table[0::2]"), ("table[:, 1::2]", "table[1::2]")),
            "table[0::2] is every second position. The features are the second axis: table[:, 0::2].",
        ),
    ],
    hints=[
        "First the angles, one row per position, one column per pair: position / 10000 ** (2i / D).",
        "torch.arange(0, D, 2) gives the 2i. If D is odd, that is one more than there are cosines.",
        "Then table[:, 0::2] = sines and table[:, 1::2] = cosines; if D is odd, drop the last cosine.",
    ],
    solution="""
        def my_sinusoids(num_positions, d_model):
            positions = torch.arange(num_positions)[:, None]  # (T, 1)
            angles = positions / 10000 ** (torch.arange(0, d_model, 2) / d_model)
            table = torch.zeros(num_positions, d_model)
            table[:, 0::2] = angles.sin()
            table[:, 1::2] = angles[:, : d_model // 2].cos()  # an odd D has one cosine less
            return table
    """,
    in_package="lessons.positions.sinusoids",
)
