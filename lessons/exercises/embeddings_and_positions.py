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
            lambda ids, table: table[ids] * math.sqrt(512),
            "You multiplied by √512, whatever the table: D = 512 is left over from a cell above. Take D from the table "
            "that you are given: table.size(-1).",
        ),
        Mistake(
            lambda ids, table: table[ids] * math.sqrt(ids.size(-1)),
            "You took the root of the number of tokens, T. It is the number of features, D: the table's last axis.",
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


def _sinusoids_by(d_model, num_positions, exponent, *, start=0, base=10000.0, divisor=1, second=torch.cos, cut=True):
    """Sines and cosines in turn; exponent gives the power of the base for the pairs 0, 1, 2, …"""
    pair = torch.arange((d_model + 1) // 2, dtype=torch.float64)
    angles = torch.arange(start, start + num_positions, dtype=torch.float64)[:, None] / base ** exponent(pair)
    table = torch.stack([(angles / divisor).sin(), second(angles / divisor)], dim=-1).flatten(-2)
    return (table[:, :d_model] if cut else table).float()


def _each_its_own(num_positions, d_model, times=1):
    feature = torch.arange(d_model)
    angles = torch.arange(num_positions)[:, None] / 10000 ** (times * feature / d_model)
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


def _multiplied(num_positions, d_model):
    angles = torch.arange(num_positions)[:, None] * 10000 ** (torch.arange(0, d_model, 2) / d_model)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)[:, :d_model]


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
            also=(lambda t, d: _each_its_own(t, d, times=2),),
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
            also=(_pair_by_pair, lambda t, d: _sinusoids_by(d, t, lambda pair: 2 * pair / d, cut=False)),
            seen_in="an odd number of features",
        ),
        Mistake(
            _whole_pairs_only,
            "With an odd D the last feature was left at 0. It has an angle, too, and is its sine: there are "
            "(D + 1) // 2 angles, half of D rounded up.",
            seen_in="an odd number of features",
        ),
        Mistake(
            lambda t, d: sinusoids(t, d + d % 2)[:, :d],
            "With an odd D you made a table for D + 1 features and cut it: then D + 1 stands in the exponents, too. "
            "They are 2i / D.",
            seen_in="an odd number of features",
        ),
        Mistake(
            lambda t, d: _sinusoids_by(d, t, lambda pair: pair / (d // 2)),
            "With an odd D, d_model // 2 is half of D rounded down, and the exponents are too large. They are 2i / D.",
            seen_in="an odd number of features",
        ),
        Mistake(
            lambda t, d: _sinusoids_by(d, t, lambda pair: 2 * pair, divisor=d),
            "Already sin 1, feature 0 of position 1, is wrong: ** binds more tightly than /, so that you divided by D "
            "once more at the end. Put the exponent in brackets: 10000 ** (2i / D).",
        ),
        Mistake(
            _multiplied,
            "Your waves grow *shorter* from left to right: you multiplied by 10000^(2i / D). Divide by it.",
            also=(lambda t, d: _sinusoids_by(d, t, lambda pair: -2 * pair / d),),
        ),
        Mistake(
            lambda t, d: _sinusoids_by(d, t, lambda pair: 2 * pair / d, second=torch.sin),
            "Every feature is a sine. Those with an odd number are cosines.",
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


def _overwritten(x, angles, *, reread):
    """The first members are replaced before the second ones have been computed from them."""
    turned = x.clone()
    first, second = turned[..., 0::2], turned[..., 1::2]
    if reread:
        first, second = x[..., 0::2], x[..., 1::2]
    turned[..., 0::2] = first * angles.cos() - second * angles.sin()
    turned[..., 1::2] = (turned[..., 0::2] if reread else first) * angles.sin() + second * angles.cos()
    return turned


def _turned_in_place(x, angles):
    first, second = x[..., 0::2], x[..., 1::2]
    x[..., 0::2] = first * angles.cos() - second * angles.sin()
    x[..., 1::2] = first * angles.sin() + second * angles.cos()
    return x


def _angles_repeated(x, angles):
    beside = torch.stack([-x[..., 1::2], x[..., 0::2]], dim=-1).flatten(-2)
    return x * angles.cos().repeat(1, 2) + beside * angles.sin().repeat(1, 2)


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
            also=(lambda x, a: _turn(x, a, pairs="halves"),),
        ),
        Mistake(
            lambda x, a: _overwritten(x, a, reread=False),
            "Every second member is wrong: when it was computed, the first had been overwritten by its turned value. "
            "(A slice such as y[..., 0::2] is no copy.) Compute both from x, then write them down.",
            also=(lambda x, a: _overwritten(x, a, reread=True),),
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
        Mistake(
            lambda x, a: torch.stack(
                [x[..., 0::2] * a.cos() - x[..., 1::2] * a.sin(), x[..., 0::2] * a.sin() - x[..., 1::2] * a.cos()], -1
            ).flatten(-2),
            "There is a minus too many: at angle 0 the second member changes its sign. It becomes a sin + b cos.",
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
            also=(lambda q, k, a: rotate(q, -a) @ rotate(k, a).mT / math.sqrt(q.size(-1)),),
        ),
        Mistake(lambda q, k, a: rotate(q, a) @ rotate(k, a).mT, "The scores are not divided by √d."),
        Mistake(
            lambda q, k, a: rotate(q, a) @ rotate(k, a).mT / math.sqrt(q.size(-1) // 2),
            "You divided by the root of the number of pairs. It is the root of d, the number of features.",
        ),
        Mistake(
            lambda q, k, a: rotate(q, a) @ rotate(k, a).mT / q.size(-1),
            "You divided by d. It is the root of d.",
        ),
        Mistake(
            lambda q, k, a: rotate(k, a) @ rotate(q, a).mT / math.sqrt(q.size(-1)),
            "Rows and columns are exchanged: one row for each query, one column for each key.",
        ),
        Mistake(
            lambda q, k, a: (rotate(q, a) @ rotate(k, a).mT / math.sqrt(q.size(-1))).softmax(dim=-1),
            "These are the weights. Asked for are the scores, as they are before the softmax.",
        ),
        Mistake(
            lambda q, k, a: rotate(q @ k.mT / math.sqrt(q.size(-1)), a),
            "You turned the scores. It is q and k that are turned, before they are multiplied.",
            also=(lambda q, k, a: rotate(q @ k.mT, a),),
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
            "The bug is still there. A symptom: give it a sentence of one word said three times, and the three are "
            "still alike when they come out.",
        ),
        Mistake(
            lambda x, table: x + table[: x.size(1)].unsqueeze(1),
            "There are as many rows as tokens now, but they lie on the axis of the batch: unsqueeze(1) makes (T, 1, D) "
            "of them. On which axis of x, of shape (B, T, D), are the tokens?",
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
