"""Lesson 06: my_embed."""

import math

import torch
from torch import Tensor

from lessons.checking.engine import Case, Exercise, Mistake, numbers, small_numbers


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
    lesson="06",
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
