"""Lesson 08, my_ask_memory: cross-attention from the decoder to the encoder's memory."""

import math

import torch
from torch import Tensor

from lessons.attention import masked_softmax
from lessons.checking.edits import edited
from lessons.checking.engine import Case, Exercise, Mistake, numbers, rows_sum_to_one, small_numbers


def ask_memory(x: Tensor, memory: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor, real: Tensor) -> tuple[Tensor, Tensor]:
    """x (T, D) asks memory (S, D); real (S,) bool, True = no padding -> output (T, d), weights (T, S)."""
    q, k, v = x @ w_q, memory @ w_k, memory @ w_v
    scores = q @ k.T / math.sqrt(q.size(-1))  # (T, S)
    weights = masked_softmax(scores, real.expand(len(x), -1))
    return weights @ v, weights


def _memory_cases(generator) -> list[Case]:
    def case(t, s, d_model, d, real, draw=numbers, about="", gradients=False):
        matrices = {name: draw(generator, d_model, d) for name in ("w_q", "w_k", "w_v")}
        sides = {"x": draw(generator, t, d_model), "memory": draw(generator, s, d_model)}
        return Case(sides | matrices | {"real": torch.tensor(real)}, about=about, gradients=gradients)

    def large_numbers(*shape):
        return 4 * small_numbers(*shape)

    return [
        case(2, 3, 2, 2, [True, True, False], small_numbers),
        case(3, 5, 4, 6, [True, True, True, False, False]),
        case(4, 4, 4, 4, [True, True, False, True], about="as many source tokens as target tokens"),
        case(4, 2, 3, 5, [True, True], about="more target than source tokens"),
        case(3, 5, 4, 6, [True] * 4 + [False], about="gradients", gradients=True),
        case(3, 5, 4, 4, [True] * 4 + [False], large_numbers, about="scores of a hundred and more"),
    ]


def _in_plain_steps(x, memory, w_q, w_k, w_v, real):
    q, k, v = x @ w_q, memory @ w_k, memory @ w_v
    scores = (q @ k.T / math.sqrt(q.size(-1))).masked_fill(~real, -torch.inf)
    weights = scores.softmax(dim=-1)
    return weights @ v, weights


asking = Exercise(
    lesson="08",
    name="my_ask_memory",
    reference=ask_memory,
    cases=_memory_cases,
    outputs=("output", "weights"),
    laws=[rows_sum_to_one(place=1)],
    mistakes=[
        Mistake(
            edited(
                _in_plain_steps,
                ("x @ w_q, memory @ w_k, memory @ w_v", "memory @ w_q, x @ w_k, x @ w_v"),
                (".masked_fill(~real, -torch.inf)", ""),
            ),
            "x and memory are swapped: q comes from x, k and v from memory.",
            also=(edited(_in_plain_steps, "x @ w_q, memory @ w_k, memory @ w_v", "memory @ w_q, x @ w_k, x @ w_v"),),
        ),
        Mistake(
            edited(
                _in_plain_steps,
                ("memory @ w_k, memory @ w_v", "x @ w_k, x @ w_v"),
                (".masked_fill(~real, -torch.inf)", ""),
            ),
            "That is self-attention: keys and values come from x. In cross-attention they come from memory.",
            also=(edited(_in_plain_steps, "memory @ w_k, memory @ w_v", "x @ w_k, x @ w_v"),),
        ),
        Mistake(
            edited(_in_plain_steps, ".masked_fill(~real, -torch.inf)", ""),
            "Source padding gets weight: real is not used.",
        ),
        Mistake(
            edited(_in_plain_steps, "~real", "real & ~real.all()"),
            "Only padding gets weight: the mask is inverted. real is True where there is a token.",
        ),
        Mistake(
            edited(_in_plain_steps, " / math.sqrt(q.size(-1))", ""),
            "The scores are not divided by √d.",
        ),
        Mistake(
            edited(_in_plain_steps, "math.sqrt(q.size(-1))", "q.size(-1)"),
            "The scores are divided by d. It should be √d.",
        ),
        Mistake(
            edited(_in_plain_steps, "q.size(-1)", "x.size(-1)"),
            "The scores are divided by √D. d is the size of a query, after w_q; it may differ from the size of x.",
        ),
        Mistake(
            edited(_in_plain_steps, "q.size(-1)", "memory.size(0)"),
            "The scores are divided by √S, the number of source tokens. d is the size of a query.",
        ),
        Mistake(
            edited(
                _in_plain_steps, "~real, -torch.inf)", "~(real & torch.ones(len(q), len(k)).tril().bool()), -torch.inf)"
            ),
            "You added a causal mask. Here it hides source tokens, and the whole source is known from the start.",
        ),
        Mistake(
            edited(
                _in_plain_steps,
                ("q, k, v = x", "memory = memory * real[:, None]\n    q, k, v = x"),
                (".masked_fill(~real, -torch.inf)", ""),
            ),
            "The padding in the memory became 0. Its scores are then 0, and e⁰ = 1: it still gets weight.",
        ),
        Mistake(
            edited(_in_plain_steps, "dim=-1", "dim=0"),
            "The softmax runs down the columns, over the queries; a column that is blocked gives NaN. Each row of the "
            "weights is one query's: which axis are the keys on?",
        ),
        Mistake(
            edited(_in_plain_steps, "-torch.inf", "0.0"),
            "The scores of padding became 0. But e⁰ = 1, so padding still gets weight. Which score s makes e^s = 0?",
        ),
        Mistake(
            edited(_in_plain_steps, "x @ w_q, memory @ w_k", "x @ w_k, memory @ w_q"),
            "w_q and w_k are swapped: x goes through w_q, memory through w_k.",
        ),
        Mistake(
            edited(_in_plain_steps, "memory @ w_v", "memory @ w_k"),
            "The values were computed with w_k. They have their own matrix, w_v.",
        ),
        Mistake(
            edited(_in_plain_steps, "weights @ v", "weights @ memory"),
            "The weights are right, but they average the memory itself. The values are memory @ w_v.",
        ),
        Mistake(
            edited(
                _in_plain_steps,
                ("memory @ w_k, memory @ w_v", "memory[real] @ w_k, memory[real] @ w_v"),
                (".masked_fill(~real, -torch.inf)", ""),
            ),
            "The output is right: you left the padding out. But the weights lack its columns. They are (T, S), with 0 "
            "for padding.",
        ),
        Mistake(
            edited(
                _in_plain_steps, (".masked_fill(~real, -torch.inf)", ""), ("softmax(dim=-1)", "softmax(dim=-1) * real")
            ),
            "The padding was set to 0 after the softmax: the rows no longer sum to 1. Mask the scores before it.",
        ),
        Mistake(
            edited(
                _in_plain_steps,
                (".masked_fill(~real, -torch.inf)", ""),
                ("scores.softmax(dim=-1)", "(scores.exp() * real) / (scores.exp() * real).sum(dim=-1, keepdim=True)"),
            ),
            "The formula is right, but e^100 is too large for a float: inf / inf is NaN. Subtract the row's maximum "
            "first, as in lesson 02, or let softmax do it.",
            seen_in="scores of a hundred and more",
        ),
        Mistake(
            lambda *inputs: ask_memory(*inputs)[::-1], "The two results are swapped: return output first, then weights."
        ),
        Mistake(
            edited(_in_plain_steps, "-torch.inf", "-1.0"),
            "The scores of padding became a number that is not low enough, so padding still gets weight. Use −∞.",
            also=(edited(_in_plain_steps, "-torch.inf", "-10.0"),),
        ),
        Mistake(
            edited(_in_plain_steps, "memory @ w_v", "x @ w_v"),
            "The values come from x. Keys and values belong together: both are made from memory.",
        ),
    ],
    hints=[
        "q from x, k and v from memory; then as in any attention.",
        "real is (S,): it broadcasts over the rows of the scores (T, S). Blocked scores become −∞.",
    ],
    solution="""
        def my_ask_memory(x, memory, w_q, w_k, w_v, real):
            q, k, v = x @ w_q, memory @ w_k, memory @ w_v
            scores = q @ k.T / math.sqrt(q.size(-1))  # (T, S)
            weights = scores.masked_fill(~real, -torch.inf).softmax(dim=-1)
            return weights @ v, weights
    """,
)
