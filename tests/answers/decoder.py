HEAD = """
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
"""
RIGHT = {
    "my_ask_memory": [
        """
def my_ask_memory(x, memory, w_q, w_k, w_v, real):
    scores = (x @ w_q) @ (memory @ w_k).T / w_q.size(1) ** 0.5
    weights = scores.masked_fill(~real, -torch.inf).softmax(dim=-1)
    return weights @ (memory @ w_v), weights
""",
        """
def my_ask_memory(x, memory, w_q, w_k, w_v, real):
    from lessons.attention import attend

    return attend(x @ w_q, memory @ w_k, memory @ w_v, real.expand(x.size(0), memory.size(0)))
""",
        """
def my_ask_memory(x, memory, w_q, w_k, w_v, real):
    q, k, v = x @ w_q, memory[real] @ w_k, memory[real] @ w_v
    some = torch.einsum("td,sd->ts", q, k).div(math.sqrt(q.size(1))).softmax(dim=1)
    weights = torch.zeros(len(x), len(memory))
    weights[:, real] = some
    return some @ v, weights
""",
        """
def my_ask_memory(x, memory, w_q, w_k, w_v, real):
    q, k, v = x @ w_q, memory @ w_k, memory @ w_v
    shares = (q @ k.mT / q.size(-1) ** 0.5).exp() * real
    weights = shares / shares.sum(dim=-1, keepdim=True)
    return weights @ v, weights
""",
        """
def my_ask_memory(x, memory, w_q, w_k, w_v, real):
    q, k, v = x @ w_q, memory @ w_k, memory @ w_v
    allowed = real.expand(len(q), -1)
    weights = F.scaled_dot_product_attention(q, k, torch.eye(len(k)), attn_mask=allowed)
    return F.scaled_dot_product_attention(q, k, v, attn_mask=allowed), weights
""",
    ],
    "my_three_parts": [
        """
def my_three_parts(x, memory, parts, norms, norm_first):
    calls = [parts[0], lambda y: parts[1](y, memory), parts[2]]
    for call, norm in zip(calls, norms):
        x = x + call(norm(x)) if norm_first else norm(x + call(x))
    return x
""",
        """
def my_three_parts(x, memory, parts, norms, norm_first):
    look, ask, feed = parts
    a, b, c = norms
    if norm_first:
        x = look(a(x)) + x
        x = ask(b(x), memory) + x
        x = feed(c(x)) + x
    else:
        x = a(look(x) + x)
        x = b(ask(x, memory) + x)
        x = c(feed(x) + x)
    return x
""",
    ],
    "MyDecoderLayer": [
        HEAD
        + """
        if self.norm_first:
            y = self.norm1(x)
            x = x + self.self_attn(y, y, y, tgt_allowed)[0]
            x = x + self.cross_attn(self.norm2(x), memory, memory, cross_allowed)[0]
            return x + self.linear2(torch.relu(self.linear1(self.norm3(x))))
        x = self.norm1(x + self.self_attn(x, x, x, tgt_allowed)[0])
        x = self.norm2(x + self.cross_attn(x, memory, memory, cross_allowed)[0])
        return self.norm3(x + self.linear2(torch.relu(self.linear1(x))))
""",
        HEAD
        + """
        sublayers = [
            lambda y: self.self_attn(y, allowed=tgt_allowed, need_weights=False)[0],
            lambda y: self.cross_attn(y, memory, allowed=cross_allowed, need_weights=False)[0],
            lambda y: self.linear2(self.linear1(y).clamp(min=0)),
        ]
        for sublayer, norm in zip(sublayers, (self.norm1, self.norm2, self.norm3)):
            x = x + sublayer(norm(x)) if self.norm_first else norm(x + sublayer(x))
        return x
""",
    ],
    "mended_middle": [
        """
def mended_middle(x, memory, cross_attention, norm):
    return x + cross_attention(norm(x), memory)
""",
        """
def mended_middle(x, memory, cross_attention, norm):
    asked = cross_attention(norm(x), memory)
    return torch.add(asked, x)
""",
    ],
}
WRONG = {
    "my_ask_memory": [
        (
            """
def my_ask_memory(x, memory, w_q, w_k, w_v, real):
    from lessons.attention import attend

    return attend(x @ w_q, memory @ w_k, memory @ w_v)
""",
            "The padding of the source is looked at",
        ),
        (
            """
def my_ask_memory(x, memory, w_q, w_k, w_v, real):
    scores = (x @ w_q) @ (memory @ w_k).T / w_q.size(1) ** 0.5
    weights = scores.softmax(dim=-1) * real
    return weights @ (memory @ w_v), weights
""",
            "Mask the scores before it",
        ),
        (
            """
def my_ask_memory(x, memory, w_q, w_k, w_v, real):
    scores = (x @ w_q) @ (memory @ w_k).T / w_q.size(1) ** 0.5
    weights = scores.masked_fill(~real, -torch.inf).softmax(dim=0)
    return weights @ (memory @ w_v), weights
""",
            "which axis are the keys on?",
        ),
        (
            """
def my_ask_memory(x, memory, w_q, w_k, w_v, real):
    scores = (x @ w_q) @ (memory @ w_k).T / x.size(1) ** 0.5
    weights = scores.masked_fill(~real, -torch.inf).softmax(dim=-1)
    return weights @ (memory @ w_v), weights
""",
            "d is the size of a query",
        ),
        (
            """
def my_ask_memory(x, memory, w_q, w_k, w_v, real):
    q, k, v = x @ w_q, memory[real] @ w_k, memory[real] @ w_v
    weights = (q @ k.T / q.size(1) ** 0.5).softmax(dim=-1)
    return weights @ v, weights
""",
            "the weights lack its columns",
        ),
    ],
    "my_three_parts": [
        (
            """
def my_three_parts(x, memory, parts, norms, norm_first):
    look, ask, feed = parts
    for call, norm in zip([look, lambda y: ask(y, y), feed], norms):
        x = x + call(norm(x)) if norm_first else norm(x + call(x))
    return x
""",
            "in place of the memory",
        ),
        (
            """
def my_three_parts(x, memory, parts, norms, norm_first):
    look, ask, feed = parts
    a, b, c = norms
    x = x + look(a(x))
    x = x + ask(b(x), memory)
    return x + feed(c(x))
""",
            "norm_first=False is not obeyed",
        ),
        (
            """
def my_three_parts(x, memory, parts, norms, norm_first):
    look, ask, feed = parts
    for call, norm in zip([look, lambda y: ask(y, memory), feed], norms):
        if norm_first:
            x = norm(x)
            x = x + call(x)
        else:
            x = norm(x + call(x))
    return x
""",
            "the residual carries norm(x)",
        ),
        (
            """
def my_three_parts(x, memory, parts, norms, norm_first):
    look, ask, feed = parts
    for call, norm in zip([look, lambda y: ask(y, memory), feed], norms):
        x = x + call(norm(x)) if norm_first else x + norm(call(x))
    return x
""",
            "The norm went over what a sublayer gives",
        ),
    ],
    "MyDecoderLayer": [
        (
            HEAD
            + """
        for sublayer, norm in (
            (lambda y: self.self_attn(y)[0], self.norm1),
            (lambda y: self.cross_attn(y, memory, memory, cross_allowed)[0], self.norm2),
            (lambda y: self.linear2(torch.relu(self.linear1(y))), self.norm3),
        ):
            x = x + sublayer(norm(x)) if self.norm_first else norm(x + sublayer(x))
        return x
""",
            "tgt_allowed does not reach self_attn",
        ),
        (
            HEAD
            + """
        x = self.norm1(x + self.self_attn(x, x, x, tgt_allowed)[0])
        x = self.norm2(x + self.cross_attn(x, memory, memory, cross_allowed)[0])
        return self.norm3(x + self.linear2(torch.relu(self.linear1(x))))
""",
            "norm_first=True is not obeyed",
        ),
        (
            HEAD
            + """
        for sublayer, norm in (
            (lambda y: self.self_attn(y, tgt_allowed)[0], self.norm1),
            (lambda y: self.cross_attn(y, memory, memory, cross_allowed)[0], self.norm2),
            (lambda y: self.linear2(torch.relu(self.linear1(y))), self.norm3),
        ):
            x = x + sublayer(norm(x)) if self.norm_first else norm(x + sublayer(x))
        return x
""",
            "The mask was taken for the key",
        ),
        (
            HEAD
            + """
        for sublayer, norm in (
            (lambda y: self.self_attn(y, allowed=tgt_allowed), self.norm1),
            (lambda y: self.cross_attn(y, memory, memory, cross_allowed), self.norm2),
            (lambda y: self.linear2(torch.relu(self.linear1(y))), self.norm3),
        ):
            x = x + sublayer(norm(x)) if self.norm_first else norm(x + sublayer(x))
        return x
""",
            "returns two things, output and weights",
        ),
    ],
    "mended_middle": [
        (
            """
def mended_middle(x, memory, cross_attention, norm):
    return x + cross_attention(norm(x), norm(memory))
""",
            "The bug is still there",
        ),
        (
            """
def mended_middle(x, memory, cross_attention, norm):
    x = norm(x)
    return x + cross_attention(x, memory)
""",
            "the residual carries the normalised x",
        ),
        (
            """
def mended_middle(x, memory, cross_attention, norm):
    return norm(x + cross_attention(norm(x), memory))
""",
            "the sum is normalised as well",
        ),
    ],
}
