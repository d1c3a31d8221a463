"""Lesson 17, fixed_embed: packed documents whose positions run on."""

import torch
from torch import Tensor

from lessons.checking.edits import edited
from lessons.checking.engine import Case, Exercise, Mistake, numbers


def embed_packed(ids: Tensor, lengths: list[int], tokens: Tensor, places: Tensor) -> Tensor:
    """ids (N,), tokens (V, D), places (max_len, D) -> (N, D): each document is embedded as if it were alone."""
    starts = torch.tensor([0, *lengths[:-1]]).cumsum(0)
    start = starts.repeat_interleave(torch.tensor(lengths))  # (N,)
    positions = torch.arange(len(ids)) - start
    return tokens[ids] + places[positions]


def _embed_cases(generator) -> list[Case]:
    def case(lengths, vocabulary, d_model, about="", gradients=False, max_len=None):
        inputs = {
            "ids": torch.randint(vocabulary, (sum(lengths),), generator=generator),
            "lengths": lengths,
            "tokens": numbers(generator, vocabulary, d_model),
            "places": numbers(generator, max_len or sum(lengths) + 1, d_model),
        }
        return Case(inputs, about, gradients)

    return [
        case([2, 1, 3], 4, 2),
        case([3, 4, 2, 1], 7, 3),
        case([1, 3, 3, 2], 5, 4),
        case([3, 2], 4, 6, "two documents"),
        case([2, 3, 3], 6, 2, "a table of positions that is as long as the longest document", max_len=3),
        case([2, 3, 1], 3, 4, "gradients", gradients=True),
        case([1], 4, 3, "a single token"),
    ]


STARTS, START = "torch.tensor([0, *lengths[:-1]]).cumsum(0)", "torch.arange(len(ids)) - start"

bug_hunt = Exercise(
    lesson="17",
    name="fixed_embed",
    reference=embed_packed,
    cases=_embed_cases,
    mistakes=[
        Mistake(
            edited(embed_packed, ".cumsum(0)", ""),
            "The bug is still there. A symptom: two documents are right, and from the third on each token has a "
            "position that is too large. For lengths [2, 1, 3] the positions are 0 1, 0, and 2 3 4.",
        ),
        Mistake(
            edited(embed_packed, START, "torch.arange(len(ids))"),
            "Now the positions run on through all documents. Each document must start at position 0.",
        ),
        Mistake(
            edited(embed_packed, "[0, *lengths[:-1]]", "lengths"),
            "Now you subtract where each document *ends*: the positions are negative, and places[-1] is the last row "
            "of the table, without an error.",
        ),
        Mistake(
            edited(embed_packed, START, "torch.arange(len(ids)) - start + 1"),
            "Positions start at 0, not at 1.",
        ),
        Mistake(
            edited(embed_packed, START, "start"),
            "All tokens of a document get the same position: the place where it starts.",
        ),
        Mistake(
            edited(embed_packed, START, "torch.zeros_like(ids)"),
            "All tokens get position 0, so that the order within a document is lost.",
        ),
        Mistake(
            edited(embed_packed, START, "torch.arange(len(lengths)).repeat_interleave(torch.tensor(lengths))"),
            "Each token gets the number of its document as its position. Count the tokens within the document.",
        ),
        Mistake(
            edited(embed_packed, STARTS, "torch.tensor([0, *lengths[:-1]]).cummax(0).values"),
            "The largest length so far isn't where a document starts: add the lengths of all documents before it.",
        ),
        Mistake(
            edited(
                embed_packed,
                (".cumsum(0)", ""),
                (
                    START,
                    "(torch.arange(len(ids)) - start) % torch.tensor(lengths).repeat_interleave(torch.tensor(lengths))",
                ),
            ),
            "You wrapped the wrong positions around: the third document still doesn't begin at 0. Add up the lengths "
            "of all documents before it.",
        ),
        Mistake(
            edited(
                embed_packed,
                START,
                "torch.arange(len(ids)) % torch.tensor(lengths).repeat_interleave(torch.tensor(lengths))",
            ),
            "You take the place in the row modulo the document's length. That starts at 0 only where the documents "
            "before it add up to a multiple of it: right for [2, 1, 3]. For [3, 4] the second one gets 3 0 1 2.",
        ),
        Mistake(
            edited(embed_packed, "[0, *lengths[:-1]]", "lengths[:-1]"),
            "One start is missing: the first document's, 0. There are as many starts as documents: "
            "[0, *lengths[:-1]], added up.",
        ),
        Mistake(
            edited(embed_packed, "[0, *lengths[:-1]]", "[0, *lengths]"),
            "One start too many: where the last document ends, none begins. Leave its length out: [0, *lengths[:-1]].",
        ),
        Mistake(
            edited(embed_packed, START, "torch.arange(len(ids)) % max(lengths)"),
            "Now the positions start anew after as many tokens as the longest document has. The others end earlier.",
        ),
    ],
    hints=[
        "Which position should each of the six tokens get, with lengths [2, 1, 3]? Which does the code give?",
        "Print `starts`: where does the third document start?",
        "It starts after *all* the documents before it: a running sum of the lengths.",
    ],
    solution="""
        def fixed_embed(ids, lengths, tokens, places):
            starts = torch.tensor([0, *lengths[:-1]]).cumsum(0)
            start = starts.repeat_interleave(torch.tensor(lengths))  # (N,)
            positions = torch.arange(len(ids)) - start
            return tokens[ids] + places[positions]
    """,
)
