RIGHT = {
    "my_projections": [
        """
def my_projections(x, w_q, w_k, w_v):
    return x @ w_q, x @ w_k, x @ w_v
""",
        """
def my_projections(x, w_q, w_k, w_v):
    def product(a, b):
        rows, inner, columns = a.shape[0], a.shape[1], b.shape[1]
        result = torch.zeros(rows, columns)
        for i in range(rows):
            for j in range(columns):
                for m in range(inner):
                    result[i, j] += a[i, m] * b[m, j]
        return result
    return [product(x, w) for w in (w_q, w_k, w_v)]
""",
        """
def my_projections(x, w_q, w_k, w_v):
    return tuple(torch.nn.functional.linear(x, w.T) for w in (w_q, w_k, w_v))
""",
    ],
    "my_scores": [
        """
def my_scores(q, k):
    return q @ k.T
""",
        """
def my_scores(q, k):
    table = torch.empty(len(q), len(k))
    for i in range(len(q)):
        for j in range(len(k)):
            table[i, j] = torch.dot(q[i], k[j])
    return table
""",
        """
def my_scores(q, k):
    return torch.einsum("qd,kd->qk", q, k)
""",
        """
def my_scores(q, k):
    return (q[:, None, :] * k[None, :, :]).sum(-1)
""",
        """
def my_scores(q, k):
    return torch.tensor([[sum(a.item() * b.item() for a, b in zip(qi, kj)) for kj in k] for qi in q])
""",
    ],
    "my_score": [
        "my_score = 9",
        "my_score = 9.0",
        "my_score = torch.tensor(9.0)",
        "my_score = torch.tensor([9.0])",
        "my_score = 3 * 2 + 0 * 0 + 1 * 3",
    ],
    "my_output": [
        """
def my_output(weights, v):
    return torch.matmul(weights, v)
""",
        """
def my_output(weights, v):
    rows = []
    for row in weights:
        rows.append(sum(w * value for w, value in zip(row, v)))
    return torch.stack(rows)
""",
        """
def my_output(weights, v):
    return torch.einsum("qk,kd->qd", weights, v)
""",
    ],
    "mended_attention": [
        """
def mended_attention(x, w_q, w_k, w_v):
    q = x @ w_q
    k = x @ w_k
    v = x @ w_v
    weights = (q @ k.T / math.sqrt(q.size(-1))).softmax(dim=-1)
    return weights @ v
""",
        """
def mended_attention(x, w_q, w_k, w_v):
    return torch.nn.functional.scaled_dot_product_attention(x @ w_q, x @ w_k, x @ w_v)
""",
    ],
}
WRONG = {
    "my_projections": [
        (
            """
def my_projections(x, w_q, w_k, w_v):
    return x @ w_q, x @ w_v, x @ w_k
""",
            "keys and values are swapped",
        ),
        (
            """
def my_projections(x, w_q, w_k, w_v):
    return x @ w_q
""",
            "returned one thing; expected 3: q, k, v",
        ),
        (
            """
def my_projections(x, w_q, w_k, w_v):
    return x @ w_q, x @ w_k
""",
            "returned 2 things; expected 3: q, k, v",
        ),
        (
            """
def my_projections(x, w_q, w_k, w_v):
    q, k, v = x @ w_q, x @ w_k, x @ w_v
""",
            "returned None. Does it end with `return`?",
        ),
        (
            "my_projections = torch.zeros(2, 3)",
            "my_projections is a Tensor; expected a function",
        ),
        (
            """
def my_projections(x, w_q, w_k, w_v):
    return w_q @ x, w_k @ x, w_v @ x
""",
            "in line 3 of your cell: return w_q @ x",
        ),
        (
            """
def my_projections(x, w_q, w_k, w_v):
    x *= 2
    return x @ w_q / 2, x @ w_k / 2, x @ w_v / 2
""",
            "changed its argument x",
        ),
        (
            """
def my_projections(x, w_q, w_k, w_v):
    q = x @ w_q
    k = q @ w_k
    v = k @ w_v
    return q, k, v
""",
            "k was made from q",
        ),
    ],
    "my_scores": [
        (
            """
def my_scores(q, k):
    return torch.einsum("qd,kd->kq", q, k)
""",
            "Your table is transposed",
        ),
        (
            """
def my_scores(q, k):
    return torch.cdist(q, k)
""",
            "Values: the result differs",
        ),
        (
            """
def my_scores(q, k):
    return q @ k
""",
            "k is not transposed",
        ),
        (
            """
def my_scores(q, k):
    return q @ k.view(k.shape[1], k.shape[0])
""",
            "That is no transpose",
        ),
    ],
    "my_score": [
        ("my_score = 13", "13 comes out when"),
        ("my_score = 8", "That is not it."),
        ("my_score = 5.2", "divided by √3"),
    ],
    "my_output": [
        (
            """
def my_output(weights, v):
    return weights.transpose(0, 1) @ v
""",
            "You mixed along the columns",
        ),
        (
            """
def my_output(weights, v):
    return weights @ v + 1e-3
""",
            "Values: the result differs",
        ),
        (
            """
def my_output(weights, v):
    output = torch.zeros(len(weights), v.size(1))
    for i in range(len(weights)):
        for j in range(len(v)):
            output[i] = weights[i, j] * v[j]
    return output
""",
            "Only the last key counts",
        ),
    ],
    "mended_attention": [
        (
            """
def mended_attention(x, w_q, w_k, w_v):
    q = x @ w_k
    k = x @ w_k
    v = x @ w_v
    weights = (q @ k.T / math.sqrt(q.size(-1))).softmax(dim=-1)
    return weights @ v
""",
            "Now the queries are keys as well",
        ),
        (
            """
def mended_attention(x, w_q, w_k, w_v):
    q = x @ w_q
    k = x @ w_k
    v = x @ w_v
    weights = (q @ k.T).softmax(dim=-1)
    return weights @ v
""",
            "Values: the result differs",
        ),
    ],
}
