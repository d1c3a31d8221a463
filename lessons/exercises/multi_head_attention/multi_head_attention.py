"""Lesson 05, MyMultiHeadAttention: the whole module, from four given layers."""

import torch
from torch import Tensor, nn

from lessons import masks
from lessons.attention import attend, join_heads, split_heads
from lessons.checking.calls import LayerLike
from lessons.checking.edits import edited
from lessons.checking.engine import Case, Exercise, Mistake, numbers
from lessons.wording import worded


class MultiHeadAttentionByHand(nn.Module):
    """The layers of multi-head attention, and an output without the weights."""

    def __init__(self, d_model: int, num_heads: int):
        super().__init__()
        self.num_heads = num_heads
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.out_proj = nn.Linear(d_model, d_model)

    def forward(self, query: Tensor, key: Tensor, value: Tensor, allowed: Tensor | None = None) -> Tensor:
        """query (B, Q, D), key and value (B, K, D) -> (B, Q, D)"""
        q, k, v = self.q_proj(query), self.k_proj(key), self.v_proj(value)
        q, k, v = (split_heads(x, self.num_heads) for x in (q, k, v))
        heads = attend(q, k, v, allowed)[0]
        return self.out_proj(join_heads(heads))


NO_KEY = "a query with nothing to attend to"


def _module_cases(generator) -> list[Case]:
    def case(d_model, num_heads, queries, keys, about="", allowed=None, gradients=False, batch=2):
        query, key = numbers(generator, batch, queries, d_model), numbers(generator, batch, keys, d_model)
        value = numbers(generator, batch, keys, d_model)
        inputs = {"d_model": d_model, "num_heads": num_heads, "query": query, "key": key, "value": value}
        return Case(inputs | {"allowed": allowed}, about=about, gradients=gradients)

    def without_allowed(case):
        return Case({name: x for name, x in case.inputs.items() if name != "allowed"}, about="called without allowed")

    some = torch.rand(2, 4, 5, 7, generator=generator) > 0.4
    some[..., 0] = True
    strict = torch.ones(5, 7).tril(diagonal=-1).bool()  # the first query has no key
    return [
        case(6, 2, 4, 4),
        case(12, 3, 4, 4),
        without_allowed(case(12, 2, 4, 4)),
        case(12, 3, 5, 7, "cross-attention, with more keys than queries"),
        case(12, 4, 4, 4, "a causal mask (Q, K)", masks.causal(4)),
        case(12, 3, 5, 7, "a padding mask (B, 1, 1, K)", masks.padding_from_lengths([7, 4])),
        case(12, 4, 5, 7, "a mask (B, H, Q, K), another for each head", some),
        case(6, 2, 5, 7, NO_KEY, strict),
        case(6, 3, 4, 5, "gradients", gradients=True),
        case(6, 2, 1, 5, "a batch of one, with a single query", batch=1),
    ]


def _softmax_alone(q, k, v, allowed, blocked=-torch.inf, dim=-1):
    scores = q @ k.mT / q.size(-1) ** 0.5
    return (scores if allowed is None else scores.masked_fill(~allowed, blocked)).softmax(dim=dim) @ v


def _masked_late(q, k, v, allowed):
    weights = attend(q, k, v)[1]
    return (weights if allowed is None else weights * allowed) @ v


layer = LayerLike(MultiHeadAttentionByHand, "MyMultiHeadAttention", sizes=2)


def _stages(record, candidate, d_model, num_heads, query, key, value, *allowed):
    """The inputs of the layers; before the last, the values and the weights of the heads, each alone."""
    held_back = []

    def up_to_the_heads(name, x):
        (held_back.append if "out_proj" in name else lambda step: record(*step))((name, x))

    output = layer.stages(up_to_the_heads, candidate, d_model, num_heads, query, key, value, *allowed)
    for x in _joined(candidate, d_model, num_heads, query[:, :1], key[:, :1], value[:, :1]):  # the only weight is 1
        record(worded("the input of out_proj for one key alone"), x)
    size, weights = d_model // num_heads, []
    for start in range(0, key.size(1), size):  # values that are 1 for one key: the outputs are its weights
        one_hot = torch.eye(key.size(1), size) if not start else torch.eye(key.size(1), size).roll(start, 0)
        values = one_hot.repeat(len(key), 1, num_heads)
        for x in _joined(candidate, d_model, num_heads, query, key, value, *allowed, values=values):
            weights.append(split_heads(x, num_heads))
    if weights:
        record(worded("the table of weights"), torch.cat(weights, dim=-1)[..., : key.size(1)])
    for name, x in held_back:
        record(name, x)
    return output


def _joined(candidate, d_model, num_heads, *inputs, values=None):
    """What goes into out_proj, in a list: empty if it is not called. values: in place of those of v_proj."""
    built, seen = layer.build(candidate, d_model, num_heads), []
    built.get_submodule("out_proj").register_forward_pre_hook(lambda module, args: seen.append(args[0].detach()))
    if values is not None:
        built.get_submodule("v_proj").register_forward_hook(lambda *_: values)
    built(*inputs)
    return seen[:1]


whole = Exercise(
    lesson="05",
    name="MyMultiHeadAttention",
    reference=MultiHeadAttentionByHand,
    cases=_module_cases,
    call=layer,
    stages=_stages,
    outputs=("output",),
    mistakes=[
        Mistake(
            edited(MultiHeadAttentionByHand, "self.out_proj(join_heads(heads))", "join_heads(heads)"),
            "out_proj is not used: the heads are concatenated, but nothing mixes them yet.",
        ),
        Mistake(
            edited(MultiHeadAttentionByHand, "self.k_proj(key)", "self.q_proj(key)"),
            "You projected the keys with q_proj. They have their own layer, k_proj.",
        ),
        Mistake(
            edited(MultiHeadAttentionByHand, "attend(q, k, v", "attend(q, v, k"),
            "Keys and values are swapped: attend takes q, k, v in this order.",
        ),
        Mistake(
            edited(MultiHeadAttentionByHand, "attend(q,", "attend(q / self.num_heads**0.5,"),
            "You scaled by √d_model. Within a head, queries and keys have head_dim features: scale by √head_dim. "
            "(attend does it for you; don't scale again.)",
        ),
        Mistake(
            edited(MultiHeadAttentionByHand, ("split_heads(x, self.num_heads)", "x"), ("join_heads(heads)", "heads")),
            "There is one head of full size: split the features among num_heads heads.",
        ),
        Mistake(
            edited(
                MultiHeadAttentionByHand,
                "split_heads(x, self.num_heads)",
                "x.reshape(x.size(0), self.num_heads, x.size(1), -1)",
            ),
            "The tokens are scrambled among the heads: (B, T, D) went straight to (B, H, T, d). First make (B, T, H, "
            "d), then swap axes 1 and 2.",
            also=(
                edited(
                    MultiHeadAttentionByHand,
                    ("split_heads(x, self.num_heads)", "x.reshape(x.size(0), self.num_heads, x.size(1), -1)"),
                    ("join_heads(heads)", "heads.reshape(query.shape)"),
                ),
            ),
        ),
        Mistake(
            edited(
                MultiHeadAttentionByHand,
                "split_heads(x, self.num_heads)",
                "x.unflatten(-1, (-1, self.num_heads)).movedim(-1, 1)",
            ),
            "You dealt the features out to the heads like cards: head 0 got features 0, H, 2H, … Cut the last axis "
            "into (H, d), not (d, H).",
        ),
        Mistake(
            edited(
                MultiHeadAttentionByHand,
                ("split_heads(x, self.num_heads)", "x.unflatten(-1, (self.num_heads, -1))"),
                ("join_heads(heads)", "heads.flatten(-2)"),
            ),
            "The heads are behind the tokens, (B, T, H, d), so the heads of one token attend to each other. Swap axes "
            "1 and 2 before you attend.",
        ),
        Mistake(
            edited(MultiHeadAttentionByHand, "join_heads(heads)", "heads.reshape(query.shape)"),
            "You joined the heads without swapping axes 1 and 2 first, so each output row mixes tokens.",
        ),
        Mistake(
            edited(MultiHeadAttentionByHand, "attend(q, k, v, allowed)", "attend(q, k, v)"),
            "The mask is not passed on: allowed must reach attend.",
        ),
        Mistake(
            edited(
                MultiHeadAttentionByHand,
                "attend(q, k, v, allowed)",
                "attend(q, k, v, None if allowed is None else ~allowed)",
            ),
            "The mask is inverted: allowed is True where a query may attend. (In nn.MultiheadAttention, True means "
            "blocked.)",
            also=(
                edited(
                    MultiHeadAttentionByHand,
                    "attend(q, k, v, allowed)[0]",
                    "_softmax_alone(q, k, v, None if allowed is None else ~allowed)",
                ),
            ),
        ),
        Mistake(
            edited(MultiHeadAttentionByHand, "attend(q, k, v, allowed)", "attend(q, k, v, ~(~allowed))"),
            "allowed may be None: then nothing is blocked, and there is nothing to invert.",
        ),
        Mistake(
            edited(MultiHeadAttentionByHand, "attend(q, k, v, allowed)[0]", "_masked_late(q, k, v, allowed)"),
            "You applied the mask after the softmax: the blocked keys took part in the sum, so a row with blocked "
            "keys no longer sums to 1. Apply it to the scores.",
        ),
        Mistake(
            edited(MultiHeadAttentionByHand, "attend(q,", "attend(q / q.size(-1) ** 0.5,"),
            "You divided by head_dim, or by its root twice. (attend divides once, by itself.)",
        ),
        Mistake(
            edited(MultiHeadAttentionByHand, "attend(q, k, v, allowed)[0]", "attend(q, k, v, allowed)"),
            "attend returns two things, output and weights. Continue with the first.",
        ),
        Mistake(
            edited(
                MultiHeadAttentionByHand,
                "self.k_proj(key), self.v_proj(value)",
                "self.k_proj(query), self.v_proj(query)",
            ),
            "You computed keys and values from query: this is self-attention, whatever the inputs are.",
        ),
        Mistake(
            edited(
                MultiHeadAttentionByHand,
                "self.q_proj(query), self.k_proj(key), self.v_proj(value)",
                "query, key, value",
            ),
            "q_proj, k_proj and v_proj are not used: project first, then split.",
        ),
        Mistake(
            edited(MultiHeadAttentionByHand, "attend(q,", "attend(q * q.size(-1) ** 0.5,"),
            "The scores are not scaled: divide them by √head_dim, or let attend do it.",
        ),
        Mistake(
            edited(MultiHeadAttentionByHand, "self.v_proj(value)", "self.v_proj(key)"),
            "You computed the values from key. Compute them from value, which may be another tensor.",
        ),
        Mistake(
            edited(
                MultiHeadAttentionByHand,
                "split_heads(x, self.num_heads)",
                "x.view(*query.shape[:2], self.num_heads, -1).transpose(1, 2)",
            ),
            "You reshaped keys and values with the number of queries. In cross-attention there may be more keys than "
            "queries: take the length from each tensor.",
        ),
        Mistake(
            edited(MultiHeadAttentionByHand, "attend(q, k, v, allowed)[0]", "_softmax_alone(q, k, v, allowed, dim=-2)"),
            "q, k and v are right; the weights are not. Each column of a head's table sums to 1, not each row: the "
            "softmax runs over the keys, the last axis.",
            also=(
                edited(
                    MultiHeadAttentionByHand,
                    "attend(q, k, v, allowed)[0]",
                    "_softmax_alone(q, k, v, allowed, dim=-2).nan_to_num(0.0)",
                ),
            ),
        ),
        Mistake(
            edited(MultiHeadAttentionByHand, "attend(q, k,", "attend(k, q,"),
            "Queries and keys are swapped: attend takes q, k, v in this order, and its rows are the queries.",
        ),
        Mistake(
            edited(
                MultiHeadAttentionByHand, "self.k_proj(key), self.v_proj(value)", "self.v_proj(key), self.k_proj(value)"
            ),
            "k_proj and v_proj are swapped: key goes through k_proj, value through v_proj.",
        ),
        Mistake(
            edited(
                MultiHeadAttentionByHand,
                "self.out_proj(join_heads(heads))",
                "join_heads(heads) @ self.out_proj.weight.T",
            ),
            "Right, except for the last bias: use the layer, self.out_proj(…), and not only its weight.",
        ),
        Mistake(
            edited(MultiHeadAttentionByHand, "join_heads(heads)", "heads.mean(dim=1).repeat(1, 1, self.num_heads)"),
            "The heads are averaged. Join them side by side, (B, Q, H·d), so that out_proj can tell them apart.",
        ),
        Mistake(
            edited(
                MultiHeadAttentionByHand,
                ("self.q_proj(query), self.k_proj(key), self.v_proj(value)", "query, key, value"),
                (
                    "split_heads(x, self.num_heads) for x in (q, k, v)",
                    "layer(split_heads(x, self.num_heads))\n"
                    "                   for layer, x in ((self.q_proj, q), (self.k_proj, k), (self.v_proj, v))",
                ),
            ),
            "A layer got head_dim features, as many as one head has. Each takes all d_model features: project, then "
            "split; and before out_proj, join the heads side by side.",
            also=(
                edited(
                    MultiHeadAttentionByHand, "self.out_proj(join_heads(heads))", "join_heads(self.out_proj(heads))"
                ),
                edited(MultiHeadAttentionByHand, "join_heads(heads)", "heads.mean(dim=1)"),
            ),
        ),
        Mistake(
            edited(
                MultiHeadAttentionByHand,
                "split_heads(x, self.num_heads)",
                "split_heads(x, x.size(-1) // self.num_heads)",
            ),
            "num_heads and head_dim are swapped: split_heads takes the number of heads.",
        ),
        Mistake(
            edited(
                MultiHeadAttentionByHand, "v, allowed)[0]", "v, allowed if allowed is None else allowed[:, None])[0]"
            ),
            "You inserted an axis into allowed. It broadcasts to (B, H, Q, K) as it is: a mask (Q, K) with one more "
            "axis meets the wrong ones.",
        ),
        Mistake(
            edited(MultiHeadAttentionByHand, "self.out_proj(", "nn.Linear(query.size(-1), query.size(-1))("),
            "You made a new layer in forward: its numbers are drawn anew in each call, and never learned. Use "
            "self.out_proj, which __init__ made.",
        ),
        Mistake(
            edited(
                MultiHeadAttentionByHand, "self.out_proj(join_heads(heads))", "self.out_proj(join_heads(heads)), None"
            ),
            "You returned more than one thing. Return the output alone, without the weights.",
        ),
        Mistake(
            edited(MultiHeadAttentionByHand, "attend(q, k, v, allowed)[0]", "_softmax_alone(q, k, v, allowed, 0.0)"),
            "The blocked scores became 0, or nearly: a score like any other, and e⁰ is 1. Use −inf.",
        ),
        Mistake(
            edited(MultiHeadAttentionByHand, "attend(q, k, v, allowed)[0]", "_softmax_alone(q, k, v, allowed)"),
            "Right, except for a query with nothing to attend to: its scores are all −∞, and the softmax makes NaN of "
            "them. Its weights must be 0, as attend's are.",
            seen_in=NO_KEY,
        ),
        Mistake(
            edited(MultiHeadAttentionByHand, "attend(q, k, v, allowed)[0]", "_softmax_alone(q, k, v, allowed, -1e9)"),
            "Right, except for a query with nothing to attend to: its scores are all the same large negative number, "
            "so it attends evenly to what is blocked. Its weights must be 0, as attend's are.",
            seen_in=NO_KEY,
        ),
        Mistake(
            edited(MultiHeadAttentionByHand, "attend(q, k, v, allowed)[0]", "_softmax_alone(q, k, v, allowed, dim=1)"),
            "The softmax runs over the heads, axis 1 of (B, H, Q, K). It runs over the keys, the last axis.",
        ),
        Mistake(
            edited(
                MultiHeadAttentionByHand, "self.out_proj(join_heads(heads))", "query + self.out_proj(join_heads(heads))"
            ),
            "You added the query to the output. That is the residual connection of lesson 07, which is not part of "
            "this module.",
        ),
        Mistake(
            edited(MultiHeadAttentionByHand, "self.v_proj(value)", "self.k_proj(value)"),
            "You projected the values with k_proj. They have their own layer, v_proj.",
        ),
        Mistake(
            edited(
                MultiHeadAttentionByHand,
                "attend(q, k, v, allowed)",
                "attend(q, k, v, torch.ones(q.size(-2), k.size(-2), dtype=torch.bool).tril())",
            ),
            "A causal mask is always on, and allowed is not used. Hide what allowed hides, and nothing if it is None.",
        ),
    ],
    hints=[
        "Project, split, attend, join, project: five steps, two of which you have already written.",
        "A mask (Q, K) broadcasts over batch and heads.",
        "Take the length from each tensor: query may be shorter or longer than key and value.",
    ],
    solution="""
        class MyMultiHeadAttention(nn.Module):
            def __init__(self, d_model, num_heads):
                super().__init__()
                self.num_heads = num_heads
                self.q_proj = nn.Linear(d_model, d_model)
                self.k_proj = nn.Linear(d_model, d_model)
                self.v_proj = nn.Linear(d_model, d_model)
                self.out_proj = nn.Linear(d_model, d_model)

            def forward(self, query, key, value, allowed=None):
                q = split_heads(self.q_proj(query), self.num_heads)
                k = split_heads(self.k_proj(key), self.num_heads)
                v = split_heads(self.v_proj(value), self.num_heads)
                output, _ = attend(q, k, v, allowed)
                return self.out_proj(join_heads(output))
    """,
    in_package="lessons.attention.MultiHeadAttention",
)
