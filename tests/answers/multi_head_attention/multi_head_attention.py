"""Lesson 05, MyMultiHeadAttention: what learners write."""

import torch
import torch.nn.functional as F
from torch import nn

from lessons.attention import attend, join_heads, split_heads
from tests.answers import edit, right, wrong

with right:

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
            return self.out_proj(join_heads(attend(q, k, v, allowed)[0]))


with right:

    class MyMultiHeadAttention(nn.Module):
        def __init__(self, d_model, num_heads):
            super().__init__()
            self.num_heads = num_heads
            self.q_proj = nn.Linear(d_model, d_model)
            self.k_proj = nn.Linear(d_model, d_model)
            self.v_proj = nn.Linear(d_model, d_model)
            self.out_proj = nn.Linear(d_model, d_model)

        def forward(self, query, key, value, allowed=None):
            size = query.size(-1) // self.num_heads
            q, k, v = self.q_proj(query), self.k_proj(key), self.v_proj(value)
            outputs = []
            for h in range(self.num_heads):
                part = slice(h * size, (h + 1) * size)
                scores = q[..., part] @ k[..., part].transpose(-2, -1) / size**0.5
                if allowed is not None:
                    mask = allowed.expand(query.size(0), self.num_heads, query.size(1), key.size(1))[:, h]
                    scores = scores.masked_fill(~mask, -torch.inf)
                outputs.append(scores.softmax(dim=-1).nan_to_num(0.0) @ v[..., part])
            return self.out_proj(torch.cat(outputs, dim=-1))


with right:

    class MyMultiHeadAttention(nn.Module):
        def __init__(self, d_model, num_heads):
            super().__init__()
            self.num_heads = num_heads
            self.q_proj = nn.Linear(d_model, d_model)
            self.k_proj = nn.Linear(d_model, d_model)
            self.v_proj = nn.Linear(d_model, d_model)
            self.out_proj = nn.Linear(d_model, d_model)

        def forward(self, query, key, value, allowed=None):
            q, k, v = (
                layer(x).unflatten(-1, (self.num_heads, -1)).permute(0, 2, 1, 3)
                for layer, x in ((self.q_proj, query), (self.k_proj, key), (self.v_proj, value))
            )
            heads = F.scaled_dot_product_attention(q, k, v, attn_mask=allowed)
            return self.out_proj(torch.einsum("bhqd->bqhd", heads).reshape(*query.shape))


edit(
    "self.out_proj(join_heads(attend(q, k, v, allowed)[0])",
    "join_heads(attend(q, k, v, allowed)[0]",
    "out_proj is not used",
)

edit("[0]", "", "attend returns two things")

with wrong("attend to each other"):

    class MyMultiHeadAttention(nn.Module):
        def __init__(self, d_model, num_heads):
            super().__init__()
            self.num_heads = num_heads
            self.q_proj = nn.Linear(d_model, d_model)
            self.k_proj = nn.Linear(d_model, d_model)
            self.v_proj = nn.Linear(d_model, d_model)
            self.out_proj = nn.Linear(d_model, d_model)

        def forward(self, query, key, value, allowed=None):
            q = self.q_proj(query).unflatten(-1, (self.num_heads, -1))
            k = self.k_proj(key).unflatten(-1, (self.num_heads, -1))
            v = self.v_proj(value).unflatten(-1, (self.num_heads, -1))
            return self.out_proj(attend(q, k, v, allowed)[0].flatten(-2))


edit("))", ")) * query", "Right up to the input of out_proj. It goes wrong after that.")

edit("self.k_proj(key)", "self.k_proj(value)", "The input of k_proj differs: yours is `value`, unchanged.")

edit(
    "return self.out_proj(join_heads(attend(q, k, v, allowed)[0]))",
    "return join_heads(attend(q, k, v, allowed)[0]) @ self.out_proj.weight.T",
    "Right, except for the last bias",
)

with wrong("The table of weights differs: your rows sum to"):

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
            scores = q @ k.mT / q.size(-1) ** 0.5
            if allowed is not None:
                scores = scores.masked_fill(~allowed, -torch.inf)
            weights = scores.flatten(2).softmax(dim=-1).view(scores.shape)
            return self.out_proj(join_heads(weights @ v))


with wrong("with the number of queries"):

    class MyMultiHeadAttention(nn.Module):
        def __init__(self, d_model, num_heads):
            super().__init__()
            self.num_heads = num_heads
            self.q_proj = nn.Linear(d_model, d_model)
            self.k_proj = nn.Linear(d_model, d_model)
            self.v_proj = nn.Linear(d_model, d_model)
            self.out_proj = nn.Linear(d_model, d_model)

        def forward(self, query, key, value, allowed=None):
            length = query.size(1)
            q, k, v = (
                layer(x).view(x.size(0), length, self.num_heads, -1).transpose(1, 2)
                for layer, x in ((self.q_proj, query), (self.k_proj, key), (self.v_proj, value))
            )
            return self.out_proj(join_heads(attend(q, k, v, allowed)[0]))


with wrong("A layer got head_dim features"):

    class MyMultiHeadAttention(nn.Module):
        def __init__(self, d_model, num_heads):
            super().__init__()
            self.num_heads = num_heads
            self.q_proj = nn.Linear(d_model, d_model)
            self.k_proj = nn.Linear(d_model, d_model)
            self.v_proj = nn.Linear(d_model, d_model)
            self.out_proj = nn.Linear(d_model, d_model)

        def forward(self, query, key, value, allowed=None):
            q = self.q_proj(split_heads(query, self.num_heads))
            k = self.k_proj(split_heads(key, self.num_heads))
            v = self.v_proj(split_heads(value, self.num_heads))
            return self.out_proj(join_heads(attend(q, k, v, allowed)[0]))


edit(
    "self.out_proj(join_heads(attend(q, k, v, allowed)[0]))",
    "join_heads(self.out_proj(attend(q, k, v, allowed)[0]))",
    "A layer got head_dim features",
)

edit(
    "join_heads(attend(q, k, v, allowed)[0])", "attend(q, k, v, allowed)[0].sum(dim=1)", "A layer got head_dim features"
)

with wrong("num_heads and head_dim are swapped"):

    class MyMultiHeadAttention(nn.Module):
        def __init__(self, d_model, num_heads):
            super().__init__()
            self.num_heads = num_heads
            self.q_proj = nn.Linear(d_model, d_model)
            self.k_proj = nn.Linear(d_model, d_model)
            self.v_proj = nn.Linear(d_model, d_model)
            self.out_proj = nn.Linear(d_model, d_model)

        def forward(self, query, key, value, allowed=None):
            size = query.size(-1) // self.num_heads
            q = split_heads(self.q_proj(query), size)
            k = split_heads(self.k_proj(key), size)
            v = split_heads(self.v_proj(value), size)
            return self.out_proj(join_heads(attend(q, k, v, allowed)[0]))


with wrong("You inserted an axis into allowed"):

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
            if allowed is not None:
                allowed = allowed.unsqueeze(1)
            return self.out_proj(join_heads(attend(q, k, v, allowed)[0]))


edit("self.out_proj(join", "nn.Linear(query.size(-1), query.size(-1))(join", "You made a new layer in forward")

edit("[0]))", "[0])), None", "Return the output alone")


with wrong("The blocked scores became 0"):

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
            scores = q @ k.mT / k.size(-1) ** 0.5
            if allowed is not None:
                scores = scores.masked_fill(allowed == 0, 1e-9)
            return self.out_proj(join_heads(scores.softmax(-1) @ v))


with wrong("The softmax runs over the heads"):

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
            scores = q @ k.mT / k.size(-1) ** 0.5
            if allowed is not None:
                scores = scores.masked_fill(~allowed, -torch.inf)
            return self.out_proj(join_heads(scores.softmax(dim=1) @ v))


edit("))", ")) + query", "the residual connection of lesson 07")

edit("self.v_proj(value)", "self.k_proj(value)", "They have their own layer, v_proj")

edit(
    "attend(q, k, v, allowed)[0]",
    "F.scaled_dot_product_attention(q, k, v, is_causal=True)",
    "A causal mask is always on",
)


edit(".nan_to_num(0.0)", "", "the softmax makes NaN of them", of=1)

edit("-torch.inf", "-1e9", "it attends evenly to what is blocked", of=1)

edit("allowed=None", "allowed", "It goes wrong here: called without allowed")

edit(
    "q_proj = nn.Linear(d_model, d_model)",
    "q_proj = nn.Linear(d_model, d_model, bias=False)",
    "q_proj.bias: keep the layers of __init__ as they were",
)
