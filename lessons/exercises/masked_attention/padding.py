"""Lesson 03, my_padding: the mask that hides padding, for every head and query."""

import torch
from torch import Tensor

from lessons import masks
from lessons.checking.edits import edited
from lessons.checking.engine import Case, Exercise, Mistake


def padding_rule(ids: Tensor, pad_id: int) -> Tensor:
    """Nothing may attend to padding: ids (B, K) -> bool (B, 1, 1, K), True = may attend."""
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
    mistakes=[
        Mistake(
            edited(_compared, "!=", "=="),
            "True and False are swapped: you allow the padding, and block the real tokens.",
        ),
        Mistake(
            edited(_compared, "!= pad_id", "!= 0"),
            "You compared with 0, the id of padding in the vocabulary above. Elsewhere it is another id: compare with "
            "the argument, pad_id.",
        ),
        Mistake(
            edited(_compared, "[:, None, None, :]", "[:, None, :, None]"),
            "This blocks padding as a query: (B, 1, Q, 1) has the ids on the axis of the queries. Real tokens could "
            "still attend to padding, and a padded query has nothing to attend to. Put the ids on the keys' axis.",
        ),
        Mistake(
            edited(_compared, "[:, None, None, :]", "[:, None, None, :] & (ids != pad_id)[:, None, :, None]"),
            "This blocks padding as a key, which is right, and as a query, which is too much: a padded query then has "
            "nothing to attend to, and its softmax can be NaN. Block only the keys.",
        ),
        Mistake(
            edited(_compared, "[:, None, None, :]", "[:, None, None, :] | (ids != pad_id)[:, None, :, None]"),
            "With | it is enough if the query or the key is real, so real queries see the padding. Which query asks "
            "makes no difference: block the keys.",
        ),
        Mistake(
            edited(_compared, "ids !=", "ids[:1] !="),
            "Every sentence got the mask of the first one. Each has its own padding: keep the axis B.",
        ),
        Mistake(
            edited(_compared, "[:, None, None, :]", ""),
            "The values are right, but the shape is (B, K). Axes are aligned from the right, so with scores "
            "(B, H, Q, K) the axis B would meet Q. Put two axes of size 1 in between.",
        ),
        Mistake(
            edited(_compared, "[:, None, None, :]", "[:, None, :]"),
            "The values are right, but one axis is missing: with (B, 1, K), the batch would meet the heads. You need "
            "one axis of size 1 for the heads and one for the queries.",
        ),
        Mistake(
            edited(_compared, "[:, None, None, :]", "[None, None]"),
            "The values are right, but the new axes are in front: (1, 1, B, K). The sentences are then on the axis of "
            "the queries. B stays first; the new axes go between B and K.",
        ),
        Mistake(
            edited(_compared, "[:, None, None, :]", "[:, :, None, None]"),
            "The values are right, but the new axes are at the end: (B, K, 1, 1). The keys are the last axis; the new "
            "axes go between B and K.",
        ),
        Mistake(
            edited(_compared, "!=", ">"),
            "You allowed only the ids above pad_id. The ids below it are real tokens, too: ask which ids are not "
            "pad_id.",
        ),
        Mistake(
            edited(_compared, "!=", "<"),
            "You allowed only the ids below pad_id. The ids above it are real tokens, too: ask which ids are not "
            "pad_id.",
        ),
        Mistake(
            edited(_compared, "[:, None, None, :]", ".view(1, 1, 1, -1)"),
            "You put all sentences into one row. Each has a mask of its own: keep the axis B.",
        ),
        Mistake(
            lambda ids, pad_id: torch.zeros(ids.shape).masked_fill(ids == pad_id, -torch.inf)[:, None, None, :],
            "This is 0 where a key may be attended to, and -inf or a very low number where it is padding: an additive "
            "mask. Return a bool mask, True = may attend.",
            also=(lambda ids, pad_id: torch.zeros(ids.shape).masked_fill(ids == pad_id, -1e9)[:, None, None, :],),
        ),
        Mistake(
            edited(_compared, "(ids != pad_id)", "(ids != pad_id).float()"),
            "The pattern is right, but these are the numbers 0 and 1. A mask is bool here: with numbers, ~ and & don't "
            "do what you need. The comparison alone is bool already.",
            also=(edited(_compared, "(ids != pad_id)", "(ids != pad_id).long()"),),
        ),
        Mistake(
            _by_counting,
            "You counted the real tokens and assumed that they come first. Padding can also come first: compare each "
            "id with pad_id.",
        ),
        Mistake(
            lambda ids, pad_id: _compared(ids, pad_id) & masks.causal(ids.size(1)),
            "This hides the future as well: the causal mask, which is a rule of its own. Padding is a rule about keys, "
            "the same for every query.",
        ),
        Mistake(
            lambda ids, pad_id: ((ids == pad_id).cumsum(dim=1) == 0)[:, None, None, :],
            "You blocked everything from the first padding on. Padding can also come first: compare each id with "
            "pad_id.",
        ),
        Mistake(
            edited(_compared, "[:, None, None, :]", "[:, None, None, :].expand(-1, 1, ids.size(1), -1)"),
            "The table is right, but you repeated its row for each query. Keep size 1 there, (B, 1, 1, K): "
            "broadcasting does the rest, for any number of queries.",
        ),
        Mistake(
            edited(_compared, "[:, None, None, :]", "[None, :, None, :]"),
            "The values are right, but B is on the axis of the heads: (1, B, 1, K). B stays first; the new axes go "
            "between B and K.",
        ),
    ],
    hints=[
        "Which ids are not padding? That is one comparison, of shape (B, K).",
        "Indexing with None adds an axis of size 1: mask[:, None, None, :].",
    ],
    solution="""
        def my_padding(ids, pad_id):
            return (ids != pad_id)[:, None, None, :]
    """,
    in_package="lessons.masks.padding",
)
