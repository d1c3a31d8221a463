"""Lesson 03, my_padding: the mask that hides padding, for every head and query."""

import torch
from torch import Tensor

from lessons import masks
from lessons.checking.edits import edited
from lessons.checking.engine import Case, Exercise, Mistake


def padding_rule(ids: Tensor, pad_id: int) -> Tensor:
    """Nobody may look at padding: ids (B, K) -> bool (B, 1, 1, K), True = may look."""
    return masks.padding(ids, pad_id=pad_id)


def _padding_cases(generator) -> list[Case]:
    some = torch.tensor([[4, 5, 9, 9], [6, 7, 8, 5]])
    return [
        Case({"ids": some, "pad_id": 9}),
        Case({"ids": torch.tensor([[5, 4, 6], [2, 2, 7], [3, 2, 5]]), "pad_id": 2}),
        Case({"ids": torch.tensor([[3, 0, 2, 1, 1], [5, 1, 1, 1, 1], [2, 4, 6, 8, 1]]), "pad_id": 1}),
        Case({"ids": torch.tensor([[5, 6, 0]]), "pad_id": 0}),
    ]


def _compared(ids, pad_id):
    return (ids != pad_id)[:, None, None, :]


def _by_counting(ids, pad_id):
    lengths = (ids != pad_id).sum(dim=1)
    return (torch.arange(ids.size(1)) < lengths[:, None])[:, None, None, :]


padding_hidden = Exercise(
    lesson="03",
    name="my_padding",
    reference=padding_rule,
    cases=_padding_cases,
    outputs=("allowed",),
    solution=(masks.padding,),
    mistakes=[
        Mistake(
            edited(_compared, "!=", "=="),
            "True and False are exchanged: you allow the padding, and block the words.",
        ),
        Mistake(
            edited(_compared, "!= pad_id", "!= 0"),
            "You compared with 0, the id of padding in the vocabulary above. Elsewhere it is another: compare with "
            "the argument, pad_id.",
        ),
        Mistake(
            edited(_compared, "[:, None, None, :]", "[:, None, :, None]"),
            "This blocks padding as a query: in (B, 1, Q, 1) the ids lie along the queries. The words could still "
            "look at padding, and a padded query would have nothing to look at. Put the ids on the axis of the keys.",
        ),
        Mistake(
            edited(_compared, "[:, None, None, :]", "[:, None, None, :] & (ids != pad_id)[:, None, :, None]"),
            "This blocks padding as key, which is right, and as query, which is too much: the row of a padded query "
            "then has nothing to look at, and gives NaN in much code. Only the keys.",
        ),
        Mistake(
            edited(_compared, "[:, None, None, :]", ""),
            "The truth values are right, but their axes are (B, K). Against scores (B, H, Q, K) the axis B would "
            "meet Q: put two axes of size 1 in between.",
        ),
        Mistake(
            edited(_compared, "[:, None, None, :]", "[:, None, :]"),
            "The truth values are right, but there is one axis too few: (B, 1, K) would meet heads with the batch. "
            "One axis of size 1 for the heads, one for the queries.",
        ),
        Mistake(
            edited(_compared, "[:, None, None, :]", "[None, None]"),
            "The truth values are right, but the new axes stand in front: (1, 1, B, K). The sentences then lie on the "
            "axis of the queries. B stays first; the new axes go between B and K.",
        ),
        Mistake(
            edited(_compared, "[:, None, None, :]", "[:, :, None, None]"),
            "The truth values are right, but the new axes stand at the end: (B, K, 1, 1). The keys are the last axis; "
            "the new axes go between B and K.",
        ),
        Mistake(
            _by_counting,
            "You counted the real tokens and took it that they come first. Padding may stand in front as well: compare "
            "each id with pad_id.",
        ),
    ],
    hints=[
        "Which ids are not padding? That is one comparison, of shape (B, K).",
        "Indexing with None adds an axis of size 1: mask[:, None, None, :].",
    ],
)
