"""Lesson 06, my_embed: look up the vectors of tokens, and scale them."""

import math

import torch
from torch import Tensor

from lessons.checking.edits import edited
from lessons.checking.engine import Case, Exercise, Mistake, numbers, small_numbers
from lessons.positions import sinusoids


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
        Mistake(
            edited(embed, "table[ids]", "table[ids - 1]"),
            "You subtracted or added 1: ids count from 0, as rows do, so token 0 has row 0.",
            also=(edited(embed, "table[ids]", "table[ids + 1]"),),
        ),
        Mistake(
            edited(embed, "table[ids]", "table[:, ids]"),
            "You picked columns of the table: ids name its rows, and rows are its first axis. table[ids] picks rows.",
            also=(edited(embed, "table[ids]", "table.T[ids]"),),
        ),
        Mistake(
            edited(embed, "table[ids]", "table[ids] * (ids != 0)[..., None]"),
            "Every 0 among the ids got a row of zeros. Here 0 is a token like any other: it gets its row times √D.",
        ),
        Mistake(
            lambda ids, table: embed(ids, table) + sinusoids(ids.size(-1), table.size(-1)),
            "You added positions. This function only embeds: the rows times √D.",
        ),
        Mistake(
            edited(embed, "table[ids]", "torch.nn.functional.one_hot(ids, len(table)) @ table"),
            "F.one_hot gives integers, and the table has floats: a product needs the same kind of number on both "
            "sides. Write F.one_hot(ids, V).float() @ table, or index: table[ids].",
            also=(
                edited(
                    embed,
                    "table[ids]",
                    "torch.einsum('btv,vd->btd', torch.nn.functional.one_hot(ids, len(table)), table)",
                ),
            ),
        ),
        Mistake(
            edited(embed, "table[ids]", "torch.nn.functional.one_hot(ids).float() @ table"),
            "F.one_hot(ids) makes only as many columns as the largest id needs, and the table has V rows. Give it V: "
            "F.one_hot(ids, table.size(0)).",
            also=(
                edited(
                    embed,
                    "table[ids]",
                    "torch.einsum('btv,vd->btd', torch.nn.functional.one_hot(ids).float(), table)",
                ),
            ),
        ),
        Mistake(
            edited(embed, "table[ids]", "torch.nn.Embedding.from_pretrained(table)(ids)"),
            "The numbers are right, but no gradient flows back to the table. A new nn.Embedding has a weight of its "
            "own; .detach(), .data, .tolist(), torch.no_grad() and torch.tensor(…) cut the way back, too. table[ids] "
            "and F.embedding(ids, table) don't.",
            seen_in="gradients",
        ),
        Mistake(
            edited(embed, "math.sqrt(table.size(-1))", "int(math.sqrt(table.size(-1)))"),
            "You rounded √D to a whole number. It need not be one: math.sqrt(D), without int.",
            also=(edited(embed, "math.sqrt(table.size(-1))", "round(math.sqrt(table.size(-1)))"),),
        ),
        Mistake(
            edited(embed, "table[ids]", "table[ids[0]]"),
            "Only the first sentence is embedded. ids is (B, T): table[ids] looks up all sentences at once, (B, T, D).",
        ),
        Mistake(
            edited(embed, "table.size(-1)", "len(ids)"),
            "You took the root of the number of sentences, B. Take the number of features, D: the table's last axis.",
        ),
        Mistake(
            edited(embed, "table[ids]", "ids @ table"),
            "ids are not features to be multiplied: each names a row of the table. Look the rows up: table[ids].",
        ),
        Mistake(
            edited(embed, "table[ids]", "torch.nn.functional.embedding(table, ids)"),
            "The two arguments are swapped: F.embedding(ids, table).",
        ),
        Mistake(
            edited(embed, "table[ids]", "torch.nn.Embedding(*table.shape)(ids)"),
            "A new nn.Embedding has random rows of its own. Look the ids up in the table that you get: table[ids].",
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
