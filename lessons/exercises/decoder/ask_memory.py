"""Lesson 08, my_ask_memory: cross-attention from the decoder to the encoder's memory, for a batch."""

import math

import torch
from torch import Tensor

from lessons.attention import masked_softmax
from lessons.checking.edits import edited
from lessons.checking.engine import Case, Exercise, Mistake, numbers, rows_sum_to_one, small_numbers


def ask_memory(x: Tensor, memory: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor, real: Tensor) -> tuple[Tensor, Tensor]:
    """x (B, T, D) asks memory (B, S, D); real (B, S), True = no padding -> output (B, T, d), weights (B, T, S)."""
    q, k, v = x @ w_q, memory @ w_k, memory @ w_v
    scores = q @ k.mT / math.sqrt(q.size(-1))  # (B, T, S)
    weights = masked_softmax(scores, real[:, None])
    return weights @ v, weights


def _memory_cases(generator) -> list[Case]:
    def case(t, d_model, d, real, draw=numbers, about="", gradients=False):
        real = torch.tensor(real).bool()
        matrices = {name: draw(generator, d_model, d) for name in ("w_q", "w_k", "w_v")}
        sides = {"x": draw(generator, len(real), t, d_model), "memory": draw(generator, *real.shape, d_model)}
        return Case(sides | matrices | {"real": real}, about=about, gradients=gradients)

    def large_numbers(*shape):
        return 4 * small_numbers(*shape)

    return [
        case(2, 2, 2, [[1, 1, 0]], small_numbers),
        case(3, 4, 6, [[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]]),
        case(4, 4, 4, [[1, 1, 0, 1], [1, 0, 0, 0]], about="as many source tokens as target tokens"),
        case(3, 3, 5, [[1, 1], [1, 0], [1, 1]], about="as many sentences as target tokens"),
        case(3, 4, 6, [[1, 1, 1, 1, 0]], about="gradients", gradients=True),
        case(3, 4, 4, [[1, 1, 1, 1, 0]], large_numbers, about="scores of a hundred and more"),
    ]


def _in_plain_steps(x, memory, w_q, w_k, w_v, real):
    q, k, v = x @ w_q, memory @ w_k, memory @ w_v
    scores = (q @ k.mT / math.sqrt(q.size(-1))).masked_fill(~real[:, None], -torch.inf)
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
                (".masked_fill(~real[:, None], -torch.inf)", ""),
            ),
            "x and memory are swapped: q comes from x, k and v from memory.",
            also=(
                edited(_in_plain_steps, "x @ w_q, memory @ w_k, memory @ w_v", "memory @ w_q, x @ w_k, x @ w_v"),
                edited(
                    _in_plain_steps,
                    ("x @ w_q, memory @ w_k, memory @ w_v", "memory @ w_q, x @ w_k, x @ w_v"),
                    ("~real[:, None]", "~real[:, :, None]"),
                ),
                edited(_in_plain_steps, "x @ w_q, memory @ w_k", "memory @ w_q, x @ w_k"),
            ),
        ),
        Mistake(
            edited(
                _in_plain_steps,
                ("memory @ w_k, memory @ w_v", "x @ w_k, x @ w_v"),
                (".masked_fill(~real[:, None], -torch.inf)", ""),
            ),
            "That is self-attention: keys and values come from x. In cross-attention they come from memory.",
            also=(edited(_in_plain_steps, "memory @ w_k, memory @ w_v", "x @ w_k, x @ w_v"),),
        ),
        Mistake(
            edited(_in_plain_steps, ".masked_fill(~real[:, None], -torch.inf)", ""),
            "Source padding gets weight: real is not used.",
        ),
        Mistake(
            edited(_in_plain_steps, "~real[:, None]", "(real & ~real.all())[:, None]"),
            "Only padding gets weight: the mask is inverted. real is True where there is a token.",
        ),
        Mistake(
            edited(_in_plain_steps, " / math.sqrt(q.size(-1))", ""),
            "The scores are not divided by √d.",
        ),
        Mistake(
            edited(_in_plain_steps, "/ math", "* math"),
            "The scores are multiplied by √d. Divide by it.",
        ),
        Mistake(
            edited(
                _in_plain_steps,
                (".masked_fill(~real[:, None], -torch.inf)", ""),
                ("weights @ v, weights", "weights @ (v * real[:, :, None]), weights"),
            ),
            "You set the values of the padding to 0, and it still gets weight: the other weights are too small. Mask "
            "the scores.",
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
            edited(_in_plain_steps, "q.size(-1)", "memory.size(1)"),
            "The scores are divided by √S, the number of source tokens. d is the size of a query.",
        ),
        Mistake(
            edited(
                _in_plain_steps,
                "~real[:, None], -torch.inf)",
                "~(real[:, None] & torch.ones(q.size(1), k.size(1)).tril().bool()), -torch.inf)",
            ),
            "You added a causal mask. Here it hides source tokens, and the whole source is known from the start.",
        ),
        Mistake(
            edited(
                _in_plain_steps,
                ("q, k, v = x", "memory = memory * real[..., None]\n    q, k, v = x"),
                (".masked_fill(~real[:, None], -torch.inf)", ""),
            ),
            "The padding in the memory became 0. Its scores are then 0, and e⁰ = 1: it still gets weight.",
        ),
        Mistake(
            edited(_in_plain_steps, "dim=-1", "dim=1"),
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
            edited(_in_plain_steps, "x @ w_q, memory @ w_k, memory @ w_v", "x @ w_q.T, memory @ w_k.T, memory @ w_v.T"),
            "The matrices are transposed. nn.Linear stores its matrix that way; here they are (D, d): q is x @ w_q.",
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
            edited(_in_plain_steps, "~real[:, None]", "~real"),
            "real is (B, S), the scores are (B, T, S): real meets the axes T and S. With B = 1 that is right by luck; "
            "with B = T, query t of each sentence gets the mask of sentence t; with T = 1 the one query gets the masks "
            "of all sentences; else it is an error. Give real an axis for the queries: (B, 1, S).",
            seen_in="as many sentences as target tokens",
        ),
        Mistake(
            edited(_in_plain_steps, "~real[:, None]", "~real[:, :, None]"),
            "You hid padding as a query, on the axis T. Hide it as a key: real[:, None] is (B, 1, S).",
            seen_in="as many source tokens as target tokens",
        ),
        Mistake(
            edited(_in_plain_steps, "k.mT", "k.T"),
            "The axis of the sentences moved, too: k.T reverses all three axes, k.transpose(0, 1) swaps the first two. "
            "Swap the last two: k.mT, or k.transpose(-2, -1).",
            also=(edited(_in_plain_steps, "k.mT", "k.transpose(0, 1)"),),
        ),
        Mistake(
            edited(
                _in_plain_steps,
                (".masked_fill(~real[:, None], -torch.inf)", ""),
                ("softmax(dim=-1)", "softmax(dim=-1) * real[:, None]"),
            ),
            "The padding was set to 0 after the softmax: a row with padding no longer sums to 1. Mask the scores "
            "before it.",
        ),
        Mistake(
            edited(
                _in_plain_steps,
                (".masked_fill(~real[:, None], -torch.inf)", ""),
                (
                    "scores.softmax(dim=-1)",
                    "(scores.exp() * real[:, None]) / (scores.exp() * real[:, None]).sum(dim=-1, keepdim=True)",
                ),
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
            edited(_in_plain_steps, "memory @ w_k, memory @ w_v", "memory @ w_v, memory @ w_k"),
            "w_k and w_v are swapped: the keys are memory @ w_k, the values memory @ w_v.",
        ),
        Mistake(
            edited(_in_plain_steps, "memory @ w_v", "x @ w_v"),
            "The values come from x. Keys and values belong together: both are made from memory.",
        ),
        Mistake(
            edited(_in_plain_steps, "memory @ w_k", "x @ w_k"),
            "The keys come from x. Keys and values belong together: both are made from memory.",
        ),
        Mistake(
            edited(_in_plain_steps, "return weights @ v, weights", "return weights @ v, scores"),
            "The output is right, but its companion is the scores. The weights are what the softmax makes of them.",
            also=(
                edited(
                    _in_plain_steps,
                    "return weights @ v, weights",
                    "return weights @ v, q @ k.mT / math.sqrt(q.size(-1))",
                ),
            ),
        ),
        Mistake(
            edited(
                _in_plain_steps,
                (" / math.sqrt(q.size(-1))", ""),
                ("softmax(dim=-1)", "softmax(dim=-1) / math.sqrt(q.size(-1))"),
            ),
            "You divided the weights by √d, so their rows no longer sum to 1. Divide the scores, before the softmax.",
        ),
    ],
    hints=[
        "q from x, k and v from memory; then as in any attention.",
        "k.mT swaps the last two axes of k. The scores are (B, T, S).",
        "real is (B, S), the same for all queries of a sentence: real[:, None] is (B, 1, S) and broadcasts over T.",
    ],
    solution="""
        def my_ask_memory(x, memory, w_q, w_k, w_v, real):
            q, k, v = x @ w_q, memory @ w_k, memory @ w_v
            scores = q @ k.mT / math.sqrt(q.size(-1))  # (B, T, S)
            blocked = ~real[:, None]  # (B, 1, S): the same for every query
            weights = scores.masked_fill(blocked, -torch.inf).softmax(dim=-1)
            return weights @ v, weights
    """,
)
