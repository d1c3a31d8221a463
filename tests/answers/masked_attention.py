RIGHT = {
    "my_causal": [
        """
def my_causal(num_queries):
    position = torch.arange(num_queries)
    return position[None, :] <= position[:, None]
""",
        """
def my_causal(num_queries):
    return torch.tensor([[j <= i for j in range(num_queries)] for i in range(num_queries)])
""",
        """
def my_causal(num_queries):
    return torch.tril(torch.ones(num_queries, num_queries)) == 1
""",
        """
def my_causal(num_queries):
    return ~torch.triu(torch.ones(num_queries, num_queries, dtype=torch.bool), diagonal=1)
""",
        """
def my_causal(num_queries):
    return ~torch.nn.Transformer.generate_square_subsequent_mask(num_queries).bool()
""",
    ],
    "my_influence": [
        """
def my_influence(function, x):
    before = function(x)
    columns = []
    for j in range(len(x)):
        y = x.clone()
        y[j] = y[j] + 1
        columns.append(((function(y) - before).abs() > 1e-5).any(dim=-1))
    return torch.stack(columns, dim=1)
""",
        """
def my_influence(function, x):
    moved = torch.zeros(len(x), len(x), dtype=torch.bool)
    for j in range(len(x)):
        y = x.clone()
        y[j] = torch.tensor([3.0, -2.0, 5.0])
        for i in range(len(x)):
            moved[i, j] = not torch.allclose(function(y)[i], function(x)[i])
    return moved
""",
        """
def my_influence(function, x):
    table = torch.autograd.functional.jacobian(function, x)  # (T, d, T, D)
    return (table.abs() > 1e-8).any(dim=3).any(dim=1)
""",
    ],
    "my_padding": [
        """
def my_padding(ids, pad_id):
    return (ids != pad_id)[:, None, None, :]
""",
        """
def my_padding(ids, pad_id):
    return ids.ne(pad_id).unsqueeze(1).unsqueeze(2)
""",
        """
def my_padding(ids, pad_id):
    return torch.tensor([[[[i != pad_id for i in row]]] for row in ids.tolist()])
""",
    ],
    "my_masked_weights": [
        """
def my_masked_weights(scores, allowed):
    weights = scores.masked_fill(~allowed, -torch.inf).softmax(dim=-1)
    return weights.masked_fill(~allowed.any(dim=-1, keepdim=True), 0.0)
""",
        """
def my_masked_weights(scores, allowed):
    hidden = torch.where(allowed, scores, torch.tensor(float("-inf")))
    powers = torch.exp(hidden - hidden.amax(dim=-1, keepdim=True).clamp(min=-1e30))
    return powers / powers.sum(dim=-1, keepdim=True).clamp(min=1e-30)
""",
        """
def my_masked_weights(scores, allowed):
    bias = torch.zeros_like(scores).masked_fill(~allowed, -torch.inf)
    return torch.nan_to_num(torch.softmax(scores + bias, dim=-1))
""",
        """
def my_masked_weights(scores, allowed):
    if scores.dim() > 2:
        return torch.stack([my_masked_weights(s, a) for s, a in zip(scores, allowed)])
    rows = []
    for s, a in zip(scores, allowed):
        weights = torch.zeros(len(s))
        weights[a] = s[a].softmax(dim=0)
        rows.append(weights)
    return torch.stack(rows)
""",
        """
def my_masked_weights(scores, allowed):
    hidden = scores.masked_fill(~allowed, -torch.inf)
    return torch.where(allowed, (hidden - hidden.logsumexp(dim=-1, keepdim=True)).exp(), 0.0)
""",
        """
def my_masked_weights(scores, allowed):
    one_each = torch.eye(scores.size(-1)).expand(*scores.shape[:-2], -1, -1)
    return F.scaled_dot_product_attention(scores, one_each, one_each, attn_mask=allowed, scale=1.0)
""",
    ],
    "mended_attention": [
        """
def mended_attention(q, k, v):
    length = q.size(-2)
    mask = torch.triu(torch.ones(length, length, dtype=torch.bool), diagonal=1)
    return F.scaled_dot_product_attention(q, k, v, attn_mask=~mask)
""",
        """
def mended_attention(q, k, v):
    return F.scaled_dot_product_attention(q, k, v, is_causal=True)
""",
        """
def mended_attention(q, k, v):
    length = q.size(-2)
    mask = torch.full((length, length), -torch.inf).triu(diagonal=1)
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
""",
    ],
}
WRONG = {
    "my_causal": [
        (
            """
def my_causal(num_queries):
    return torch.triu(torch.ones(num_queries, num_queries, dtype=torch.bool), diagonal=1)
""",
            "True and False exchanged",
        ),
        (
            """
def my_causal(num_queries):
    return torch.tril(torch.ones(num_queries, num_queries))
""",
            "these are the numbers 0 and 1",
        ),
        (
            """
def my_causal(num_queries):
    position = torch.arange(4)
    return position <= position[:, None]
""",
            "whatever num_queries is",
        ),
        (
            """
def my_causal(num_queries):
    position = torch.arange(num_queries)
    return (position[None, :] <= position[:, None]) & (position[None, :] > position[:, None] - 2)
""",
            "Values: allowed differs",
        ),
    ],
    "my_influence": [
        (
            """
def my_influence(function, x):
    before = function(x)
    rows = []
    for j in range(len(x)):
        y = x.clone()
        y[j] += 1
        rows.append((function(y) != before).any(dim=-1))
    return torch.stack(rows)
""",
            "Your table is transposed",
        ),
        (
            """
def my_influence(function, x):
    before = function(x)
    columns = []
    for j in range(len(x)):
        x[j] += 1
        columns.append(((function(x) - before).abs() > 1e-5).any(dim=-1))
        x[j] -= 2
    return torch.stack(columns, dim=1)
""",
            "changed its argument x",
        ),
        (
            """
def my_influence(function, x):
    before = function(x)
    columns = []
    for j in range(len(x)):
        y = x.clone()
        y[:, j] += 1
        columns.append(((function(y) - before).abs() > 1e-5).any(dim=-1))
    return torch.stack(columns, dim=1)
""",
            "y[:, j] is a column",
        ),
        (
            """
def my_influence(function, x):
    columns = []
    for j in range(len(x)):
        y = x.clone()
        y[j] += 1
        columns.append((y != x).any(dim=-1))
    return torch.stack(columns, dim=1)
""",
            "it is the tokens that you compared",
        ),
    ],
    "my_padding": [
        (
            """
def my_padding(ids, pad_id):
    return (ids != 0)[:, None, None, :]
""",
            "You compared with 0",
        ),
        (
            """
def my_padding(ids, pad_id):
    return (ids != pad_id)[None, None]
""",
            "the new axes stand in front",
        ),
        (
            """
def my_padding(ids, pad_id):
    lengths = (ids != pad_id).sum(dim=1, keepdim=True)
    return (torch.arange(ids.shape[1]) < lengths)[:, None, None]
""",
            "Padding may stand in front as well",
        ),
    ],
    "my_masked_weights": [
        (
            """
def my_masked_weights(scores, allowed):
    scores[~allowed] = float("-inf")
    return torch.softmax(scores, dim=-1)
""",
            "changed the scores that it was given",
        ),
        (
            """
def my_masked_weights(scores, allowed):
    return torch.softmax(scores + (allowed.float() - 1) * 1e9, dim=-1)
""",
            "A large negative number such as -1e9",
        ),
        (
            """
def my_masked_weights(scores, allowed):
    return scores.masked_fill(~allowed, -4.0).softmax(dim=-1)
""",
            "Blocked: [0, 1] may not be looked at",
        ),
        (
            """
def my_masked_weights(scores, allowed):
    weights = torch.softmax(scores, dim=-1)
    weights[~allowed] = 0
    return weights
""",
            "You masked after the softmax",
        ),
        (
            """
def my_masked_weights(scores, allowed):
    return scores.masked_fill(~allowed, -30).softmax(dim=-1) * allowed
""",
            "A large negative number is not -inf",
        ),
        (
            """
def my_masked_weights(scores, allowed):
    hidden = scores.masked_fill(~allowed, -1e4)
    return hidden.softmax(dim=-1).masked_fill(~allowed, 0.0)
""",
            "A large negative number is not -inf",
        ),
        (
            """
def my_masked_weights(scores, allowed):
    if scores.dim() > 2:
        return torch.stack([my_masked_weights(s, a) for s, a in zip(scores, allowed)])
    rows = []
    for s, a in zip(scores, allowed):
        total = sum((torch.exp(x) for x, ok in zip(s, a) if ok), torch.tensor(0.0))
        rows.append(torch.stack([torch.exp(x) / total if ok else torch.tensor(0.0) for x, ok in zip(s, a)]))
    return torch.stack(rows)
""",
            "e^1000 is too large for a float",
        ),
        (
            """
def my_masked_weights(scores, allowed):
    weights = scores.masked_fill(~allowed, float("-inf")).softmax(dim=-1)
    return torch.where(allowed.any(dim=-1), weights, 0.0)
""",
            "keepdim=True makes it a column",
        ),
        (
            """
def my_masked_weights(scores, allowed):
    weights = scores.masked_fill(~allowed, float("-inf")).softmax(dim=-1)
    if weights.isnan().any():
        return torch.zeros_like(weights)
    return weights
""",
            "empties your whole table",
        ),
    ],
    "mended_attention": [
        (
            """
def mended_attention(q, k, v):
    length = q.size(-2)
    mask = torch.triu(torch.ones(length, length, dtype=torch.bool), diagonal=0)
    return F.scaled_dot_product_attention(q, k, v, attn_mask=~mask)
""",
            "the diagonal is missing",
        ),
        (
            """
def mended_attention(q, k, v):
    length = q.size(-2)
    mask = torch.tril(torch.ones(length, length, dtype=torch.bool), diagonal=1)
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
""",
            "one diagonal too many",
        ),
        (
            """
def mended_attention(q, k, v):
    return F.scaled_dot_product_attention(q, k, v, is_causal=True, scale=1.0)
""",
            "Values: output differs",
        ),
        (
            """
def mended_attention(q, k, v):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    return torch.tril(scores.softmax(dim=-1)) @ v
""",
            "You masked after the softmax",
        ),
    ],
}
