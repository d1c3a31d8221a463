"""Lesson 13, my_in_projection: q, k and v from one packed matrix."""

import torch
import torch.nn.functional as F

from lessons.checking.edits import edited
from lessons.checking.engine import Case, Exercise, Mistake, numbers
from lessons.torch_attention import in_projection


def _in_cases(generator: torch.Generator) -> list[Case]:
    def case(length, keys, batch, size, bias=True, **options):
        return Case(
            {
                "query": numbers(generator, length, batch, size),
                "key": numbers(generator, keys, batch, size),
                "value": numbers(generator, keys, batch, size),
                "weight": numbers(generator, 3 * size, size),
                "bias": numbers(generator, 3 * size) if bias else None,
            },
            **options,
        )

    return [
        case(2, 4, 3, 5),
        case(3, 3, 3, 4),
        case(2, 4, 3, 6, bias=False, about="no bias"),
        case(2, 3, 1, 4, about="gradients", gradients=True),
    ]


def _packed_of(query, key, value, weight, bias, *, order=(0, 1, 2), interleaved=False):
    """The projection, with the matrices in another order or packed otherwise."""
    size = weight.size(1)
    matrices = weight.unflatten(0, (size, 3)).unbind(1) if interleaved else weight.chunk(3)
    shifts = (None, None, None)
    if bias is not None:
        shifts = bias.view(size, 3).unbind(1) if interleaved else bias.chunk(3)
    return tuple(F.linear(x, matrices[i], shifts[i]) for x, i in zip((query, key, value), order))


def _columns_cut(query, key, value, weight, bias):
    w_q, w_k, w_v = weight.chunk(3, dim=-1)
    return F.linear(query, w_q), F.linear(key, w_k), F.linear(value, w_v)


projection = Exercise(
    lesson="13",
    name="my_in_projection",
    reference=in_projection,
    cases=_in_cases,
    outputs=("q", "k", "v"),
    mistakes=[
        Mistake(
            lambda query, key, value, w, b: F.linear(query, w, b).chunk(3, dim=-1),
            "You projected the query with all three matrices at once. That is right only in self-attention; here key "
            "and value are different tensors.",
        ),
        Mistake(
            edited(in_projection, "(query, key, value)", "(query, key, key)"),
            "The value is made from key. Most callers pass the same tensor twice, so nobody notices; but value is an "
            "argument of its own.",
        ),
        Mistake(
            lambda *inputs: _packed_of(*inputs, order=(0, 2, 1)),
            "The matrices of k and v are swapped. The packed order is q, k, v.",
        ),
        Mistake(
            lambda *inputs: _packed_of(*inputs, order=(2, 1, 0)),
            "The matrices of q and v are swapped. The packed order is q, k, v, from the top.",
        ),
        Mistake(
            lambda *inputs: _packed_of(*inputs, interleaved=True),
            "You gave the rows to q, k and v in turn. The first E rows are q's, the next E are k's, the last E are "
            "v's.",
        ),
        Mistake(
            edited(in_projection, "F.linear(x, w, b)", "x @ w + (0.0 if b is None else b)"),
            "You multiplied by the matrices without transposing them. torch stores a matrix as (out, in), so the "
            "product is x @ W.T: each row of the packed weight makes one feature. The three matrices are square, so "
            "there is no error.",
        ),
        Mistake(
            edited(in_projection, "else bias.chunk(3)", "else (None, None, None)"),
            "The bias is missing. It is packed like the weight: 3E numbers.",
        ),
        Mistake(
            edited(in_projection, "(None, None, None) if bias is None else bias.chunk(3)", "bias.chunk(3)"),
            "Without a bias, bias is None, which can't be cut. F.linear takes None for its bias: cut only where there "
            "is one.",
            also=[
                edited(
                    in_projection,
                    "(None, None, None) if bias is None else bias.chunk(3)",
                    "[bias[i * len(query[0, 0]) : (i + 1) * len(query[0, 0])] for i in range(3)]",
                )
            ],
            seen_in="no bias",
        ),
        Mistake(
            edited(in_projection, "weight.chunk(3)", "weight.view(weight.size(1), -1).chunk(3, dim=1)"),
            "You reshaped the weight before you cut it. The matrices are on top of each other: cut the rows.",
        ),
        Mistake(
            _columns_cut,
            "You cut along the E features of the input. The three matrices are on top of each other: cut the 3E rows "
            "of weight, weight.chunk(3), or the columns of weight.T.",
        ),
        Mistake(
            edited(in_projection, "bias is None", "not bias"),
            "torch can't say whether a whole tensor is true. Ask whether there is one: if bias is not None.",
        ),
        Mistake(
            edited(in_projection, "bias.chunk(3)", "[bias] * 3"),
            "The bias of all three, 3E numbers, doesn't fit one of them. Cut it like the weight: bias.chunk(3).",
        ),
        Mistake(
            edited(in_projection, "bias.chunk(3)", "[bias.chunk(3)[0]] * 3"),
            "All three got the first third of the bias. It is packed like the weight: q's, then k's, then v's.",
        ),
    ],
    hints=[
        "weight.chunk(3) gives three (E, E) matrices from the top: for q, for k, for v.",
        "F.linear(x, w, b) computes x @ w.T + b. It also accepts b = None.",
        "If there is a bias, it is packed the same way: bias.chunk(3).",
    ],
    solution="""
        def my_in_projection(query, key, value, weight, bias):
            w_q, w_k, w_v = weight.chunk(3)
            b_q, b_k, b_v = (None, None, None) if bias is None else bias.chunk(3)
            return F.linear(query, w_q, b_q), F.linear(key, w_k, b_k), F.linear(value, w_v, b_v)
    """,
    in_package="lessons.torch_attention.in_projection",
)
