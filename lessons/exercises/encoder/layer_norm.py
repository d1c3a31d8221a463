"""Lesson 07, my_layer_norm: give the features of each token mean 0 and variance 1."""

import torch
from torch import Tensor

from lessons.checking.edits import edited
from lessons.checking.engine import Case, Exercise, Mistake, numbers, small_numbers


def layer_norm(x: Tensor, weight: Tensor, bias: Tensor, eps: float) -> Tensor:
    """x (B, T, D), weight and bias (D,) -> (B, T, D): each token's features get mean 0 and variance 1."""
    mean = x.mean(dim=-1, keepdim=True)  # (B, T, 1)
    variance = x.var(dim=-1, correction=0, keepdim=True)  # (B, T, 1)
    return (x - mean) / (variance + eps).sqrt() * weight + bias


def _norm_cases(generator) -> list[Case]:
    def case(b, t, d, eps, about="", gradients=False, shift=0.0):
        x = numbers(generator, b, t, d) * 2 + shift
        inputs = {"x": x, "weight": numbers(generator, d), "bias": numbers(generator, d), "eps": eps}
        return Case(inputs, about=about, gradients=gradients)

    level = torch.full((1, 2, 4), 3.0)
    level[0, 1] = torch.tensor([0.0, 1.0, 2.0, 5.0])
    plain = {"weight": torch.ones(4), "bias": torch.zeros(4), "eps": 0.5}
    return [
        Case({"x": small_numbers(generator, 1, 2, 4), **plain}),
        case(2, 3, 5, 0.3),
        case(4, 4, 4, 1e-2),
        Case({"x": level, **plain}, about="a token whose features are all equal"),
        case(3, 2, 6, 1e-5, "features far from 0", shift=50.0),
        case(2, 3, 5, 0.1, "gradients", gradients=True),
    ]


def _over(axes):
    return edited(layer_norm, ("mean(dim=-1", f"mean(dim={axes}"), ("var(dim=-1", f"var(dim={axes}"))


norm = Exercise(
    lesson="07",
    name="my_layer_norm",
    reference=layer_norm,
    cases=_norm_cases,
    mistakes=[
        Mistake(
            edited(layer_norm, ", correction=0", ""),
            "Your variance divides by D − 1. Layer normalization divides by D: x.var(…, correction=0). (By default, "
            "std and var divide by D − 1.)",
        ),
        Mistake(
            edited(layer_norm, "(variance + eps).sqrt()", "(variance.sqrt() + eps)"),
            "eps was added outside the square root. It is added to the variance: √(variance + eps).",
        ),
        Mistake(
            edited(layer_norm, (", correction=0", ""), ("(variance + eps).sqrt()", "(variance.sqrt() + eps)")),
            "Two mistakes: std divides by D − 1, not D, and eps was added outside the square root. Use "
            "√(variance + eps), with x.var(…, correction=0). The Annotated Transformer has this version.",
        ),
        Mistake(
            _over(-2),
            "You normalized over the tokens, axis -2: mean and variance of each *feature*. Here each token is "
            "normalized on its own, over its features: the last axis.",
        ),
        Mistake(
            _over(0),
            "You normalized over the batch, as batch normalization does: the result for a sentence would depend on the "
            "others. Use the last axis, the features.",
            also=(_over((0, 1)),),
        ),
        Mistake(
            _over((0, 1, 2)),
            "You used one mean and one variance for all numbers at once. Each token has its own: only the last axis.",
        ),
        Mistake(
            edited(
                layer_norm,
                ("mean(dim=-1, keepdim=True)", "mean(dim=-1)"),
                ("correction=0, keepdim=True", "correction=0"),
            ),
            "An axis is missing: broadcasting lines up means or variances of shape (B, T) with the last axes of x. "
            "keepdim=True keeps an axis for the features: (B, T, 1).",
            also=(
                edited(layer_norm, "mean(dim=-1, keepdim=True)", "mean(dim=-1)"),
                edited(layer_norm, "correction=0, keepdim=True", "correction=0"),
                edited(
                    layer_norm,
                    ("mean(dim=-1, keepdim=True)", "mean(dim=-1)"),
                    ("x.var(dim=-1, correction=0, keepdim=True)", "((x - mean) ** 2).mean(dim=-1)"),
                ),
                edited(
                    layer_norm,
                    ("mean(dim=-1, keepdim=True)", "mean(dim=-1)"),
                    ("x.var(dim=-1, correction=0, keepdim=True)", "((x - mean) ** 2).mean(dim=-1, keepdim=True)"),
                ),
            ),
        ),
        Mistake(
            _over((-2, -1)),
            "You used one mean and one variance for the whole sentence. Each token has its own: only the last axis.",
        ),
        Mistake(
            edited(layer_norm, ".sqrt()", ""),
            "You divided by the variance. Divide by its square root, the standard deviation.",
        ),
        Mistake(
            lambda x, w, b, eps: x / (x.square().mean(-1, keepdim=True) + eps).sqrt() * w + b,
            "The mean was not subtracted: that is RMSNorm, which Llama uses. Layer normalization subtracts it first.",
        ),
        Mistake(
            edited(layer_norm, " + eps", ""),
            "eps is missing: where all features are equal, the variance is 0, and 0 / 0 is NaN.",
            seen_in="a token whose features are all equal",
        ),
        Mistake(
            edited(layer_norm, (", correction=0", ""), (" + eps", "")),
            "Two mistakes: std divides by D − 1, not D, and eps is missing. Use √(variance + eps), with "
            "x.var(…, correction=0).",
        ),
        Mistake(
            edited(layer_norm, "+ eps", "+ 1e-5"),
            "eps is not added to the variance: √(variance + eps). (torch's default is 1e-5; a call that leaves eps out "
            "gets that.)",
        ),
        Mistake(
            edited(layer_norm, "(x - mean)", "x - mean"),
            "Parentheses are missing: x − mean / … divides only the mean. Divide the whole difference: (x − mean) / ….",
        ),
        Mistake(
            edited(layer_norm, "(variance", "(len(weight) * variance"),
            "You used the sum of the squares. The variance is their mean: the sum, divided by D.",
            also=(edited(layer_norm, "(variance + eps).sqrt()", "((len(weight) * variance).sqrt() + eps)"),),
        ),
        Mistake(edited(layer_norm, " + bias", ""), "The bias is not added."),
        Mistake(
            edited(layer_norm, " * weight", ""),
            "The weight is not used: each normalized feature is multiplied by its weight, before the bias is added.",
        ),
        Mistake(
            edited(layer_norm, "weight + bias\n", "bias + weight\n"),
            "weight and bias are swapped: multiply by weight, then add bias.",
        ),
        Mistake(
            edited(layer_norm, " * weight + bias", ""),
            "weight and bias are not used: after normalizing, multiply each feature by its weight and add its bias.",
        ),
        Mistake(
            edited(layer_norm, ("(x - mean)", "((x - mean)"), ("* weight + bias", "+ bias) * weight")),
            "The bias was added before multiplying by the weight. First weight, then bias.",
        ),
        Mistake(
            edited(layer_norm, " / (variance + eps).sqrt()", ""),
            "The mean is 0 now, but nothing was divided: the standard deviation is still that of x.",
        ),
        Mistake(
            edited(layer_norm, "x.var(dim=-1, correction=0, keepdim=True)", "x.square().mean(dim=-1, keepdim=True)"),
            "The variance is not the mean of the squares: it is the mean of the squared *differences* from the mean, "
            "(x − mean)².",
        ),
        Mistake(
            edited(
                layer_norm,
                ("x.var(dim=-1, correction=0, keepdim=True)", "(x - mean).abs().mean(dim=-1, keepdim=True)"),
                (".sqrt()", ""),
            ),
            "You divided by the mean distance from the mean. Take the root of the mean *square*: √(variance + eps).",
        ),
        Mistake(
            edited(layer_norm, "x.mean(dim=-1, keepdim=True)", "x.mean()"),
            "The variances are right, but you subtracted one mean of all numbers. Each token has its own mean: "
            "x.mean(dim=-1, keepdim=True).",
        ),
        Mistake(
            edited(layer_norm, " / (variance + eps)", " * (variance + eps)"),
            "You multiplied by the standard deviation. Divide by it.",
        ),
        Mistake(
            edited(_over((-2, -1)), "+ eps", "+ 1e-5"),
            "Two mistakes: you used one mean and one variance for the whole sentence, and not the argument eps. Each "
            "token has its own mean and variance: only the last axis.",
        ),
        Mistake(
            edited(layer_norm, "(variance + eps)", "(variance.sqrt() + eps)"),
            "The root was taken twice: std is the root of the variance already. Divide by √(variance + eps).",
            also=(edited(layer_norm, (", correction=0", ""), ("(variance + eps)", "(variance.sqrt() + eps)")),),
        ),
    ],
    hints=[
        "Mean and variance of each token: over the last axis, with keepdim=True, so that they broadcast.",
        "x.var(dim=-1, correction=0, keepdim=True) divides by D.",
        "Divide by the square root of (variance + eps); then times weight, plus bias.",
    ],
    solution="""
        def my_layer_norm(x, weight, bias, eps):
            mean = x.mean(dim=-1, keepdim=True)  # (B, T, 1)
            variance = x.var(dim=-1, correction=0, keepdim=True)  # (B, T, 1)
            return (x - mean) / (variance + eps).sqrt() * weight + bias
    """,
)
