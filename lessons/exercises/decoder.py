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


def _asked(x, memory, w_q, w_k, w_v, real, *, scale=True, dim=-1):
    q, k, v = x @ w_q, memory @ w_k, memory @ w_v
    scores = q @ k.T / (math.sqrt(q.size(-1)) if scale else 1.0)
    scores = scores if real is None else scores.masked_fill(~real, -torch.inf)
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
        ),
        Mistake(
            lambda x, memory, w_q, w_k, w_v, real: _asked(x, x, w_q, w_k, w_v, None),
            "That is self-attention: keys and values come from x. In cross-attention they come from memory.",
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
            lambda x, memory, w_q, w_k, w_v, real: _asked(x, memory, w_k, w_q, w_v, real),
            "w_q and w_k changed places: x goes through w_q, memory through w_k.",
        ),
        Mistake(
            lambda x, memory, w_q, w_k, w_v, real: _asked(x, memory, w_q, w_k, w_k, real),
            "The values were made by w_k. They have a matrix of their own, w_v.",
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
    calls = [parts[0], lambda y: parts[1](y, norms[1](memory) if memory_norm and first else memory), parts[2]]
    if self_again:
        calls[1] = lambda y: parts[1](y, y)
    for i, place in enumerate(order):
        norm, base = norms[i], 0 if place == no_residual else x
        x = base + calls[place](norm(x)) if first else norm(base + calls[place](x))
    return x


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
            lambda x, m, p, n, first: _loop(x, m, p, n, first, memory_norm=True),
            "With norm_first you normalised the memory, too. It comes from the encoder as it is; only x is normalised.",
        ),
        Mistake(
            lambda x, m, p, n, first: _loop(x, m, p, n, first, self_again=True),
            "Cross-attention was given the decoder's own x in place of the memory: nothing of the source arrives.",
        ),
        Mistake(
            lambda x, m, p, n, first: _loop(x, m, p, n, first, no_residual=1),
            "The residual around cross-attention is missing: what the decoder knew of itself is gone.",
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
        Mistake(_MemoryNormalised, "With norm_first you normalised the memory, too. Only x goes through norm2."),
        Mistake(_OneAttention, "self_attn was used for the memory. Cross-attention has its own weights, cross_attn."),
        Mistake(_NoRelu, "The feed-forward network has no max(0, …) between its two layers."),
        Mistake(_AlwaysFirst, "norm_first=False is not obeyed: then each sum is normalised, norm(x + sublayer(x))."),
        Mistake(_AlwaysLast, "norm_first=True is not obeyed: then each sublayer gets norm(x), and x is added to it."),
        Mistake(_NoMemory, "The memory is not used: cross-attention, with norm2, is missing."),
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
    ],
    hints=[
        "Three things go in: x for the residual, x for the queries, the memory. Which of them is normalised?",
        "The memory has been through the encoder's last norm already; all decoder layers get the same one.",
    ],
)
