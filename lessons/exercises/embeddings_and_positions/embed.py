"""Lesson 06, my_embed: look up the vectors of tokens, and scale them."""

import math

import torch
from torch import Tensor

from lessons.checking.edits import edited
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
            edited(embed, " * math.sqrt(table.size(-1))", ""),
            "The rows are correct, but the factor √D is missing.",
        ),
        Mistake(
            edited(embed, "* math", "/ math"),
            "You divided by √D. That is for scores; embeddings are multiplied by it.",
        ),
        Mistake(
            edited(embed, "math.sqrt(table.size(-1))", "table.size(-1)"),
            "You multiplied by D. Multiply by √D.",
        ),
        Mistake(
            edited(embed, "table.size(-1)", "len(table)"),
            "You took the root of the number of tokens in the vocabulary, V. Take the number of features, D: the "
            "table's last axis.",
        ),
        Mistake(
            edited(embed, "table.size(-1)", "512"),
            "You multiplied by √512 for every table: D = 512 is left over from a cell above. Take D from the table "
            "that you get: table.size(-1).",
        ),
        Mistake(
            edited(embed, "table.size(-1)", "ids.size(-1)"),
            "You took the root of the number of tokens, T. Take the number of features, D: the table's last axis.",
        ),
        Mistake(
            edited(embed, "table[ids]", "torch.nn.functional.normalize(table[ids], dim=-1)"),
            "You normalized every row to the same length first. Use the rows as they are.",
        ),
    ],
    hints=[
        "You can index a table with a whole tensor of ids: table[ids].",
        "D is table.size(-1).",
    ],
    solution="""
        def my_embed(ids, table):
            return table[ids] * math.sqrt(table.size(-1))
    """,
    in_package="lessons.transformer.Embedding",
)
