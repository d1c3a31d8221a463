"""Lesson 07, MyEncoderLayer: what learners write."""

import torch
import torch.nn.functional as F
from torch import nn

from lessons.attention import MultiHeadAttention
from tests.answers import edit, right, wrong


class Parts(nn.Module):
    """What most answers make in the same way."""

    def __init__(self, d_model, num_heads, d_ff, norm_first):
        super().__init__()
        self.norm_first = norm_first
        self.self_attn = MultiHeadAttention(d_model, num_heads)
        self.linear1 = nn.Linear(d_model, d_ff)
        self.linear2 = nn.Linear(d_ff, d_model)
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)


with right:

    class MyEncoderLayer(nn.Module):
        def __init__(self, d_model, num_heads, d_ff, norm_first):
            super().__init__()
            self.norm_first = norm_first
            self.self_attn = MultiHeadAttention(d_model, num_heads)
            self.linear1 = nn.Linear(d_model, d_ff)
            self.linear2 = nn.Linear(d_ff, d_model)
            self.norm1 = nn.LayerNorm(d_model)
            self.norm2 = nn.LayerNorm(d_model)

        def forward(self, x, allowed=None):
            if self.norm_first:
                y = self.norm1(x)
                x = x + self.self_attn(y, y, y, allowed)[0]
                return x + self.linear2(F.relu(self.linear1(self.norm2(x))))
            x = self.norm1(x + self.self_attn(x, allowed=allowed)[0])
            return self.norm2(x + self.linear2(F.relu(self.linear1(x))))


with right:

    class MyEncoderLayer(Parts):
        def forward(self, x, allowed=None):
            def attend_to_itself(y):
                output, _ = self.self_attn(y, allowed=allowed, need_weights=False)
                return output

            def feed(y):
                return self.linear2(self.linear1(y).clamp(min=0))

            for sublayer, norm in ((attend_to_itself, self.norm1), (feed, self.norm2)):
                x = x + sublayer(norm(x)) if self.norm_first else norm(x + sublayer(x))
            return x


with right:

    class MyEncoderLayer(Parts):
        def forward(self, x, allowed=None):
            residual = x
            x = self.norm1(x) if self.norm_first else x
            x, _ = self.self_attn(query=x, key=x, value=x, allowed=allowed)
            x = residual + x
            x = x if self.norm_first else self.norm1(x)
            residual = x
            x = self.norm2(x) if self.norm_first else x
            x = self.linear2(torch.maximum(self.linear1(x), torch.tensor(0.0)))
            x = residual + x
            return x if self.norm_first else self.norm2(x)


edit("if self.norm_first:", "if True:", "norm_first=False is ignored")

with wrong("self_attn returns two things"):

    class MyEncoderLayer(Parts):
        def forward(self, x, allowed=None):
            x = self.norm1(x + self.self_attn(x, allowed=allowed))
            return self.norm2(x + self.linear2(torch.relu(self.linear1(x))))


with wrong("The mask was passed as the *key*"):

    class MyEncoderLayer(Parts):
        def forward(self, x, allowed=None):
            if self.norm_first:
                x = x + self.self_attn(self.norm1(x), allowed)[0]
                return x + self.linear2(torch.relu(self.linear1(self.norm2(x))))
            x = self.norm1(x + self.self_attn(x, allowed)[0])
            return self.norm2(x + self.linear2(torch.relu(self.linear1(x))))


with wrong("norm1 is used twice"):

    class MyEncoderLayer(Parts):
        def forward(self, x, allowed=None):
            if self.norm_first:
                x = x + self.self_attn(self.norm1(x), allowed=allowed)[0]
                return x + self.linear2(torch.relu(self.linear1(self.norm2(x))))
            x = self.norm1(x + self.self_attn(x, allowed=allowed)[0])
            return self.norm1(x + self.linear2(torch.relu(self.linear1(x))))


edit(
    "return x + self.linear2(F.relu(self.linear1(self.norm2(x))))",
    "return self.norm2(x + self.linear2(F.relu(self.linear1(self.norm2(x)))))",
    "With norm_first=True you normalized the last sum, too",
)

with wrong("Your code comes to the input of norm2 before the input of norm1"):

    class MyEncoderLayer(Parts):
        def forward(self, x, allowed=None):
            if self.norm_first:
                x = x + self.linear2(torch.relu(self.linear1(self.norm2(x))))
                return x + self.self_attn(self.norm1(x), allowed=allowed)[0]
            x = self.norm1(x + self.self_attn(x, allowed=allowed)[0])
            return self.norm2(x + self.linear2(torch.relu(self.linear1(x))))


with wrong("The two sublayers work in parallel"):

    class MyEncoderLayer(Parts):
        def forward(self, x, allowed=None):
            if self.norm_first:
                y = self.self_attn(self.norm1(x), allowed=allowed)[0]
                return x + y + self.linear2(torch.relu(self.linear1(self.norm2(x))))
            y = self.norm1(x + self.self_attn(x, allowed=allowed)[0])
            return self.norm2(y + self.linear2(torch.relu(self.linear1(x))))


with wrong("The second norm is missing"):

    class MyEncoderLayer(Parts):
        def forward(self, x, allowed=None):
            if self.norm_first:
                x = x + self.self_attn(self.norm1(x), allowed=allowed)[0]
                return x + self.linear2(torch.relu(self.linear1(x)))
            x = self.norm1(x + self.self_attn(x, allowed=allowed)[0])
            return self.norm2(x + self.linear2(torch.relu(self.linear1(x))))


edit(
    "self.norm1(x + self.self_attn(x, allowed=allowed)[0])",
    "x + self.self_attn(x, allowed=allowed)[0]",
    "The first norm is missing",
)

edit("self.self_attn(y, y, y, allowed)", "self.self_attn(y, y, x, allowed)", "the values were not normalized")

edit(
    "return x + self.linear2(F.relu(self.linear1(self.norm2(x))))",
    "return x",
    "The feed-forward network is missing",
)

with wrong("before linear1"):

    class MyEncoderLayer(Parts):
        def forward(self, x, allowed=None):
            if self.norm_first:
                x = x + self.self_attn(self.norm1(x), allowed=allowed)[0]
                return x + self.linear2(self.linear1(torch.relu(self.norm2(x))))
            x = self.norm1(x + self.self_attn(x, allowed=allowed)[0])
            return self.norm2(x + self.linear2(self.linear1(torch.relu(x))))


with wrong("you normalized the sublayers' outputs"):

    class MyEncoderLayer(Parts):
        def forward(self, x, allowed=None):
            if self.norm_first:
                x = x + self.norm1(self.self_attn(x, allowed=allowed)[0])
                return x + self.norm2(self.linear2(torch.relu(self.linear1(x))))
            x = self.norm1(x + self.self_attn(x, allowed=allowed)[0])
            return self.norm2(x + self.linear2(torch.relu(self.linear1(x))))


with wrong("adds the sum from before norm1"):

    class MyEncoderLayer(Parts):
        def forward(self, x, allowed=None):
            if self.norm_first:
                x = x + self.self_attn(self.norm1(x), allowed=allowed)[0]
                return x + self.linear2(torch.relu(self.linear1(self.norm2(x))))
            x = x + self.self_attn(x, allowed=allowed)[0]
            return self.norm2(x + self.linear2(torch.relu(self.linear1(self.norm1(x)))))


edit(
    "return x + self.linear2(F.relu(self.linear1(self.norm2(x))))",
    "return self.norm2(x + self.linear2(F.relu(self.linear1(x))))",
    "the second sublayer is still Post-LN",
)

edit("self.self_attn(y, y, y, allowed)", "self.self_attn(y, y, y)", "With norm_first=True the mask is not passed on")

with wrong("added the *normalized* x"):

    class MyEncoderLayer(Parts):
        def forward(self, x, allowed=None):
            y = self.norm1(x) if self.norm_first else x
            x = x + self.self_attn(y, y, y, allowed)[0]
            y = self.norm2(x) if self.norm_first else self.norm1(x)
            x = y + self.linear2(torch.relu(self.linear1(y)))
            return x if self.norm_first else self.norm2(x)


edit("return output", "return output.relu()", "to the feed-forward network alone", of=1)

with wrong("a return or an else is missing"):

    class MyEncoderLayer(Parts):
        def forward(self, x, allowed=None):
            if self.norm_first:
                y = self.norm1(x)
                x = x + self.self_attn(y, y, y, allowed)[0]
                x = x + self.linear2(torch.relu(self.linear1(self.norm2(x))))
            x = self.norm1(x + self.self_attn(x, x, x, allowed)[0])
            return self.norm2(x + self.linear2(torch.relu(self.linear1(x))))
