HEAD = """
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
"""
RIGHT = {
    "my_layer_norm": [
        """
def my_layer_norm(x, weight, bias, eps):
    centred = x - x.mean(dim=-1, keepdim=True)
    variance = (centred**2).mean(dim=-1, keepdim=True)
    return centred * torch.rsqrt(variance + eps) * weight + bias
""",
        """
def my_layer_norm(x, weight, bias, eps):
    return F.layer_norm(x, x.shape[-1:], weight, bias, eps)
""",
        """
def my_layer_norm(x, weight, bias, eps):
    size = x.size(-1)
    mean = torch.einsum("btd->bt", x)[..., None] / size
    variance = torch.einsum("btd->bt", (x - mean) ** 2)[..., None] / size
    return torch.addcmul(bias, (x - mean) / torch.sqrt(variance + eps), weight)
""",
        """
def my_layer_norm(x, weight, bias, eps):
    rows = [(row - row.mean()) / (row.var(correction=0) + eps) ** 0.5 for row in x.flatten(0, 1)]
    return torch.stack(rows).view(x.shape) * weight + bias
""",
    ],
    "my_feed_forward": [
        """
def my_feed_forward(x, w1, b1, w2, b2):
    return torch.relu(x @ w1 + b1) @ w2 + b2
""",
        """
def my_feed_forward(x, w1, b1, w2, b2):
    hidden = F.linear(x, w1.T, b1)
    hidden = torch.where(hidden > 0, hidden, 0.0)
    return torch.addmm(b2, hidden, w2)
""",
        """
def my_feed_forward(x, w1, b1, w2, b2):
    rows = [torch.relu(row @ w1 + b1) @ w2 + b2 for row in x]
    return torch.stack(rows)
""",
    ],
    "my_surround": [
        """
def my_surround(x, sublayer, norm, norm_first):
    return x + sublayer(norm(x)) if norm_first else norm(x + sublayer(x))
""",
        """
def my_surround(x, sublayer, norm, norm_first):
    inner = norm(x) if norm_first else x
    result = torch.add(sublayer(inner), x)
    if not norm_first:
        result = norm(result)
    return result
""",
    ],
    "MyEncoderLayer": [
        HEAD
        + """
        if self.norm_first:
            y = self.norm1(x)
            x = x + self.self_attn(y, y, y, allowed)[0]
            return x + self.linear2(F.relu(self.linear1(self.norm2(x))))
        x = self.norm1(x + self.self_attn(x, allowed=allowed)[0])
        return self.norm2(x + self.linear2(F.relu(self.linear1(x))))
""",
        HEAD
        + """
        def attend_to_itself(y):
            output, _ = self.self_attn(y, allowed=allowed, need_weights=False)
            return output

        def feed(y):
            return self.linear2(self.linear1(y).clamp(min=0))

        for sublayer, norm in ((attend_to_itself, self.norm1), (feed, self.norm2)):
            x = x + sublayer(norm(x)) if self.norm_first else norm(x + sublayer(x))
        return x
""",
        HEAD
        + """
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
""",
    ],
    "mended_encoder": [
        """
def mended_encoder(x, sublayers, norms):
    for sublayer, norm in zip(sublayers, norms):
        x = x + sublayer(norm(x))
    return norms[-1](x)
""",
        """
def mended_encoder(x, sublayers, norms):
    *inner, last = norms
    for i in range(len(sublayers)):
        normalised = inner[i](x)
        x = sublayers[i](normalised) + x
    return last(x)
""",
    ],
}
WRONG = {
    "my_layer_norm": [
        (
            """
def my_layer_norm(x, weight, bias, eps):
    return weight * (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True) + eps) + bias
""",
            "This version is in a famous tutorial",
        ),
        (
            """
def my_layer_norm(x, weight, bias, eps):
    return F.layer_norm(x, x.shape[1:]) * weight + bias
""",
            "differs in",
        ),
        (
            """
def my_layer_norm(x, weight, bias, eps):
    mean, variance = x.mean(dim=-1), x.var(dim=-1, correction=0)
    return (x - mean) / (variance + eps).sqrt() * weight + bias
""",
            "keepdim=True",
        ),
        (
            """
def my_layer_norm(x, weight, bias, eps):
    return (x - x.mean(-1, keepdim=True)) / x.std(-1, keepdim=True) * weight + bias
""",
            "D − 1, not D, and eps is missing",
        ),
        (
            """
def my_layer_norm(x, weight, bias, eps):
    return F.layer_norm(x, x.shape[-1:], weight, bias)
""",
            "did not use the eps",
        ),
        (
            """
def my_layer_norm(x, weight, bias, eps):
    mean = x.mean(dim=-1, keepdim=True)
    variance = ((x - mean) ** 2).sum(dim=-1, keepdim=True)
    return (x - mean) / (variance + eps).sqrt() * weight + bias
""",
            "You added the squares up",
        ),
    ],
    "my_feed_forward": [
        (
            """
def my_feed_forward(x, w1, b1, w2, b2):
    return F.linear(F.linear(x, w1.T, b1), w2.T, b2)
""",
            "two linear layers are one",
        ),
        (
            """
def my_feed_forward(x, w1, b1, w2, b2):
    return max(0, x @ w1 + b1) @ w2 + b2
""",
            "max cannot compare 0 with a whole tensor",
        ),
        (
            """
def my_feed_forward(x, w1, b1, w2, b2):
    return F.leaky_relu(x @ w1 + b1) @ w2 + b2
""",
            "differs in",
        ),
    ],
    "my_surround": [
        (
            """
def my_surround(x, sublayer, norm, norm_first):
    if norm_first:
        x = norm(x)
        return x + sublayer(x)
    return norm(x + sublayer(x))
""",
            "added the *normalised* x",
        ),
        (
            """
def my_surround(x, sublayer, norm, norm_first):
    if norm_first:
        return x + sublayer(norm(x))
    return norm(sublayer(x)) + x
""",
            "The sum is normalised",
        ),
        (
            """
def my_surround(x, sublayer, norm, norm_first):
    y = norm(x)
    return x + sublayer(y) if norm_first else norm(x + sublayer(y))
""",
            "the norm came twice",
        ),
    ],
    "MyEncoderLayer": [
        (
            HEAD
            + """
        x = x + self.self_attn(self.norm1(x), allowed=allowed)[0]
        return x + self.linear2(torch.relu(self.linear1(self.norm2(x))))
""",
            "norm_first=False is not obeyed",
        ),
        (
            HEAD
            + """
        x = self.norm1(x + self.self_attn(x, allowed=allowed))
        return self.norm2(x + self.linear2(torch.relu(self.linear1(x))))
""",
            "self_attn gives two things",
        ),
        (
            HEAD
            + """
        if self.norm_first:
            x = x + self.self_attn(self.norm1(x), allowed)[0]
            return x + self.linear2(torch.relu(self.linear1(self.norm2(x))))
        x = self.norm1(x + self.self_attn(x, allowed)[0])
        return self.norm2(x + self.linear2(torch.relu(self.linear1(x))))
""",
            "The mask went in as the *key*",
        ),
        (
            HEAD
            + """
        if self.norm_first:
            x = x + self.self_attn(self.norm1(x), allowed=allowed)[0]
            return x + self.linear2(torch.relu(self.linear1(self.norm2(x))))
        x = self.norm1(x + self.self_attn(x, allowed=allowed)[0])
        return self.norm1(x + self.linear2(torch.relu(self.linear1(x))))
""",
            "norm1 is used twice",
        ),
        (
            HEAD
            + """
        if self.norm_first:
            x = x + self.self_attn(self.norm1(x), allowed=allowed)[0]
            return x + self.linear2(torch.relu(self.linear1(x)))
        x = self.norm1(x + self.self_attn(x, allowed=allowed)[0])
        return self.norm2(x + self.linear2(torch.relu(self.linear1(x))))
""",
            "norm of the second part is missing",
        ),
    ],
    "mended_encoder": [
        (
            """
def mended_encoder(x, sublayers, norms):
    *inner, last = norms
    for sublayer, norm in zip(sublayers, inner):
        x = norm(x)
        x = x + sublayer(x)
    return last(x)
""",
            "The bug is still there",
        ),
        (
            """
def mended_encoder(x, sublayers, norms):
    for sublayer, norm in zip(sublayers, norms):
        x = norm(x + sublayer(x))
    return norms[-1](x)
""",
            "the other order",
        ),
        (
            """
def mended_encoder(x, sublayers, norms):
    for sublayer, norm in zip(sublayers, norms):
        x = x + norm(sublayer(x))
    return norms[-1](x)
""",
            "The norm stands behind",
        ),
        (
            """
def mended_encoder(x, sublayers, norms):
    for sublayer, norm in zip(sublayers, norms):
        x = x + sublayer(norm(x))
        return norms[-1](x)
""",
            "Only the first sublayer",
        ),
    ],
}
