"""Lesson 08, MyDecoderLayer: a whole decoder layer, with the norm first or last."""

import torch
from torch import Tensor, nn

from lessons import masks
from lessons.attention import MultiHeadAttention
from lessons.checking.calls import LayerLike
from lessons.checking.edits import edited
from lessons.checking.engine import Case, Exercise, Mistake, numbers


class DecoderLayerByHand(nn.Module):
    """Self-attention, cross-attention, feed-forward network; each with a residual connection and a norm."""

    def __init__(self, d_model: int, num_heads: int, d_ff: int, norm_first: bool):
        super().__init__()
        self.norm_first = norm_first
        self.self_attn = MultiHeadAttention(d_model, num_heads)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.linear1 = nn.Linear(d_model, d_ff)
        self.linear2 = nn.Linear(d_ff, d_model)
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.norm3 = nn.LayerNorm(d_model)

    def forward(self, x: Tensor, memory: Tensor, tgt_allowed=None, cross_allowed=None) -> Tensor:
        """x (B, T, D), memory (B, S, D) -> (B, T, D)"""
        if self.norm_first:
            x = x + self.look_at_itself(self.norm1(x), tgt_allowed)
            x = x + self.look_at_memory(self.norm2(x), memory, cross_allowed)
            return x + self.feed_forward(self.norm3(x))
        x = self.norm1(x + self.look_at_itself(x, tgt_allowed))
        x = self.norm2(x + self.look_at_memory(x, memory, cross_allowed))
        return self.norm3(x + self.feed_forward(x))

    def look_at_itself(self, y, allowed):
        return self.self_attn(y, allowed=allowed)[0]

    def look_at_memory(self, y, memory, allowed):
        return self.cross_attn(y, memory, memory, allowed)[0]

    def feed_forward(self, y):
        return self.linear2(torch.relu(self.linear1(y)))


def _layer_cases(generator) -> list[Case]:
    def case(d, h, f, t, s, first, about="", tgt=None, cross=None, gradients=False, batch=2):
        sizes = {"d_model": d, "num_heads": h, "d_ff": f, "norm_first": first}
        sides = {"x": numbers(generator, batch, t, d), "memory": numbers(generator, batch, s, d) + 1}
        return Case(sizes | sides | {"tgt_allowed": tgt, "cross_allowed": cross}, about=about, gradients=gradients)

    padded = masks.padding_from_lengths([4, 2])
    return [
        case(6, 2, 8, 3, 5, True),
        case(6, 3, 8, 4, 4, False),
        case(4, 2, 5, 4, 4, True, "both masks, as many source as target tokens", masks.causal(4), padded),
        case(4, 2, 5, 3, 4, False, "both masks", masks.causal(3), padded),
        case(6, 2, 8, 3, 5, True, "gradients", gradients=True),
        case(6, 2, 8, 3, 5, False, "a batch of one", batch=1),
    ]


def _inverted(allowed):
    return None if allowed is None else ~allowed


def _causal_too(y, allowed):
    causal = masks.causal(y.size(1))
    return causal if allowed is None else causal & allowed


_PARALLEL_FIRST = (
    ("x = x + self.look_at_itself", "y = x + self.look_at_itself"),
    ("x = x + self.look_at_memory", "y = y + self.look_at_memory"),
    ("return x + self.feed", "return y + self.feed"),
)
_PARALLEL_LAST = (
    ("x = self.norm1(x + ", "y = self.norm1(x + "),
    ("x = self.norm2(x + ", "y = self.norm2(y + "),
    ("self.norm3(x + ", "self.norm3(y + "),
)

layer = LayerLike(DecoderLayerByHand, "MyDecoderLayer", sizes=4)

whole = Exercise(
    lesson="08",
    name="MyDecoderLayer",
    reference=DecoderLayerByHand,
    cases=_layer_cases,
    call=layer,
    stages=layer.stages,
    outputs=("output",),
    mistakes=[
        Mistake(
            edited(DecoderLayerByHand, "tgt_allowed=None, cross_allowed=None", "cross_allowed=None, tgt_allowed=None"),
            "The masks are swapped: tgt_allowed is for self-attention, cross_allowed for cross-attention. With as many "
            "source as target tokens there is no error.",
            seen_in="both masks, as many source as target tokens",
        ),
        Mistake(
            edited(DecoderLayerByHand, "self.self_attn(y, allowed=allowed)", "self.self_attn(y)"),
            "tgt_allowed does not reach self_attn: each position attends to later ones.",
            seen_in="both masks, as many source as target tokens",
        ),
        Mistake(
            edited(
                DecoderLayerByHand,
                ("memory, cross_allowed)\n            return", "memory, tgt_allowed)\n            return"),
                ("memory, cross_allowed))\n        return", "memory, tgt_allowed))\n        return"),
            ),
            "Cross-attention got tgt_allowed as well. Its keys are source tokens: it needs cross_allowed.",
            seen_in="both masks, as many source as target tokens",
        ),
        Mistake(
            edited(
                DecoderLayerByHand, "self.cross_attn(y, memory, memory, allowed)", "self.cross_attn(y, memory, memory)"
            ),
            "cross_allowed does not reach cross_attn: source padding gets weight.",
            seen_in="both masks, as many source as target tokens",
        ),
        Mistake(
            edited(DecoderLayerByHand, "self.cross_attn(y, memory, memory, allowed)", "self.cross_attn(y, y, y)"),
            "cross_attn got x for keys and values: that is self-attention again. Pass memory.",
        ),
        Mistake(
            edited(DecoderLayerByHand, "self.cross_attn(y, memory, memory, allowed)", "self.cross_attn(memory, y, y)"),
            "x and memory are swapped: the queries come from x, keys and values from memory.",
            also=(
                edited(
                    DecoderLayerByHand,
                    "self.cross_attn(y, memory, memory, allowed)",
                    "self.cross_attn(memory, y, y, allowed)",
                ),
                edited(DecoderLayerByHand, "(self.norm2(x), memory, cross", "(memory, self.norm2(x), cross"),
                edited(DecoderLayerByHand, "(x, memory, cross", "(memory, x, cross"),
            ),
        ),
        Mistake(
            edited(DecoderLayerByHand, "memory, memory, allowed", "memory, y, allowed"),
            "cross_attn got x for its keys or its values. They belong together: both are memory.",
            also=(edited(DecoderLayerByHand, "memory, memory, allowed", "y, memory, allowed"),),
        ),
        Mistake(
            edited(DecoderLayerByHand, "self.norm2(x), memory", "self.norm2(x), self.norm2(memory)"),
            "You normalized the memory, too. Only x goes through norm2.",
            also=(
                edited(
                    DecoderLayerByHand,
                    "(y, memory, memory, allowed)",
                    "(y, self.norm2(memory), self.norm2(memory), allowed)",
                ),
            ),
        ),
        Mistake(
            edited(DecoderLayerByHand, "self.cross_attn(y", "self.self_attn(y"),
            "self_attn was used for the memory. Cross-attention has its own module, cross_attn.",
        ),
        Mistake(
            edited(
                DecoderLayerByHand,
                "self.look_at_itself(self.norm1(x), tgt_allowed)",
                "self.self_attn(self.norm1(x), x, x, tgt_allowed)[0]",
            ),
            "With norm_first, keys and values of self-attention come from x without its norm. Queries, keys and values "
            "are all made from norm1(x).",
        ),
        Mistake(
            edited(
                DecoderLayerByHand,
                "self.linear2(torch.relu(self.linear1(y)))",
                "torch.relu(self.linear2(self.linear1(y)))",
            ),
            "max(0, …) comes after the second layer of the feed-forward network. It belongs between the two.",
        ),
        Mistake(
            edited(DecoderLayerByHand, "torch.relu(self.linear1(y))", "self.linear1(y)"),
            "The feed-forward network has no max(0, …) between its two layers.",
        ),
        Mistake(
            edited(DecoderLayerByHand, "if self.norm_first", "if True"),
            "norm_first=False is ignored. With it, each sum is normalized: norm(x + sublayer(x)).",
        ),
        Mistake(
            edited(DecoderLayerByHand, "if self.norm_first", "if False"),
            "norm_first=True is ignored. With it, each sublayer gets norm(x), and x is added to its output.",
        ),
        Mistake(
            edited(
                DecoderLayerByHand,
                ("            x = x + self.look_at_memory(self.norm2(x), memory, cross_allowed)\n", ""),
                ("        x = self.norm2(x + self.look_at_memory(x, memory, cross_allowed))\n", ""),
            ),
            "The memory is not used: cross-attention, with norm2, is missing.",
        ),
        Mistake(
            edited(
                DecoderLayerByHand,
                ("self.self_attn(y, allowed=allowed)", "self.self_attn(y)"),
                ("self.cross_attn(y, memory, memory, allowed)", "self.cross_attn(y, memory, memory)"),
            ),
            "Neither mask reaches its attention: a position attends to later ones, and to source padding.",
            seen_in="both masks, as many source as target tokens",
        ),
        Mistake(
            edited(
                DecoderLayerByHand,
                ("allowed=allowed", "allowed=_inverted(allowed)"),
                ("memory, memory, allowed", "memory, memory, _inverted(allowed)"),
            ),
            "The masks are inverted on the way. In MultiHeadAttention True = may attend, as it is here.",
            seen_in="both masks, as many source as target tokens",
        ),
        Mistake(
            edited(DecoderLayerByHand, "allowed=allowed", "allowed=_causal_too(y, allowed)"),
            "You made a causal mask in the layer. The layer takes its masks as they come: if self-attention must be "
            "causal, tgt_allowed says so.",
        ),
        Mistake(
            edited(DecoderLayerByHand, "self.self_attn(y, allowed=allowed)", "self.self_attn(y, allowed)"),
            "The mask was passed as the key, the second argument of self_attn. Pass it by name: allowed=…",
            seen_in="both masks, as many source as target tokens",
        ),
        Mistake(
            edited(
                DecoderLayerByHand, "self.cross_attn(y, memory, memory, allowed)", "self.cross_attn(y, memory, allowed)"
            ),
            "The mask was passed as the value, the third argument of cross_attn. Pass it by name: allowed=…",
            seen_in="both masks, as many source as target tokens",
        ),
        Mistake(
            edited(DecoderLayerByHand, "self.self_attn(y, allowed=allowed)[0]", "self.self_attn(y, allowed=allowed)"),
            "An attention returns two things, output and weights. Use the output: …[0].",
            also=(
                edited(
                    DecoderLayerByHand, "self.look_at_itself(self.norm1(x), ", "self.self_attn(self.norm1(x), allowed="
                ),
                edited(DecoderLayerByHand, "self.look_at_itself(x, ", "self.self_attn(x, allowed="),
            ),
        ),
        Mistake(
            edited(
                DecoderLayerByHand,
                ("self.norm2(x)", "self.norm3(x)"),
                ("self.norm3(x)", "self.norm2(x)"),
                ("self.norm2(x + ", "self.norm3(x + "),
                ("self.norm3(x + ", "self.norm2(x + "),
            ),
            "norm2 and norm3 are swapped: norm2 belongs to cross-attention, norm3 to the feed-forward network.",
        ),
        Mistake(
            edited(
                DecoderLayerByHand,
                ("self.norm2(x)", "self.norm1(x)"),
                ("self.norm3(x)", "self.norm1(x)"),
                ("self.norm2(x + ", "self.norm1(x + "),
                ("self.norm3(x + ", "self.norm1(x + "),
            ),
            "A norm is used more than once. Each of the three sublayers has its own: norm1, norm2, norm3.",
            also=(
                edited(DecoderLayerByHand, ("self.norm3(x)", "self.norm2(x)"), ("self.norm3(x + ", "self.norm2(x + ")),
                edited(DecoderLayerByHand, ("self.norm2(x)", "self.norm1(x)"), ("self.norm2(x + ", "self.norm1(x + ")),
            ),
        ),
        Mistake(
            edited(DecoderLayerByHand, "if self.norm_first", "if not self.norm_first"),
            "Pre-LN and Post-LN are swapped: norm_first=True is x + sublayer(norm(x)).",
        ),
        Mistake(
            edited(
                DecoderLayerByHand,
                ("x + self.look_at_itself(self", "self.norm1(x) + self.look_at_itself(self"),
                ("x + self.look_at_memory(self", "self.norm2(x) + self.look_at_memory(self"),
                ("x + self.feed_forward(self", "self.norm3(x) + self.feed_forward(self"),
            ),
            "With norm_first you added norm(x). Add x itself: only the sublayer gets norm(x).",
            also=(
                edited(DecoderLayerByHand, "x + self.look_at_itself(self", "self.norm1(x) + self.look_at_itself(self"),
                edited(DecoderLayerByHand, "x + self.look_at_memory(self", "self.norm2(x) + self.look_at_memory(self"),
                edited(DecoderLayerByHand, "x + self.feed_forward(self", "self.norm3(x) + self.feed_forward(self"),
            ),
        ),
        Mistake(
            edited(DecoderLayerByHand, "torch.relu(self.linear1(y))", "nn.functional.gelu(self.linear1(y))"),
            "That is GELU, which BERT and GPT-2 use. The paper uses max(0, …), between linear1 and linear2.",
        ),
        Mistake(
            edited(
                DecoderLayerByHand,
                (
                    "x = x + self.look_at_itself(self.norm1(x), tgt_allowed)",
                    "x = x + self.look_at_memory(self.norm2(x), memory, cross_allowed)",
                ),
                (
                    "x = x + self.look_at_memory(self.norm2(x), memory, cross_allowed)",
                    "x = x + self.look_at_itself(self.norm1(x), tgt_allowed)",
                ),
                (
                    "x = self.norm1(x + self.look_at_itself(x, tgt_allowed))",
                    "x = self.norm2(x + self.look_at_memory(x, memory, cross_allowed))",
                ),
                (
                    "x = self.norm2(x + self.look_at_memory(x, memory, cross_allowed))",
                    "x = self.norm1(x + self.look_at_itself(x, tgt_allowed))",
                ),
            ),
            "Cross-attention came first. Self-attention comes first, then cross-attention.",
        ),
        Mistake(
            edited(DecoderLayerByHand, *_PARALLEL_FIRST, *_PARALLEL_LAST),
            "The sublayers work in parallel: they get the same x. Each gets what the one before it has left.",
            also=(edited(DecoderLayerByHand, *_PARALLEL_FIRST), edited(DecoderLayerByHand, *_PARALLEL_LAST)),
        ),
        Mistake(
            edited(
                DecoderLayerByHand,
                ("x = x + self.look_at_itself", "x = self.look_at_itself"),
                ("x = x + self.look_at_memory", "x = self.look_at_memory"),
                ("return x + self.feed", "return self.feed"),
                ("self.norm1(x + ", "self.norm1("),
                ("self.norm2(x + ", "self.norm2("),
                ("self.norm3(x + ", "self.norm3("),
            ),
            "There is no residual connection: x is added to the output of each of the three sublayers.",
        ),
        Mistake(
            edited(
                DecoderLayerByHand,
                ("x = x + self.look_at_memory", "x = self.look_at_memory"),
                ("self.norm2(x + ", "self.norm2("),
            ),
            "The residual connection around cross-attention is missing: what self-attention left is not added.",
        ),
        Mistake(
            edited(
                DecoderLayerByHand, ("return x + self.feed", "return self.feed"), ("self.norm3(x + ", "self.norm3(")
            ),
            "The residual connection around the feed-forward network is missing.",
        ),
        Mistake(
            edited(
                DecoderLayerByHand,
                (
                    "self.norm1(x + self.look_at_itself(x, tgt_allowed))",
                    "x + self.norm1(self.look_at_itself(x, tgt_allowed))",
                ),
                (
                    "self.norm2(x + self.look_at_memory(x, memory, cross_allowed))",
                    "x + self.norm2(self.look_at_memory(x, memory, cross_allowed))",
                ),
                ("self.norm3(x + self.feed_forward(x))", "x + self.norm3(self.feed_forward(x))"),
            ),
            "With norm_first=False you normalized the output of each sublayer. Normalize the "
            "sum: norm(x + sublayer(x)).",
        ),
    ],
    hints=[
        "Each sublayer as in my_surround: self_attn with norm1, cross_attn with norm2, feed-forward with norm3.",
        "self.cross_attn(y, memory, memory, cross_allowed) returns output and weights; you need the output.",
        "Self-attention gets tgt_allowed, cross-attention gets cross_allowed.",
    ],
    solution="""
        class MyDecoderLayer(nn.Module):
            def __init__(self, d_model, num_heads, d_ff, norm_first):
                super().__init__()
                self.norm_first = norm_first
                self.self_attn = MultiHeadAttention(d_model, num_heads)
                self.cross_attn = MultiHeadAttention(d_model, num_heads)
                self.linear1 = nn.Linear(d_model, d_ff)
                self.linear2 = nn.Linear(d_ff, d_model)
                self.norm1 = nn.LayerNorm(d_model)
                self.norm2 = nn.LayerNorm(d_model)
                self.norm3 = nn.LayerNorm(d_model)

            def self_attention(self, x, allowed):
                output, _ = self.self_attn(x, x, x, allowed)
                return output

            def cross_attention(self, x, memory, allowed):
                output, _ = self.cross_attn(x, memory, memory, allowed)
                return output

            def feed_forward(self, x):
                return self.linear2(torch.relu(self.linear1(x)))

            def forward(self, x, memory, tgt_allowed=None, cross_allowed=None):
                if self.norm_first:
                    x = x + self.self_attention(self.norm1(x), tgt_allowed)
                    x = x + self.cross_attention(self.norm2(x), memory, cross_allowed)
                    return x + self.feed_forward(self.norm3(x))
                x = self.norm1(x + self.self_attention(x, tgt_allowed))
                x = self.norm2(x + self.cross_attention(x, memory, cross_allowed))
                return self.norm3(x + self.feed_forward(x))
    """,
    in_package="lessons.layers.DecoderLayer",
)
