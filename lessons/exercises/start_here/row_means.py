"""Lesson 00, my_row_means: take the mean of each row of a table."""

import torch
from torch import Tensor

from lessons.checking.edits import edited
from lessons.checking.engine import Case, Exercise, Mistake, numbers, small_numbers


def mean_of_rows(x: Tensor) -> Tensor:
    """x (T, D) -> (T,): the mean of each row."""
    return x.mean(dim=1)


row_means = Exercise(
    lesson="00",
    name="my_row_means",
    reference=mean_of_rows,
    cases=lambda generator: [
        Case({"x": small_numbers(generator, 2, 3)}),
        Case({"x": small_numbers(generator, 3, 3)}),
        Case({"x": numbers(generator, 5, 7)}),
        Case({"x": small_numbers(generator, 1, 3)}, about="a single row"),
    ],
    mistakes=[
        Mistake(
            edited(mean_of_rows, "dim=1", "dim=0"),
            "These are the means of the columns. dim names the axis that disappears: rows are axis 0, so dim=0 "
            "averages over the rows.",
        ),
        Mistake(
            edited(mean_of_rows, "dim=1", ""), "This is the mean of the whole table. Return one mean for each row."
        ),
        Mistake(
            edited(mean_of_rows, "x.mean", "x.sum"),
            "These are the sums of the rows. Divide each by the number of its entries.",
        ),
        Mistake(
            lambda x: x.sum(dim=1) / x.size(0),
            "You divided by the number of rows. A row has as many entries as there are columns.",
        ),
        Mistake(
            edited(mean_of_rows, "dim=1", "dim=1, keepdim=True"),
            "The numbers are right, but the result is a column, (T, 1); expected (T,). keepdim=True keeps the axis.",
        ),
        Mistake(
            lambda x: [row.mean() for row in x],
            "Your result is a list; expected a tensor. torch.stack makes one out of a list of tensors, torch.tensor "
            "out of a list of numbers.",
        ),
        Mistake(
            lambda x: x.median(dim=1).values,
            "That is the median, the middle one of the sorted numbers. The mean is their sum, divided by their number.",
        ),
        Mistake(
            lambda x: x.sum(dim=1) / (x.size(1) - 1),
            "You divided by one less than the number of columns, as torch.var does. A mean divides by their number.",
        ),
        Mistake(
            lambda x: x.mean(dim=1, keepdim=True).expand_as(x),
            "Each mean is repeated for all columns. Return one number for each row, (T,).",
        ),
        Mistake(
            lambda x: x[0].mean(),
            "This is the mean of the first row alone. A return inside a loop ends the function in the first round: "
            "collect the means, and return them after the loop.",
        ),
        Mistake(
            lambda x: x.sum(dim=1) / x.numel(),
            "You divided by the number of all entries. Divide each sum by the number of entries in its row.",
        ),
        Mistake(
            lambda x: x.sum(dim=1) / 3,
            "You divided by 3, whatever the size of x. Take the number of columns from x: x.size(1).",
        ),
        Mistake(
            lambda x: torch.stack([x[i].mean() for i in range(x.size(1))]),
            "Your loop counts the columns, x.size(1), but takes rows. There are x.size(0) rows, or len(x).",
        ),
        Mistake(
            edited(mean_of_rows, "dim=1", "dim=2"),
            "x has no axis 2: axes count from 0. The rows are axis 0, and the columns are axis 1.",
        ),
        Mistake(
            lambda x: x.sum(dim=1) // x.size(1),
            "Your means are rounded down to whole numbers: // divides and rounds. Use /.",
        ),
        Mistake(
            lambda x: x.sum(dim=1).cumsum(dim=0) / x.size(1),
            "Your total runs on from row to row. Each row's starts at 0: set it back inside the outer loop.",
        ),
        Mistake(
            lambda x: torch.cat([x.mean(dim=1), torch.zeros(max(0, x.size(1) - len(x)))]),
            "Your result has a place for each column, and 0 stays where no row is left. It needs one for each row: "
            "len(x).",
        ),
        Mistake(
            lambda x: x.amax(dim=1),
            "These are the largest numbers of the rows. The mean is the sum of a row, divided by how many numbers it "
            "has.",
        ),
        Mistake(
            lambda x: x.amin(dim=1),
            "These are the smallest numbers of the rows. The mean is the sum of a row, divided by how many numbers it "
            "has.",
        ),
    ],
    hints=[
        "x.mean(dim=...) averages along one axis, and that axis disappears.",
        "The result has one number for each row, so axis 1, the columns, must disappear.",
    ],
    solution="""
        def my_row_means(x):
            return x.mean(dim=1)
    """,
)
