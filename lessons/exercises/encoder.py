"""The exercises of lesson 07: layer normalisation, the feed-forward network, residuals, and a whole encoder layer."""

import torch
from torch import Tensor, nn

from lessons import masks
from lessons.attention import MultiHeadAttention
from lessons.exercises.engine import Case, Exercise, Mistake, numbers, small_numbers


def layer_norm(x: Tensor, weight: Tensor, bias: Tensor, eps: float) -> Tensor:
    """x (B, T, D), weight and bias (D,) -> (B, T, D): each token's features get mean 0 and variance 1."""
    mean = x.mean(dim=-1, keepdim=True)  # (B, T, 1)
    variance = x.var(dim=-1, correction=0, keepdim=True)  # (B, T, 1)
    return (x - mean) / (variance + eps).sqrt() * weight + bias


def _normalised(x, weight, bias, eps, dim=-1, correction=0):
    mean, variance = x.mean(dim=dim, keepdim=True), x.var(dim=dim, correction=correction, keepdim=True)
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


norm = Exercise(
    name="my_layer_norm",
    reference=layer_norm,
    cases=_norm_cases,
    mistakes=[
        Mistake(
            lambda x, w, b, eps: _normalised(x, w, b, eps, correction=1),
            "Your variance divides by D − 1. Layer normalisation divides by D: x.var(…, correction=0). (std and var "
            "divide by D − 1 unless told otherwise.)",
        ),
        Mistake(
            lambda x, w, b, eps: (x - x.mean(-1, keepdim=True)) / (x.std(-1, correction=0, keepdim=True) + eps) * w + b,
            "eps was added outside the root: it belongs to the variance, √(variance + eps).",
        ),
        Mistake(
            lambda x, w, b, eps: (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True) + eps) * w + b,
            "Two things at once: std divides by D − 1, not D, and eps was added outside the root. Take "
            "√(variance + eps), with x.var(…, correction=0). This version is in a famous tutorial.",
        ),
        Mistake(
            lambda x, w, b, eps: _normalised(x, w, b, eps, dim=-2),
            "You normalised over the tokens, axis -2: mean and variance of each *feature*. Here each token stands for "
            "itself: over its features, the last axis.",
        ),
        Mistake(
            lambda x, w, b, eps: _normalised(x, w, b, eps, dim=0),
            "You normalised over the batch, as batch normalisation does: a sentence would change with its neighbours. "
            "Take the last axis, the features.",
            also=(lambda x, w, b, eps: _normalised(x, w, b, eps, dim=(0, 1)),),
        ),
        Mistake(
            lambda x, w, b, eps: _normalised(x, w, b, eps, dim=(0, 1, 2)),
            "You took one mean and one variance for all numbers at once. Each token has its own: the last axis alone.",
        ),
        Mistake(
            lambda x, w, b, eps: (x - x.mean(-1)) / (x.var(-1, correction=0) + eps).sqrt() * w + b,
            "An axis is missing: the means are (B, T), and beside x, (B, T, D), they are lined up with its last axis. "
            "keepdim=True keeps the place of the features: (B, T, 1).",
        ),
        Mistake(
            lambda x, w, b, eps: _normalised(x, w, b, eps, dim=(-2, -1)),
            "You took one mean and one variance for the whole sentence. Each token has its own: the last axis alone.",
        ),
        Mistake(
            lambda x, w, b, eps: (x - x.mean(-1, keepdim=True)) / (x.var(-1, correction=0, keepdim=True) + eps) * w + b,
            "You divided by the variance. Divide by its root, the standard deviation, so that the spread becomes 1.",
        ),
        Mistake(
            lambda x, w, b, eps: x / (x.square().mean(-1, keepdim=True) + eps).sqrt() * w + b,
            "The mean was not taken away: that is RMSNorm, which many of today's models use. Here the mean goes first.",
        ),
        Mistake(
            lambda x, w, b, eps: (x - x.mean(-1, keepdim=True)) / x.var(-1, correction=0, keepdim=True).sqrt() * w + b,
            "eps is missing: where all features are equal, the variance is 0, and 0 / 0 is NaN.",
            seen_in="a token whose features are all equal",
        ),
        Mistake(
            lambda x, w, b, eps: (x - x.mean(-1, keepdim=True)) / x.std(-1, keepdim=True) * w + b,
            "Two things at once: std divides by D − 1, not D, and eps is missing. Take √(variance + eps), with "
            "x.var(…, correction=0).",
        ),
        Mistake(
            lambda x, w, b, eps: _normalised(x, w, b, 1e-5),
            "You did not use the eps that you were given. (torch's own, if it is told nothing, takes 1e-5.)",
        ),
        Mistake(
            lambda x, w, b, eps: (
                x - x.mean(-1, keepdim=True) / (x.var(-1, correction=0, keepdim=True) + eps).sqrt() * w + b
            ),
            "Brackets are missing: x − mean / … divides the mean alone. The whole difference is divided: "
            "(x − mean) / ….",
        ),
        Mistake(
            lambda x, w, b, eps: (
                (x - x.mean(-1, keepdim=True)) / (len(w) * x.var(-1, correction=0, keepdim=True) + eps).sqrt() * w + b
            ),
            "You added the squares up. The variance is their mean: their sum, divided by D.",
        ),
        Mistake(lambda x, w, b, eps: _normalised(x, w, torch.zeros_like(b), eps), "The bias is not added."),
        Mistake(
            lambda x, w, b, eps: _normalised(x, torch.ones_like(w), b, eps),
            "The weight is not used: each normalised feature is multiplied by its weight, before the bias is added.",
        ),
        Mistake(
            lambda x, w, b, eps: _normalised(x, b, w, eps),
            "weight and bias are exchanged: weight is multiplied in, bias is added.",
        ),
        Mistake(
            lambda x, w, b, eps: _normalised(x, torch.ones_like(w), torch.zeros_like(b), eps),
            "weight and bias are not used: after normalising, each feature is multiplied by its weight, and its bias "
            "is added.",
        ),
        Mistake(
            lambda x, w, b, eps: (_normalised(x, torch.ones_like(w), torch.zeros_like(b), eps) + b) * w,
            "The bias was added before the weight was multiplied in. First weight, then bias.",
        ),
        Mistake(
            lambda x, w, b, eps: (x - x.mean(-1, keepdim=True)) * w + b,
            "The mean is 0 now, but nothing is divided: the spread is still that of x.",
        ),
    ],
    hints=[
        "Mean and variance of each token: along the last axis, with keepdim=True, so that they broadcast.",
        "x.var(dim=-1, correction=0, keepdim=True) divides by D.",
        "Divide by the root of (variance + eps); then times weight, plus bias.",
    ],
)


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
    ]


feeding = Exercise(
    name="my_feed_forward",
    reference=feed_forward,
    cases=_feed_forward_cases,
    mistakes=[
        Mistake(
            lambda x, w1, b1, w2, b2: (x @ w1 + b1) @ w2 + b2,
            "Nothing is cut off at 0. Without max(0, …) between them two linear layers are one linear layer.",
        ),
        Mistake(
            lambda x, w1, b1, w2, b2: (x @ w1 + b1).clamp(min=0) @ w2,
            "The second bias is missing.",
        ),
        Mistake(
            lambda x, w1, b1, w2, b2: (x @ w1).clamp(min=0) @ w2 + b2,
            "The first bias is missing: max(0, x w1 + b1).",
        ),
        Mistake(
            lambda x, w1, b1, w2, b2: (x @ w1).clamp(min=0).add(b1) @ w2 + b2,
            "The first bias came after max(0, …). It belongs inside: max(0, x w1 + b1).",
        ),
        Mistake(
            lambda x, w1, b1, w2, b2: ((x @ w1 + b1) @ w2 + b2).clamp(min=0),
            "max(0, …) came at the end, so that no feature of the result is below 0. It stands between the layers.",
        ),
        Mistake(
            lambda x, w1, b1, w2, b2: ((x @ w1 + b1).clamp(min=0) @ w2 + b2).clamp(min=0),
            "max(0, …) came twice. The second layer's output stays as it is: it may be below 0.",
        ),
        Mistake(
            lambda x, w1, b1, w2, b2: x + feed_forward(x, w1, b1, w2, b2),
            "The input was added. The residual surrounds this network; it is no part of it.",
        ),
        Mistake(
            lambda x, w1, b1, w2, b2: torch.nn.functional.gelu(x @ w1 + b1) @ w2 + b2,
            "That is GELU, which many of today's models take. The paper's is max(0, …).",
            also=(lambda x, w1, b1, w2, b2: torch.nn.functional.gelu(x @ w1 + b1, approximate="tanh") @ w2 + b2,),
        ),
        Mistake(lambda x, w1, b1, w2, b2: (x @ w1).clamp(min=0) @ w2, "Both biases are missing: x w1 + b1, … w2 + b2."),
        Mistake(
            lambda x, w1, b1, w2, b2: (x.clamp(min=0) @ w1 + b1) @ w2 + b2,
            "max(0, …) came first, on x. It stands between the two layers.",
        ),
        Mistake(
            lambda x, w1, b1, w2, b2: max(0, x @ w1 + b1) @ w2 + b2,
            "max cannot compare 0 with a whole tensor. For each number by itself: torch.relu(…), or ….clamp(min=0).",
            also=(
                lambda x, w1, b1, w2, b2: max(x @ w1 + b1, 0) @ w2 + b2,
                lambda x, w1, b1, w2, b2: torch.max(x @ w1 + b1, 0) @ w2 + b2,
                lambda x, w1, b1, w2, b2: torch.max(0, x @ w1 + b1) @ w2 + b2,
                lambda x, w1, b1, w2, b2: torch.maximum(x @ w1 + b1, 0) @ w2 + b2,
                lambda x, w1, b1, w2, b2: torch.maximum(0, x @ w1 + b1) @ w2 + b2,
            ),
        ),
    ],
    hints=[
        "Three steps: a linear layer up to F features, max(0, …), a linear layer back to D.",
        "max(0, x) is x.clamp(min=0), or torch.relu(x).",
    ],
)


def surround(x: Tensor, sublayer, norm, norm_first: bool) -> Tensor:
    """x (T, D) -> (T, D): a residual and a norm around a sublayer; norm_first says in which order."""
    if norm_first:
        return x + sublayer(norm(x))
    return norm(x + sublayer(x))


def _surrounded(candidate, x, w, norm_first):
    """The sublayer is tanh(x w), the norm layer normalisation with eps 0.1."""
    size = x.size(-1)
    ones, zeros = torch.ones(size), torch.zeros(size)
    return candidate(x, lambda y: torch.tanh(y @ w), lambda y: layer_norm(y, ones, zeros, 0.1), norm_first)


def _surround_cases(generator) -> list[Case]:
    return [
        Case({"x": 2 * numbers(generator, t, d), "w": numbers(generator, d, d), "norm_first": first}, about=about)
        for t, d, first, about in [
            (2, 3, True, ""),
            (3, 5, False, ""),
            (4, 4, True, ""),
            (4, 4, False, ""),
        ]
    ]


residual = Exercise(
    name="my_surround",
    reference=surround,
    cases=_surround_cases,
    call=_surrounded,
    mistakes=[
        Mistake(
            lambda x, f, norm, first: norm(x) + f(norm(x)) if first else norm(x + f(x)),
            "With norm_first you added the *normalised* x. The residual carries x itself: x + sublayer(norm(x)).",
        ),
        Mistake(
            lambda x, f, norm, first: x + f(norm(x)),
            "You always put the norm first. With norm_first=False it comes last: norm(x + sublayer(x)).",
        ),
        Mistake(
            lambda x, f, norm, first: norm(x + f(x)),
            "You always put the norm last. With norm_first=True the sublayer gets norm(x), and x is added untouched.",
        ),
        Mistake(
            lambda x, f, norm, first: norm(x + f(x)) if first else x + f(norm(x)),
            "The two orders are exchanged: norm_first=True is x + sublayer(norm(x)).",
        ),
        Mistake(
            lambda x, f, norm, first: f(norm(x)) if first else norm(f(x)),
            "The residual is missing: x is added to what the sublayer gives.",
        ),
        Mistake(
            lambda x, f, norm, first: x + f(norm(x)) if first else x + norm(f(x)),
            "With norm_first=False you normalised only the sublayer's output. The sum is normalised: "
            "norm(x + sublayer(x)).",
        ),
        Mistake(
            lambda x, f, norm, first: x + f(x),
            "There is no norm.",
        ),
        Mistake(
            lambda x, f, norm, first: x + norm(f(x)) if first else norm(x + f(x)),
            "With norm_first=True the norm belongs in front of the sublayer, not behind it.",
        ),
        Mistake(
            lambda x, f, norm, first: norm(x + f(norm(x))) if first else norm(x + f(x)),
            "With norm_first=True you normalised once more at the end. Then nothing passes through untouched.",
        ),
        Mistake(
            lambda x, f, norm, first: x + f(norm(x)) if first else norm(x) + f(x),
            "With norm_first=False you normalised x and then added. First the sum, then its norm: "
            "norm(x + sublayer(x)).",
        ),
        Mistake(
            lambda x, f, norm, first: x + f(norm(x)) if first else norm(x + f(norm(x))),
            "With norm_first=False the norm came twice. The sublayer gets x as it is; only the sum is normalised.",
        ),
        Mistake(
            lambda x, f, norm, first: f(norm(x)) if first else norm(x + f(x)),
            "With norm_first=True the residual is missing: x is added to what the sublayer gives.",
        ),
        Mistake(
            lambda x, f, norm, first: x + f(norm(x)) if first else norm(f(x)),
            "With norm_first=False the residual is missing: x is added to what the sublayer gives, before the norm.",
        ),
        Mistake(
            lambda x, f, norm, first: norm(x) + f(x) if first else norm(x + f(x)),
            "With norm_first=True it is the sublayer that gets norm(x); what is added to it is x itself.",
        ),
    ],
    hints=[
        "Two cases, one line each.",
        "norm_first=False, the paper's order: add, then normalise the sum.",
        "norm_first=True: the sublayer gets norm(x); x itself is added to what comes out.",
    ],
)


class EncoderLayerByHand(nn.Module):
    """Self-attention, then a feed-forward network; each within a residual and a norm."""

    def __init__(self, d_model: int, num_heads: int, d_ff: int, norm_first: bool):
        super().__init__()
        self.norm_first = norm_first
        self.self_attn = MultiHeadAttention(d_model, num_heads)
        self.linear1 = nn.Linear(d_model, d_ff)
        self.linear2 = nn.Linear(d_ff, d_model)
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)

    def forward(self, x: Tensor, allowed: Tensor | None = None) -> Tensor:
        """x (B, S, D) -> (B, S, D)"""
        if self.norm_first:
            x = x + self.attend(self.norm1(x), allowed)
            return x + self.feed_forward(self.norm2(x))
        x = self.norm1(x + self.attend(x, allowed))
        return self.norm2(x + self.feed_forward(x))

    def attend(self, x: Tensor, allowed: Tensor | None) -> Tensor:
        output, _ = self.self_attn(x, allowed=allowed)
        return output

    def feed_forward(self, x: Tensor) -> Tensor:
        return self.linear2(torch.relu(self.linear1(x)))


def _layer_with_weights(candidate, d_model, num_heads, d_ff, norm_first, x, allowed):
    """Build the learner's layer, give it the weights that the reference has too, and run it."""
    if not isinstance(candidate, type):
        raise TypeError("expected the class MyEncoderLayer itself, not one object made of it")
    if candidate.forward is nn.Module.forward:
        raise AttributeError("the class has no method forward: look at its name, and at its indentation")
    with torch.random.fork_rng():
        torch.manual_seed(0)
        weights = EncoderLayerByHand(d_model, num_heads, d_ff, norm_first).state_dict()
        weights = {name: x + 0.3 * torch.randn(x.shape) for name, x in weights.items()}  # norms that do something
        layer = candidate(d_model, num_heads, d_ff, norm_first)
    layer.load_state_dict(weights, strict=False)
    if lost := sorted({name.split(".")[0] for name in weights} - {name.split(".")[0] for name in layer.state_dict()}):
        raise AttributeError(f"{', '.join(lost)}: keep the layers of __init__ as they were named")
    return layer(x, allowed)


def _layer_cases(generator) -> list[Case]:
    def case(d, h, f, s, first, about="", allowed=None, gradients=False):
        inputs = {"d_model": d, "num_heads": h, "d_ff": f, "norm_first": first, "x": numbers(generator, 2, s, d)}
        return Case(inputs | {"allowed": allowed}, about=about, gradients=gradients)

    return [
        case(6, 2, 8, 4, True),
        case(6, 3, 8, 5, False),
        case(4, 2, 4, 4, True, "a padding mask (B, 1, 1, S)", masks.padding_from_lengths([4, 2])),
        case(4, 2, 5, 3, False, "a mask (S, S)", masks.causal(3)),
        case(6, 2, 8, 4, True, "gradients", gradients=True),
    ]


class _MaskForgotten(EncoderLayerByHand):
    def attend(self, x, allowed):
        return super().attend(x, None)


class _MaskInverted(EncoderLayerByHand):
    def attend(self, x, allowed):
        return super().attend(x, None if allowed is None else ~allowed)


class _NoRelu(EncoderLayerByHand):
    def feed_forward(self, x):
        return self.linear2(self.linear1(x))


class _AlwaysFirst(EncoderLayerByHand):
    def forward(self, x, allowed=None):
        x = x + self.attend(self.norm1(x), allowed)
        return x + self.feed_forward(self.norm2(x))


class _AlwaysLast(EncoderLayerByHand):
    def forward(self, x, allowed=None):
        x = self.norm1(x + self.attend(x, allowed))
        return self.norm2(x + self.feed_forward(x))


class _OrdersExchanged(EncoderLayerByHand):
    def forward(self, x, allowed=None):
        return (_AlwaysLast if self.norm_first else _AlwaysFirst).forward(self, x, allowed)


class _MaskAsKey(EncoderLayerByHand):
    def attend(self, x, allowed):
        return self.self_attn(x, allowed)[0]


class _WeightsToo(EncoderLayerByHand):
    def attend(self, x, allowed):
        return self.self_attn(x, allowed=allowed)


class _WeightsTooFirst(_WeightsToo):
    def forward(self, x, allowed=None):
        return self.attend(self.norm1(x) if self.norm_first else x, allowed) + x


class _ReluLate(EncoderLayerByHand):
    def feed_forward(self, x):
        return torch.relu(self.linear2(self.linear1(x)))


class _ReluTwice(EncoderLayerByHand):
    def feed_forward(self, x):
        return torch.relu(super().feed_forward(x))


class _NoSecondNorm(EncoderLayerByHand):
    def forward(self, x, allowed=None):
        if self.norm_first:
            x = x + self.attend(self.norm1(x), allowed)
            return x + self.feed_forward(x)
        x = self.norm1(x + self.attend(x, allowed))
        return x + self.feed_forward(x)


class _NeverNormalisedLast(EncoderLayerByHand):
    def forward(self, x, allowed=None):
        if self.norm_first:
            return super().forward(x, allowed)
        x = x + self.attend(x, allowed)
        return x + self.feed_forward(x)


class _OnlyOutputsNormalised(EncoderLayerByHand):
    def forward(self, x, allowed=None):
        if self.norm_first:
            return super().forward(x, allowed)
        x = x + self.norm1(self.attend(x, allowed))
        return x + self.norm2(self.feed_forward(x))


class _NoResidual(EncoderLayerByHand):
    def forward(self, x, allowed=None):
        if self.norm_first:
            return self.feed_forward(self.norm2(self.attend(self.norm1(x), allowed)))
        return self.norm2(self.feed_forward(self.norm1(self.attend(x, allowed))))


class _OneNorm(EncoderLayerByHand):
    def forward(self, x, allowed=None):
        if self.norm_first:
            x = x + self.attend(self.norm1(x), allowed)
            return x + self.feed_forward(self.norm1(x))
        x = self.norm1(x + self.attend(x, allowed))
        return self.norm1(x + self.feed_forward(x))


class _OnlyQueriesNormalised(EncoderLayerByHand):
    def forward(self, x, allowed=None):
        if not self.norm_first:
            return super().forward(x, allowed)
        x = x + self.self_attn(self.norm1(x), x, x, allowed=allowed)[0]
        return x + self.feed_forward(self.norm2(x))


class _NoSecondResidual(EncoderLayerByHand):
    def forward(self, x, allowed=None):
        if self.norm_first:
            x = x + self.attend(self.norm1(x), allowed)
            return self.feed_forward(self.norm2(x))
        x = self.norm1(x + self.attend(x, allowed))
        return self.norm2(self.feed_forward(x))


class _NoFirstResidual(EncoderLayerByHand):
    def forward(self, x, allowed=None):
        if self.norm_first:
            x = self.attend(self.norm1(x), allowed)
            return x + self.feed_forward(self.norm2(x))
        x = self.norm1(self.attend(x, allowed))
        return self.norm2(x + self.feed_forward(x))


class _FirstInputTwice(EncoderLayerByHand):
    def forward(self, x, allowed=None):
        if self.norm_first:
            after = x + self.attend(self.norm1(x), allowed)
            return x + self.feed_forward(self.norm2(after))
        after = self.norm1(x + self.attend(x, allowed))
        return self.norm2(x + self.feed_forward(after))


class _NormalisedStream(EncoderLayerByHand):
    def forward(self, x, allowed=None):
        if not self.norm_first:
            return super().forward(x, allowed)
        x = self.norm1(x)
        x = x + self.attend(x, allowed)
        x = self.norm2(x)
        return x + self.feed_forward(x)


def _in_one_order(mistake) -> tuple[type[nn.Module], ...]:
    """The same mistake, made in one of the two orders only."""

    def made_in(norm_first):
        class InOneOrder(mistake):
            def forward(self, x, allowed=None):
                way = mistake if self.norm_first == norm_first else EncoderLayerByHand
                return way.forward(self, x, allowed)

        return InOneOrder

    return made_in(True), made_in(False)


whole = Exercise(
    name="MyEncoderLayer",
    reference=EncoderLayerByHand,
    cases=_layer_cases,
    call=_layer_with_weights,
    outputs=("output",),
    mistakes=[
        Mistake(_MaskForgotten, "The mask is not handed on: allowed must reach self_attn."),
        Mistake(_MaskInverted, "The mask is turned around: allowed is True where a query may look."),
        Mistake(_NoRelu, "The feed-forward network has no max(0, …) between its two layers."),
        Mistake(_AlwaysFirst, "norm_first=False is not obeyed: then each sum is normalised, norm(x + sublayer(x))."),
        Mistake(_AlwaysLast, "norm_first=True is not obeyed: then each sublayer gets norm(x), and x is added to it."),
        Mistake(_OrdersExchanged, "The two orders are exchanged: norm_first=True is x + sublayer(norm(x))."),
        Mistake(
            _OneNorm,
            "norm1 is used twice. Each sublayer has its own norm, with its own weights.",
            also=_in_one_order(_OneNorm),
        ),
        Mistake(
            _NoSecondNorm,
            "The norm of the second part is missing: norm2 belongs to the feed-forward network.",
            also=_in_one_order(_NoSecondNorm),
        ),
        Mistake(
            _NeverNormalisedLast,
            "With norm_first=False nothing is normalised. Each sum is: norm(x + sublayer(x)).",
        ),
        Mistake(
            _OnlyOutputsNormalised,
            "With norm_first=False you normalised only what the sublayers give. The sum is normalised: "
            "norm(x + sublayer(x)).",
        ),
        Mistake(
            _MaskAsKey,
            "The mask went in as the *key*: that is the second thing that self_attn takes. Name it: allowed=allowed.",
            seen_in="a padding mask (B, 1, 1, S)",
        ),
        Mistake(
            _WeightsToo,
            "self_attn gives two things, output and weights, and both were added to x. Take the first.",
            also=(_WeightsTooFirst,),
        ),
        Mistake(
            _ReluLate,
            "max(0, …) came after linear2. It stands between the two layers; what they give may be below 0.",
            also=(_ReluTwice,),
        ),
        Mistake(
            _OnlyQueriesNormalised,
            "With norm_first only the queries were normalised. In self-attention queries, keys and values come from "
            "the same tensor: norm1(x).",
        ),
        Mistake(
            _NoSecondResidual,
            "The residual around the feed-forward network is missing.",
            also=_in_one_order(_NoSecondResidual),
        ),
        Mistake(
            _NoFirstResidual,
            "The residual around self-attention is missing.",
            also=_in_one_order(_NoFirstResidual),
        ),
        Mistake(
            _NoResidual,
            "There is no residual: around each of the two parts, x is added to what comes out.",
            also=_in_one_order(_NoResidual),
        ),
        Mistake(
            _FirstInputTwice,
            "The second residual carries the layer's first input. It carries what came out of the first part: what "
            "attention found would get lost.",
            also=_in_one_order(_FirstInputTwice),
        ),
        Mistake(
            _NormalisedStream,
            "With norm_first you added the *normalised* x. Keep x as it is, and normalise only what the sublayer gets.",
        ),
    ],
    hints=[
        "Two parts, each as in my_surround: self-attention with norm1, then the feed-forward network with norm2.",
        "self.self_attn(y, allowed=allowed) returns output and weights; you need the output.",
        "The feed-forward network is self.linear2(torch.relu(self.linear1(y))).",
    ],
)


def encode(x: Tensor, sublayers, norms) -> Tensor:
    """x (T, D) -> (T, D): a stack of sublayers, each in a residual with its norm first, and a norm at the end."""
    *inner, last = norms
    for sublayer, norm in zip(sublayers, inner):
        x = x + sublayer(norm(x))
    return last(x)


def _stack(candidate, x, w, gains):
    size = x.size(-1)
    sublayers = [lambda y, one=one: torch.tanh(y @ one) for one in w]
    norms = [lambda y, gain=gain: layer_norm(y, gain, torch.zeros(size), 0.1) for gain in gains]
    return candidate(x, sublayers, norms)


def _stack_cases(generator) -> list[Case]:
    return [
        Case(
            {"x": 2 * numbers(generator, t, d), "w": numbers(generator, n, d, d), "gains": numbers(generator, n + 1, d)}
        )
        for t, d, n in [(2, 3, 1), (3, 5, 2), (4, 4, 4)]
    ]


def _normalised_stream(x, sublayers, norms):
    *inner, last = norms
    for sublayer, norm in zip(sublayers, inner):
        x = norm(x)
        x = x + sublayer(x)
    return last(x)


def _norm_behind(x, sublayers, norms):
    for sublayer, norm in zip(sublayers, norms):
        x = x + norm(sublayer(x))
    return norms[-1](x)


def _norm_unused(x, sublayers, norms):
    for sublayer in sublayers:
        x = x + sublayer(x)
    return norms[-1](x)


def _no_residual(x, sublayers, norms):
    for sublayer, norm in zip(sublayers, norms):
        x = sublayer(norm(x))
    return norms[-1](x)


def _only_the_first(x, sublayers, norms):
    return norms[-1](x + sublayers[0](norms[0](x)))


def _no_last_norm(x, sublayers, norms):
    for sublayer, norm in zip(sublayers, norms):
        x = x + sublayer(norm(x))
    return x


def _last_norm_inside(x, sublayers, norms):
    *inner, last = norms
    for sublayer, norm in zip(sublayers, inner):
        x = last(x + sublayer(norm(x)))
    return x


def _post(x, sublayers, norms):
    *inner, last = norms
    for sublayer, norm in zip(sublayers, inner):
        x = norm(x + sublayer(x))
    return last(x)


bug_hunt = Exercise(
    name="mended_encoder",
    reference=encode,
    cases=_stack_cases,
    call=_stack,
    outputs=("output",),
    mistakes=[
        Mistake(
            _normalised_stream,
            "The bug is still there. A symptom: with sublayers that give nothing but 0, the result should be norms[-1] "
            "of x. It is something else.",
        ),
        Mistake(_norm_behind, "The norm stands behind the sublayer now. It comes before it: x + sublayer(norm(x))."),
        Mistake(_norm_unused, "The sublayers get x as it is. Each has a norm before it: x + sublayer(norm(x))."),
        Mistake(_no_residual, "x is not carried on: what a sublayer gives is added to x, and does not replace it."),
        Mistake(_only_the_first, "Only the first sublayer is used. Does `return` stand inside the loop?"),
        Mistake(
            _post,
            "Now it is the other order, Post-LN: each sum is normalised. Asked for is x + sublayer(norm(x)).",
        ),
        Mistake(_no_last_norm, "The norm at the end is missing: the stream has grown with every sublayer."),
        Mistake(_last_norm_inside, "The last norm stands inside the loop. It comes once, after all sublayers."),
    ],
    hints=[
        "Follow x itself: through which functions does it go on its way to the end?",
        "In norm-first order the norm is only in the branch to the sublayer.",
        "Two names help: normalised = norm(x), and x stays x.",
    ],
)
