"""The exercises of lesson 06: embeddings, sinusoids, and rotary positions."""

import math

import torch
from torch import Tensor

from lessons.exercises.engine import Case, Exercise, Mistake, numbers, small_numbers
from lessons.positions import rotary_angles, rotate, sinusoids


def embed(ids: Tensor, table: Tensor) -> Tensor:
    """ids (B, T), table (V, D) -> (B, T, D): the row of each id, times the root of D."""
    return table[ids] * math.sqrt(table.size(-1))


def _embed_cases(generator) -> list[Case]:
    def case(b, t, v, d, draw=numbers, about="", gradients=False):
        ids = torch.randint(v, (b, t), generator=generator)
        return Case({"ids": ids, "table": draw(generator, v, d)}, about=about, gradients=gradients)

    return [
        case(1, 3, 5, 4, small_numbers),
        case(2, 3, 7, 5),
        case(4, 4, 4, 4),
        case(2, 3, 6, 9, about="gradients", gradients=True),
    ]


embedding = Exercise(
    name="my_embed",
    reference=embed,
    cases=_embed_cases,
    mistakes=[
        Mistake(
            lambda ids, table: table[ids],
            "The rows are the right ones, but the factor √D is missing.",
            also=(lambda ids, table: torch.nn.functional.one_hot(ids, len(table)).to(table.dtype) @ table,),
        ),
        Mistake(
            lambda ids, table: table[ids] / math.sqrt(table.size(-1)),
            "You divided by √D. (That is for scores.) Embeddings are multiplied by it.",
        ),
        Mistake(
            lambda ids, table: table[ids] * table.size(-1),
            "You multiplied by D. It is the root of D.",
        ),
        Mistake(
            lambda ids, table: table[ids] * math.sqrt(len(table)),
            "You took the root of the number of words, V. It is the number of features, D: the table's last axis.",
        ),
        Mistake(
            lambda ids, table: torch.nn.functional.normalize(table[ids], dim=-1) * math.sqrt(table.size(-1)),
            "Every row was brought to the same length first. Take the rows as they are.",
        ),
    ],
    hints=[
        "A table is indexed by a whole tensor of ids at once: table[ids].",
        "D is table.size(-1).",
    ],
)


def _sinusoids_by(d_model, num_positions, exponent, start=0, base=10000.0):
    """Sines and cosines in turn; exponent gives the power of the base for the pairs 0, 1, 2, …"""
    pair = torch.arange((d_model + 1) // 2, dtype=torch.float64)
    angles = torch.arange(start, start + num_positions, dtype=torch.float64)[:, None] / base ** exponent(pair)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)[:, :d_model].float()


def _each_its_own(num_positions, d_model):
    feature = torch.arange(d_model)
    angles = torch.arange(num_positions)[:, None] / 10000 ** (feature / d_model)
    return torch.where(feature % 2 == 0, angles.sin(), angles.cos())


def _halves(num_positions, d_model):
    table = sinusoids(num_positions, d_model)
    return torch.cat([table[:, 0::2], table[:, 1::2]], dim=-1)


def _even_only(num_positions, d_model):
    table = torch.zeros(num_positions, d_model)
    angles = torch.arange(num_positions)[:, None] / 10000 ** (torch.arange(0, d_model, 2) / d_model)
    table[:, 0::2] = angles.sin()
    table[:, 1::2] = angles.cos()
    return table


def _swapped(num_positions, d_model):
    table = sinusoids(num_positions, d_model + d_model % 2)
    return table.unflatten(-1, (-1, 2)).flip(-1).flatten(-2)[:, :d_model]


waves = Exercise(
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
        ]
    ],
    mistakes=[
        Mistake(
            lambda t, d: _sinusoids_by(d, t, lambda pair: pair / d),
            "Your waves grow longer too slowly: the exponent of pair i is 2i / D, and you took i / D.",
        ),
        Mistake(
            lambda t, d: _sinusoids_by(d, t, lambda pair: 4 * pair / d),
            "Your waves grow longer too fast: the 2 of 2i came in twice. arange(0, D, 2) already gives 0, 2, 4, …",
        ),
        Mistake(
            _each_its_own,
            "Sine and cosine of a pair need the *same* angle. You gave each feature an exponent of its own.",
        ),
        Mistake(
            _halves,
            "All the sines come first, then all the cosines. Here they take turns: sin, cos, sin, cos, …",
        ),
        Mistake(
            _swapped,
            "Sine and cosine changed places: feature 0 is a sine, feature 1 a cosine.",
        ),
        Mistake(
            lambda t, d: _sinusoids_by(d, t, lambda pair: 2 * pair / d, start=1),
            "Your positions begin at 1. The first one is position 0, whose sines are 0 and whose cosines are 1.",
        ),
        Mistake(
            _even_only,
            "With an odd D there is one sine more than there are cosines: the last angle has no cosine.",
            seen_in="an odd number of features",
        ),
        Mistake(
            lambda t, d: _sinusoids_by(d, t, lambda pair: 2 * pair / d, base=1000.0),
            "The base is 10000. (Other models take others; the paper's is this.)",
        ),
    ],
    hints=[
        "First the angles, one row a position, one column a pair: position / 10000 ** (2i / D).",
        "torch.arange(0, D, 2) gives the 2i; where D is odd, one more than there are cosines.",
        "Then table[:, 0::2] = sines, table[:, 1::2] = cosines; of the cosines only as many as fit.",
    ],
)


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


def _turn(x, angles, *, pairs="neighbours", sign=1.0, swapped=False, joined="neighbours"):
    half = x.size(-1) // 2
    first, second = (x[..., 0::2], x[..., 1::2]) if pairs == "neighbours" else (x[..., :half], x[..., half:])
    cos, sin = angles.cos(), sign * angles.sin()
    if swapped:
        cos, sin = sin, cos
    turned = first * cos - second * sin, first * sin + second * cos
    return torch.stack(turned, dim=-1).flatten(-2) if joined == "neighbours" else torch.cat(turned, dim=-1)


turning = Exercise(
    name="my_rotate",
    reference=rotate,
    cases=_rotate_cases,
    mistakes=[
        Mistake(
            lambda x, a: _turn(x, a, pairs="halves", joined="halves"),
            "You paired feature i with feature i + d/2, as some published models do. Here neighbours are a pair: "
            "(0, 1), (2, 3), …",
        ),
        Mistake(
            lambda x, a: _turn(x, a, sign=-1.0),
            "You turned the other way round. (a, b) becomes (a cos − b sin, a sin + b cos).",
        ),
        Mistake(
            lambda x, a: _turn(x, a, swapped=True),
            "Cosine and sine changed places: at angle 0 nothing may move.",
        ),
        Mistake(
            lambda x, a: _turn(x, a, joined="halves"),
            "Each pair was turned rightly, but then all first members came in front. Put the pairs together again.",
        ),
        Mistake(
            lambda x, a: x * torch.stack([a.cos(), a.sin()], dim=-1).flatten(-2),
            "You multiplied by cosine and sine. A turn mixes the two members: (a cos − b sin, a sin + b cos).",
        ),
        Mistake(
            lambda x, a: torch.stack(
                [x[..., 0::2] * a.cos() + x[..., 1::2] * a.sin(), x[..., 0::2] * a.sin() + x[..., 1::2] * a.cos()], -1
            ).flatten(-2),
            "There is no minus. A turn has one: a cos − b sin. Without it lengths change.",
        ),
    ],
    hints=[
        "First members are x[..., 0::2], second ones x[..., 1::2], each (T, d/2), as the angles are.",
        "first · cos − second · sin, and first · sin + second · cos.",
        "torch.stack([…, …], dim=-1).flatten(-2) brings the pairs back in turn.",
    ],
)


def rotary_scores(q: Tensor, k: Tensor, angles: Tensor) -> Tensor:
    """q and k (T, d), angles (T, d / 2) -> (T, T): both are turned, then multiplied and divided by the root of d."""
    return rotate(q, angles) @ rotate(k, angles).mT / math.sqrt(q.size(-1))


def _score_cases(generator) -> list[Case]:
    def case(t, d, about="", gradients=False):
        inputs = {"q": numbers(generator, t, d), "k": numbers(generator, t, d), "angles": rotary_angles(t, d)}
        return Case(inputs, about=about, gradients=gradients)

    return [case(3, 4), case(5, 8), case(4, 4), case(5, 6, "gradients", gradients=True)]


scores = Exercise(
    name="my_rotary_scores",
    reference=rotary_scores,
    cases=_score_cases,
    mistakes=[
        Mistake(
            lambda q, k, a: rotate(q, a) @ k.mT / math.sqrt(q.size(-1)),
            "The keys are not turned. Then a score depends on where the query stands, not on the distance of the two.",
        ),
        Mistake(
            lambda q, k, a: q @ rotate(k, a).mT / math.sqrt(q.size(-1)),
            "The queries are not turned. Then a score depends on where the key stands, not on the distance of the two.",
        ),
        Mistake(lambda q, k, a: q @ k.mT / math.sqrt(q.size(-1)), "Nothing is turned: these scores know no order."),
        Mistake(
            lambda q, k, a: rotate(q, a) @ rotate(k, -a).mT / math.sqrt(q.size(-1)),
            "Query and key are turned in opposite directions: the score depends on the *sum* of their positions. Turn "
            "both the same way.",
        ),
        Mistake(lambda q, k, a: rotate(q, a) @ rotate(k, a).mT, "The scores are not divided by √d."),
        Mistake(
            lambda q, k, a: rotate(q, a) @ rotate(k, a).mT / math.sqrt(q.size(-1) // 2),
            "You divided by the root of the number of pairs. It is the root of d, the number of features.",
        ),
        Mistake(
            lambda q, k, a: rotate(q @ k.mT, a[:, :1].expand(-1, len(q) // 2)) if len(q) % 2 == 0 else q @ k.mT,
            "You turned the scores. It is q and k that are turned, before they are multiplied.",
        ),
    ],
    hints=[
        "Turn q and k, each by the angles of its positions: rotate, or your my_rotate.",
        "Then as always: q kᵀ / √d.",
    ],
)


def add_positions(x: Tensor, table: Tensor) -> Tensor:
    """x (B, T, D), table (max_len, D) -> (B, T, D): to each token the row of its position."""
    return x + table[: x.size(1)]


bug_hunt = Exercise(
    name="mended_positions",
    reference=add_positions,
    cases=lambda generator: [
        Case({"x": numbers(generator, b, t, d), "table": numbers(generator, m, d)})
        for b, t, d, m in [(1, 3, 2, 4), (2, 3, 4, 5), (4, 4, 4, 6)]
    ],
    mistakes=[
        Mistake(
            lambda x, table: x + table[: x.size(0)].unsqueeze(1),
            "The bug is still there. A symptom: give it two tokens that are alike, and they stay alike: every token of "
            "a sentence got the same row.",
        ),
        Mistake(
            lambda x, table: x + table[1 : x.size(1) + 1],
            "The first token got row 1. The first position is 0.",
        ),
        Mistake(
            lambda x, table: x + table[0],
            "Every token gets row 0 now.",
        ),
        Mistake(
            lambda x, table: x * table[: x.size(1)],
            "The table is added, not multiplied in.",
        ),
    ],
    hints=[
        "Which axis of x, of shape (B, T, D), counts the positions?",
        "The code comes from a time when x was (T, B, D).",
        "table[: x.size(1)] is (T, D); it broadcasts over the batch by itself.",
    ],
)
