"""Lesson 08, MyDecoderLayer: a whole decoder layer, with the norm first or last."""

import torch
from torch import Tensor, nn

from lessons import masks
from lessons.attention import MultiHeadAttention
from lessons.checking.calls import layer_like
from lessons.checking.edits import edited
from lessons.checking.engine import Case, Exercise, Mistake, numbers


class DecoderLayerByHand(nn.Module):
    """Self-attention, cross-attention to the memory, a feed-forward network; each within a residual and a norm."""

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
    def case(d, h, f, t, s, first, about="", tgt=None, cross=None, gradients=False):
        sizes = {"d_model": d, "num_heads": h, "d_ff": f, "norm_first": first}
        sides = {"x": numbers(generator, 2, t, d), "memory": numbers(generator, 2, s, d) + 1}
        return Case(sizes | sides | {"tgt_allowed": tgt, "cross_allowed": cross}, about=about, gradients=gradients)

    padded = masks.padding_from_lengths([4, 2])
    return [
        case(6, 2, 8, 3, 5, True),
        case(6, 3, 8, 4, 4, False),
        case(4, 2, 5, 4, 4, True, "both masks, as many source as target tokens", masks.causal(4), padded),
        case(4, 2, 5, 3, 4, False, "both masks", masks.causal(3), padded),
        case(6, 2, 8, 3, 5, True, "gradients", gradients=True),
    ]


def _inverted(allowed):
    return None if allowed is None else ~allowed


whole = Exercise(
    lesson="08",
    name="MyDecoderLayer",
    reference=DecoderLayerByHand,
    cases=_layer_cases,
    call=layer_like(DecoderLayerByHand, "MyDecoderLayer", sizes=4),
    outputs=("output",),
    mistakes=[
        Mistake(
            edited(DecoderLayerByHand, "tgt_allowed=None, cross_allowed=None", "cross_allowed=None, tgt_allowed=None"),
            "The masks changed places: tgt_allowed belongs to self-attention, cross_allowed to cross-attention. With "
            "as many source as target tokens no error tells you.",
            seen_in="both masks, as many source as target tokens",
        ),
        Mistake(
            edited(DecoderLayerByHand, "self.self_attn(y, allowed=allowed)", "self.self_attn(y)"),
            "tgt_allowed does not reach self_attn: each position sees what comes after it.",
            seen_in="both masks, as many source as target tokens",
        ),
        Mistake(
            edited(
                DecoderLayerByHand, "self.cross_attn(y, memory, memory, allowed)", "self.cross_attn(y, memory, memory)"
            ),
            "cross_allowed does not reach cross_attn: the source's padding is looked at.",
            seen_in="both masks, as many source as target tokens",
        ),
        Mistake(
            edited(DecoderLayerByHand, "self.cross_attn(y, memory, memory, allowed)", "self.cross_attn(y, y, y)"),
            "cross_attn was given x for keys and values: that is self-attention once more. Give memory.",
        ),
        Mistake(
            edited(DecoderLayerByHand, "self.cross_attn(y, memory, memory, allowed)", "self.cross_attn(memory, y, y)"),
            "Turned around: the memory asks. The queries come from x, keys and values from memory.",
        ),
        Mistake(
            edited(DecoderLayerByHand, "self.norm2(x), memory", "self.norm2(x), self.norm2(memory)"),
            "You normalised the memory, too. Only x goes through norm2.",
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
            "self_attn was used for the memory. Cross-attention has its own weights, cross_attn.",
        ),
        Mistake(
            edited(DecoderLayerByHand, "torch.relu(self.linear1(y))", "self.linear1(y)"),
            "The feed-forward network has no max(0, …) between its two layers.",
        ),
        Mistake(
            edited(DecoderLayerByHand, "if self.norm_first", "if True"),
            "norm_first=False is not obeyed: then each sum is normalised, norm(x + sublayer(x)).",
        ),
        Mistake(
            edited(DecoderLayerByHand, "if self.norm_first", "if False"),
            "norm_first=True is not obeyed: then each sublayer gets norm(x), and x is added to it.",
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
            "No mask reaches its attention: a position sees what comes after it, and the source's padding.",
            seen_in="both masks, as many source as target tokens",
        ),
        Mistake(
            edited(
                DecoderLayerByHand,
                ("allowed=allowed", "allowed=_inverted(allowed)"),
                ("memory, memory, allowed", "memory, memory, _inverted(allowed)"),
            ),
            "The masks are turned around on their way: in MultiHeadAttention True means may look, as it does here.",
            seen_in="both masks, as many source as target tokens",
        ),
        Mistake(
            edited(DecoderLayerByHand, "self.self_attn(y, allowed=allowed)", "self.self_attn(y, allowed)"),
            "The mask was taken for the key, which is the second argument of self_attn. Give it by its name: allowed=…",
            seen_in="both masks, as many source as target tokens",
        ),
        Mistake(
            edited(
                DecoderLayerByHand, "self.cross_attn(y, memory, memory, allowed)", "self.cross_attn(y, memory, allowed)"
            ),
            "The mask was taken for the value, the third argument of cross_attn. Give it by its name: allowed=…",
            seen_in="both masks, as many source as target tokens",
        ),
        Mistake(
            edited(DecoderLayerByHand, "self.self_attn(y, allowed=allowed)[0]", "self.self_attn(y, allowed=allowed)"),
            "An attention returns two things, output and weights. The output is wanted: …[0].",
        ),
        Mistake(
            edited(
                DecoderLayerByHand,
                ("self.norm2(x)", "self.norm1(x)"),
                ("self.norm3(x)", "self.norm1(x)"),
                ("self.norm2(x + ", "self.norm1(x + "),
                ("self.norm3(x + ", "self.norm1(x + "),
            ),
            "norm1 is used more than once. Each of the three sublayers has a norm of its own.",
            also=(
                edited(DecoderLayerByHand, ("self.norm2(x)", "self.norm1(x)"), ("self.norm2(x + ", "self.norm1(x + ")),
            ),
        ),
        Mistake(
            edited(DecoderLayerByHand, "if self.norm_first", "if not self.norm_first"),
            "norm_first is turned around: if it is True, the norm stands before a sublayer.",
        ),
        Mistake(
            edited(
                DecoderLayerByHand,
                ("x + self.look_at_itself(self", "self.norm1(x) + self.look_at_itself(self"),
                ("x + self.look_at_memory(self", "self.norm2(x) + self.look_at_memory(self"),
                ("x + self.feed_forward(self", "self.norm3(x) + self.feed_forward(self"),
            ),
            "With norm_first the residual carries norm(x). It carries x itself: only the sublayer gets norm(x).",
        ),
    ],
    hints=[
        "Each sublayer as in my_surround: self_attn with norm1, cross_attn with norm2, feed-forward with norm3.",
        "self.cross_attn(y, memory, memory, cross_allowed) returns output and weights; you need the output.",
        "Self-attention gets tgt_allowed, cross-attention gets cross_allowed.",
    ],
)
