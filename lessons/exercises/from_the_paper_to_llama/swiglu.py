"""Lesson 16, my_swiglu: a feed-forward network with a gate."""

import torch.nn.functional as F
from torch import Tensor

from lessons.checking.edits import edited
from lessons.checking.engine import Case, Exercise, Mistake, numbers


def swiglu(x: Tensor, w_gate: Tensor, w_up: Tensor, w_down: Tensor) -> Tensor:
    """x (T, D), w_gate and w_up (D, d_ff), w_down (d_ff, D) -> (T, D)"""
    return (F.silu(x @ w_gate) * (x @ w_up)) @ w_down


def _swiglu_cases(generator) -> list[Case]:
    def case(t, d, d_ff, about="", gradients=False):
        inputs = {
            "x": numbers(generator, t, d),
            "w_gate": numbers(generator, d, d_ff),
            "w_up": numbers(generator, d, d_ff),
            "w_down": numbers(generator, d_ff, d),
        }
        return Case(inputs, about, gradients)

    return [case(1, 2, 3), case(3, 4, 5), case(4, 4, 4), case(2, 3, 7, "gradients", gradients=True)]


GATED = "F.silu(x @ w_gate)"

gating = Exercise(
    lesson="16",
    name="my_swiglu",
    reference=swiglu,
    cases=_swiglu_cases,
    mistakes=[
        Mistake(
            lambda x, w_gate, w_up, w_down: swiglu(x, w_up, w_gate, w_down),
            "SiLU is on the wrong one of the two: it belongs to x @ w_gate. x @ w_up stays as it is.",
        ),
        Mistake(
            edited(swiglu, "(x @ w_up)", "F.silu(x @ w_up)"),
            "SiLU is on both. Only the gate, x @ w_gate, goes through it.",
        ),
        Mistake(
            edited(swiglu, "F.silu(x @ w_gate) * (x @ w_up)", "F.silu((x @ w_gate) * (x @ w_up))"),
            "You multiplied first and took SiLU of the product. First SiLU of the gate alone, then multiply.",
        ),
        Mistake(
            edited(swiglu, GATED, "(x @ w_gate)"),
            "SiLU is missing. Without it, the gate is a plain product (the paper on gates calls that bilinear).",
        ),
        Mistake(
            edited(swiglu, GATED, "(x @ w_gate).sigmoid()"),
            "You used the sigmoid: that is GLU, the gate of 2016. SiLU is x · sigmoid(x).",
        ),
        Mistake(
            edited(swiglu, GATED, "(x @ w_gate).relu()"),
            "You used ReLU: that is ReGLU. SiLU is x · sigmoid(x), F.silu in torch.",
        ),
        Mistake(
            edited(swiglu, GATED, "F.gelu(x @ w_gate)"),
            "You used GELU: that is GEGLU. SiLU is x · sigmoid(x), F.silu in torch.",
        ),
        Mistake(
            edited(swiglu, " * (x @ w_up)", ""),
            "w_up is not used. Multiply the gate by x @ w_up, number by number.",
        ),
        Mistake(
            edited(swiglu, GATED + " * ", GATED + " + "),
            "You added the two. A gate multiplies: where it is near 0, nothing passes.",
        ),
        Mistake(
            edited(swiglu, GATED, "(x @ w_gate).softmax(dim=-1)"),
            "You used softmax, so the features compete. Each feature's gate is on its own: SiLU.",
        ),
        Mistake(
            edited(swiglu, GATED, "(x * (x @ w_gate).sigmoid())"),
            "SiLU is z · sigmoid(z), with the same z twice: x @ w_gate. You multiplied x by the sigmoid.",
        ),
        Mistake(
            edited(swiglu, GATED, "(F.silu(x) @ w_gate)"),
            "SiLU comes too early: it belongs to the product x @ w_gate, not to x.",
        ),
        Mistake(
            edited(swiglu, "F.silu(x @ w_gate) * (x @ w_up)", "F.silu(x @ w_up)"),
            "w_gate is not used. The gate is SiLU of x @ w_gate; x @ w_up is what passes through it.",
        ),
        Mistake(
            edited(swiglu, "return (", "return x + ("),
            "You added x. That is the residual connection, which goes around the feed-forward network.",
        ),
        Mistake(
            edited(swiglu, GATED, "((x @ w_gate) * (-(x @ w_gate)).sigmoid())"),
            "Your gate is z · sigmoid(−z). The minus belongs in the exponent: sigmoid(z) = 1 / (1 + e^(−z)).",
        ),
        Mistake(
            edited(
                swiglu,
                (GATED, "F.silu(x @ w_gate.T)"),
                ("(x @ w_up)", "(x @ w_up.T)"),
                ("@ w_down", "@ w_down.T"),
            ),
            "You transposed the matrices, as F.linear does. Here they are (D, d_ff), (D, d_ff) and (d_ff, D): the "
            "product is x @ w_gate. Where D = d_ff there is no error.",
        ),
        Mistake(
            edited(swiglu, "(x @ w_up)", "x @ w_up"),
            "* and @ go from left to right, so the gate was multiplied by x, before w_up. Write (x @ w_up).",
        ),
        Mistake(
            edited(swiglu, GATED + " * ", GATED + " @ "),
            "@ is a matrix product. The gate and x @ w_up are both (T, d_ff): multiply them number by number, with *.",
        ),
        Mistake(
            edited(swiglu, GATED, "(x @ w_gate).tanh()"),
            "You used tanh. SiLU is x · sigmoid(x), F.silu in torch.",
        ),
    ],
    hints=[
        "Two products with x, each (T, d_ff): one is the gate, the other is what passes through it.",
        "F.silu(z) is z · sigmoid(z). Only the gate goes through it.",
        "Multiply the two number by number, with *, then @ w_down brings them back to (T, D).",
    ],
    solution="""
        def my_swiglu(x, w_gate, w_up, w_down):
            gate = F.silu(x @ w_gate)  # (T, d_ff)
            return (gate * (x @ w_up)) @ w_down
    """,
    in_package="lessons.language_model.SwiGLU",
)
