"""Lesson 08: MyDecoderLayer."""

import torch
from torch import nn

from lessons import masks
from lessons.attention import MultiHeadAttention
from lessons.checking.calls import layer_like
from lessons.checking.engine import Case, Exercise, Mistake, numbers
from lessons.exercises.decoder.shared import _post, _pre


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

    def forward(self, x, memory, tgt_allowed=None, cross_allowed=None):
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


class _MasksSwapped(DecoderLayerByHand):
    def forward(self, x, memory, tgt_allowed=None, cross_allowed=None):
        return super().forward(x, memory, cross_allowed, tgt_allowed)


class _NoCausal(DecoderLayerByHand):
    def look_at_itself(self, y, allowed):
        return super().look_at_itself(y, None)


class _NoPadding(DecoderLayerByHand):
    def look_at_memory(self, y, memory, allowed):
        return super().look_at_memory(y, memory, None)


class _SelfTwice(DecoderLayerByHand):
    def look_at_memory(self, y, memory, allowed):
        return self.cross_attn(y, y, y)[0]


class _MemoryAsks(DecoderLayerByHand):
    def look_at_memory(self, y, memory, allowed):
        return self.cross_attn(memory, y, y)[0]


class _MemoryNormalised(DecoderLayerByHand):
    def look_at_memory(self, y, memory, allowed):
        return super().look_at_memory(y, self.norm2(memory) if self.norm_first else memory, allowed)


class _MemoryAlwaysNormalised(DecoderLayerByHand):
    def look_at_memory(self, y, memory, allowed):
        return super().look_at_memory(y, self.norm2(memory), allowed)


class _OneAttention(DecoderLayerByHand):
    def look_at_memory(self, y, memory, allowed):
        return self.self_attn(y, memory, memory, allowed)[0]


class _NoRelu(DecoderLayerByHand):
    def feed_forward(self, y):
        return self.linear2(self.linear1(y))


class _AlwaysFirst(DecoderLayerByHand):
    def __init__(self, d_model, num_heads, d_ff, norm_first):
        super().__init__(d_model, num_heads, d_ff, True)


class _AlwaysLast(DecoderLayerByHand):
    def __init__(self, d_model, num_heads, d_ff, norm_first):
        super().__init__(d_model, num_heads, d_ff, False)


class _NoMasks(_NoCausal, _NoPadding):
    pass


class _MasksTurned(DecoderLayerByHand):
    def forward(self, x, memory, tgt_allowed=None, cross_allowed=None):
        turned = [None if allowed is None else ~allowed for allowed in (tgt_allowed, cross_allowed)]
        return super().forward(x, memory, *turned)


class _MaskForKey(DecoderLayerByHand):
    def look_at_itself(self, y, allowed):
        return self.self_attn(y, allowed)[0]


class _MaskForValue(DecoderLayerByHand):
    def look_at_memory(self, y, memory, allowed):
        return self.cross_attn(y, memory, allowed)[0]


class _WeightsToo(DecoderLayerByHand):
    def look_at_itself(self, y, allowed):
        return self.self_attn(y, allowed=allowed)


class _NormsMixed(DecoderLayerByHand):
    """Three sublayers in a loop, with a choice of norms and of what surrounds a sublayer."""

    norms = ("norm1", "norm1", "norm1")
    pre, post = staticmethod(_pre), staticmethod(_post)

    def forward(self, x, memory, tgt_allowed=None, cross_allowed=None):
        sublayers = (
            lambda y: self.look_at_itself(y, tgt_allowed),
            lambda y: self.look_at_memory(y, memory, cross_allowed),
            self.feed_forward,
        )
        for sublayer, norm in zip(sublayers, self.norms):
            x = (self.pre if self.norm_first else self.post)(x, sublayer, getattr(self, norm))
        return x


class _FirstNormTwice(_NormsMixed):
    norms = ("norm1", "norm1", "norm3")


class _OrderTurned(_NormsMixed):
    norms = ("norm1", "norm2", "norm3")
    pre, post = staticmethod(_post), staticmethod(_pre)


class _ResidualNormalised(_NormsMixed):
    norms = ("norm1", "norm2", "norm3")
    pre = staticmethod(lambda x, sublayer, norm: norm(x) + sublayer(norm(x)))


class _NoMemory(DecoderLayerByHand):
    def forward(self, x, memory, tgt_allowed=None, cross_allowed=None):
        for sublayer, norm in (
            (lambda y: self.look_at_itself(y, tgt_allowed), self.norm1),
            (self.feed_forward, self.norm3),
        ):
            x = x + sublayer(norm(x)) if self.norm_first else norm(x + sublayer(x))
        return x


whole = Exercise(
    lesson="08",
    name="MyDecoderLayer",
    reference=DecoderLayerByHand,
    cases=_layer_cases,
    call=layer_like(DecoderLayerByHand, "MyDecoderLayer", sizes=4),
    outputs=("output",),
    mistakes=[
        Mistake(
            _MasksSwapped,
            "The masks changed places: tgt_allowed belongs to self-attention, cross_allowed to cross-attention. With "
            "as many source as target tokens no error tells you.",
            seen_in="both masks, as many source as target tokens",
        ),
        Mistake(
            _NoCausal,
            "tgt_allowed does not reach self_attn: each position sees what comes after it.",
            seen_in="both masks, as many source as target tokens",
        ),
        Mistake(
            _NoPadding,
            "cross_allowed does not reach cross_attn: the source's padding is looked at.",
            seen_in="both masks, as many source as target tokens",
        ),
        Mistake(
            _SelfTwice, "cross_attn was given x for keys and values: that is self-attention once more. Give memory."
        ),
        Mistake(_MemoryAsks, "Turned around: the memory asks. The queries come from x, keys and values from memory."),
        Mistake(
            _MemoryNormalised,
            "You normalised the memory, too. Only x goes through norm2.",
            also=(_MemoryAlwaysNormalised,),
        ),
        Mistake(_OneAttention, "self_attn was used for the memory. Cross-attention has its own weights, cross_attn."),
        Mistake(_NoRelu, "The feed-forward network has no max(0, …) between its two layers."),
        Mistake(_AlwaysFirst, "norm_first=False is not obeyed: then each sum is normalised, norm(x + sublayer(x))."),
        Mistake(_AlwaysLast, "norm_first=True is not obeyed: then each sublayer gets norm(x), and x is added to it."),
        Mistake(_NoMemory, "The memory is not used: cross-attention, with norm2, is missing."),
        Mistake(
            _NoMasks,
            "No mask reaches its attention: a position sees what comes after it, and the source's padding.",
            seen_in="both masks, as many source as target tokens",
        ),
        Mistake(
            _MasksTurned,
            "The masks are turned around on their way: in MultiHeadAttention True means may look, as it does here.",
            seen_in="both masks, as many source as target tokens",
        ),
        Mistake(
            _MaskForKey,
            "The mask was taken for the key, which is the second argument of self_attn. Give it by its name: allowed=…",
            seen_in="both masks, as many source as target tokens",
        ),
        Mistake(
            _MaskForValue,
            "The mask was taken for the value, the third argument of cross_attn. Give it by its name: allowed=…",
            seen_in="both masks, as many source as target tokens",
        ),
        Mistake(_WeightsToo, "An attention returns two things, output and weights. The output is wanted: …[0]."),
        Mistake(
            _NormsMixed,
            "norm1 is used more than once. Each of the three sublayers has a norm of its own.",
            also=(_FirstNormTwice,),
        ),
        Mistake(_OrderTurned, "norm_first is turned around: if it is True, the norm stands before a sublayer."),
        Mistake(
            _ResidualNormalised,
            "With norm_first the residual carries norm(x). It carries x itself: only the sublayer gets norm(x).",
        ),
    ],
    hints=[
        "Each sublayer as in my_surround: self_attn with norm1, cross_attn with norm2, feed-forward with norm3.",
        "self.cross_attn(y, memory, memory, cross_allowed) returns output and weights; you need the output.",
        "Self-attention gets tgt_allowed, cross-attention gets cross_allowed.",
    ],
)
