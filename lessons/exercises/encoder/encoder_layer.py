"""Lesson 07: MyEncoderLayer."""

import torch
from torch import Tensor, nn

from lessons import masks
from lessons.attention import MultiHeadAttention
from lessons.checking.calls import layer_like
from lessons.checking.engine import Case, Exercise, Mistake, numbers


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
    lesson="07",
    name="MyEncoderLayer",
    reference=EncoderLayerByHand,
    cases=_layer_cases,
    call=layer_like(EncoderLayerByHand, "MyEncoderLayer", sizes=4),
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
