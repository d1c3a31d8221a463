"""Lesson 16, my_rms_norm: divide each token by the root of its mean square."""

import torch
from torch import Tensor

from lessons.checking.edits import edited
from lessons.checking.engine import Case, Exercise, Mistake, numbers


def rms_norm(x: Tensor, weight: Tensor, eps: float) -> Tensor:
    """x (..., D), weight (D,) -> (..., D): each token divided by the root of its mean square, times the weight."""
    return x / (x.square().mean(dim=-1, keepdim=True) + eps).sqrt() * weight


def _norm_cases(generator) -> list[Case]:
    def case(*shape, about="", scale=1.0, gradients=False, eps=1e-5):
        x = scale * numbers(generator, *shape) + 0.5 * scale  # the mean isn't 0
        return Case({"x": x, "weight": 1 + numbers(generator, shape[-1]) / 2, "eps": eps}, about, gradients)

    zeros = {"x": torch.zeros(2, 3), "weight": torch.ones(3), "eps": 1e-5}
    return [
        case(2, 4),
        case(3, 5),
        case(4, 4),
        case(2, 3, 6),
        case(3, 5, about="small numbers, for which eps counts", scale=2e-3),
        case(3, 5, about="numbers as small as eps", scale=1e-5),
        Case(zeros, "a token of zeros"),
        case(3, 4, about="gradients", gradients=True),
        case(2, 3, about="a large eps", eps=0.5),
        case(1, 4, about="a single token"),
    ]


norming = Exercise(
    lesson="16",
    name="my_rms_norm",
    reference=rms_norm,
    cases=_norm_cases,
    mistakes=[
        Mistake(
            edited(rms_norm, "return x", "x = x - x.mean(dim=-1, keepdim=True)\n    return x"),
            "You subtracted the mean first: that is LayerNorm. RMSNorm leaves the mean in; it only divides.",
            also=[
                lambda x, weight, eps: (x - x.mean(-1, True)) / (x.var(-1, keepdim=True) + eps).sqrt() * weight,
                lambda x, weight, eps: (x - x.mean(-1, True)) / (x.std(-1, keepdim=True) + eps) * weight,
            ],
        ),
        Mistake(
            edited(rms_norm, "x / (x.square().mean(dim=-1, keepdim=True) + eps)", "x / (x.var(dim=-1, keepdim=True))"),
            "You divided by the standard deviation, which measures from the mean. Here you measure from 0: the root of "
            "the mean of x².",
            also=[
                edited(rms_norm, "x.square().mean(dim=-1, keepdim=True)", "x.var(dim=-1, keepdim=True)"),
                edited(rms_norm, "x.square().mean(dim=-1, keepdim=True)", "x.var(dim=-1, keepdim=True, correction=0)"),
            ],
        ),
        Mistake(
            edited(rms_norm, "+ eps).sqrt()", "+ eps)"),
            "You divided by the mean square itself. The root is missing.",
        ),
        Mistake(
            edited(rms_norm, ".mean(dim=-1", ".sum(dim=-1"),
            "You divided by the length of x: the root of the *sum* of squares. Then numbers get smaller as D grows. "
            "Take the mean of the squares.",
        ),
        Mistake(
            edited(rms_norm, "x.square().mean(dim=-1, keepdim=True)", "x.mean(dim=-1, keepdim=True).square()"),
            "You squared the mean. First the square of each feature, then the mean of these squares.",
        ),
        Mistake(
            edited(rms_norm, "dim=-1", "dim=-2"),
            "You took the mean over the tokens. Each token is treated on its own, over its features: dim=-1.",
            also=[edited(rms_norm, "dim=-1", "dim=0")],
        ),
        Mistake(
            edited(rms_norm, "dim=-1", "dim=1"),
            "dim=1 is the axis of the features only in (T, D). In (B, T, D) it is that of the tokens; dim=-1 is right "
            "in both.",
        ),
        Mistake(
            edited(rms_norm, "+ eps", "+ 1e-5"),
            "You did not use the argument eps. The caller decides how large it is.",
            also=[edited(rms_norm, "+ eps", "+ 1e-6"), edited(rms_norm, "+ eps", "+ torch.finfo(x.dtype).eps")],
            seen_in="a large eps",
        ),
        Mistake(
            edited(rms_norm, "mean(dim=-1, keepdim=True)", "mean()"),
            "You took one mean of the whole tensor, so tokens influence each other. Each token has its own: dim=-1, "
            "keepdim=True.",
        ),
        Mistake(
            edited(rms_norm, ", keepdim=True", ""),
            "Your mean squares are (T,), one for each token. Next to (T, D), torch takes their axis for the features: "
            "an error, or, where T = D, the root of another token. Keep the axis: keepdim=True.",
        ),
        Mistake(
            edited(rms_norm, " * weight", ""),
            "The weight is missing. Multiply each feature by its own at the end.",
        ),
        Mistake(
            edited(rms_norm, "* weight", "* (1 + weight)"),
            "You multiplied by 1 + weight. Gemma stores its weights in that way; here it is the weight itself.",
        ),
        Mistake(
            edited(rms_norm, "x / (", "x * ("),
            "You multiplied by the root. Divide by it: a token ten times as large must come out the same.",
        ),
        Mistake(
            edited(rms_norm, ("x / (", "x * ("), ("+ eps).sqrt()", "+ eps)")),
            "You multiplied by the mean square. Divide by its root: a token ten times as large must come out the same.",
        ),
        Mistake(
            edited(rms_norm, ("+ eps).sqrt()", ").sqrt()")),
            "Without eps a token of zeros is 0 / 0, which is NaN. Add eps to the mean square.",
            seen_in="a token of zeros",
        ),
        Mistake(
            edited(
                rms_norm,
                "(x.square().mean(dim=-1, keepdim=True) + eps).sqrt()",
                "(x.square().mean(dim=-1, keepdim=True).sqrt() + eps)",
            ),
            "eps is added after the root. It belongs inside, next to the mean square: for small numbers you see the "
            "difference.",
            seen_in="small numbers, for which eps counts",
        ),
        Mistake(
            edited(rms_norm, "* weight", "+ weight"),
            "The weight is added. It multiplies: RMSNorm has no bias.",
        ),
        Mistake(
            edited(rms_norm, "(x.square().mean(dim=-1, keepdim=True) + eps).sqrt()", "(x.abs().mean(-1, True) + eps)"),
            "You divided by the mean of |x|. Square, mean, root: large features count more.",
        ),
        Mistake(
            edited(rms_norm, "+ eps)", "+ eps**2)"),
            "You added eps². Add eps itself to the mean square: for small numbers you see the difference.",
            seen_in="small numbers, for which eps counts",
        ),
        Mistake(
            edited(rms_norm, "mean(dim=-1, keepdim=True) + eps)", "mean(dim=-1, keepdim=True).clamp(min=eps))"),
            "You use eps as a lower limit. Add it to the mean square, whatever its size: for small numbers you see the "
            "difference.",
            also=[edited(rms_norm, "+ eps).sqrt()", ").sqrt().clamp(min=eps)")],
            seen_in="small numbers, for which eps counts",
        ),
        Mistake(
            lambda x, weight, eps: rms_norm(x * weight, torch.ones_like(weight), eps),
            "You multiplied by the weight first, so it changes the mean square, too. It comes at the end.",
        ),
    ],
    hints=[
        "Four steps on the features of each token: square, mean, root, divide. x.square() squares each number.",
        "mean(dim=-1, keepdim=True) has shape (..., 1), so it divides every feature of its own token.",
        "Add eps to the mean, before the root. At the end multiply by weight, (D,).",
    ],
    solution="""
        def my_rms_norm(x, weight, eps):
            mean_square = x.square().mean(dim=-1, keepdim=True)  # (..., 1)
            return x / (mean_square + eps).sqrt() * weight
    """,
    in_package="lessons.language_model.RMSNorm",
)
