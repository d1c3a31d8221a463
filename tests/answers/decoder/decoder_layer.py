"""Lesson 08, MyDecoderLayer: what learners write."""

import torch
from torch import nn

from lessons.attention import MultiHeadAttention
from tests.answers import edit, right, wrong


class Parts(nn.Module):
    """What most answers make in the same way."""

    def __init__(self, d_model, num_heads, d_ff, norm_first):
        super().__init__()
        self.norm_first = norm_first
        self.self_attn = MultiHeadAttention(d_model, num_heads)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)
        self.linear1 = nn.Linear(d_model, d_ff)
        self.linear2 = nn.Linear(d_ff, d_model)
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.norm3 = nn.LayerNorm(d_model)


with right:

    class MyDecoderLayer(nn.Module):
        def __init__(self, d_model, num_heads, d_ff, norm_first):
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
            if self.norm_first:
                y = self.norm1(x)
                x = x + self.self_attn(y, y, y, tgt_allowed)[0]
                x = x + self.cross_attn(self.norm2(x), memory, memory, cross_allowed)[0]
                return x + self.linear2(torch.relu(self.linear1(self.norm3(x))))
            x = self.norm1(x + self.self_attn(x, x, x, tgt_allowed)[0])
            x = self.norm2(x + self.cross_attn(x, memory, memory, cross_allowed)[0])
            return self.norm3(x + self.linear2(torch.relu(self.linear1(x))))


with right:

    class MyDecoderLayer(Parts):
        def forward(self, x, memory, tgt_allowed=None, cross_allowed=None):
            sublayers = [
                lambda y: self.self_attn(y, allowed=tgt_allowed, need_weights=False)[0],
                lambda y: self.cross_attn(y, memory, allowed=cross_allowed, need_weights=False)[0],
                lambda y: self.linear2(self.linear1(y).clamp(min=0)),
            ]
            for sublayer, norm in zip(sublayers, (self.norm1, self.norm2, self.norm3)):
                x = x + sublayer(norm(x)) if self.norm_first else norm(x + sublayer(x))
            return x


edit("if self.norm_first:", "if False:", "norm_first=True is ignored")


edit(
    "x = x + self.cross_attn(self.norm2(x), memory, memory, cross_allowed)[0]",
    "x = x + self.cross_attn(self.norm2(x), memory.relu(), memory, cross_allowed)[0]",
    "The input of cross_attn.k_proj differs: yours is the larger of 0 and what is expected.",
)

with wrong("Cross-attention came first"):

    class MyDecoderLayer(Parts):
        def forward(self, x, memory, tgt_allowed=None, cross_allowed=None):
            for sublayer, norm in (
                (lambda y: self.cross_attn(y, memory, memory, cross_allowed)[0], self.norm2),
                (lambda y: self.self_attn(y, allowed=tgt_allowed)[0], self.norm1),
                (lambda y: self.linear2(torch.relu(self.linear1(y))), self.norm3),
            ):
                x = x + sublayer(norm(x)) if self.norm_first else norm(x + sublayer(x))
            return x


with wrong("tgt_allowed does not reach self_attn"):

    class MyDecoderLayer(Parts):
        def forward(self, x, memory, tgt_allowed=None, cross_allowed=None):
            for sublayer, norm in (
                (lambda y: self.self_attn(y)[0], self.norm1),
                (lambda y: self.cross_attn(y, memory, memory, cross_allowed)[0], self.norm2),
                (lambda y: self.linear2(torch.relu(self.linear1(y))), self.norm3),
            ):
                x = x + sublayer(norm(x)) if self.norm_first else norm(x + sublayer(x))
            return x


with wrong("The mask was passed as the key"):

    class MyDecoderLayer(Parts):
        def forward(self, x, memory, tgt_allowed=None, cross_allowed=None):
            for sublayer, norm in (
                (lambda y: self.self_attn(y, tgt_allowed)[0], self.norm1),
                (lambda y: self.cross_attn(y, memory, memory, cross_allowed)[0], self.norm2),
                (lambda y: self.linear2(torch.relu(self.linear1(y))), self.norm3),
            ):
                x = x + sublayer(norm(x)) if self.norm_first else norm(x + sublayer(x))
            return x


with wrong("returns two things, output and weights"):

    class MyDecoderLayer(Parts):
        def forward(self, x, memory, tgt_allowed=None, cross_allowed=None):
            for sublayer, norm in (
                (lambda y: self.self_attn(y, allowed=tgt_allowed), self.norm1),
                (lambda y: self.cross_attn(y, memory, memory, cross_allowed), self.norm2),
                (lambda y: self.linear2(torch.relu(self.linear1(y))), self.norm3),
            ):
                x = x + sublayer(norm(x)) if self.norm_first else norm(x + sublayer(x))
            return x


with wrong("come from x without its norm"):

    class MyDecoderLayer(Parts):
        def forward(self, x, memory, tgt_allowed=None, cross_allowed=None):
            if self.norm_first:
                x = x + self.self_attn(self.norm1(x), x, x, tgt_allowed)[0]
                x = x + self.cross_attn(self.norm2(x), memory, memory, cross_allowed)[0]
                return x + self.linear2(torch.relu(self.linear1(self.norm3(x))))
            x = self.norm1(x + self.self_attn(x, x, x, tgt_allowed)[0])
            x = self.norm2(x + self.cross_attn(x, memory, memory, cross_allowed)[0])
            return self.norm3(x + self.linear2(torch.relu(self.linear1(x))))


edit("self.linear2(self.linear1(y).clamp(min=0))", "self.linear2(self.linear1(y)).relu()", "between the two", of=1)


with wrong("around the feed-forward network is missing"):

    class MyDecoderLayer(Parts):
        def forward(self, x, memory, tgt_allowed=None, cross_allowed=None):
            if self.norm_first:
                x = x + self.self_attn(self.norm1(x), allowed=tgt_allowed)[0]
                x = x + self.cross_attn(self.norm2(x), memory, memory, cross_allowed)[0]
                return self.linear2(torch.relu(self.linear1(self.norm3(x))))
            x = self.norm1(x + self.self_attn(x, allowed=tgt_allowed)[0])
            x = self.norm2(x + self.cross_attn(x, memory, memory, cross_allowed)[0])
            return self.norm3(self.linear2(torch.relu(self.linear1(x))))


edit("norm(x + sublayer(x))", "x + norm(sublayer(x))", "you normalized the output of each sublayer", of=1)


with wrong("Cross-attention got tgt_allowed"):

    class MyDecoderLayer(Parts):
        def forward(self, x, memory, tgt_allowed=None, cross_allowed=None):
            sublayers = (
                (self.norm1, lambda y: self.self_attn(y, allowed=tgt_allowed)[0]),
                (self.norm2, lambda y: self.cross_attn(y, memory, allowed=tgt_allowed)[0]),
                (self.norm3, lambda y: self.linear2(torch.relu(self.linear1(y)))),
            )
            for norm, sublayer in sublayers:
                x = x + sublayer(norm(x)) if self.norm_first else norm(x + sublayer(x))
            return x


edit("self.self_attn(y, y, y, tgt_allowed)[0]", "self.self_attn(y, y, y, tgt_allowed)", "returns two things")

edit("x = x + self.self_attn(y, y, y", "x = y + self.self_attn(y, y, y", "you added norm(x)")

with wrong("They belong together: both are memory"):

    class MyDecoderLayer(Parts):
        def forward(self, x, memory, tgt_allowed=None, cross_allowed=None):
            sublayers = [
                lambda y: self.self_attn(y, allowed=tgt_allowed)[0],
                lambda y: self.cross_attn(y, y, memory, allowed=cross_allowed)[0],
                lambda y: self.linear2(self.linear1(y).relu()),
            ]
            for sublayer, norm in zip(sublayers, (self.norm1, self.norm2, self.norm3)):
                x = x + sublayer(norm(x)) if self.norm_first else norm(x + sublayer(x))
            return x


edit("self.cross_attn(y, memory,", "self.cross_attn(memory, y,", "x and memory are swapped", of=1)

edit(
    "(self.norm1, self.norm2, self.norm3)", "(self.norm1, self.norm3, self.norm2)", "norm2 and norm3 are swapped", of=1
)


with wrong("The sublayers work in parallel"):

    class MyDecoderLayer(Parts):
        def forward(self, x, memory, tgt_allowed=None, cross_allowed=None):
            a, b, c = (norm(x) if self.norm_first else x for norm in (self.norm1, self.norm2, self.norm3))
            look = self.self_attn(a, allowed=tgt_allowed)[0]
            ask = self.cross_attn(b, memory, allowed=cross_allowed)[0]
            feed = self.linear2(self.linear1(c).relu())
            if self.norm_first:
                return x + look + ask + feed
            return self.norm3(self.norm2(self.norm1(x + look) + ask) + feed)


with wrong("You made a causal mask in the layer"):

    class MyDecoderLayer(Parts):
        def forward(self, x, memory, tgt_allowed=None, cross_allowed=None):
            causal = torch.ones(x.size(1), x.size(1), dtype=torch.bool).tril()
            tgt_allowed = causal if tgt_allowed is None else tgt_allowed & causal
            parts = [
                (lambda y: self.self_attn(y, y, y, tgt_allowed)[0], self.norm1),
                (lambda y: self.cross_attn(y, memory, memory, cross_allowed)[0], self.norm2),
                (lambda y: self.linear2(torch.relu(self.linear1(y))), self.norm3),
            ]
            for part, norm in parts:
                x = x + part(norm(x)) if self.norm_first else norm(x + part(x))
            return x


with wrong("A norm is used more than once"):

    class MyDecoderLayer(Parts):
        def forward(self, x, memory, tgt_allowed=None, cross_allowed=None):
            for sublayer, norm in (
                (lambda y: self.self_attn(y, allowed=tgt_allowed)[0], self.norm1),
                (lambda y: self.cross_attn(y, memory, memory, cross_allowed)[0], self.norm2),
                (lambda y: self.linear2(torch.relu(self.linear1(y))), self.norm2),
            ):
                x = x + sublayer(norm(x)) if self.norm_first else norm(x + sublayer(x))
            return x
