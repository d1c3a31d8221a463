HEAD = """
class MyMultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.out_proj = nn.Linear(d_model, d_model)

    def forward(self, query, key, value, allowed=None):
"""
RIGHT = {
    "my_loop": [
        """
def my_loop(x, w_q, w_k, w_v):
    return torch.cat([attend(x @ q, x @ k, x @ v)[0] for q, k, v in zip(w_q, w_k, w_v)], dim=-1)
""",
        """
def my_loop(x, w_q, w_k, w_v):
    q, k, v = (torch.einsum("td,hde->hte", x, w) for w in (w_q, w_k, w_v))
    heads = F.scaled_dot_product_attention(q, k, v)
    return heads.permute(1, 0, 2).reshape(len(x), -1)
""",
    ],
    "my_split_heads": [
        """
def my_split_heads(x, num_heads):
    batch, tokens, features = x.shape
    return x.view(batch, tokens, num_heads, features // num_heads).transpose(1, 2)
""",
        """
def my_split_heads(x, num_heads):
    return torch.stack(x.chunk(num_heads, dim=-1), dim=1)
""",
        """
def my_split_heads(x, num_heads):
    size = x.size(-1) // num_heads
    result = torch.zeros(x.size(0), num_heads, x.size(1), size)
    for h in range(num_heads):
        for f in range(size):
            result[:, h, :, f] = x[:, :, h * size + f]
    return result
""",
    ],
    "my_join_heads": [
        """
def my_join_heads(x):
    return x.transpose(1, 2).contiguous().view(x.size(0), x.size(2), -1)
""",
        """
def my_join_heads(x):
    return torch.cat([x[:, h] for h in range(x.size(1))], dim=-1)
""",
        """
def my_join_heads(x):
    return torch.cat(x.unbind(dim=1), dim=-1)
""",
    ],
    "my_parameters": [
        """
def my_parameters(d_model, num_heads, head_dim):
    inside = num_heads * head_dim
    return 3 * (d_model + 1) * inside + (inside + 1) * d_model
""",
        """
def my_parameters(d_model, num_heads, head_dim):
    module = MultiHeadAttention(d_model, num_heads, head_dim=head_dim)
    return sum(p.numel() for p in module.parameters())
""",
    ],
    "MyMultiHeadAttention": [
        HEAD
        + """
        q = split_heads(self.q_proj(query), self.num_heads)
        k = split_heads(self.k_proj(key), self.num_heads)
        v = split_heads(self.v_proj(value), self.num_heads)
        return self.out_proj(join_heads(attend(q, k, v, allowed)[0]))
""",
        HEAD
        + """
        size = query.size(-1) // self.num_heads
        q, k, v = self.q_proj(query), self.k_proj(key), self.v_proj(value)
        outputs = []
        for h in range(self.num_heads):
            part = slice(h * size, (h + 1) * size)
            scores = q[..., part] @ k[..., part].transpose(-2, -1) / size**0.5
            if allowed is not None:
                mask = allowed.expand(query.size(0), self.num_heads, query.size(1), key.size(1))[:, h]
                scores = scores.masked_fill(~mask, -torch.inf)
            outputs.append(scores.softmax(dim=-1) @ v[..., part])
        return self.out_proj(torch.cat(outputs, dim=-1))
""",
        HEAD
        + """
        q, k, v = (
            layer(x).unflatten(-1, (self.num_heads, -1)).permute(0, 2, 1, 3)
            for layer, x in ((self.q_proj, query), (self.k_proj, key), (self.v_proj, value))
        )
        heads = F.scaled_dot_product_attention(q, k, v, attn_mask=allowed)
        return self.out_proj(torch.einsum("bhqd->bqhd", heads).reshape(*query.shape))
""",
    ],
    "mended_heads": [
        '''
def mended_heads(q, k, v, num_heads):
    """q (B, Q, D), k and v (B, K, D) -> (B, Q, D)"""
    output, _ = attend(split_heads(q, num_heads), split_heads(k, num_heads), split_heads(v, num_heads))
    return output.transpose(1, 2).reshape(q.shape)
''',
        """
def mended_heads(q, k, v, num_heads):
    output, _ = attend(split_heads(q, num_heads), split_heads(k, num_heads), split_heads(v, num_heads))
    return join_heads(output)
""",
    ],
}
WRONG = {
    "my_loop": [
        (
            """
def my_loop(x, w_q, w_k, w_v):
    heads = [attend(x @ q, x @ k, x @ v)[0] for q, k, v in zip(w_q, w_k, w_v)]
    return sum(heads) / len(heads)
""",
            "You averaged the heads",
        ),
        (
            """
def my_loop(x, w_q, w_k, w_v):
    for q, k, v in zip(w_q, w_k, w_v):
        head = attend(x @ q, x @ k, x @ v)[0]
    return head
""",
            "Only one head came out",
        ),
        (
            """
def my_loop(x, w_q, w_k, w_v):
    return torch.cat([attend(x @ w_q[h], x @ w_k[h], x @ w_v[h]) for h in range(len(w_q))], dim=-1)
""",
            "both went into the list",
        ),
        (
            """
def my_loop(x, w_q, w_k, w_v):
    return torch.cat([attend(x @ q, x @ k, x @ v)[0] for q, k, v in zip(w_q, w_k, w_v)][::-1], dim=-1)
""",
            "Values: the result differs",
        ),
    ],
    "my_split_heads": [
        (
            """
def my_split_heads(x, num_heads):
    return x.reshape(x.size(0), num_heads, x.size(1), -1)
""",
            "runs across several tokens",
        ),
        (
            """
def my_split_heads(x, num_heads):
    return torch.stack(x.chunk(num_heads, dim=-1), dim=1).flip(-1)
""",
            "Values: the result differs",
        ),
    ],
    "my_join_heads": [
        (
            """
def my_join_heads(x):
    return x.reshape(x.size(0), x.size(2), -1)
""",
            "mixes different tokens",
        ),
        (
            """
def my_join_heads(x):
    return x.transpose(1, 2).view(x.size(0), x.size(2), -1)
""",
            "view refuses",
        ),
        (
            """
def my_join_heads(x):
    return torch.cat([x[:, h] for h in range(x.size(1) - 1)], dim=-1)
""",
            "Shape: the result is (1, 3, 2); expected (1, 3, 4)",
        ),
    ],
    "my_parameters": [
        (
            """
def my_parameters(d_model, num_heads, head_dim):
    return 4 * d_model * num_heads * head_dim
""",
            "The biases are missing",
        ),
        (
            """
def my_parameters(d_model, num_heads, head_dim):
    inside = num_heads * head_dim
    return 3 * d_model * inside + inside + inside * d_model + d_model
""",
            "brackets, perhaps?",
        ),
        (
            """
def my_parameters(d_model, num_heads, head_dim):
    return d_model * num_heads * head_dim
""",
            "Values: the result differs",
        ),
    ],
    "MyMultiHeadAttention": [
        (
            HEAD
            + """
        q = split_heads(self.q_proj(query), self.num_heads)
        k = split_heads(self.k_proj(key), self.num_heads)
        v = split_heads(self.v_proj(value), self.num_heads)
        return join_heads(attend(q, k, v, allowed)[0])
""",
            "out_proj is not used",
        ),
        (
            HEAD
            + """
        q = split_heads(self.q_proj(query), self.num_heads)
        k = split_heads(self.k_proj(key), self.num_heads)
        v = split_heads(self.v_proj(value), self.num_heads)
        return self.out_proj(join_heads(attend(q, k, v, allowed)))
""",
            "attend gives two things",
        ),
        (
            HEAD
            + """
        q = self.q_proj(query).unflatten(-1, (self.num_heads, -1))
        k = self.k_proj(key).unflatten(-1, (self.num_heads, -1))
        v = self.v_proj(value).unflatten(-1, (self.num_heads, -1))
        return self.out_proj(attend(q, k, v, allowed)[0].flatten(-2))
""",
            "look at each other",
        ),
        (
            HEAD
            + """
        q = split_heads(self.q_proj(query), self.num_heads)
        k = split_heads(self.k_proj(key), self.num_heads)
        v = split_heads(self.v_proj(value), self.num_heads)
        return self.out_proj(join_heads(attend(q, k, v, allowed)[0])) + query
""",
            "Values: output differs",
        ),
        (
            HEAD
            + """
        length = query.size(1)
        q, k, v = (
            layer(x).view(x.size(0), length, self.num_heads, -1).transpose(1, 2)
            for layer, x in ((self.q_proj, query), (self.k_proj, key), (self.v_proj, value))
        )
        return self.out_proj(join_heads(attend(q, k, v, allowed)[0]))
""",
            "reshaped with the number of queries",
        ),
    ],
    "mended_heads": [
        (
            """
def mended_heads(q, k, v, num_heads):
    output, _ = attend(split_heads(q, num_heads), split_heads(k, num_heads), split_heads(v, num_heads))
    return output.transpose(2, 3).reshape(q.shape)
""",
            "You exchanged tokens and features",
        ),
        (
            """
def mended_heads(q, k, v, num_heads):
    return attend(q, k, v)[0]
""",
            "Values: output differs",
        ),
    ],
}
