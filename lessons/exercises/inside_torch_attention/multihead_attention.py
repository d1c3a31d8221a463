"""Lesson 13, MyMultiheadAttention: a class with the results of nn.MultiheadAttention."""

import torch

from lessons.checking.engine import Case
from lessons.exercises.inside_torch_attention.beside_torch import Choice, DropIn, call_beside, stages_beside
from lessons.exercises.inside_torch_attention.combinations import PLAIN
from lessons.exercises.inside_torch_attention.drop_in_mistakes import MISTAKES
from lessons.torch_attention import MultiheadAttentionByHand

HALVES = ("float64", "bfloat16", "float16")


def _drop_in_cases(generator: torch.Generator) -> list[Case]:
    def case(about="", **chosen):
        return Choice(PLAIN | chosen, about=about)

    both = {"attn_mask": "bool (L, S)", "key_padding_mask": "bool"}
    return [
        case(),
        case(inputs="cross-attention"),
        case(inputs="kdim and vdim"),
        case("only vdim differs from embed_dim", mode="evaluation, only vdim differs", inputs="kdim and vdim"),
        case("only kdim differs from embed_dim", mode="evaluation, only kdim differs", inputs="kdim and vdim"),
        case("batch_first", axes="batch_first", inputs="cross-attention"),
        case("no batch", axes="no batch", inputs="cross-attention", key_padding_mask="bool"),
        case("key_padding_mask", key_padding_mask="bool"),
        case("attn_mask", attn_mask="bool (L, S)"),
        case("attn_mask (B·H, L, S) and key_padding_mask", attn_mask="bool (B·H, L, S)", key_padding_mask="bool"),
        case("float masks", inputs="cross-attention", attn_mask="float (L, S)", key_padding_mask="float"),
        case("average_attn_weights=False", average_attn_weights=False),
        case("need_weights=False", need_weights=False, inputs="cross-attention"),
        case("bias=False", bias=False),
        case("add_bias_kv", add_bias_kv=True, **both),
        case("add_zero_attn", add_zero_attn=True, **both),
        case("add_bias_kv and add_zero_attn", add_bias_kv=True, add_zero_attn=True, average_attn_weights=False),
        case("is_causal=True with a causal attn_mask", mode="evaluation, is_causal", need_weights=False),
        case("is_causal=True, and padding", mode="evaluation, is_causal", key_padding_mask="bool"),
        case("dropout=1.0 in training", mode="training, dropout"),
        case("dropout=1.0 in training, and need_weights=False", mode="training, dropout", need_weights=False),
        case("dropout=1.0 in evaluation", mode="evaluation, dropout"),
        case("dropout=1.0 in evaluation, and need_weights=False", mode="evaluation, dropout", need_weights=False),
        case("inputs without a batch, batch_first=True", mode="evaluation, batch_first", axes="no batch"),
        case("other sizes: embed_dim 20, num_heads 5", mode="evaluation, other sizes", **both),
        case("one sentence, one query", mode="evaluation, one query", inputs="cross-attention", **both),
        case("all arguments by position, in torch's order", mode="evaluation, by position", bias=False, **both),
        case("a second call of the same module", mode="evaluation, second call", add_bias_kv=True, **both),
        case("gradients", mode="evaluation, gradients", inputs="cross-attention", attn_mask="float (L, S)"),
        *(case(f"module and inputs in {dtype}", mode=f"evaluation, {dtype}", **both) for dtype in HALVES),
    ]


drop_in = DropIn(
    lesson="13",
    name="MyMultiheadAttention",
    reference=MultiheadAttentionByHand,
    cases=_drop_in_cases,
    call=call_beside,
    stages=stages_beside,
    outputs=("output", "weights"),
    mistakes=MISTAKES,
    hints=[
        "Parameters: in_proj_weight (3E, E), or q_proj_weight (E, E), k_proj_weight (E, kdim), v_proj_weight (E, vdim)"
        " if kdim or vdim differs from E; in_proj_bias (3E); out_proj, an nn.Linear; bias_k and bias_v (1, 1, E).",
        "First bring the inputs to (L, B, E), whatever the caller passes. At the end, bring the output back.",
        "Then the steps of this lesson, in order: project, append, heads first, merge the masks, weights, dropout, "
        "bmm, join, out_proj. You may call your functions from above.",
        "The check says in which combinations of arguments your class goes wrong. Look at what they have in common.",
    ],
    solution="""
        class MyMultiheadAttention(nn.Module):
            def __init__(
                self,
                embed_dim,
                num_heads,
                dropout=0.0,
                bias=True,
                add_bias_kv=False,
                add_zero_attn=False,
                kdim=None,
                vdim=None,
                batch_first=False,
            ):
                super().__init__()
                self.num_heads, self.dropout = num_heads, dropout
                self.add_zero_attn, self.batch_first = add_zero_attn, batch_first
                kdim, vdim = kdim or embed_dim, vdim or embed_dim
                self.packed = kdim == vdim == embed_dim
                if self.packed:
                    self.in_proj_weight = nn.Parameter(torch.empty(3 * embed_dim, embed_dim))
                else:
                    self.q_proj_weight = nn.Parameter(torch.empty(embed_dim, embed_dim))
                    self.k_proj_weight = nn.Parameter(torch.empty(embed_dim, kdim))
                    self.v_proj_weight = nn.Parameter(torch.empty(embed_dim, vdim))
                self.in_proj_bias = nn.Parameter(torch.zeros(3 * embed_dim)) if bias else None
                self.bias_k = self.bias_v = None
                if add_bias_kv:
                    self.bias_k = nn.Parameter(torch.empty(1, 1, embed_dim))
                    self.bias_v = nn.Parameter(torch.empty(1, 1, embed_dim))
                for parameter in self.parameters():
                    if parameter.dim() > 1:
                        nn.init.xavier_uniform_(parameter)
                self.out_proj = nn.Linear(embed_dim, embed_dim, bias=bias)

            def forward(
                self,
                query,
                key,
                value,
                key_padding_mask=None,
                need_weights=True,
                attn_mask=None,
                average_attn_weights=True,
                is_causal=False,
            ):
                batched = query.dim() == 3
                if not batched:  # make it a batch of one sentence: (L, 1, E)
                    query, key, value = query[:, None], key[:, None], value[:, None]
                    if key_padding_mask is not None:
                        key_padding_mask = key_padding_mask[None]
                elif self.batch_first:
                    query, key, value = (x.transpose(0, 1) for x in (query, key, value))

                if self.packed:
                    matrices = self.in_proj_weight.chunk(3)
                else:
                    matrices = self.q_proj_weight, self.k_proj_weight, self.v_proj_weight
                biases = None, None, None
                if self.in_proj_bias is not None:
                    biases = self.in_proj_bias.chunk(3)
                q, k, v = map(F.linear, (query, key, value), matrices, biases)

                length, batch, size = q.shape
                if self.bias_k is not None:
                    k = torch.cat([k, self.bias_k.expand(1, batch, size)])
                    v = torch.cat([v, self.bias_v.expand(1, batch, size)])
                if self.add_zero_attn:
                    zeros = torch.zeros(1, batch, size, dtype=q.dtype)
                    k, v = torch.cat([k, zeros]), torch.cat([v, zeros])

                heads = batch * self.num_heads
                mask = merge_masks(attn_mask, key_padding_mask, self.num_heads, q.dtype)
                if mask is not None:  # an added key is never hidden
                    mask = F.pad(mask, (0, k.size(0) - key.size(0)))

                q, k, v = (x.reshape(len(x), heads, -1).transpose(0, 1) for x in (q, k, v))
                weights = attention_weights(q, k, mask)  # (B·H, L, S)
                weights = F.dropout(weights, self.dropout, self.training)
                output = (weights @ v).transpose(0, 1).reshape(length, batch, size)
                output = self.out_proj(output)

                weights = weights.view(batch, self.num_heads, length, -1)
                if average_attn_weights:
                    weights = weights.mean(dim=1)
                if not batched:
                    output, weights = output[:, 0], weights[0]
                elif self.batch_first:
                    output = output.transpose(0, 1)
                return output, weights if need_weights else None
    """,
    in_package="lessons.torch_attention.MultiheadAttentionByHand",
)
