RIGHT = {
    "my_softmax": [
        """
def my_softmax(scores):
    powers = torch.exp(scores - scores.max(dim=-1, keepdim=True).values)
    return powers / powers.sum(dim=-1, keepdim=True)
""",
        """
def my_softmax(scores):
    return torch.softmax(scores, -1)
""",
        """
def my_softmax(scores):
    if scores.dim() > 1:
        return torch.stack([my_softmax(row) for row in scores])
    powers = [torch.exp(s - max(scores)) for s in scores]
    return torch.stack([p / sum(powers) for p in powers])
""",
        """
def my_softmax(scores):
    return (scores - scores.logsumexp(dim=-1, keepdim=True)).exp()
""",
        """
def my_softmax(scores):
    differences = scores[..., None, :] - scores[..., :, None]
    return 1 / differences.exp().sum(dim=-1)
""",
    ],
    "my_scaled_scores": [
        """
def my_scaled_scores(q, k):
    return q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
""",
        """
def my_scaled_scores(q, k):
    return torch.einsum("...qd,...kd->...qk", q, k) / torch.sqrt(torch.tensor(k.size(-1)))
""",
        """
def my_scaled_scores(q, k):
    if q.dim() > 2:
        return torch.stack([my_scaled_scores(a, b) for a, b in zip(q, k)])
    table = [[torch.dot(a, b) / math.sqrt(len(a)) for b in k] for a in q]
    return torch.stack([torch.stack(row) for row in table])
""",
    ],
    "my_entropy": [
        """
def my_entropy(weights):
    return torch.special.entr(weights).sum(dim=-1)
""",
        """
def my_entropy(weights):
    logs = torch.where(weights > 0, weights, torch.ones_like(weights)).log()
    return -(weights * logs).sum(dim=-1)
""",
        """
def my_entropy(weights):
    return torch.distributions.Categorical(probs=weights).entropy()
""",
        """
def my_entropy(weights):
    return -(weights * weights.clamp(min=1e-12).log()).sum(-1)
""",
    ],
    "my_attention": [
        """
def my_attention(q, k, v):
    return my_softmax(my_scaled_scores(q, k)) @ v
""",
        """
def my_attention(q, k, v):
    return torch.nn.functional.scaled_dot_product_attention(q, k, v)
""",
        """
def my_attention(q, k, v):
    scores = torch.einsum("...qd,...kd->...qk", q, k) / math.sqrt(q.size(-1))
    return torch.einsum("...qk,...kd->...qd", scores.softmax(-1), v)
""",
    ],
    "mended_attention": [
        """
def mended_attention(q, k, v):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    weights = scores.softmax(dim=-1)
    return weights @ v
""",
        """
def mended_attention(q, k, v):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    weights = scores.softmax(dim=scores.dim() - 1)
    return weights @ v
""",
    ],
}
WRONG = {
    "my_softmax": [
        (
            """
def my_softmax(scores):
    return torch.exp(scores) / torch.exp(scores).sum(dim=-1, keepdim=True)
""",
            "e^1000 is too large",
        ),
        (
            """
def my_softmax(scores):
    return torch.sigmoid(scores)
""",
            "each row must sum to 1",
        ),
        (
            """
def my_softmax(scores):
    return torch.softmax(scores, dim=-1) * 1.1
""",
            "Sums: row [0] of your weights sums to 1.1",
        ),
        (
            """
def my_softmax(scores):
    return torch.softmax(scores, dim=0)
""",
            "runs over the queries",
        ),
        (
            """
def my_softmax(scores):
    powers = torch.exp(scores - scores.amax(dim=-1))
    return powers / powers.sum(dim=-1)
""",
            "keepdim=True keeps the axis",
        ),
        (
            """
def my_softmax(scores):
    powers = torch.exp(scores - scores.max(dim=-1, keepdim=True))
    return powers / powers.sum(dim=-1, keepdim=True)
""",
            "max with a dim gives two things",
        ),
    ],
    "my_scaled_scores": [
        (
            """
def my_scaled_scores(q, k):
    return torch.matmul(q, k.mT) / k.shape[-1]
""",
            "You divided by d.",
        ),
        (
            """
def my_scaled_scores(q, k):
    return q @ k.transpose(0, 1) / math.sqrt(q.size(-1))
""",
            "it swaps sentences and keys",
        ),
        (
            """
def my_scaled_scores(q, k):
    return torch.softmax(q @ k.transpose(-2, -1) / q.size(-1) ** 0.5, dim=-1)
""",
            "These are the weights already",
        ),
        (
            """
def my_scaled_scores(q, k):
    return q @ k.mT / q.norm()
""",
            "Values: the result differs",
        ),
    ],
    "my_entropy": [
        (
            """
def my_entropy(weights):
    return -(weights * torch.log2(weights.clamp(min=1e-12))).sum(-1)
""",
            "base 2",
        ),
        (
            """
def my_entropy(weights):
    return -torch.nansum(weights * weights.log(), dim=1)
""",
            "Right for a table",
        ),
        (
            """
def my_entropy(weights):
    return 1 - weights.square().sum(-1)
""",
            "Values: the result differs",
        ),
    ],
    "my_attention": [
        (
            """
def my_attention(q, k, v):
    return torch.nn.functional.scaled_dot_product_attention(q, k, v, scale=1.0)
""",
            "The scores are not scaled",
        ),
        (
            """
def my_attention(q, k, v):
    weights = torch.softmax(q @ k.mT / math.sqrt(q.size(-1)), dim=-1)
    return torch.tensor((weights @ v).tolist())
""",
            "The numbers are right, but their gradients are not",
        ),
        (
            """
def my_attention(q, k, v):
    powers = torch.exp(q @ k.mT / math.sqrt(q.size(-1)))
    powers /= powers.sum(dim=-1, keepdim=True)
    return powers @ v
""",
            "torch cannot take gradients: a tensor was changed in place",
        ),
        (
            """
def my_attention(q, k, v):
    return my_softmax(my_scaled_scores(q, k))
""",
            "mix the values by them",
        ),
        (
            """
def my_attention(q, k, v):
    return (torch.rand(q.size(-2), k.size(-2)) @ v)
""",
            "Values: the result differs",
        ),
    ],
    "mended_attention": [
        (
            """
def mended_attention(q, k, v):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    weights = scores.softmax(dim=2)
    return weights @ v
""",
            "Axis 2 holds the keys for a batch of tables",
        ),
        (
            """
def mended_attention(q, k, v):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    weights = scores.softmax(dim=1)
    weights = weights / weights.sum(dim=-1, keepdim=True)
    return weights @ v
""",
            "Values: the result differs",
        ),
    ],
}
