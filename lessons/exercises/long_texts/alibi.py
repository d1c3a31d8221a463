"""Lesson 17, my_alibi: a penalty that grows with the distance, another one for each head."""

import torch
from torch import Tensor

from lessons.checking.edits import edited
from lessons.checking.engine import Case, Exercise, Mistake


def alibi(num_heads: int, length: int) -> Tensor:
    """(H, T, T), to be added to the scores: -slope · distance to a key in the past, -inf for one in the future.

    num_heads: a power of two. Train Short, Test Long, arXiv 2108.12409, section 3: the slopes of n heads are a
    geometric sequence that starts at 2^(-8/n), with that same number as its ratio.
    """
    head = torch.arange(1, num_heads + 1)
    slopes = 2.0 ** (-8 * head / num_heads)  # (H,)
    place = torch.arange(length)
    distance = place[:, None] - place  # (T, T): query - key
    bias = -slopes[:, None, None] * distance  # (H, T, T)
    return bias.masked_fill(distance < 0, -torch.inf)


def _alibi_cases(generator) -> list[Case]:
    return [
        Case({"num_heads": num_heads, "length": length}, about)
        for num_heads, length, about in [
            (2, 3, ""),
            (4, 5, ""),
            (8, 3, "8 heads, as in the paper's example"),
            (16, 4, "16 heads"),
            (1, 4, "one head"),
        ]
    ]


HEAD, SLOPES, FUTURE = "torch.arange(1, num_heads + 1)", "2.0 ** (-8 * head / num_heads)", "distance < 0"

biasing = Exercise(
    lesson="17",
    name="my_alibi",
    reference=alibi,
    cases=_alibi_cases,
    mistakes=[
        Mistake(
            edited(alibi, HEAD, "torch.arange(num_heads)"),
            "Your first slope is 2⁰ = 1. The sequence starts at 2^(−8/H): count the heads from 1.",
        ),
        Mistake(
            edited(alibi, "-8 * head / num_heads", "-head"),
            "Your slopes are ½, ¼, ⅛, … for any number of heads. That is right for 8 heads; the ratio is 2^(−8/H).",
        ),
        Mistake(
            edited(alibi, "= -slopes", "= slopes"),
            "Your bias rewards distance. It is a penalty: negative, and lower for keys further back.",
        ),
        Mistake(
            edited(alibi, "bias.masked_fill(distance < 0, -torch.inf)", "bias"),
            "The future isn't blocked: there your bias is even positive. Put −∞ where the key comes after the query.",
        ),
        Mistake(
            edited(
                alibi,
                ("place[:, None] - place  #", "(place[:, None] - place).abs()  #"),
            ),
            "Your bias is the same in both directions, so nothing hides the future. Put −∞ there.",
        ),
        Mistake(
            edited(alibi, FUTURE, "distance > 0"),
            "You blocked the past. −∞ belongs where the key comes after the query, above the diagonal.",
        ),
        Mistake(
            edited(alibi, FUTURE, "distance <= 0"),
            "A token may not attend to itself in your bias: the first one then has no key at all. The distance to "
            "itself is 0, and so is its penalty.",
        ),
        Mistake(
            edited(alibi, "place[:, None] - place  #", "place - place[:, None]  #"),
            "Rows and columns are swapped: a row for each query, a column for each key, and the future is to the right "
            "of the diagonal.",
        ),
        Mistake(
            edited(alibi, SLOPES, "2.0 ** (-8 * head.flip(0) / num_heads)"),
            "The slopes are in the reverse order: the first head has the steepest one.",
        ),
        Mistake(
            edited(alibi, SLOPES, "2.0 ** (-8 / num_heads) * torch.ones(num_heads)"),
            "All heads have the same slope. Head h has 2^(−8h/H), with h from 1.",
        ),
        Mistake(
            edited(alibi, SLOPES, "2.0 ** (-8 / head)"),
            "Your exponents are −8/1, −8/2, −8/3, … The number of heads divides, and the head multiplies: −8h/H.",
        ),
        Mistake(
            edited(alibi, SLOPES, "2.0 ** (8 * head / num_heads)"),
            "Your slopes are above 1: the minus in the exponent is missing.",
        ),
        Mistake(
            edited(alibi, SLOPES, "torch.linspace(2.0 ** (-8 / num_heads), 2.0**-8, num_heads)"),
            "Your slopes go from the first to the last in equal steps. The sequence is geometric: each slope is the "
            "one before times 2^(−8/H).",
        ),
        Mistake(
            edited(
                alibi, "-slopes[:, None, None] * distance", "(slopes[:, None, None] * place).expand(-1, length, -1)"
            ),
            "You took slope · position of the key. After the softmax that is the same, because each row is off by one "
            "number. Here we ask for the bias itself: 0 for the token itself, and lower for keys further back.",
        ),
        Mistake(
            edited(
                alibi,
                "bias.masked_fill(distance < 0, -torch.inf)",
                "bias + torch.ones(length, length).triu(1) * -torch.inf",
            ),
            "0 · ∞ is NaN: a table of 0 and 1 times −∞ is no mask. Use masked_fill or torch.where.",
        ),
        Mistake(
            edited(alibi, SLOPES, "torch.exp(-8 * head / num_heads)"),
            "Your slopes are powers of e. They are powers of 2.",
        ),
        Mistake(
            edited(alibi, SLOPES, "2.0 ** (-8 / num_heads) / head"),
            "Your slopes fall as 1, ½, ⅓, … times the first. The sequence is geometric: each slope is the one before "
            "times 2^(−8/H).",
        ),
        Mistake(
            edited(alibi, SLOPES, "2.0 ** (-8 / num_heads) * head"),
            "Your slopes are 1, 2, 3, … times the first. The sequence is geometric: each slope is the one before times "
            "2^(−8/H).",
        ),
        Mistake(
            edited(alibi, "* distance  #", "* (distance > 0)  #"),
            "All keys in the past get the same penalty. It grows with the distance.",
        ),
        Mistake(
            edited(alibi, "* distance  #", "* (distance + 1)  #"),
            "Your distances start at 1: the penalty of a token for itself is 0.",
        ),
        Mistake(
            edited(alibi, "bias.masked_fill(distance < 0, -torch.inf)", "bias.masked_fill(distance < 0, 0.0)"),
            "The future gets a bias of 0, so it is preferred to the past. Put −∞ there.",
        ),
        Mistake(
            edited(
                alibi, "bias.masked_fill(distance < 0, -torch.inf)", "bias.masked_fill(distance < 0, -torch.inf).exp()"
            ),
            "You took e to the power of the bias. It is added to the scores: the softmax takes the exponential.",
        ),
    ],
    hints=[
        "The slope of head h, with h from 1 to H, is 2^(−8h/H): for 8 heads ½, ¼, …, 1/256.",
        "distance = place[:, None] - place is (T, T), and negative for a key in the future.",
        "slopes[:, None, None] * distance is (H, T, T). Then masked_fill(distance < 0, -torch.inf).",
    ],
    solution="""
        def my_alibi(num_heads, length):
            slopes = 2.0 ** (-8 * torch.arange(1, num_heads + 1) / num_heads)  # (H,)
            place = torch.arange(length)
            distance = place[:, None] - place  # (T, T), query - key
            bias = -slopes[:, None, None] * distance  # (H, T, T)
            return bias.masked_fill(distance < 0, -torch.inf)
    """,
)
