"""Lesson 07, MyEncoderLayer: a whole encoder layer, with the norm first or last."""

import torch
from torch import Tensor, nn

from lessons import masks
from lessons.attention import MultiHeadAttention
from lessons.checking.calls import layer_like
from lessons.checking.edits import edited
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


def _in_either_order(norm_first, norm_last, hint):
    """A mistake made in both orders, or in one of them; each order is given by the pieces that change."""
    both, first, last = (
        edited(EncoderLayerByHand, *edits) for edits in (norm_first + norm_last, norm_first, norm_last)
    )
    return Mistake(both, hint, also=(first, last))


whole = Exercise(
    lesson="07",
    name="MyEncoderLayer",
    reference=EncoderLayerByHand,
    cases=_layer_cases,
    call=layer_like(EncoderLayerByHand, "MyEncoderLayer", sizes=4),
    outputs=("output",),
    mistakes=[
        Mistake(
            edited(EncoderLayerByHand, "self.self_attn(x, allowed=allowed)", "self.self_attn(x)"),
            "The mask is not handed on: allowed must reach self_attn.",
        ),
        Mistake(
            edited(EncoderLayerByHand, "allowed=allowed", "allowed=None if allowed is None else ~allowed"),
            "The mask is turned around: allowed is True where a query may look.",
        ),
        Mistake(
            edited(EncoderLayerByHand, "torch.relu(self.linear1(x))", "self.linear1(x)"),
            "The feed-forward network has no max(0, …) between its two layers.",
        ),
        Mistake(
            edited(EncoderLayerByHand, "if self.norm_first", "if True"),
            "norm_first=False is not obeyed: then each sum is normalised, norm(x + sublayer(x)).",
        ),
        Mistake(
            edited(EncoderLayerByHand, "if self.norm_first", "if False"),
            "norm_first=True is not obeyed: then each sublayer gets norm(x), and x is added to it.",
        ),
        Mistake(
            edited(EncoderLayerByHand, "if self.norm_first", "if not self.norm_first"),
            "The two orders are exchanged: norm_first=True is x + sublayer(norm(x)).",
        ),
        _in_either_order(
            [("self.feed_forward(self.norm2(x))", "self.feed_forward(self.norm1(x))")],
            [("self.norm2(x + ", "self.norm1(x + ")],
            "norm1 is used twice. Each sublayer has its own norm, with its own weights.",
        ),
        _in_either_order(
            [("self.feed_forward(self.norm2(x))", "self.feed_forward(x)")],
            [("self.norm2(x + self.feed_forward(x))", "x + self.feed_forward(x)")],
            "The norm of the second part is missing: norm2 belongs to the feed-forward network.",
        ),
        Mistake(
            edited(
                EncoderLayerByHand,
                ("self.norm1(x + self.attend(x, allowed))", "x + self.attend(x, allowed)"),
                ("self.norm2(x + self.feed_forward(x))", "x + self.feed_forward(x)"),
            ),
            "With norm_first=False nothing is normalised. Each sum is: norm(x + sublayer(x)).",
        ),
        Mistake(
            edited(EncoderLayerByHand, ("self.norm1(x + ", "x + self.norm1("), ("self.norm2(x + ", "x + self.norm2(")),
            "With norm_first=False you normalised only what the sublayers give. The sum is normalised: "
            "norm(x + sublayer(x)).",
        ),
        Mistake(
            edited(EncoderLayerByHand, "self.self_attn(x, allowed=allowed)", "self.self_attn(x, allowed)"),
            "The mask went in as the *key*: that is the second thing that self_attn takes. Name it: allowed=allowed.",
            seen_in="a padding mask (B, 1, 1, S)",
        ),
        Mistake(
            edited(EncoderLayerByHand, "return output", "return output, _"),
            "self_attn gives two things, output and weights, and both were added to x. Take the first.",
            also=(
                edited(
                    EncoderLayerByHand,
                    ("return output", "return output, _"),
                    ("x + self.attend(self.norm1(x), allowed)", "self.attend(self.norm1(x), allowed) + x"),
                    ("x + self.attend(x, allowed)", "self.attend(x, allowed) + x"),
                ),
            ),
        ),
        Mistake(
            edited(
                EncoderLayerByHand,
                "self.linear2(torch.relu(self.linear1(x)))",
                "torch.relu(self.linear2(self.linear1(x)))",
            ),
            "max(0, …) came after linear2. It stands between the two layers; what they give may be below 0.",
            also=(
                edited(
                    EncoderLayerByHand,
                    "self.linear2(torch.relu(self.linear1(x)))",
                    "torch.relu(self.linear2(torch.relu(self.linear1(x))))",
                ),
            ),
        ),
        Mistake(
            edited(
                EncoderLayerByHand,
                "self.attend(self.norm1(x), allowed)",
                "self.self_attn(self.norm1(x), x, x, allowed=allowed)[0]",
            ),
            "With norm_first only the queries were normalised. In self-attention queries, keys and values come from "
            "the same tensor: norm1(x).",
        ),
        _in_either_order(
            [("return x + self", "return self")],
            [("self.norm2(x + ", "self.norm2(")],
            "The residual around the feed-forward network is missing.",
        ),
        _in_either_order(
            [("x = x + self", "x = self")],
            [("self.norm1(x + ", "self.norm1(")],
            "The residual around self-attention is missing.",
        ),
        _in_either_order(
            [("x = x + self", "x = self"), ("return x + self", "return self")],
            [("self.norm1(x + ", "self.norm1("), ("self.norm2(x + ", "self.norm2(")],
            "There is no residual: around each of the two parts, x is added to what comes out.",
        ),
        _in_either_order(
            [("x = x + self", "y = x + self"), ("self.norm2(x))", "self.norm2(y))")],
            [("x = self.norm1", "y = self.norm1"), ("x + self.feed_forward(x)", "x + self.feed_forward(y)")],
            "The second residual carries the layer's first input. It carries what came out of the first part: what "
            "attention found would get lost.",
        ),
        Mistake(
            edited(
                EncoderLayerByHand,
                ("x + self.attend(self.norm1", "self.norm1(x) + self.attend(self.norm1"),
                ("x + self.feed_forward(self", "self.norm2(x) + self.feed_forward(self"),
            ),
            "With norm_first you added the *normalised* x. Keep x as it is, and normalise only what the sublayer gets.",
        ),
    ],
    hints=[
        "Two parts, each as in my_surround: self-attention with norm1, then the feed-forward network with norm2.",
        "self.self_attn(y, allowed=allowed) returns output and weights; you need the output.",
        "The feed-forward network is self.linear2(torch.relu(self.linear1(y))).",
    ],
)
