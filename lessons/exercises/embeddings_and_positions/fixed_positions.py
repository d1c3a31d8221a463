"""Lesson 06, fixed_positions: find out why all tokens get the same position."""

from torch import Tensor

from lessons.checking.edits import edited
from lessons.checking.engine import Case, Exercise, Mistake, numbers


def add_positions(x: Tensor, table: Tensor) -> Tensor:
    """x (B, T, D), table (max_len, D) -> (B, T, D): adds to each token the row of its position."""
    return x + table[: x.size(1)]


bug_hunt = Exercise(
    lesson="06",
    name="fixed_positions",
    reference=add_positions,
    cases=lambda generator: [
        Case({"x": numbers(generator, b, t, d), "table": numbers(generator, m, d)})
        for b, t, d, m in [(1, 3, 2, 4), (2, 3, 4, 5), (4, 4, 4, 6)]
    ],
    mistakes=[
        Mistake(
            edited(add_positions, "x.size(1)]", "x.size(0)].unsqueeze(1)"),
            "The bug is still there. A symptom: give it a sentence of three equal tokens, and all three come out "
            "equal.",
        ),
        Mistake(
            edited(add_positions, "x.size(1)]", "x.size(1)].unsqueeze(1)"),
            "There are as many rows as tokens now, but they are on the axis of the batch: unsqueeze(1) gives them the "
            "shape (T, 1, D). On which axis of x, of shape (B, T, D), are the tokens?",
        ),
        Mistake(
            edited(add_positions, "x.size(1)", "x.size(0)"),
            "The rows are on the axis of the tokens now, but there are still as many as sentences: x.size(0) is the "
            "batch. Which axis of x counts the tokens?",
        ),
        Mistake(
            edited(add_positions, ": x.size(1)]", "1 : x.size(1) + 1]"),
            "The first token got row 1. Positions start at 0.",
        ),
        Mistake(
            edited(add_positions, ": x.size(1)]", "0]"),
            "Now every token gets row 0.",
        ),
        Mistake(
            edited(add_positions, "x + table", "x * table"),
            "You multiplied by the table. Add it.",
        ),
        Mistake(
            lambda x, table: x + table[x.size(1) - 1],
            "Every token gets the same row. Token t gets row t of the table: a slice, not one index.",
            also=(lambda x, table: x + table[x.size(1)],),
        ),
        Mistake(
            edited(add_positions, "x.size(1)", "x.size(-1)"),
            "You took as many rows as x has features: x.size(-1) is D. Which axis of x, of shape (B, T, D), counts the "
            "tokens?",
        ),
        Mistake(
            edited(add_positions, "[: x.size(1)]", ""),
            "You added the whole table, and it has max_len rows: more than x has tokens. Take the first T.",
        ),
        Mistake(
            edited(add_positions, "[: x.size(1)]", "[:, : x.size(1)]"),
            "You cut the table's columns, its features. Its rows are the positions: cut the first axis.",
        ),
        Mistake(
            edited(add_positions, "x + table", "x * x.size(-1) ** 0.5 + table"),
            "You multiplied x by √D. x holds embeddings already; only add the positions.",
        ),
        Mistake(
            edited(add_positions, "x.size(1)]", "x.size(1)].T"),
            "The first T rows of the table are (T, D), and so are the last two axes of x, (B, T, D). They fit as they "
            "are: do not transpose them, and add no axis behind them.",
            also=(edited(add_positions, "x.size(1)]", "x.size(1)].unsqueeze(-1)"),),
        ),
    ],
    hints=[
        "Which axis of x, of shape (B, T, D), counts the positions?",
        "The code was written for x of shape (T, B, D).",
        "table[: x.size(1)] is (T, D), and broadcasts over the batch.",
    ],
    solution="""
        def fixed_positions(x, table):
            return x + table[: x.size(1)]  # axis 1 of x (B, T, D) counts the positions
    """,
    in_package="lessons.positions.LearnedPositions",
)
