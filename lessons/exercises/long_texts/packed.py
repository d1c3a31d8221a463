"""Lesson 17, my_packed: several documents in one row, from their lengths."""

import torch
from torch import Tensor

from lessons.checking.edits import edited
from lessons.checking.engine import Case, Exercise, Mistake


def packed_documents(lengths: list[int]) -> tuple[Tensor, Tensor]:
    """`allowed` (N, N), causal within each document, and the positions (N,), which start anew; N = sum(lengths)."""
    document = torch.arange(len(lengths)).repeat_interleave(torch.tensor(lengths))
    place = torch.arange(sum(lengths))
    starts = torch.tensor([0, *lengths[:-1]]).cumsum(0)
    allowed = (document[:, None] == document) & (place <= place[:, None])
    return allowed, place - starts[document]


def _packed_cases(generator) -> list[Case]:
    return [
        Case({"lengths": lengths}, about)
        for lengths, about in [
            ([3, 2], ""),
            ([1, 4, 2], ""),
            ([4, 1, 3, 2], ""),
            ([5], "one document"),
            ([2, 0, 3], "an empty document"),
            ([1], "a single token"),
        ]
    ]


def _counted_from_the_end(lengths):
    allowed, _ = packed_documents(lengths)
    return allowed, torch.cat([torch.arange(length).flip(0) for length in lengths])


def _number_of_the_document(lengths):
    allowed, _ = packed_documents(lengths)
    return allowed, torch.arange(len(lengths)).repeat_interleave(torch.tensor(lengths))


SAME, PAST, ANEW = "(document[:, None] == document)", "(place <= place[:, None])", "place - starts[document]"

packing = Exercise(
    lesson="17",
    name="my_packed",
    reference=packed_documents,
    cases=_packed_cases,
    outputs=("mask", "positions"),
    mistakes=[
        Mistake(
            edited(packed_documents, ANEW, "place"),
            "The mask is right, but the positions run on from one document to the next. In each document the first "
            "token has position 0.",
        ),
        Mistake(
            edited(packed_documents, f"{SAME} & ", ""),
            "Your mask is only causal: a token sees the documents before its own. Two tokens must be in the same "
            "document.",
        ),
        Mistake(
            edited(packed_documents, f" & {PAST}", ""),
            "Documents are kept apart, but within a document a token sees the future. Join with the causal rule.",
        ),
        Mistake(
            edited(packed_documents, (f"{SAME} & ", ""), (ANEW, "place")),
            "Neither the mask nor the positions know that there are several documents.",
        ),
        Mistake(
            edited(packed_documents, ANEW, "place - starts[document] + 1"),
            "Your positions start at 1. As everywhere in this course, they start at 0.",
        ),
        Mistake(
            edited(packed_documents, ".cumsum(0)", ""),
            "The positions are right in the first two documents, and too large from the third on. A document starts "
            "where *all* documents before it end: add their lengths up.",
        ),
        Mistake(
            edited(packed_documents, "torch.tensor([0, *lengths[:-1]])", "torch.tensor(lengths)"),
            "You subtract where a document *ends*, so the positions are negative. Subtract where it starts.",
        ),
        Mistake(
            edited(packed_documents, ANEW, "place % max(lengths)"),
            "Your positions start anew after as many tokens as the longest document has. The others end earlier.",
        ),
        Mistake(
            edited(
                packed_documents,
                f"{SAME} & {PAST}",
                "(place - starts[document] <= (place - starts[document])[:, None])",
            ),
            "You compared the positions within the documents. Two tokens of different documents can have the same one: "
            "compare the documents as well.",
        ),
        Mistake(
            _number_of_the_document,
            "You returned the number of the document of each token. A position counts the tokens within a document.",
        ),
        Mistake(
            _counted_from_the_end,
            "Your positions count down to 0. The first token of a document has position 0.",
        ),
        Mistake(
            edited(packed_documents, "place <= place[:, None]", "place >= place[:, None]"),
            "The causal rule is the wrong way around: a token sees itself and what comes *after* it.",
        ),
        Mistake(
            edited(packed_documents, "place <= place[:, None]", "place < place[:, None]"),
            "A token may not attend to itself in your mask. The first token of each document then has no key at all.",
        ),
        Mistake(
            edited(packed_documents, "document[:, None] == document", "document[:, None] != document"),
            "A token sees the *other* documents in your mask, and not its own.",
        ),
        Mistake(
            edited(packed_documents, f"{SAME} & {PAST}", f"~({SAME} & {PAST})"),
            "Your mask is inverted: in this course True means may attend.",
        ),
        Mistake(
            edited(packed_documents, f"{SAME} & {PAST}", f"({SAME} & {PAST}).float()"),
            "Your mask has ones and zeros, and a float mask is added to the scores: 1 and 0 block nothing. Make it "
            "bool, True = may attend: .bool().",
        ),
        Mistake(
            edited(packed_documents, f"{SAME} & {PAST}", f"{SAME} | {PAST}"),
            "That is as if you joined the two rules with |: a token sees all documents before its own, and all of its "
            "own. Both rules must allow a key: &.",
        ),
    ],
    hints=[
        "Which document does each token belong to? torch.arange(3).repeat_interleave(torch.tensor([1, 4, 2])) gives "
        "0, 1, 1, 1, 1, 2, 2.",
        "Two rules, joined with &: the same document, and not in the future.",
        "The position is the place in the row minus the place where the document starts: 0, 1, 5 in this example.",
    ],
    solution="""
        def my_packed(lengths):
            document = torch.arange(len(lengths)).repeat_interleave(torch.tensor(lengths))
            place = torch.arange(sum(lengths))
            allowed = (document[:, None] == document) & (place <= place[:, None])
            positions = torch.cat([torch.arange(length) for length in lengths])
            return allowed, positions
    """,
    in_package="lessons.masks.packed",
)
