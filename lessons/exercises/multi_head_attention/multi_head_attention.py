"""Lesson 05: MyMultiHeadAttention."""

import torch
from torch import nn

from lessons import masks
from lessons.attention import MultiHeadAttention, attend, join_heads, split_heads
from lessons.checking.calls import layer_like
from lessons.checking.engine import Case, Exercise, Mistake, numbers


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
    lesson="05",
    name="MyMultiHeadAttention",
    reference=_Plain,
    cases=_module_cases,
    call=layer_like(_Plain, "MyMultiHeadAttention", sizes=2),
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
