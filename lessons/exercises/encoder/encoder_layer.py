"""Lesson 07, MyEncoderLayer: a whole encoder layer, with the norm first or last."""

import torch
from torch import Tensor, nn

from lessons import masks
from lessons.attention import MultiHeadAttention
from lessons.checking.calls import LayerLike
from lessons.checking.edits import edited
from lessons.checking.engine import Case, Exercise, Mistake, numbers


class EncoderLayerByHand(nn.Module):
    """Self-attention, then a feed-forward network; each with a residual connection and a norm."""

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
    def case(d, h, f, s, first, about="", allowed=None, gradients=False, batch=2):
        inputs = {"d_model": d, "num_heads": h, "d_ff": f, "norm_first": first, "x": numbers(generator, batch, s, d)}
        return Case(inputs | {"allowed": allowed}, about=about, gradients=gradients)

    return [
        case(6, 2, 8, 4, True),
        case(6, 3, 8, 5, False),
        case(4, 2, 4, 4, True, "a padding mask (B, 1, 1, S)", masks.padding_from_lengths([4, 2])),
        case(4, 2, 5, 3, False, "a mask (S, S)", masks.causal(3)),
        case(6, 2, 8, 4, True, "gradients", gradients=True),
        case(6, 2, 8, 4, False, "a batch of one", batch=1),
    ]


def _in_either_order(norm_first, norm_last, hint):
    """A mistake made in Pre-LN and Post-LN, or in one of them; each is given by the pieces that change."""
    both, first, last = (
        edited(EncoderLayerByHand, *edits) for edits in (norm_first + norm_last, norm_first, norm_last)
    )
    return Mistake(both, hint, also=(first, last))


layer = LayerLike(EncoderLayerByHand, "MyEncoderLayer", sizes=4)

whole = Exercise(
    lesson="07",
    name="MyEncoderLayer",
    reference=EncoderLayerByHand,
    cases=_layer_cases,
    call=layer,
    stages=layer.stages,
    outputs=("output",),
    mistakes=[
        Mistake(
            edited(EncoderLayerByHand, "self.self_attn(x, allowed=allowed)", "self.self_attn(x)"),
            "The mask is not passed on: self_attn must get allowed.",
        ),
        Mistake(
            edited(EncoderLayerByHand, "allowed=allowed", "allowed=None if allowed is None else ~allowed"),
            "The mask is inverted: allowed is True where a query may attend.",
        ),
        Mistake(
            edited(EncoderLayerByHand, "torch.relu(self.linear1(x))", "self.linear1(x)"),
            "The feed-forward network has no max(0, …) between its two layers.",
        ),
        Mistake(
            edited(EncoderLayerByHand, "if self.norm_first", "if True"),
            "norm_first=False is ignored. With it, each sum is normalized: norm(x + sublayer(x)).",
        ),
        Mistake(
            edited(EncoderLayerByHand, "if self.norm_first", "if False"),
            "norm_first=True is ignored. With it, each sublayer gets norm(x), and x is added to its output.",
        ),
        Mistake(
            edited(EncoderLayerByHand, "if self.norm_first", "if not self.norm_first"),
            "Pre-LN and Post-LN are swapped: norm_first=True is x + sublayer(norm(x)).",
        ),
        _in_either_order(
            [("self.feed_forward(self.norm2(x))", "self.feed_forward(self.norm1(x))")],
            [("self.norm2(x + ", "self.norm1(x + ")],
            "norm1 is used twice. Each sublayer has its own norm, with its own weights.",
        ),
        _in_either_order(
            [("self.attend(self.norm1(x), allowed)", "self.attend(x, allowed)")],
            [("self.norm1(x + self.attend(x, allowed))", "x + self.attend(x, allowed)")],
            "The first norm is missing: norm1 belongs to self-attention.",
        ),
        _in_either_order(
            [("self.feed_forward(self.norm2(x))", "self.feed_forward(x)")],
            [("self.norm2(x + self.feed_forward(x))", "x + self.feed_forward(x)")],
            "The second norm is missing: norm2 belongs to the feed-forward network.",
        ),
        Mistake(
            edited(
                EncoderLayerByHand,
                ("self.norm1(x + self.attend(x, allowed))", "x + self.attend(x, allowed)"),
                ("self.norm2(x + self.feed_forward(x))", "x + self.feed_forward(x)"),
            ),
            "With norm_first=False nothing is normalized. Each sum should be: norm(x + sublayer(x)).",
        ),
        Mistake(
            edited(EncoderLayerByHand, ("self.norm1(x + ", "x + self.norm1("), ("self.norm2(x + ", "x + self.norm2(")),
            "With norm_first=False you normalized only the sublayers' outputs. Normalize the sum: "
            "norm(x + sublayer(x)).",
        ),
        Mistake(
            edited(EncoderLayerByHand, "self.self_attn(x, allowed=allowed)", "self.self_attn(x, allowed)"),
            "The mask was passed as the *key*, the second argument of self_attn. Name it: allowed=allowed.",
            seen_in="a padding mask (B, 1, 1, S)",
        ),
        Mistake(
            edited(EncoderLayerByHand, "return output", "return output, _"),
            "self_attn returns two things, output and weights, and both were added to x. Take the first.",
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
            "max(0, …) came after linear2. It goes between the two layers; their output may be negative.",
            also=(
                edited(
                    EncoderLayerByHand,
                    "self.linear2(torch.relu(self.linear1(x)))",
                    "torch.relu(self.linear2(torch.relu(self.linear1(x))))",
                ),
            ),
        ),
        Mistake(
            edited(EncoderLayerByHand, "return output", "return torch.relu(output)"),
            "The output of self-attention went through max(0, …). That belongs to the feed-forward network alone, "
            "between its two layers.",
            also=(
                edited(
                    EncoderLayerByHand,
                    ("return output", "return torch.relu(output)"),
                    ("torch.relu(self.linear1(x))", "self.linear1(x)"),
                ),
            ),
        ),
        Mistake(
            edited(
                EncoderLayerByHand,
                "self.attend(self.norm1(x), allowed)",
                "self.self_attn(self.norm1(x), x, x, allowed=allowed)[0]",
            ),
            "With norm_first only the queries were normalized. In self-attention, queries, keys and values come from "
            "the same tensor: norm1(x).",
        ),
        _in_either_order(
            [("return x + self", "return self")],
            [("self.norm2(x + ", "self.norm2(")],
            "The residual connection around the feed-forward network is missing.",
        ),
        _in_either_order(
            [("x = x + self", "x = self")],
            [("self.norm1(x + ", "self.norm1(")],
            "The residual connection around self-attention is missing.",
        ),
        _in_either_order(
            [("x = x + self", "x = self"), ("return x + self", "return self")],
            [("self.norm1(x + ", "self.norm1("), ("self.norm2(x + ", "self.norm2(")],
            "Residual connections are missing: x is added to the output of each of the two sublayers.",
        ),
        _in_either_order(
            [("x = x + self", "y = x + self"), ("self.norm2(x))", "self.norm2(y))")],
            [("x = self.norm1", "y = self.norm1"), ("x + self.feed_forward(x)", "x + self.feed_forward(y)")],
            "The second residual connection adds the input of the layer. Add what the first sublayer left, so that "
            "the output of attention stays in the sum.",
        ),
        Mistake(
            edited(
                EncoderLayerByHand,
                ("x + self.attend(self.norm1", "self.norm1(x) + self.attend(self.norm1"),
                ("x + self.feed_forward(self", "self.norm2(x) + self.feed_forward(self"),
            ),
            "With norm_first you added the *normalized* x. Keep x as it is, and normalize only the sublayer's input.",
            also=(
                edited(EncoderLayerByHand, "x + self.attend(self.norm1", "self.norm1(x) + self.attend(self.norm1"),
                edited(EncoderLayerByHand, "x + self.feed_forward(self", "self.norm2(x) + self.feed_forward(self"),
            ),
        ),
        Mistake(
            edited(EncoderLayerByHand, "torch.relu(self.linear1(x))", "nn.functional.gelu(self.linear1(x))"),
            "That is GELU, which BERT and GPT-2 use. The paper uses max(0, …), between linear1 and linear2.",
        ),
        _in_either_order(
            [("x = x + self.attend", "y = x + self.attend"), ("return x + self", "return y + self")],
            [
                ("x = self.norm1(x + self.attend", "y = self.norm1(x + self.attend"),
                ("self.norm2(x + ", "self.norm2(y + "),
            ],
            "The two sublayers work in parallel: both get the input of the layer. The feed-forward network gets what "
            "self-attention has left.",
        ),
        _in_either_order(
            [("self.norm1(x)", "self.norm2(x)")],
            [("self.norm1(x + ", "self.norm2(x + ")],
            "norm2 is used in place of norm1. Self-attention has norm1, the feed-forward network norm2.",
        ),
        _in_either_order(
            [("self.norm1(x)", "self.norm2(x)"), ("self.norm2(x))", "self.norm1(x))")],
            [("self.norm1(x + ", "self.norm2(x + "), ("self.norm2(x + ", "self.norm1(x + ")],
            "The norms are swapped: self-attention has norm1, the feed-forward network norm2.",
        ),
        Mistake(
            edited(
                EncoderLayerByHand,
                ("x + self.attend(self.norm1(x), allowed)", "x + self.norm1(self.attend(x, allowed))"),
                ("x + self.feed_forward(self.norm2(x))", "x + self.norm2(self.feed_forward(x))"),
            ),
            "With norm_first=True you normalized the sublayers' outputs. The norm goes before the sublayer: "
            "x + sublayer(norm(x)).",
        ),
        Mistake(
            edited(
                EncoderLayerByHand,
                "return x + self.feed_forward(self.norm2(x))",
                "return self.norm2(x + self.feed_forward(self.norm2(x)))",
            ),
            "With norm_first=True you normalized the last sum, too. In Pre-LN the sum stays as it is; the last norm of "
            "the stack comes after all layers.",
        ),
        Mistake(
            edited(
                EncoderLayerByHand,
                "self.attend(self.norm1(x), allowed)",
                "self.self_attn(self.norm1(x), self.norm1(x), x, allowed=allowed)[0]",
            ),
            "With norm_first the values were not normalized. In self-attention, queries, keys and values come from the "
            "same tensor: norm1(x).",
        ),
        Mistake(
            edited(
                EncoderLayerByHand,
                ("x = self.norm1(x + self.attend(x, allowed))", "x = x + self.attend(x, allowed)"),
                ("x + self.feed_forward(x)", "x + self.feed_forward(self.norm1(x))"),
            ),
            "With norm_first=False the second residual connection adds the sum from before norm1. In Post-LN the norm "
            "is on the path of x: what norm1 gives goes into the feed-forward network, and is added to its output.",
        ),
        Mistake(
            edited(EncoderLayerByHand, "torch.relu(self.linear1(x))", "self.linear1(torch.relu(x))"),
            "max(0, …) came before linear1. It goes between the two layers.",
        ),
        _in_either_order(
            [("return x + self.feed_forward(self.norm2(x))", "return x")],
            [("return self.norm2(x + self.feed_forward(x))", "return x")],
            "The feed-forward network is missing: a layer has two sublayers.",
        ),
        Mistake(
            edited(
                EncoderLayerByHand,
                "return x + self.feed_forward(self.norm2(x))",
                "return self.norm2(x + self.feed_forward(x))",
            ),
            "With norm_first=True the second sublayer is still Post-LN. Both are Pre-LN then: "
            "x + feed_forward(norm2(x)).",
        ),
        Mistake(
            edited(
                EncoderLayerByHand,
                "x = self.norm1(x + self.attend(x, allowed))",
                "x = x + self.attend(self.norm1(x), allowed)",
            ),
            "With norm_first=False the first sublayer is still Pre-LN. Both are Post-LN then: norm1(x + attention(x)).",
        ),
        Mistake(
            edited(EncoderLayerByHand, "self.attend(self.norm1(x), allowed)", "self.attend(self.norm1(x), None)"),
            "With norm_first=True the mask is not passed on: self_attn must get allowed in Pre-LN and in Post-LN.",
        ),
        Mistake(
            edited(EncoderLayerByHand, "self.attend(x, allowed)", "self.attend(x, None)"),
            "With norm_first=False the mask is not passed on: self_attn must get allowed in Pre-LN and in Post-LN.",
        ),
        Mistake(
            edited(
                EncoderLayerByHand,
                "return x + self.feed_forward(self.norm2(x))",
                "x = x + self.feed_forward(self.norm2(x))",
            ),
            "With norm_first both sublayers run, and then those of Post-LN once more: a return or an else is missing.",
        ),
    ],
    hints=[
        "Two sublayers, each as in my_surround: self-attention with norm1, then the feed-forward network with norm2.",
        "self.self_attn(y, allowed=allowed) returns output and weights; you need the output.",
        "The feed-forward network is self.linear2(torch.relu(self.linear1(y))).",
    ],
    solution="""
        class MyEncoderLayer(nn.Module):
            def __init__(self, d_model, num_heads, d_ff, norm_first):
                super().__init__()
                self.norm_first = norm_first
                self.self_attn = MultiHeadAttention(d_model, num_heads)
                self.linear1 = nn.Linear(d_model, d_ff)
                self.linear2 = nn.Linear(d_ff, d_model)
                self.norm1 = nn.LayerNorm(d_model)
                self.norm2 = nn.LayerNorm(d_model)

            def attention(self, x, allowed):
                output, _ = self.self_attn(x, x, x, allowed)
                return output

            def feed_forward(self, x):
                return self.linear2(torch.relu(self.linear1(x)))

            def forward(self, x, allowed=None):
                if self.norm_first:
                    x = x + self.attention(self.norm1(x), allowed)
                    return x + self.feed_forward(self.norm2(x))
                x = self.norm1(x + self.attention(x, allowed))
                return self.norm2(x + self.feed_forward(x))
    """,
    in_package="lessons.layers.EncoderLayer",
)
