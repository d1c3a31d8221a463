"""Lesson 07, my_feed_forward: two linear layers with max(0, …) between them."""

import torch
from torch import Tensor

from lessons.checking.edits import edited
from lessons.checking.engine import Case, Exercise, Mistake, numbers, small_numbers


def feed_forward(x: Tensor, w1: Tensor, b1: Tensor, w2: Tensor, b2: Tensor) -> Tensor:
    """x (T, D), w1 (D, F), b1 (F,), w2 (F, D), b2 (D,) -> (T, D): max(0, x w1 + b1) w2 + b2."""
    hidden = (x @ w1 + b1).clamp(min=0)  # (T, F)
    return hidden @ w2 + b2


def _feed_forward_cases(generator) -> list[Case]:
    def case(t, d, f, draw=numbers, about="", gradients=False):
        shapes = {"x": (t, d), "w1": (d, f), "b1": (f,), "w2": (f, d), "b2": (d,)}
        inputs = {name: draw(generator, *shape) for name, shape in shapes.items()}
        return Case(inputs, about=about, gradients=gradients)

    return [
        case(2, 3, 4, small_numbers),
        case(3, 5, 7),
        case(4, 4, 4),
        case(3, 4, 6, about="gradients", gradients=True),
        case(1, 3, 4, about="a single token"),
    ]


feeding = Exercise(
    lesson="07",
    name="my_feed_forward",
    reference=feed_forward,
    cases=_feed_forward_cases,
    mistakes=[
        Mistake(
            edited(feed_forward, ".clamp(min=0)", ""),
            "max(0, …) is missing. Without it, two linear layers are equal to one linear layer.",
        ),
        Mistake(
            edited(feed_forward, " @ w2 + b2", " @ w2"),
            "The second bias is missing.",
        ),
        Mistake(
            edited(feed_forward, "(x @ w1 + b1)", "(x @ w1)"),
            "The first bias is missing: max(0, x w1 + b1).",
        ),
        Mistake(
            edited(feed_forward, "(x @ w1 + b1).clamp(min=0)", "(x @ w1).clamp(min=0) + b1"),
            "The first bias was added after max(0, …). It goes inside: max(0, x w1 + b1).",
        ),
        Mistake(
            edited(feed_forward, (".clamp(min=0)", ""), ("hidden @ w2 + b2", "(hidden @ w2 + b2).clamp(min=0)")),
            "max(0, …) came at the end, so no feature of the result is negative. It goes between the two layers.",
        ),
        Mistake(
            edited(feed_forward, "hidden @ w2 + b2", "(hidden @ w2 + b2).clamp(min=0)"),
            "max(0, …) came twice. The second layer's output stays as it is: it may be negative.",
            also=(edited(feed_forward, "hidden @ w2 + b2", "(hidden @ w2).clamp(min=0) + b2"),),
        ),
        Mistake(
            edited(feed_forward, "return hidden", "return x + hidden"),
            "The input was added. The residual connection goes around this network; it is not part of it.",
        ),
        Mistake(
            edited(feed_forward, "(x @ w1 + b1).clamp(min=0)", "torch.nn.functional.gelu(x @ w1 + b1)"),
            "That is GELU, which BERT and GPT-2 use. The paper uses max(0, …).",
            also=(lambda x, w1, b1, w2, b2: torch.nn.functional.gelu(x @ w1 + b1, approximate="tanh") @ w2 + b2,),
        ),
        Mistake(lambda x, w1, b1, w2, b2: (x @ w1).clamp(min=0) @ w2, "Both biases are missing: x w1 + b1, … w2 + b2."),
        Mistake(
            edited(feed_forward, "(x @ w1 + b1).clamp(min=0)", "x.clamp(min=0) @ w1 + b1"),
            "max(0, …) came first, on x. It goes between the two layers.",
        ),
        Mistake(
            edited(feed_forward, "(x @ w1 + b1).clamp(min=0)", "max(0, x @ w1 + b1)"),
            "Neither max nor an if compares the number 0 with each number of a tensor. torch.relu(…) does, and so does "
            "….clamp(min=0).",
            also=(
                edited(feed_forward, "(x @ w1 + b1).clamp(min=0)", "torch.max(x @ w1 + b1, 0)"),
                edited(feed_forward, "(x @ w1 + b1).clamp(min=0)", "torch.max(0, x @ w1 + b1)"),
                edited(feed_forward, "(x @ w1 + b1).clamp(min=0)", "torch.maximum(x @ w1 + b1, 0)"),
                edited(feed_forward, "(x @ w1 + b1).clamp(min=0)", "torch.maximum(0, x @ w1 + b1)"),
            ),
        ),
        Mistake(
            edited(feed_forward, "clamp(min=0)", "clamp(max=0)"),
            "You kept what is negative: min(0, …). ReLU is max(0, …), and clamp(min=0) does that: min is the least "
            "that is left.",
        ),
        Mistake(
            edited(feed_forward, ".clamp(min=0)", ".sigmoid()"),
            "The function between the two layers is another one. Here it is max(0, …): torch.relu, not sigmoid, tanh, "
            "softmax, SiLU, leaky ReLU or abs.",
            also=(
                edited(feed_forward, ".clamp(min=0)", ".tanh()"),
                edited(feed_forward, ".clamp(min=0)", ".softmax(dim=-1)"),
                edited(feed_forward, ".clamp(min=0)", ".abs()"),
                lambda x, w1, b1, w2, b2: torch.nn.functional.silu(x @ w1 + b1) @ w2 + b2,
                lambda x, w1, b1, w2, b2: torch.nn.functional.leaky_relu(x @ w1 + b1) @ w2 + b2,
            ),
        ),
        Mistake(
            edited(feed_forward, ("x @ w1", "x @ w1.T"), ("hidden @ w2", "hidden @ w2.T")),
            "A matrix is transposed. w1 is (D, F), so x @ w1 fits, and then hidden @ w2. (F.linear(x, w) is x @ w.T: "
            "like nn.Linear, it expects the transpose.)",
            also=(edited(feed_forward, "x @ w1", "x @ w1.T"), edited(feed_forward, "hidden @ w2", "hidden @ w2.T")),
        ),
        Mistake(
            edited(feed_forward, ("x @ w1", "w1 @ x"), ("hidden @ w2", "w2 @ hidden")),
            "The matrix came first. A token is a row of x, so x is on the left: x @ w1, then hidden @ w2.",
            also=(
                edited(feed_forward, "x @ w1", "w1 @ x"),
                edited(feed_forward, "hidden @ w2", "w2 @ hidden"),
            ),
        ),
        Mistake(
            edited(feed_forward, ("@ w1 + b1", "@ w1 + b2"), ("@ w2 + b2", "@ w2 + b1")),
            "The biases are swapped: b1, (F,), belongs to w1, and b2, (D,), to w2.",
        ),
        Mistake(
            edited(feed_forward, ("x @ w1 + b1", "x @ (w1 + b1)"), ("hidden @ w2 + b2", "hidden @ (w2 + b2)")),
            "The biases were added to the matrices. First the product, then the bias: x @ w1 + b1.",
        ),
    ],
    hints=[
        "Three steps: a linear layer up to F features, max(0, …), a linear layer back to D.",
        "max(0, x) is x.clamp(min=0), or torch.relu(x).",
    ],
    solution="""
        def my_feed_forward(x, w1, b1, w2, b2):
            return torch.relu(x @ w1 + b1) @ w2 + b2
    """,
    in_package="lessons.layers.FeedForward",
)
