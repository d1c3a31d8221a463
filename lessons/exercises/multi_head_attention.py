"""Exercises of 05_multi_head_attention: splitting, joining, counting, and the whole module."""

import torch
from torch import Tensor, nn

from lessons import masks
from lessons.attention import MultiHeadAttention, attend, join_heads, split_heads
from lessons.exercises.engine import Case, Exercise, Mistake, numbers


def loop_over_heads(x: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor) -> Tensor:
    """x (T, D), w_q, w_k and w_v (H, D, d) -> (T, H·d): each head by itself, their outputs side by side."""
    outputs = [attend(x @ w_q[h], x @ w_k[h], x @ w_v[h])[0] for h in range(w_q.size(0))]  # H times (T, d)
    return torch.cat(outputs, dim=-1)


def _stack(x, w_q, w_k, w_v):
    return attend(x @ w_q, x @ w_k, x @ w_v)[0]  # (H, T, d)


head_loop = Exercise(
    name="my_loop",
    reference=loop_over_heads,
    cases=lambda generator: [
        Case(
            {"x": numbers(generator, t, d_model)}
            | {w: numbers(generator, h, d_model, d) for w in ("w_q", "w_k", "w_v")}
        )
        for t, d_model, h, d in [(2, 3, 2, 4), (5, 7, 3, 2), (4, 6, 4, 3)]
    ],
    mistakes=[
        Mistake(
            lambda x, w_q, w_k, w_v: _stack(x, w_q, w_k, w_v).mean(dim=0),
            "You averaged the heads. Side by side, the next layer can still tell them apart: concatenate them.",
        ),
        Mistake(
            lambda x, w_q, w_k, w_v: _stack(x, w_q, w_k, w_v).sum(dim=0),
            "You added the heads up. Side by side, the next layer can still tell them apart: concatenate them.",
        ),
        Mistake(
            _stack,
            "You stacked the heads along a new axis, (H, T, d). Lay them side by side along the features: (T, H·d).",
        ),
        Mistake(
            lambda x, w_q, w_k, w_v: torch.cat(list(_stack(x, w_q, w_k, w_v)), dim=0),
            "You put the heads below each other: that makes H·T tokens. Concatenate along the features, dim=-1.",
        ),
        Mistake(
            lambda x, w_q, w_k, w_v: torch.cat([attend(x @ w_q[0], x @ w_k[0], x @ w_v[0])[0]] * len(w_q), dim=-1),
            "All your heads use the matrices of head 0. Each head has its own.",
        ),
        Mistake(
            lambda x, w_q, w_k, w_v: _stack(x, w_q, w_k, w_v).reshape(len(x), -1),
            "The shape is right, the numbers are not: the stacked heads (H, T, d) were cut anew, so that a row mixes "
            "tokens. Bring the tokens to the front first, or use torch.cat.",
        ),
        Mistake(
            lambda x, w_q, w_k, w_v: loop_over_heads(x, w_q * w_q.size(-1) ** 0.5, w_k, w_v),
            "The scores are not scaled: within a head they are divided by √d. attend does it for you.",
        ),
        Mistake(
            lambda x, w_q, w_k, w_v: loop_over_heads(x, w_q * (w_q.size(-1) / w_q.size(-2)) ** 0.5, w_k, w_v),
            "You divided by the root of the tokens' size, D. Within a head queries and keys have d features: √d.",
        ),
        Mistake(
            lambda x, w_q, w_k, w_v: attend(x @ w_q[0], x @ w_k[0], x @ w_v[0])[0],
            "Only one head came out. Does `return` stand inside the loop? Or does each head overwrite the one before?",
            also=(lambda x, w_q, w_k, w_v: attend(x @ w_q[-1], x @ w_k[-1], x @ w_v[-1])[0],),
        ),
        Mistake(
            lambda x, w_q, w_k, w_v: torch.cat([attend(x @ q, x @ k, x @ v) for q, k, v in zip(w_q, w_k, w_v)], dim=-1),
            "attend gives two things, output and weights, and both went into the list. Take the first: attend(…)[0].",
        ),
        Mistake(
            lambda x, w_q, w_k, w_v: _stack(x, w_q, w_k, w_v).permute(1, 2, 0).flatten(-2),
            "The heads' features are interleaved. All of head 0's come first, then head 1's.",
        ),
        Mistake(
            lambda x, w_q, w_k, w_v: attend(*(x @ torch.cat(list(w), dim=-1) for w in (w_q, w_k, w_v)))[0],
            "That is one large head: the matrices were laid side by side, and attention ran once, with one table of "
            "weights. Each head has a table of its own.",
        ),
        Mistake(
            lambda x, w_q, w_k, w_v: loop_over_heads(x, w_q, w_q, w_v),
            "The keys were made with w_q. They have matrices of their own, w_k.",
        ),
        Mistake(
            lambda x, w_q, w_k, w_v: loop_over_heads(x, w_q, w_k, w_k),
            "The values were made with w_k. They have matrices of their own, w_v.",
        ),
        Mistake(
            lambda x, w_q, w_k, w_v: loop_over_heads(x, w_q, w_v, w_k),
            "Keys and values are exchanged: attend takes q, k, v in this order.",
        ),
    ],
    hints=[
        "One head is lesson 04: attend(x @ w_q[h], x @ w_k[h], x @ w_v[h]). The result is (T, d).",
        "Collect the H results in a list, then torch.cat. Along which axis?",
    ],
)


def _split_cases(generator) -> list[Case]:
    counting = torch.arange(2 * 3 * 8).float().view(2, 3, 8)
    return [
        Case({"x": counting[:1, :, :4].contiguous(), "num_heads": 2}),
        Case({"x": counting, "num_heads": 4}),
        Case({"x": numbers(generator, 2, 5, 12), "num_heads": 3}),
        Case(
            {"x": numbers(generator, 2, 12, 5).transpose(1, 2), "num_heads": 3}, about="a tensor that is not contiguous"
        ),
    ]


splitting = Exercise(
    name="my_split_heads",
    reference=split_heads,
    cases=_split_cases,
    mistakes=[
        Mistake(
            lambda x, h: x.reshape(x.size(0), h, x.size(1), -1),
            "The shape is right, the numbers are not: you cut the run of numbers into H pieces, and a piece runs "
            "across several tokens. First (B, T, H, d), so that each token's features are cut, then swap T and H.",
            also=(lambda x, h: x.view(x.size(0), h, x.size(1), -1),),
        ),
        Mistake(
            lambda x, h: x.unflatten(-1, (h, -1)),
            "The features are cut as they should be, (B, T, H, d). Now bring the heads in front of the tokens.",
        ),
        Mistake(
            lambda x, h: x.unflatten(-1, (-1, h)).movedim(-1, 1),
            "You dealt the features out like cards: head 0 gets features 0, H, 2H, … It should get the first d in a "
            "row: cut the last axis into (H, d), not (d, H).",
        ),
        Mistake(
            lambda x, h: x.unflatten(-1, (h, -1)).permute(2, 0, 1, 3),
            "You brought the heads to the very front. The batch stays first: (B, H, T, d).",
        ),
        Mistake(
            lambda x, h: x.unflatten(-1, (h, -1)).transpose(2, 3),
            "You exchanged heads and features, axes 2 and 3. It is heads and tokens, axes 1 and 2.",
        ),
    ],
    hints=[
        "Take it in two steps. First cut the last axis in two: (B, T, H·d) becomes (B, T, H, d).",
        "Then exchange axes 1 and 2.",
    ],
)


joining = Exercise(
    name="my_join_heads",
    reference=join_heads,
    cases=lambda generator: [
        Case({"x": torch.arange(12).float().view(1, 2, 3, 2)}),
        Case({"x": numbers(generator, 2, 3, 5, 4)}),
        Case({"x": numbers(generator, 3, 4, 4, 2)}),
    ],
    mistakes=[
        Mistake(
            lambda x: x.reshape(x.size(0), x.size(2), -1),
            "The shape is right, the numbers are not: a row of your result mixes different tokens. Bring the heads "
            "next to their features first, by exchanging axes 1 and 2.",
        ),
        Mistake(
            lambda x: x.permute(0, 2, 3, 1).flatten(-2),
            "Each token has its own numbers, but in the wrong order: the heads' features are interleaved. Head 0's "
            "come first, all of them, then head 1's.",
        ),
        Mistake(
            lambda x: x.transpose(1, 2),
            "The heads are next to their features now, (B, T, H, d). The last two axes must still become one.",
        ),
        Mistake(
            lambda x: x.transpose(1, 2).view(x.size(0), x.size(2), -1),
            "After a transpose the numbers no longer lie in order in memory, and view refuses. Use reshape, or "
            "contiguous() before view; then see whether the numbers are the right ones.",
        ),
        Mistake(
            lambda x: x.flatten(1, 2),
            "You merged heads and tokens: (B, H·T, d). It is the heads and the features that become one axis.",
        ),
        Mistake(
            lambda x: x.mT.reshape(x.size(0), x.size(2), -1),
            "You exchanged tokens and features, axes 2 and 3. It is heads and tokens, axes 1 and 2.",
        ),
    ],
    hints=[
        "It is the way back from splitting: undo the steps in the opposite order.",
        "(B, H, T, d) → (B, T, H, d) → (B, T, H·d).",
    ],
)


def count_parameters(d_model: int, num_heads: int, head_dim: int) -> int:
    """The numbers that multi-head attention learns: four matrices, and a bias for each."""
    attn_dim = num_heads * head_dim
    return 3 * (d_model * attn_dim + attn_dim) + attn_dim * d_model + d_model


def _whole_number(candidate, *sizes):
    count = candidate(*sizes)
    if count is None:
        return None
    if isinstance(count, bool | str) or count != int(count):
        raise TypeError(f"expected a whole number, got {count!r}")
    return torch.tensor(int(count))


counting = Exercise(
    name="my_parameters",
    reference=count_parameters,
    call=_whole_number,
    cases=lambda generator: [
        Case({"d_model": d_model, "num_heads": h, "head_dim": d})
        for d_model, h, d in [(6, 2, 3), (6, 2, 6), (512, 8, 64)]
    ],
    mistakes=[
        Mistake(
            lambda D, h, d: 3 * (D * h * d + h * d),
            "The output projection is missing: from H·d features back to d_model, with its bias.",
        ),
        Mistake(
            lambda D, h, d: 4 * D * h * d,
            "The biases are missing: each of the four layers adds one number for each feature that comes out.",
        ),
        Mistake(
            lambda D, h, d: h * (3 * (D * d + d) + d * D + D),
            "You counted an output projection with its bias for each head. There is one for all: (H·d) × d_model, and "
            "one bias of d_model.",
        ),
        Mistake(
            lambda D, h, d: 3 * (D * d + d) + d * D + D,
            "That is one head. There are num_heads of them.",
        ),
        Mistake(
            lambda D, h, d: 4 * (D * D + D),
            "Right only as long as H·d = d_model. head_dim may be chosen freely.",
        ),
        Mistake(
            lambda D, h, d: 4 * (D * h * d + h * d),
            "The bias of the output projection has d_model numbers, not H·d.",
        ),
        Mistake(
            lambda D, h, d: 3 * (D * h * d + h * d) + h * d * D,
            "The bias of the output projection is missing: one number for each of its d_model features.",
        ),
        Mistake(
            lambda D, h, d: 4 * D * h * d + D,
            "The biases of q_proj, k_proj and v_proj are missing: each has one number for each of its H·d features.",
        ),
        Mistake(
            lambda D, h, d: 4 * D * h * d + h * d + D,
            "Only one of q_proj, k_proj and v_proj has its bias in your count. There are three: brackets, perhaps?",
        ),
        Mistake(
            lambda D, h, d: D * h * d + h * d + h * d * D + D,
            "You counted one layer from d_model to H·d. There are three: q_proj, k_proj and v_proj.",
        ),
        Mistake(
            lambda D, h, d: 4 * (D * h * d + 1),
            "You counted one bias for each layer. A layer has one for each feature that comes out.",
        ),
        Mistake(
            lambda D, h, d: 4 * D * h * d + 3 * D + h * d,
            "You counted a bias for each feature that goes in. A layer has one for each feature that comes out.",
        ),
    ],
    hints=[
        "A linear layer from a to b features has a·b weights and b biases.",
        "q_proj, k_proj and v_proj go from d_model to H·d; out_proj goes from H·d to d_model.",
    ],
)


class _Plain(nn.Module):
    """The layers of multi-head attention, and an output without the weights."""

    def __init__(self, d_model: int, num_heads: int):
        super().__init__()
        self.num_heads = num_heads
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.out_proj = nn.Linear(d_model, d_model)

    def forward(self, query, key, value, allowed=None):
        q, k, v = self.q_proj(query), self.k_proj(key), self.v_proj(value)
        return self.out_proj(join_heads(self.mix(*(split_heads(x, self.num_heads) for x in (q, k, v)), allowed)))

    def mix(self, q, k, v, allowed):
        return attend(q, k, v, allowed)[0]


def _with_weights(candidate, d_model, num_heads, query, key, value, allowed):
    """Build the learner's module, give it the weights that the reference has too, and run it."""
    if not isinstance(candidate, type):
        raise TypeError("expected the class MyMultiHeadAttention itself, not one object made of it")
    if candidate.forward is nn.Module.forward:
        raise AttributeError("the class has no method forward: look at its name, and at its indentation")
    with torch.random.fork_rng():
        torch.manual_seed(0)
        weights = _Plain(d_model, num_heads).state_dict()
        module = candidate(d_model, num_heads)
    module.load_state_dict(weights, strict=False)
    if lost := sorted({name.split(".")[0] for name in weights} - {name.split(".")[0] for name in module.state_dict()}):
        raise AttributeError(f"{', '.join(lost)}: keep the four layers of __init__ as they were named")
    return module(query, key, value, allowed)


def _module_cases(generator) -> list[Case]:
    def case(d_model, num_heads, queries, keys, about="", allowed=None, gradients=False):
        query, key = numbers(generator, 2, queries, d_model), numbers(generator, 2, keys, d_model)
        value = numbers(generator, 2, keys, d_model)
        inputs = {"d_model": d_model, "num_heads": num_heads, "query": query, "key": key, "value": value}
        return Case(inputs | {"allowed": allowed}, about=about, gradients=gradients)

    some = torch.rand(2, 4, 5, 7, generator=generator) > 0.4
    some[..., 0] = True
    return [
        case(6, 2, 4, 4),
        case(12, 3, 4, 4),
        case(12, 3, 5, 7, "cross-attention, with more keys than queries"),
        case(12, 4, 4, 4, "a causal mask (Q, K)", masks.causal(4)),
        case(12, 3, 5, 7, "a padding mask (B, 1, 1, K)", masks.padding_from_lengths([7, 4])),
        case(12, 4, 5, 7, "a mask (B, H, Q, K), another for each head", some),
        case(6, 3, 4, 5, "gradients", gradients=True),
    ]


class _NoOutProjection(_Plain):
    def forward(self, query, key, value, allowed=None):
        q, k, v = self.q_proj(query), self.k_proj(key), self.v_proj(value)
        return join_heads(self.mix(*(split_heads(x, self.num_heads) for x in (q, k, v)), allowed))


class _KeysByQueryProjection(_Plain):
    def forward(self, query, key, value, allowed=None):
        q, k, v = self.q_proj(query), self.q_proj(key), self.v_proj(value)
        return self.out_proj(join_heads(self.mix(*(split_heads(x, self.num_heads) for x in (q, k, v)), allowed)))


class _KeysAndValuesSwapped(_Plain):
    def mix(self, q, k, v, allowed):
        return attend(q, v, k, allowed)[0]


class _ScaledByModel(_Plain):
    def mix(self, q, k, v, allowed):
        return attend(q / self.num_heads**0.5, k, v, allowed)[0]


class _OneHead(_Plain):
    def forward(self, query, key, value, allowed=None):
        return self.out_proj(attend(self.q_proj(query), self.k_proj(key), self.v_proj(value), allowed)[0])


class _Scrambled(_Plain):
    def forward(self, query, key, value, allowed=None):
        q, k, v = (
            x.reshape(x.size(0), self.num_heads, x.size(1), -1)
            for x in (self.q_proj(query), self.k_proj(key), self.v_proj(value))
        )
        return self.out_proj(join_heads(self.mix(q, k, v, allowed)))


class _JoinedWithoutTranspose(_Plain):
    def forward(self, query, key, value, allowed=None):
        q, k, v = (split_heads(x, self.num_heads) for x in (self.q_proj(query), self.k_proj(key), self.v_proj(value)))
        return self.out_proj(self.mix(q, k, v, allowed).reshape(query.shape))


class _MaskIgnored(_Plain):
    def mix(self, q, k, v, allowed):
        return attend(q, k, v)[0]


class _MaskInverted(_Plain):
    def mix(self, q, k, v, allowed):
        return attend(q, k, v, None if allowed is None else ~allowed)[0]


class _NotScaled(_Plain):
    def mix(self, q, k, v, allowed):
        return attend(q * q.size(-1) ** 0.5, k, v, allowed)[0]


class _InvertedByHand(_Plain):
    def mix(self, q, k, v, allowed):
        scores = q @ k.mT / q.size(-1) ** 0.5
        return (scores if allowed is None else scores.masked_fill(allowed, -torch.inf)).softmax(dim=-1) @ v


class _MaskRequired(_Plain):
    def mix(self, q, k, v, allowed):
        return attend(q, k, v, ~(~allowed))[0]


class _MaskedLate(_Plain):
    def mix(self, q, k, v, allowed):
        weights = attend(q, k, v)[1]
        return (weights if allowed is None else weights * allowed) @ v


class _DividedByD(_Plain):
    def mix(self, q, k, v, allowed):
        return attend(q / q.size(-1) ** 0.5, k, v, allowed)[0]


class _BothResults(_Plain):
    def mix(self, q, k, v, allowed):
        return attend(q, k, v, allowed)


class _FromQueryOnly(_Plain):
    def forward(self, query, key, value, allowed=None):
        return super().forward(query, query, query, allowed)


class _NotProjected(_Plain):
    def forward(self, query, key, value, allowed=None):
        return self.out_proj(
            join_heads(self.mix(*(split_heads(x, self.num_heads) for x in (query, key, value)), allowed))
        )


class _DealtLikeCards(_Plain):
    def forward(self, query, key, value, allowed=None):
        q, k, v = (
            x.unflatten(-1, (-1, self.num_heads)).movedim(-1, 1)
            for x in (self.q_proj(query), self.k_proj(key), self.v_proj(value))
        )
        return self.out_proj(join_heads(self.mix(q, k, v, allowed)))


class _AmongHeads(_Plain):
    def forward(self, query, key, value, allowed=None):
        q, k, v = (
            x.unflatten(-1, (self.num_heads, -1)) for x in (self.q_proj(query), self.k_proj(key), self.v_proj(value))
        )
        return self.out_proj(self.mix(q, k, v, allowed).flatten(-2))


class _ScrambledBothWays(_Plain):
    def forward(self, query, key, value, allowed=None):
        q, k, v = (
            x.reshape(x.size(0), self.num_heads, x.size(1), -1)
            for x in (self.q_proj(query), self.k_proj(key), self.v_proj(value))
        )
        return self.out_proj(self.mix(q, k, v, allowed).reshape(query.shape))


class _ValuesFromKeys(_Plain):
    def forward(self, query, key, value, allowed=None):
        return super().forward(query, key, key, allowed)


class _SelfOnly(_Plain):
    def forward(self, query, key, value, allowed=None):
        batch, length, _ = query.shape
        q, k, v = (
            x.view(batch, length, self.num_heads, -1).transpose(1, 2)
            for x in (self.q_proj(query), self.k_proj(key), self.v_proj(value))
        )
        return self.out_proj(self.mix(q, k, v, allowed).transpose(1, 2).reshape(query.shape))


whole = Exercise(
    name="MyMultiHeadAttention",
    reference=_Plain,
    cases=_module_cases,
    call=_with_weights,
    outputs=("output",),
    solution=(MultiHeadAttention, split_heads, join_heads),
    mistakes=[
        Mistake(_NoOutProjection, "out_proj is not used: the heads lie side by side, and nothing mixes them yet."),
        Mistake(_KeysByQueryProjection, "The keys are projected by q_proj. They have a layer of their own, k_proj."),
        Mistake(_KeysAndValuesSwapped, "Keys and values are swapped: attend takes q, k, v in this order."),
        Mistake(
            _ScaledByModel,
            "You scaled by √d_model. Within a head, queries and keys have head_dim features: scale by √head_dim. "
            "(attend does it for you; scaling once more is too much.)",
        ),
        Mistake(_OneHead, "There is one head of the full size: the features were not split among num_heads heads."),
        Mistake(
            _Scrambled,
            "The tokens are scrambled among the heads: (B, T, D) went straight to (B, H, T, d). First (B, T, H, d), "
            "then exchange axes 1 and 2.",
            also=(_ScrambledBothWays,),
        ),
        Mistake(
            _DealtLikeCards,
            "The features were dealt out to the heads like cards: head 0 got features 0, H, 2H, … Cut the last axis "
            "into (H, d), not (d, H).",
        ),
        Mistake(
            _AmongHeads,
            "The heads stand behind the tokens, (B, T, H, d), so that the heads of one token look at each other. "
            "Exchange axes 1 and 2 before you attend.",
        ),
        Mistake(
            _JoinedWithoutTranspose,
            "The heads were joined without exchanging axes 1 and 2 first, so that each output row mixes tokens.",
        ),
        Mistake(_MaskIgnored, "The mask is not handed on: allowed must reach attend."),
        Mistake(
            _MaskInverted,
            "The mask is turned around: allowed is True where a query may look. (nn.MultiheadAttention means the "
            "opposite by True; attend does not.)",
            also=(_InvertedByHand,),
        ),
        Mistake(
            _MaskRequired,
            "allowed may be None: then nothing is hidden, and there is nothing to turn around.",
        ),
        Mistake(
            _MaskedLate,
            "The mask came after the softmax: what was hidden has had its share of the sum, and the rows no longer sum "
            "to 1. It belongs on the scores.",
        ),
        Mistake(_DividedByD, "You divided by head_dim, or by its root twice. (attend divides once, by itself.)"),
        Mistake(_BothResults, "attend gives two things, output and weights. Go on with the first."),
        Mistake(
            _FromQueryOnly,
            "Keys and values were made from query: this is self-attention, whatever it is given.",
        ),
        Mistake(_NotProjected, "q_proj, k_proj and v_proj are not used: project first, then split."),
        Mistake(_NotScaled, "The scores are not scaled: divide them by √head_dim, or let attend do it."),
        Mistake(
            _ValuesFromKeys, "The values were made from key. They are made from value, which may be another tensor."
        ),
        Mistake(
            _SelfOnly,
            "Keys and values were reshaped with the number of queries. In cross-attention there may be more keys than "
            "queries: take the length from each tensor itself.",
        ),
    ],
    hints=[
        "Project, split, attend, join, project: five steps, and you have written split and join.",
        "The mask (Q, K) broadcasts over batch and heads by itself.",
        "Take the length from each tensor: query, key and value need not have the same.",
    ],
)


def heads_attend(q: Tensor, k: Tensor, v: Tensor, num_heads: int) -> Tensor:
    """q (B, Q, D), k (B, K, D), v (B, K, D) -> (B, Q, D): split into heads, attend in each, join."""
    return join_heads(attend(*(split_heads(x, num_heads) for x in (q, k, v)))[0])


def _joined_wrongly(q, k, v, num_heads):
    heads = attend(*(split_heads(x, num_heads) for x in (q, k, v)))[0]
    return heads.reshape(q.shape)


bug_hunt = Exercise(
    name="mended_heads",
    reference=heads_attend,
    cases=lambda generator: [
        Case({name: numbers(generator, b, n, d) for name, n in zip("qkv", (q, k, k))} | {"num_heads": h})
        for b, q, k, d, h in [(1, 2, 3, 4, 2), (2, 5, 7, 12, 3), (3, 4, 4, 8, 4)]
    ],
    outputs=("output",),
    solution=(join_heads, split_heads),
    mistakes=[
        Mistake(
            _joined_wrongly,
            "The bug is still there. A symptom: change the last query, and the output of an earlier one moves.",
        ),
        Mistake(
            lambda q, k, v, h: attend(*(split_heads(x, h) for x in (q, k, v)))[0].permute(0, 2, 3, 1).reshape(q.shape),
            "Each token has its own numbers now, but the features of the heads are interleaved. Exchange axes 1 and 2 "
            "only.",
        ),
        Mistake(
            lambda q, k, v, h: attend(*(x.reshape(x.size(0), h, x.size(1), -1) for x in (q, k, v)))[0].reshape(q.shape),
            "Now splitting is wrong in the same way as joining. The two cancel in shape, but the heads see pieces of "
            "different tokens.",
        ),
        Mistake(
            lambda q, k, v, h: attend(*(split_heads(x, h) for x in (q, k, v)))[0].mT.reshape(q.shape),
            "You exchanged tokens and features. It is the heads that must come behind the tokens: axes 1 and 2.",
        ),
    ],
    hints=[
        "With num_heads = 1 there is no bug. What does reshape do to (B, H, T, d) when H is 2?",
        "Feed it numbers that tell which token they come from: v = torch.arange(T) repeated along the features.",
        "What does the package's join_heads do that this code does not?",
    ],
)
