"""Lesson 17, my_window: the causal mask with a window, and keys from a cache."""

import torch
from torch import Tensor

from lessons.checking.edits import edited
from lessons.checking.engine import Case, Exercise, Mistake


def window_mask(num_queries: int, window: int, offset: int) -> Tensor:
    """(Q, offset + Q), True = may attend: the last `window` keys of each query, its own included."""
    query = offset + torch.arange(num_queries)[:, None]
    key = torch.arange(offset + num_queries)
    return (key <= query) & (key > query - window)


def _window_cases(generator) -> list[Case]:
    return [
        Case({"num_queries": num_queries, "window": window, "offset": offset}, about)
        for num_queries, window, offset, about in [
            (4, 2, 0, ""),
            (3, 2, 4, ""),
            (5, 3, 2, ""),
            (1, 3, 6, "one new token, and keys from a cache"),
            (4, 9, 2, "a window that is longer than the text"),
            (4, 1, 3, "a window of 1"),
        ]
    ]


def _cut_by_slices(num_queries, window, offset):
    allowed = torch.zeros(num_queries, offset + num_queries, dtype=torch.bool)
    for i in range(num_queries):
        allowed[i, offset + i - window + 1 : offset + i + 1] = True
    return allowed


QUERY, EARLY = "offset + torch.arange(num_queries)", "key > query - window"

windowing = Exercise(
    lesson="17",
    name="my_window",
    reference=window_mask,
    cases=_window_cases,
    mistakes=[
        Mistake(
            edited(window_mask, QUERY, "torch.arange(num_queries)"),
            "The first query is at position 0 in your mask. With a cache it is at position `offset`: that many keys "
            "come before it.",
        ),
        Mistake(
            edited(window_mask, EARLY, "key > query - offset - window"),
            "The causal rule knows the offset, the window doesn't: it starts too early by `offset` keys. Both compare "
            "with the query's position in the text, offset + i.",
        ),
        Mistake(
            edited(window_mask, QUERY, "-offset + torch.arange(num_queries)"),
            "You moved the queries back by `offset`. They come after the keys of the cache: add it.",
        ),
        Mistake(
            _cut_by_slices,
            "For the first tokens, the window would start before the text. A slice with a negative start counts from "
            "the end, so that keys are missing: start at max(0, …).",
        ),
        Mistake(
            edited(window_mask, EARLY, "key // window == query // window"),
            "Those are chunks: the text is cut at fixed places. A window moves along with the query.",
        ),
        Mistake(
            edited(window_mask, ("key <= query", "key < query"), (EARLY, "key >= query - window")),
            "Your window ends before the query's own key, and has one key more at its start. The last of the `window` "
            "keys is the query's own.",
        ),
        Mistake(
            edited(window_mask, EARLY, "key >= query - window"),
            "Your window has one key too many. The query's own key counts: with a window of 2, query 5 may attend to "
            "keys 4 and 5.",
        ),
        Mistake(
            edited(window_mask, EARLY, "key > query - window + 1"),
            "Your window has one key too few. The query's own key counts: with a window of 2, query 5 may attend to "
            "keys 4 and 5.",
        ),
        Mistake(
            edited(window_mask, "(key <= query) & ", ""),
            "The future is open: your mask has the window, and no causal rule. Join both with &.",
        ),
        Mistake(
            edited(window_mask, " & (key > query - window)", ""),
            "That is the causal mask alone. Keys that are `window` or more positions back are blocked.",
        ),
        Mistake(
            edited(window_mask, "(key <= query)", "(key < query + window)"),
            "Your window opens in both directions: it shows the future, too.",
        ),
        Mistake(
            edited(window_mask, "(key <= query)", "(key < query)"),
            "A token may not attend to itself in your mask. Its own key is in the window.",
        ),
        Mistake(
            edited(window_mask, "(key <= query) & (key > query - window)", "(key > query) | (key <= query - window)"),
            "Your mask is inverted: in this course True means may attend.",
        ),
        Mistake(
            edited(window_mask, "(key <= query) & (key > query - window)", "(key <= query) | (key > query - window)"),
            "All keys are open, as if you joined the rules with |. Both rules must allow a key: &.",
        ),
        Mistake(
            lambda num_queries, window, offset: window_mask(offset + num_queries, window, 0),
            "You give every token of the text a row. Only the new queries have one: of your rows, the last Q.",
        ),
        Mistake(
            edited(window_mask, "torch.arange(offset + num_queries)", "torch.arange(num_queries)"),
            "The keys from the cache are missing: there are offset + Q keys, so the mask has that many columns.",
        ),
        Mistake(
            edited(
                window_mask, (QUERY, "torch.arange(num_queries)"), ("torch.arange(offset + num_queries)", "query.T")
            ),
            "You left the offset out: the mask is (Q, Q). There are `offset` keys from the cache in front.",
        ),
        Mistake(
            edited(
                window_mask, "(key <= query) & (key > query - window)", "((key <= query) & (key > query - window)).T"
            ),
            "Rows and columns are swapped: a row for each query, a column for each key.",
        ),
    ],
    hints=[
        "Give each query and each key its position in the text. The queries start at `offset`, the keys at 0.",
        "query = offset + torch.arange(num_queries)[:, None], key = torch.arange(offset + num_queries).",
        "Two rules, joined with &: not in the future, and fewer than `window` positions back.",
    ],
    solution="""
        def my_window(num_queries, window, offset):
            query = offset + torch.arange(num_queries)[:, None]  # (Q, 1)
            key = torch.arange(offset + num_queries)  # (K,)
            return (key <= query) & (key > query - window)
    """,
    in_package="lessons.masks.sliding_window",
)
