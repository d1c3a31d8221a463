"""Lesson 01, my_score: work out one score on paper."""

import math

import torch

from lessons.checking.engine import Case, Exercise, Mistake


def _one_number(candidate):
    """Accept 9, 9.0, a tensor with one entry, and what x5 @ w_q @ k[3] gives for x5 as a row."""
    answer = torch.as_tensor(candidate())
    return answer.reshape(()) if answer.numel() == 1 else answer


paper_score = Exercise(
    lesson="01",
    name="my_score",
    reference=lambda: 9.0,
    cases=lambda generator: [Case({})],
    call=_one_number,
    mistakes=[
        Mistake(
            lambda: 13.0,
            "13 comes out when you swap rows and columns of w_q (x5 times the transposed w_q). Entry j of the query is "
            "x5 times column j of w_q.",
        ),
        Mistake(lambda: 3.0, "3 comes out when x5 goes through w_k. It is the one that asks, so use w_q."),
        Mistake(
            lambda: 5.0,
            "5 can come about in several ways: with the key of *cat*, say, or with the query of another token. Take x5 "
            "times the columns of w_q, and then the key of *down*, the last row of k.",
        ),
        Mistake(lambda: 7.0, "7 comes out when x5 itself is multiplied with the key. First make its query, with w_q."),
        Mistake(
            lambda: 4.0,
            "4 comes out with the key of *sat*, or with the query of *down* in place of its key. Take the key of "
            "*down*, the last row of k.",
        ),
        Mistake(
            lambda: 1.0,
            "1 can come about in several ways: when the two tokens are multiplied as they are, say, or with the key of "
            "*the*. Make the query of x5 with w_q, and take the key of *down*, the last row of k.",
        ),
        Mistake(
            lambda: 9 / math.sqrt(3),
            "That is the score divided by √3. Here you need the plain product.",
            also=(lambda: 5.2,),
        ),
        Mistake(
            lambda: torch.tensor([3.0, 0.0, 1.0]),
            "That is the query of the new token, three numbers. The score is one number: the query times the key.",
        ),
        Mistake(
            lambda: torch.tensor([6.0, 0.0, 3.0]),
            "These are the three products. The score is their sum.",
        ),
    ],
    hints=[
        "First the query: multiply x5 = (2, 0, 1) by each column of w_q. You get three numbers.",
        "Then the key of *down*: it is the last row of k above. Multiply number by number, and add up.",
        "The query is (3, 0, 1), the key is (2, 0, 3).",
    ],
    solution="""
        # The query of x5 is x5 @ w_q = (3, 0, 1); the key of down is (2, 0, 3).
        my_score = 3 * 2 + 0 * 0 + 1 * 3
    """,
)
