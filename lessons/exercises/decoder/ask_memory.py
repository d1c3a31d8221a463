"""Lesson 08: my_ask_memory."""

import math

import torch
from torch import Tensor

from lessons.attention import masked_softmax
from lessons.checking.engine import Case, Exercise, Mistake, numbers, rows_sum_to_one, small_numbers


def ask_memory(x: Tensor, memory: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor, real: Tensor) -> tuple[Tensor, Tensor]:
    """x (T, D) asks memory (S, D); real (S,) bool, True = no padding -> output (T, d), weights (T, S)."""
    q, k, v = x @ w_q, memory @ w_k, memory @ w_v
    scores = q @ k.T / math.sqrt(q.size(-1))  # (T, S)
    weights = masked_softmax(scores, real.expand(len(x), -1))
    return weights @ v, weights


def _asked(x, memory, w_q, w_k, w_v, real, *, scale=True, dim=-1, fill=-torch.inf):
    q, k, v = x @ w_q, memory @ w_k, memory @ w_v
    scores = q @ k.T / (math.sqrt(q.size(-1)) if scale else 1.0)
    scores = scores if real is None else scores.masked_fill(~real, fill)
    weights = scores.softmax(dim=dim)
    return weights @ v, weights


def _memory_cases(generator) -> list[Case]:
    def case(t, s, d_model, d, real, draw=numbers, about="", gradients=False):
        matrices = {name: draw(generator, d_model, d) for name in ("w_q", "w_k", "w_v")}
        sides = {"x": draw(generator, t, d_model), "memory": draw(generator, s, d_model)}
        return Case(sides | matrices | {"real": torch.tensor(real)}, about=about, gradients=gradients)

    return [
        case(2, 3, 2, 2, [True, True, False], small_numbers),
        case(3, 5, 4, 6, [True, True, True, False, False]),
        case(4, 4, 4, 4, [True, True, False, True], about="as many source tokens as target tokens"),
        case(4, 2, 3, 5, [True, True], about="more target than source tokens"),
        case(3, 5, 4, 6, [True] * 4 + [False], about="gradients", gradients=True),
    ]


asking = Exercise(
    lesson="08",
    name="my_ask_memory",
    reference=ask_memory,
    cases=_memory_cases,
    outputs=("output", "weights"),
    laws=[rows_sum_to_one(place=1)],
    mistakes=[
        Mistake(
            lambda x, memory, w_q, w_k, w_v, real: _asked(memory, x, w_q, w_k, w_v, None),
            "Turned around: the memory asks, and the decoder is asked. q comes from x, k and v from memory.",
            also=(lambda x, memory, w_q, w_k, w_v, real: _asked(memory, x, w_q, w_k, w_v, real),),
        ),
        Mistake(
            lambda x, memory, w_q, w_k, w_v, real: _asked(x, x, w_q, w_k, w_v, None),
            "That is self-attention: keys and values come from x. In cross-attention they come from memory.",
            also=(lambda x, memory, w_q, w_k, w_v, real: _asked(x, x, w_q, w_k, w_v, real),),
        ),
        Mistake(
            lambda x, memory, w_q, w_k, w_v, real: _asked(x, memory, w_q, w_k, w_v, None),
            "The padding of the source is looked at: real is not used.",
        ),
        Mistake(
            lambda x, memory, w_q, w_k, w_v, real: _asked(x, memory, w_q, w_k, w_v, ~real if not real.all() else None),
            "Only the padding is looked at: the mask is turned around. real is True where there is a token.",
        ),
        Mistake(
            lambda x, memory, w_q, w_k, w_v, real: _asked(x, memory, w_q, w_k, w_v, real, scale=False),
            "The scores are not divided by √d.",
        ),
        Mistake(
            lambda x, memory, w_q, w_k, w_v, real: _asked(x, memory, w_q / math.sqrt(w_q.size(1)), w_k, w_v, real),
            "The scores are divided by d. It should be √d.",
        ),
        Mistake(
            lambda x, memory, w_q, w_k, w_v, real: _asked(
                x, memory, w_q * math.sqrt(w_q.size(1) / w_q.size(0)), w_k, w_v, real
            ),
            "The scores are divided by √D. d is the size of a query, after w_q; it need not be that of x.",
        ),
        Mistake(
            lambda x, memory, w_q, w_k, w_v, real: _asked(x, memory, w_q, w_k, w_v, real, dim=0),
            "The softmax runs down the columns, over the queries; a column that is blocked gives NaN. Each row of the "
            "weights is one query's: which axis are the keys on?",
        ),
        Mistake(
            lambda x, memory, w_q, w_k, w_v, real: _asked(x, memory, w_q, w_k, w_v, real, fill=0.0),
            "The padding's scores became 0. But e⁰ = 1: it is still looked at. Which score makes e^s = 0?",
        ),
        Mistake(
            lambda x, memory, w_q, w_k, w_v, real: _asked(x, memory, w_k, w_q, w_v, real),
            "w_q and w_k changed places: x goes through w_q, memory through w_k.",
        ),
        Mistake(
            lambda x, memory, w_q, w_k, w_v, real: _asked(x, memory, w_q, w_k, w_k, real),
            "The values were made by w_k. They have a matrix of their own, w_v.",
        ),
        Mistake(
            lambda x, memory, w_q, w_k, w_v, real: _raw_values(x, memory, w_q, w_k, w_v, real),
            "The weights are right, but they average the memory itself. The values are memory @ w_v.",
        ),
        Mistake(
            lambda x, memory, w_q, w_k, w_v, real: _asked(x, memory[real], w_q, w_k, w_v, None),
            "The output is right: you left the padding out. But the weights lack its columns; they are (T, S), with 0 "
            "for the padding.",
        ),
        Mistake(
            lambda x, memory, w_q, w_k, w_v, real: tuple(
                part * torch.ones(()) for part in _zeroed_after(x, memory, w_q, w_k, w_v, real)
            ),
            "The padding was set to 0 after the softmax: the rows no longer sum to 1. Mask the scores before it.",
        ),
    ],
    hints=[
        "q from x, k and v from memory; then as in every attention.",
        "real is (S,): it broadcasts over the rows of the scores (T, S). Blocked scores become −∞.",
    ],
)


def _raw_values(x, memory, w_q, w_k, w_v, real):
    _, weights = _asked(x, memory, w_q, w_k, w_v, real)
    return weights @ memory, weights


def _zeroed_after(x, memory, w_q, w_k, w_v, real):
    _, weights = _asked(x, memory, w_q, w_k, w_v, None)
    weights = weights * real
    return weights @ (memory @ w_v), weights
