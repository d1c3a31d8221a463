"""Lesson 13, MyMultiheadAttention: what learners write."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from tests.answers import edit, right, wrong

with right:

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
                self.in_proj_weight = nn.Parameter(torch.randn(3 * embed_dim, embed_dim))
            else:
                self.q_proj_weight = nn.Parameter(torch.randn(embed_dim, embed_dim))
                self.k_proj_weight = nn.Parameter(torch.randn(embed_dim, kdim))
                self.v_proj_weight = nn.Parameter(torch.randn(embed_dim, vdim))
            if bias:
                self.in_proj_bias = nn.Parameter(torch.zeros(3 * embed_dim))
            else:
                self.in_proj_bias = None
            self.out_proj = nn.Linear(embed_dim, embed_dim, bias=bias)
            self.bias_k = self.bias_v = None
            if add_bias_kv:
                self.bias_k = nn.Parameter(torch.randn(1, 1, embed_dim))
                self.bias_v = nn.Parameter(torch.randn(1, 1, embed_dim))

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
            if not batched:  # work with a batch of one, batch first
                query, key, value = query[None], key[None], value[None]
                key_padding_mask = None if key_padding_mask is None else key_padding_mask[None]
            elif not self.batch_first:
                query, key, value = query.transpose(0, 1), key.transpose(0, 1), value.transpose(0, 1)
            B, L, E = query.shape
            H = self.num_heads

            weights = (
                self.in_proj_weight.chunk(3)
                if self.packed
                else (self.q_proj_weight, self.k_proj_weight, self.v_proj_weight)
            )
            biases = [None] * 3 if self.in_proj_bias is None else self.in_proj_bias.chunk(3)
            q, k, v = (F.linear(x, w, b) for x, w, b in zip((query, key, value), weights, biases))

            mask = torch.zeros(B, H, L, key.size(1), dtype=query.dtype)
            for given in (attn_mask, None if key_padding_mask is None else key_padding_mask[:, None, None, :]):
                if given is None:
                    continue
                if given.dtype == torch.bool:
                    given = mask.new_zeros(given.shape).masked_fill(given, -torch.inf)
                mask = mask + (given.view(B, H, L, -1) if given.dim() == 3 else given)
            if self.bias_k is not None:
                k = torch.cat([k, self.bias_k.expand(B, 1, E)], dim=1)
                v = torch.cat([v, self.bias_v.expand(B, 1, E)], dim=1)
            if self.add_zero_attn:
                k, v = F.pad(k, (0, 0, 0, 1)), F.pad(v, (0, 0, 0, 1))
            mask = F.pad(mask, (0, k.size(1) - key.size(1)))

            q, k, v = (x.unflatten(-1, (H, -1)).transpose(1, 2) for x in (q, k, v))  # (B, H, L, d)
            weights = (q @ k.mT / math.sqrt(E // H) + mask).softmax(dim=-1)
            weights = F.dropout(weights, self.dropout, self.training)
            output = self.out_proj((weights @ v).transpose(1, 2).flatten(2))
            weights = weights.mean(dim=1) if average_attn_weights else weights
            if not batched:
                output, weights = output[0], weights[0]
            elif not self.batch_first:
                output = output.transpose(0, 1)
            return output, weights if need_weights else None


with right:
    from lessons.torch_attention import merge_masks

    class MyMultiheadAttention(nn.MultiheadAttention):  # its parameters, and steps of our own
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
            alone = query.dim() == 2
            if alone:
                query, key, value = query.unsqueeze(1), key.unsqueeze(1), value.unsqueeze(1)
                key_padding_mask = None if key_padding_mask is None else key_padding_mask.unsqueeze(0)
            elif self.batch_first:
                query, key, value = query.transpose(0, 1), key.transpose(0, 1), value.transpose(0, 1)
            L, B, E = query.shape
            H = self.num_heads
            weights = (self.q_proj_weight, self.k_proj_weight, self.v_proj_weight)
            if self.in_proj_weight is not None:
                weights = self.in_proj_weight.chunk(3)
            biases = [None] * 3 if self.in_proj_bias is None else self.in_proj_bias.chunk(3)
            q, k, v = [F.linear(*three) for three in zip((query, key, value), weights, biases)]
            if self.bias_k is not None:
                k = torch.cat([k, self.bias_k.repeat(1, B, 1)])
                v = torch.cat([v, self.bias_v.repeat(1, B, 1)])
            q, k, v = (x.reshape(x.size(0), B * H, -1).transpose(0, 1).unflatten(0, (B, H)) for x in (q, k, v))
            if self.add_zero_attn:
                k, v = F.pad(k, (0, 0, 0, 1)), F.pad(v, (0, 0, 0, 1))
            mask = merge_masks(attn_mask, key_padding_mask, H)
            if mask is not None:
                mask = F.pad(mask, (0, k.size(2) - key.size(0))).to(q.dtype).expand(B * H, -1, -1).unflatten(0, (B, H))
            dropout = self.dropout if self.training else 0.0
            if need_weights:
                scores = torch.einsum("bhld,bhsd->bhls", q, k) / math.sqrt(q.size(-1))
                weights = F.dropout((scores if mask is None else scores + mask).softmax(-1), dropout)
                output = weights @ v
                weights = weights.sum(1) / H if average_attn_weights else weights
            else:
                output, weights = F.scaled_dot_product_attention(q, k, v, mask, dropout), None
            output = F.linear(output.permute(2, 0, 1, 3).flatten(2), self.out_proj.weight, self.out_proj.bias)
            if alone:
                return output[:, 0], None if weights is None else weights[0]
            return output.transpose(0, 1) if self.batch_first else output, weights


with right:
    from lessons.torch_attention import MultiheadAttentionByHand

    class MyMultiheadAttention(MultiheadAttentionByHand):
        pass


with wrong("exactly where need_weights=True and average_attn_weights=False"):
    from lessons.torch_attention import MultiheadAttentionByHand

    class MyMultiheadAttention(MultiheadAttentionByHand):
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
            return super().forward(query, key, value, key_padding_mask, need_weights, attn_mask)


with wrong("exactly where key_padding_mask is given"):

    class MyMultiheadAttention(nn.MultiheadAttention):
        def forward(self, query, key, value, key_padding_mask=None, **others):
            return super().forward(query, key, value, **others)


with wrong("state dict: torch's has in_proj_weight (36, 12), in_proj_bias (36,)"):

    class MyMultiheadAttention(nn.Module):
        def __init__(self, embed_dim, num_heads, **others):
            super().__init__()
            self.q_proj = nn.Linear(embed_dim, embed_dim)

        def forward(self, query, key, value, **others):
            return self.q_proj(query), None


with wrong("exactly where add_zero_attn=True"):

    class MyMultiheadAttention(nn.MultiheadAttention):
        def __init__(self, *sizes, add_zero_attn=False, **others):
            super().__init__(*sizes, **others)


with wrong("exactly where need_weights=False, or average_attn_weights=False."):

    class MyMultiheadAttention(nn.MultiheadAttention):
        def forward(self, query, key, value, average_attn_weights=True, **others):
            output, weights = super().forward(query, key, value, average_attn_weights=False, **others)
            return output, weights.mean(dim=-3) if weights is not None and average_attn_weights else weights.sum(1)


with wrong("exactly where attn_mask is bool (B·H, L, S) or float (B·H, L, S)"):

    class MyMultiheadAttention(nn.MultiheadAttention):
        def forward(self, query, key, value, key_padding_mask=None, attn_mask=None, **others):
            if attn_mask is not None and attn_mask.dim() == 3:
                attn_mask = attn_mask[0]
            return super().forward(query, key, value, key_padding_mask, attn_mask=attn_mask, **others)


with wrong("exactly where attn_mask is float (B·H, L, S).\nValues: output differs"):

    class MyMultiheadAttention(nn.MultiheadAttention):
        def forward(
            self, query, key, value, key_padding_mask=None, need_weights=True, attn_mask=None, *others, **named
        ):
            if attn_mask is not None and attn_mask.dim() == 3 and attn_mask.is_floating_point():
                attn_mask = attn_mask / 2
            return super().forward(query, key, value, key_padding_mask, need_weights, attn_mask, *others, **named)


with wrong("expected the class MyMultiheadAttention itself"):
    MyMultiheadAttention = nn.MultiheadAttention(12, 3)

with wrong("Your class passes its inputs to torch's own multi-head attention"):

    class MyMultiheadAttention(nn.MultiheadAttention):
        pass


with wrong("Your class passes its inputs to torch's own multi-head attention"):

    class MyMultiheadAttention(nn.MultiheadAttention):
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
            if self.batch_first and query.dim() == 3:
                query, key, value = query.transpose(0, 1), key.transpose(0, 1), value.transpose(0, 1)
            output, weights = F.multi_head_attention_forward(
                query,
                key,
                value,
                self.embed_dim,
                self.num_heads,
                self.in_proj_weight,
                self.in_proj_bias,
                self.bias_k,
                self.bias_v,
                self.add_zero_attn,
                self.dropout,
                self.out_proj.weight,
                self.out_proj.bias,
                self.training,
                key_padding_mask,
                need_weights,
                attn_mask,
                self.in_proj_weight is None,
                self.q_proj_weight,
                self.k_proj_weight,
                self.v_proj_weight,
                average_attn_weights=average_attn_weights,
            )
            return output.transpose(0, 1) if self.batch_first and query.dim() == 3 else output, weights


with wrong("Tokens are scrambled among the heads: (B, S, E) was read"):
    from lessons.torch_attention import MultiheadAttentionByHand

    class MyMultiheadAttention(MultiheadAttentionByHand):
        def heads_first(self, x):
            S, B, E = x.shape
            return x.transpose(0, 1).reshape(B, self.num_heads, S, -1).flatten(0, 1)


with wrong("You joined the heads without swapping the axes back"):
    from lessons.torch_attention import MultiheadAttentionByHand

    class MyMultiheadAttention(MultiheadAttentionByHand):
        def join(self, heads):
            BH, L, d = heads.shape
            return heads.view(BH // self.num_heads, L, -1).transpose(0, 1)


with wrong("key_padding_mask is inverted"):
    from lessons.torch_attention import MultiheadAttentionByHand

    class MyMultiheadAttention(MultiheadAttentionByHand):
        def forward(self, query, key, value, key_padding_mask=None, *others, **named):
            if key_padding_mask is not None and key_padding_mask.dtype == torch.bool:
                key_padding_mask = torch.where(key_padding_mask, 0.0, -torch.inf).to(query.dtype)
            return super().forward(query, key, value, key_padding_mask, *others, **named)


with wrong("It goes wrong here: all arguments by position, in torch's order."):
    from lessons.torch_attention import MultiheadAttentionByHand

    class MyMultiheadAttention(MultiheadAttentionByHand):
        def forward(
            self,
            query,
            key,
            value,
            attn_mask=None,
            need_weights=True,
            key_padding_mask=None,
            average_attn_weights=True,
            is_causal=False,
        ):
            return super().forward(query, key, value, key_padding_mask, need_weights, attn_mask, average_attn_weights)


with wrong("It goes wrong here: dropout=1.0 in evaluation, and need_weights=False."):
    from lessons.torch_attention import MultiheadAttentionByHand

    class MyMultiheadAttention(MultiheadAttentionByHand):
        def forward(self, *inputs, need_weights=True, **named):
            if self.training or need_weights:
                return super().forward(*inputs, need_weights=need_weights, **named)
            output, _ = super().forward(*inputs, **named)
            return output if self.dropout == 0 else self.out_proj(torch.zeros_like(output)), None


with wrong("It goes wrong here: a second call of the same module."):
    from lessons.torch_attention import MultiheadAttentionByHand

    class MyMultiheadAttention(MultiheadAttentionByHand):
        def append(self, k, v, mask):
            if self.add_zero_attn or self.bias_k is not None:
                self.longer = getattr(self, "longer", mask)
                return super().append(k, v, self.longer)
            return k, v, mask


with wrong("output is torch.float32, and the query is torch.float64"):
    from lessons.torch_attention import MultiheadAttentionByHand

    class MyMultiheadAttention(MultiheadAttentionByHand):
        def forward(self, query, *others, **named):
            output, weights = super().forward(query, *others, **named)
            return output.float(), weights


with wrong("The numbers are right, but their gradients are not"):
    from lessons.torch_attention import MultiheadAttentionByHand

    class MyMultiheadAttention(MultiheadAttentionByHand):
        def project(self, query, key, value):
            with torch.no_grad():
                return super().project(query, key, value)


with wrong("You add up the weights of the heads"):
    from lessons.torch_attention import MultiheadAttentionByHand

    class MyMultiheadAttention(MultiheadAttentionByHand):
        def forward(self, *inputs, average_attn_weights=True, **named):
            output, weights = super().forward(*inputs, average_attn_weights=average_attn_weights, **named)
            if weights is not None and average_attn_weights:
                weights = weights * self.num_heads
            return output, weights


edit("self.packed = kdim == vdim == embed_dim", "self.packed = kdim == embed_dim", "only one of kdim and vdim")

edit("self.packed = kdim == vdim == embed_dim", "self.packed = vdim == embed_dim", "only one of kdim and vdim")

edit("self.packed = kdim == vdim == embed_dim", "self.packed = True", "packed whatever kdim and vdim are")

edit("self.packed = kdim == vdim == embed_dim", "self.packed = False", "torch packs them")

edit("nn.Linear(embed_dim, embed_dim, bias=bias)", "nn.Linear(embed_dim, embed_dim)", "out_proj has a bias")

edit(
    "nn.Linear(embed_dim, embed_dim, bias=bias)", "nn.Linear(embed_dim, embed_dim, bias=False)", "out_proj has no bias"
)

edit(
    "self.bias_k = nn.Parameter(torch.randn(1, 1, embed_dim))",
    "self.bias_k = 0",
    "state dict: torch's has bias_k (1, 1",
)

edit(
    "elif not self.batch_first:\n            output = output.transpose(0, 1)",
    "elif False:\n            output = output.transpose(0, 1)",
    "don't bring the output back",
)

edit("output, weights = output[0], weights[0]", "output = output[0]", "you add the axis B")

edit("output, weights = output[0], weights[0]", "pass", "you add the axis B")

edit("masked_fill(given, -torch.inf)", "masked_fill(~given, -torch.inf)", "Both masks are inverted")

edit(
    "            k = torch.cat([k, self.bias_k.expand(B, 1, E)], dim=1)\n"
    "            v = torch.cat([v, self.bias_v.expand(B, 1, E)], dim=1)\n",
    "            k, v = k + self.bias_k, v + self.bias_v\n",
    "a key and a value of their own",
)

edit("key.size(1), dtype=query.dtype)", "key.size(1))", "Your mask is always float32")


with wrong("as narrow as before"):
    from lessons.torch_attention import MultiheadAttentionByHand

    class MyMultiheadAttention(MultiheadAttentionByHand):
        def append(self, k, v, mask):
            k, v, _ = super().append(k, v, None)
            return k, v, mask
