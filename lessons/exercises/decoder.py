"""The exercises of lesson 08: cross-attention to the memory, three sublayers, and a whole decoder layer."""

import math

import torch
from torch import Tensor, nn

from lessons import masks
from lessons.attention import MultiHeadAttention, masked_softmax
from lessons.exercises.encoder import layer_norm
from lessons.exercises.engine import Case, Exercise, Mistake, numbers, rows_sum_to_one, small_numbers


def ask_memory(x: Tensor, memory: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor, real: Tensor) -> tuple[Tensor, Tensor]:
    """x (T, D) asks memory (S, D); real (S,) bool, True = no padding -> output (T, d), weights (T, S)."""
    q, k, v = x @ w_q, memory @ w_k, memory @ w_v
    scores = q @ k.T / math.sqrt(q.size(-1))  # (T, S)
    weights = masked_softmax(scores, real.expand(len(x), -1))
    return weights @ v, weights


def _asked(x, memory, w_q, w_k, w_v, real, *, scale=True, dim=-1, fill=-torch.inf):
    q, k, v = x @ w_q, memory @ w_k, memory @ w_v
    scores = q @ k.T / (math.sqrt(q.size(-1)) if scale else 1.0)
    scores = scores if real is None else scores.masked_fill(~real, fill)
    weights = scores.softmax(dim=dim)
    return weights @ v, weights


def _memory_cases(generator) -> list[Case]:
    def case(t, s, d_model, d, real, draw=numbers, about="", gradients=False):
        matrices = {name: draw(generator, d_model, d) for name in ("w_q", "w_k", "w_v")}
        sides = {"x": draw(generator, t, d_model), "memory": draw(generator, s, d_model)}
        return Case(sides | matrices | {"real": torch.tensor(real)}, about=about, gradients=gradients)

    return [
        case(2, 3, 2, 2, [True, True, False], small_numbers),
        case(3, 5, 4, 6, [True, True, True, False, False]),
        case(4, 4, 4, 4, [True, True, False, True], about="as many source tokens as target tokens"),
        case(4, 2, 3, 5, [True, True], about="more target than source tokens"),
        case(3, 5, 4, 6, [True] * 4 + [False], about="gradients", gradients=True),
    ]


asking = Exercise(
    name="my_ask_memory",
    reference=ask_memory,
    cases=_memory_cases,
    outputs=("output", "weights"),
    laws=[rows_sum_to_one(place=1)],
    mistakes=[
        Mistake(
            lambda x, memory, w_q, w_k, w_v, real: _asked(memory, x, w_q, w_k, w_v, None),
            "Turned around: the memory asks, and the decoder is asked. q comes from x, k and v from memory.",
            also=(lambda x, memory, w_q, w_k, w_v, real: _asked(memory, x, w_q, w_k, w_v, real),),
        ),
        Mistake(
            lambda x, memory, w_q, w_k, w_v, real: _asked(x, x, w_q, w_k, w_v, None),
            "That is self-attention: keys and values come from x. In cross-attention they come from memory.",
            also=(lambda x, memory, w_q, w_k, w_v, real: _asked(x, x, w_q, w_k, w_v, real),),
        ),
        Mistake(
            lambda x, memory, w_q, w_k, w_v, real: _asked(x, memory, w_q, w_k, w_v, None),
            "The padding of the source is looked at: real is not used.",
        ),
        Mistake(
            lambda x, memory, w_q, w_k, w_v, real: _asked(x, memory, w_q, w_k, w_v, ~real if not real.all() else None),
            "Only the padding is looked at: the mask is turned around. real is True where there is a token.",
        ),
        Mistake(
            lambda x, memory, w_q, w_k, w_v, real: _asked(x, memory, w_q, w_k, w_v, real, scale=False),
            "The scores are not divided by √d.",
        ),
        Mistake(
            lambda x, memory, w_q, w_k, w_v, real: _asked(x, memory, w_q / math.sqrt(w_q.size(1)), w_k, w_v, real),
            "The scores are divided by d. It should be √d.",
        ),
        Mistake(
            lambda x, memory, w_q, w_k, w_v, real: _asked(
                x, memory, w_q * math.sqrt(w_q.size(1) / w_q.size(0)), w_k, w_v, real
            ),
            "The scores are divided by √D. d is the size of a query, after w_q; it need not be that of x.",
        ),
        Mistake(
            lambda x, memory, w_q, w_k, w_v, real: _asked(x, memory, w_q, w_k, w_v, real, dim=0),
            "The softmax runs down the columns, over the queries; a column that is blocked gives NaN. Each row of the "
            "weights is one query's: which axis are the keys on?",
        ),
        Mistake(
            lambda x, memory, w_q, w_k, w_v, real: _asked(x, memory, w_q, w_k, w_v, real, fill=0.0),
            "The padding's scores became 0. But e⁰ = 1: it is still looked at. Which score makes e^s = 0?",
        ),
        Mistake(
            lambda x, memory, w_q, w_k, w_v, real: _asked(x, memory, w_k, w_q, w_v, real),
            "w_q and w_k changed places: x goes through w_q, memory through w_k.",
        ),
        Mistake(
            lambda x, memory, w_q, w_k, w_v, real: _asked(x, memory, w_q, w_k, w_k, real),
            "The values were made by w_k. They have a matrix of their own, w_v.",
        ),
        Mistake(
            lambda x, memory, w_q, w_k, w_v, real: _raw_values(x, memory, w_q, w_k, w_v, real),
            "The weights are right, but they average the memory itself. The values are memory @ w_v.",
        ),
        Mistake(
            lambda x, memory, w_q, w_k, w_v, real: _asked(x, memory[real], w_q, w_k, w_v, None),
            "The output is right: you left the padding out. But the weights lack its columns; they are (T, S), with 0 "
            "for the padding.",
        ),
        Mistake(
            lambda x, memory, w_q, w_k, w_v, real: tuple(
                part * torch.ones(()) for part in _zeroed_after(x, memory, w_q, w_k, w_v, real)
            ),
            "The padding was set to 0 after the softmax: the rows no longer sum to 1. Mask the scores before it.",
        ),
    ],
    hints=[
        "q from x, k and v from memory; then as in every attention.",
        "real is (S,): it broadcasts over the rows of the scores (T, S). Blocked scores become −∞.",
    ],
)


def _raw_values(x, memory, w_q, w_k, w_v, real):
    _, weights = _asked(x, memory, w_q, w_k, w_v, real)
    return weights @ memory, weights


def _zeroed_after(x, memory, w_q, w_k, w_v, real):
    _, weights = _asked(x, memory, w_q, w_k, w_v, None)
    weights = weights * real
    return weights @ (memory @ w_v), weights


def three_parts(x: Tensor, memory: Tensor, parts, norms, norm_first: bool) -> Tensor:
    """x (T, D), memory (S, D) -> (T, D). parts: self_attention(y), cross_attention(y, memory), feed_forward(y)."""
    self_attention, cross_attention, feed_forward = parts
    norm1, norm2, norm3 = norms
    if norm_first:
        x = x + self_attention(norm1(x))
        x = x + cross_attention(norm2(x), memory)
        return x + feed_forward(norm3(x))
    x = norm1(x + self_attention(x))
    x = norm2(x + cross_attention(x, memory))
    return norm3(x + feed_forward(x))


def _parts_called(candidate, x, memory, w_self, w_cross, w_feed, gains, norm_first):
    size = x.size(-1)
    parts = (
        lambda y: torch.tanh(y @ w_self).cumsum(dim=0),
        lambda y, m: torch.tanh(y @ w_cross @ m.T).softmax(dim=-1) @ m,
        lambda y: torch.relu(y @ w_feed) @ w_feed.T,
    )
    norms = [lambda y, gain=gain: layer_norm(y, gain, torch.zeros(size), 0.1) for gain in gains]
    return candidate(x, memory, parts, norms, norm_first)


def _parts_cases(generator) -> list[Case]:
    return [
        Case(
            {
                "x": numbers(generator, t, d),
                "memory": 2 * numbers(generator, s, d) + 1,
                "w_self": numbers(generator, d, d),
                "w_cross": numbers(generator, d, d),
                "w_feed": numbers(generator, d, f),
                "gains": numbers(generator, 3, d),
                "norm_first": first,
            }
        )
        for t, s, d, f, first in [(2, 3, 2, 4, True), (3, 5, 4, 6, False), (4, 4, 4, 4, True), (4, 4, 4, 4, False)]
    ]


def _loop(x, memory, parts, norms, first, *, order=(0, 1, 2), memory_norm=False, self_again=False, no_residual=None):
    calls = [parts[0], lambda y: parts[1](y, norms[1](memory) if memory_norm else memory), parts[2]]
    if self_again:
        calls[1] = lambda y: parts[1](y, y if self_again == "normalised" else x)
    for i, place in enumerate(order):
        norm, base = norms[i], 0 if place == no_residual else x
        x = base + calls[place](norm(x)) if first else norm(base + calls[place](x))
    return x


def _pre(x, sublayer, norm):
    return x + sublayer(norm(x))


def _post(x, sublayer, norm):
    return norm(x + sublayer(x))


def _around(pre, post):
    """The three sublayers, each surrounded by `pre` with norm_first, else by `post`: (x, sublayer, norm) -> x."""

    def wrong(x, memory, parts, norms, norm_first):
        for sublayer, norm in zip((parts[0], lambda y: parts[1](y, memory), parts[2]), norms):
            x = (pre if norm_first else post)(x, sublayer, norm)
        return x

    return wrong


three = Exercise(
    name="my_three_parts",
    reference=three_parts,
    cases=_parts_cases,
    call=_parts_called,
    mistakes=[
        Mistake(
            lambda x, m, p, n, first: _loop(x, m, p, n, first, order=(1, 0, 2)),
            "Cross-attention came first. The decoder looks at itself first, then at the memory.",
        ),
        Mistake(
            lambda x, m, p, n, first: _loop(x, m, p, n, first, memory_norm=first),
            "You normalised the memory, too. It comes from the encoder as it is; only x is normalised.",
            also=(lambda x, m, p, n, first: _loop(x, m, p, n, first, memory_norm=True),),
        ),
        Mistake(
            lambda x, m, p, n, first: _loop(x, m, p, n, first, self_again="normalised"),
            "Cross-attention was given the decoder's own x in place of the memory: nothing of the source arrives.",
            also=(lambda x, m, p, n, first: _loop(x, m, p, n, first, self_again="as it is"),),
        ),
        Mistake(
            lambda x, m, p, n, first: _loop(x, m, p, n, first, no_residual=1),
            "The residual around cross-attention is missing: what the decoder knew of itself is gone.",
        ),
        Mistake(
            _around(lambda x, f, n: f(n(x)), lambda x, f, n: n(f(x))),
            "There is no residual: what goes in, x, is to be added to what each sublayer gives.",
        ),
        Mistake(
            _around(lambda x, f, n: n(x) + f(n(x)), _post),
            "With norm_first the residual carries norm(x). It carries x itself: only the sublayer gets norm(x).",
        ),
        Mistake(
            _around(lambda x, f, n: x + n(f(x)), _post),
            "The norm went over what a sublayer gives. With norm_first it goes over what the sublayer gets, without it "
            "over the sum.",
            also=(
                _around(_pre, lambda x, f, n: x + n(f(x))),
                _around(lambda x, f, n: x + n(f(x)), lambda x, f, n: x + n(f(x))),
            ),
        ),
        Mistake(_around(_post, _pre), "norm_first is turned around: if it is True, the norm stands before a sublayer."),
        Mistake(
            lambda x, m, p, n, first: _loop(x, m, (p[0], None, p[2]), [n[0], n[2]], first, order=(0, 2)),
            "The memory is not used: cross-attention, with its norm, is missing.",
        ),
        Mistake(
            lambda x, m, p, n, first: n[2](_loop(x, m, p, n, first)) if first else _loop(x, m, p, n, first),
            "With norm_first there is one norm too many, at the end. Each of the three stands before a sublayer.",
        ),
        Mistake(
            lambda x, m, p, n, first: _loop(x, m, p, n, True),
            "norm_first=False is not obeyed: then each sum is normalised.",
        ),
        Mistake(
            lambda x, m, p, n, first: _loop(x, m, p, n, False),
            "norm_first=True is not obeyed: then each sublayer gets norm(x), and x is added to it.",
        ),
        Mistake(
            lambda x, m, p, n, first: _loop(x, m, p, [n[0]] * 3, first),
            "The first norm is used three times. Each of the three has its own.",
        ),
        Mistake(
            lambda x, m, p, n, first: _loop(x, m, p, n, first, order=(0, 1)),
            "The feed-forward network is missing, and its norm.",
        ),
    ],
    hints=[
        "It is my_surround of lesson 07, three times, with one norm each.",
        "cross_attention takes two things: lambda y: cross_attention(y, memory) takes one.",
    ],
)


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


def _layer_with_weights(candidate, d_model, num_heads, d_ff, norm_first, x, memory, tgt_allowed, cross_allowed):
    """Build the learner's layer, give it the weights that the reference has too, and run it."""
    if not isinstance(candidate, type):
        raise TypeError("expected the class MyDecoderLayer itself, not one object made of it")
    if candidate.forward is nn.Module.forward:
        raise AttributeError("the class has no method forward: look at its name, and at its indentation")
    with torch.random.fork_rng():
        torch.manual_seed(0)
        weights = DecoderLayerByHand(d_model, num_heads, d_ff, norm_first).state_dict()
        weights = {name: x + 0.3 * torch.randn(x.shape) for name, x in weights.items()}  # norms that do something
        layer = candidate(d_model, num_heads, d_ff, norm_first)
    layer.load_state_dict(weights, strict=False)
    if lost := sorted({name.split(".")[0] for name in weights} - {name.split(".")[0] for name in layer.state_dict()}):
        raise AttributeError(f"{', '.join(lost)}: keep the layers of __init__ as they were named")
    return layer(x, memory, tgt_allowed, cross_allowed)


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
    name="MyDecoderLayer",
    reference=DecoderLayerByHand,
    cases=_layer_cases,
    call=_layer_with_weights,
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


def decode_with(x: Tensor, memory: Tensor, cross_attention, norm) -> Tensor:
    """The middle part of a decoder layer, norm first: x (T, D), memory (S, D) -> (T, D)."""
    return x + cross_attention(norm(x), memory)


def _middle(candidate, x, memory, w, gain):
    def cross_attention(y, m):
        return torch.tanh(y @ w @ m.T).softmax(dim=-1) @ m

    return candidate(x, memory, cross_attention, lambda y: layer_norm(y, gain, torch.zeros(x.size(-1)), 0.1))


bug_hunt = Exercise(
    name="mended_middle",
    reference=decode_with,
    call=_middle,
    cases=lambda generator: [
        Case(
            {
                "x": 2 * numbers(generator, t, d),
                "memory": 2 * numbers(generator, s, d) + 1,
                "w": numbers(generator, d, d),
                "gain": numbers(generator, d),
            }
        )
        for t, s, d in [(2, 3, 2), (3, 5, 4), (4, 4, 4)]
    ],
    mistakes=[
        Mistake(
            lambda x, m, cross, norm: x + cross(norm(x), norm(m)),
            "The bug is still there. A symptom: make the memory twice as large, and nothing changes.",
        ),
        Mistake(
            lambda x, m, cross, norm: x + cross(x, m),
            "Now nothing is normalised. x is, on its way into cross-attention.",
        ),
        Mistake(
            lambda x, m, cross, norm: norm(x) + cross(norm(x), m),
            "The memory is right now, but the residual carries the normalised x. It carries x itself.",
        ),
        Mistake(
            lambda x, m, cross, norm: norm(x + cross(x, m)),
            "Now it is Post-LN: the sum is normalised. Asked for is norm first.",
        ),
        Mistake(
            lambda x, m, cross, norm: x + cross(x, norm(m)),
            "The wrong one of the two is normalised: x is, the memory is not.",
        ),
        Mistake(
            lambda x, m, cross, norm: norm(x + cross(norm(x), m)),
            "What goes in is right now, but the sum is normalised as well. With the norm first, it is not.",
        ),
        Mistake(
            lambda x, m, cross, norm: cross(norm(x), m),
            "What goes in is right now, but the residual is gone: x itself is to be added.",
        ),
        Mistake(
            lambda x, m, cross, norm: x + cross(norm(x), norm(x)),
            "Now the memory is not asked at all: x looks at itself.",
            also=(lambda x, m, cross, norm: x + cross(norm(x), x),),
        ),
    ],
    hints=[
        "Three things go in: x for the residual, x for the queries, the memory. Which of them is normalised?",
        "The memory has been through the encoder's last norm already; all decoder layers get the same one.",
    ],
)
