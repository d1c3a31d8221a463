"""Lesson 14, my_previous_token_score: how much each head looks at the token before."""

import torch
from torch import Tensor

from lessons.checking.edits import edited
from lessons.checking.engine import Case, Exercise, Mistake, numbers


def previous_token_score(weights: Tensor) -> Tensor:
    """weights (H, T, T) -> (H,): how much the tokens, from the second on, look at the one before, on average."""
    return weights.diagonal(offset=-1, dim1=-2, dim2=-1).mean(dim=-1)


def _score_cases(generator) -> list[Case]:
    def case(h, t, about=""):
        return Case({"weights": (2 * numbers(generator, h, t, t)).softmax(dim=-1)}, about=about)

    return [case(2, 3), case(3, 5), case(4, 4), case(1, 4, "a single head")]


previous = Exercise(
    lesson="14",
    name="my_previous_token_score",
    reference=previous_token_score,
    cases=_score_cases,
    outputs=("the list of scores",),
    mistakes=[
        Mistake(
            edited(previous_token_score, "offset=-1", "offset=1"),
            "That is how much a token looks at the *next* one. Rows are queries: the previous token is left of "
            "the diagonal, weights[:, i, i - 1].",
        ),
        Mistake(edited(previous_token_score, "offset=-1", "offset=0"), "That is how much a token looks at itself."),
        Mistake(
            edited(previous_token_score, "offset=-1", "offset=-2"),
            "That is the token two positions before. The previous one is offset −1.",
        ),
        Mistake(
            edited(previous_token_score, "mean", "sum"),
            "That is the sum, which grows with the sentence. Take the mean over the queries with a token before them.",
        ),
        Mistake(
            edited(previous_token_score, "mean(dim=-1)", "sum(dim=-1) / weights.size(-1)"),
            "You divided by T, but only T − 1 tokens have one before them. A head that looks only at the previous "
            "token would score less than 1.",
        ),
        Mistake(
            lambda w: torch.stack([w[:, i, i - 1] for i in range(w.size(-1))], dim=-1).mean(dim=-1),
            "Nothing comes before the first token, and in Python weights[:, 0, -1] is the *last* key. Start with the "
            "second query.",
        ),
        Mistake(
            edited(previous_token_score, "mean(dim=-1)", "mean()"),
            "That is one number for all heads. Each head has its own: the mean over only the last axis.",
        ),
        Mistake(
            edited(previous_token_score, "mean(dim=-1)", "mean(dim=0)"),
            "You took the mean over the heads: one number for each token. Take the mean over the tokens: one number "
            "for each head.",
        ),
        Mistake(
            edited(previous_token_score, ", dim1=-2, dim2=-1", ""),
            "diagonal without dim1 and dim2 goes along the first two axes, heads and queries. You want queries and "
            "keys: dim1=-2, dim2=-1.",
        ),
        Mistake(
            lambda w: (w[:, 1:].argmax(dim=-1) == torch.arange(w.size(-1) - 1)).float().mean(dim=-1),
            "You counted how often the previous token gets the largest weight. Take the mean of the weight itself.",
        ),
        Mistake(
            edited(previous_token_score, "mean", "amax"),
            "That is the largest of these weights: a head that does it once would seem to do it always. Take the mean.",
        ),
        Mistake(
            lambda w: w[:, :, 0].mean(dim=-1),
            "That is the first column: how much all tokens look at the first one, [CLS].",
        ),
        Mistake(
            lambda w: w[:, 1:, :-1].mean(dim=(-2, -1)),
            "You took the mean over a whole table, weights[:, 1:, :-1]. Only pairs whose key is just before the query "
            "count: its diagonal.",
        ),
        Mistake(
            edited(previous_token_score, ".mean(", "[..., :-1].mean("),
            "The last token is missing. It has a token before it; only the first has none.",
        ),
        Mistake(
            edited(previous_token_score, ("offset=-1", "offset=0"), (".mean(", "[..., 1:].mean(")),
            "That is how much a token looks at itself. The token before it is weights[:, i, i - 1].",
        ),
        Mistake(
            lambda w: w.tril(-1).sum(dim=-1)[:, 1:].mean(dim=-1),
            "You added the weights of all earlier tokens. Only the one just before the query counts.",
        ),
    ],
    hints=[
        "The weight that query i gives to the token before it is weights[:, i, i - 1], for i = 1 to T − 1.",
        "They are just below the diagonal: weights.diagonal(offset=-1, dim1=-2, dim2=-1) is (H, T − 1).",
    ],
    solution="""
        def my_previous_token_score(weights):
            below = weights.diagonal(offset=-1, dim1=-2, dim2=-1)  # (H, T - 1)
            return below.mean(dim=-1)
    """,
)
