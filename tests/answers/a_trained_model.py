RIGHT = {
    "my_our_name": [
        """
def my_our_name(name):
    table = {
        "attention.self.query": "self_attn.q_proj",
        "attention.self.key": "self_attn.k_proj",
        "attention.self.value": "self_attn.v_proj",
        "attention.output.dense": "self_attn.out_proj",
        "attention.output.LayerNorm": "self_attn_residual.norm",
        "intermediate.dense": "feed_forward.linear1",
        "output.dense": "feed_forward.linear2",
        "output.LayerNorm": "feed_forward_residual.norm",
    }
    pieces = name.split(".")
    return ".".join(["layers", pieces[2], table[".".join(pieces[3:-1])], pieces[-1]])
""",
        """
def my_our_name(name):
    name = name.removeprefix("encoder.").replace("layer.", "layers.", 1)
    for theirs, ours in (
        ("attention.self.query", "self_attn.q_proj"),
        ("attention.self.key", "self_attn.k_proj"),
        ("attention.self.value", "self_attn.v_proj"),
        ("attention.output.dense", "self_attn.out_proj"),
        ("attention.output.LayerNorm", "self_attn_residual.norm"),
        ("intermediate.dense", "feed_forward.linear1"),
        ("output.dense", "feed_forward.linear2"),
        ("output.LayerNorm", "feed_forward_residual.norm"),
    ):
        if theirs in name:
            return name.replace(theirs, ours)
""",
        """
import re

def my_our_name(name):
    layer, rest = re.fullmatch(r"encoder\\.layer\\.(\\d+)\\.(.*)", name).groups()
    rest = re.sub(r"attention\\.self\\.(.)\\w+", r"self_attn.\\1_proj", rest)
    rest = rest.replace("attention.output.dense", "self_attn.out_proj")
    rest = rest.replace("attention.output.LayerNorm", "self_attn_residual.norm")
    rest = rest.replace("intermediate.dense", "feed_forward.linear1").replace("output.dense", "feed_forward.linear2")
    return f"layers.{layer}.{rest.replace('output.LayerNorm', 'feed_forward_residual.norm')}"
""",
    ],
    "my_mean_pooling": [
        """
def my_mean_pooling(hidden, real):
    total = (hidden * real[..., None]).sum(dim=1)
    mean = total / real.sum(dim=1, keepdim=True)
    return mean / mean.norm(dim=-1, keepdim=True)
""",
        """
def my_mean_pooling(hidden, real):
    vectors = []
    for sentence, is_real in zip(hidden, real):
        vector = sentence[is_real].mean(dim=0)
        vectors.append(vector / vector.square().sum().sqrt())
    return torch.stack(vectors)
""",
        """
def my_mean_pooling(hidden, real):
    return F.normalize(torch.einsum("bsd,bs->bd", hidden, real.to(hidden.dtype)), dim=1)
""",
        """
def my_mean_pooling(hidden, real):
    mean = torch.where(real.unsqueeze(-1), hidden, torch.nan).nanmean(dim=1)
    return (mean.T / torch.linalg.vector_norm(mean, dim=1)).T
""",
    ],
    "my_previous_token_score": [
        """
def my_previous_token_score(weights):
    return weights.diagonal(offset=-1, dim1=-2, dim2=-1).mean(dim=-1)
""",
        """
def my_previous_token_score(weights):
    T = weights.size(-1)
    total = sum(weights[:, i, i - 1] for i in range(1, T))
    return total / (T - 1)
""",
        """
def my_previous_token_score(weights):
    i = torch.arange(1, weights.shape[-1])
    return weights[:, i, i - 1].mean(1)
""",
        """
def my_previous_token_score(weights):
    return torch.einsum("hii->h", weights[:, 1:, :-1]) / (weights.size(-1) - 1)
""",
    ],
    "my_without_head": [
        """
def my_without_head(joined, num_heads, head, w_out, b_out):
    head_dim = joined.size(-1) // num_heads
    kept = joined.clone()
    kept[..., head * head_dim : (head + 1) * head_dim] = 0
    return kept @ w_out.T + b_out
""",
        """
def my_without_head(joined, num_heads, head, w_out, b_out):
    keep = torch.ones(num_heads)
    keep[head] = 0
    heads = joined.unflatten(-1, (num_heads, -1)) * keep[:, None]
    return F.linear(heads.flatten(-2), w_out, b_out)
""",
        """
def my_without_head(joined, num_heads, head, w_out, b_out):
    parts = joined.chunk(num_heads, dim=-1)
    columns = w_out.chunk(num_heads, dim=1)
    return b_out + sum(part @ w.T for i, (part, w) in enumerate(zip(parts, columns)) if i != head)
""",
        """
def my_without_head(joined, num_heads, head, w_out, b_out):
    d = joined.size(-1) // num_heads
    its = slice(head * d, (head + 1) * d)
    return F.linear(joined, w_out, b_out) - joined[..., its] @ w_out[:, its].T
""",
    ],
    "mended_maps": [
        """
def mended_maps(x, w_q, w_k, num_heads, real):
    q, k = split_heads(x @ w_q.T, num_heads), split_heads(x @ w_k.T, num_heads)
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    scores = scores.masked_fill(~real[:, None, None], -torch.inf)
    return scores.softmax(dim=-1)
""",
        """
def mended_maps(x, w_q, w_k, num_heads, real):
    q, k = split_heads(x @ w_q.T, num_heads), split_heads(x @ w_k.T, num_heads)
    return attend(q, k, k, real[:, None, None, :])[1]
""",
        """
def mended_maps(x, w_q, w_k, num_heads, real):
    q, k = split_heads(x @ w_q.T, num_heads), split_heads(x @ w_k.T, num_heads)
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    weights = scores.exp() * real[:, None, None]
    return weights / weights.sum(dim=-1, keepdim=True)
""",
        """
def mended_maps(x, w_q, w_k, num_heads, real):
    q, k = split_heads(x @ w_q.T, num_heads), split_heads(x @ w_k.T, num_heads)
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    weights = scores.softmax(dim=-1) * real[:, None, None]
    return weights / weights.sum(dim=-1, keepdim=True)
""",
    ],
}
WRONG = {
    "my_our_name": [
        (
            """
def my_our_name(name):
    table = {
        "attention.self.query": "self_attn.q_proj",
        "attention.self.key": "self_attn.k_proj",
        "attention.self.value": "self_attn.v_proj",
        "attention.output.dense": "self_attn.out_proj",
        "attention.output.LayerNorm": "feed_forward_residual.norm",
        "intermediate.dense": "feed_forward.linear1",
        "output.dense": "feed_forward.linear2",
        "output.LayerNorm": "self_attn_residual.norm",
    }
    pieces = name.split(".")
    return ".".join(["layers", pieces[2], table[".".join(pieces[3:-1])], pieces[-1]])
""",
            "The two norms are exchanged",
        ),
        (
            """
def my_our_name(name):
    return name
""",
            "becomes encoder.layer.0.attention.self.query.weight, which our encoder does not have",
        ),
        (
            """
def my_our_name(name):
    name = name.removeprefix("encoder.").replace("layer.", "layers.")
    name = name.replace("output.dense", "feed_forward.linear2").replace("intermediate.dense", "feed_forward.linear1")
    name = name.replace("output.LayerNorm", "feed_forward_residual.norm")
    name = name.replace("attention.self.query", "self_attn.q_proj").replace("attention.self.key", "self_attn.k_proj")
    return name.replace("attention.self.value", "self_attn.v_proj")
""",
            "“attention.output.dense” ends in “output.dense”",
        ),
        (
            """
def my_our_name(name):
    parts = {
        "attention.self.query": "self_attn.q_proj",
        "attention.self.key": "self_attn.k_proj",
        "attention.self.value": "self_attn.v_proj",
        "attention.output.dense": "self_attn.out_proj",
        "attention.output.LayerNorm": "self_attn_residual.norm",
        "intermediate.dense": "feed_forward.linear1",
        "output.dense": "feed_forward.linear2",
        "output.LayerNorm": "feed_forward_residual.norm",
    }
    layer, rest = name[14], name[16:]
    part, kind = rest.rsplit(".", 1)
    return f"layers.{layer}.{parts[part]}.{kind}"
""",
            'split(".") finds the pieces',
        ),
        (
            """
def my_our_name(name):
    _, _, layer, rest = name.split(".", 3)
    return ("layers", layer, rest)
""",
            "becomes a tuple; expected a text",
        ),
    ],
    "my_mean_pooling": [
        (
            """
def my_mean_pooling(hidden, real):
    mean = hidden.mean(dim=1)
    return mean / mean.norm(dim=-1, keepdim=True)
""",
            "Padding is counted",
        ),
        (
            """
def my_mean_pooling(hidden, real):
    hidden = hidden * real[..., None]
    return hidden.sum(1) / hidden.size(1)
""",
            "set to 0 but still counted",
        ),
        (
            """
def my_mean_pooling(hidden, real):
    mean = (hidden * real[..., None]).sum(1) / real.sum(1)[:, None]
    return mean / mean.norm()
""",
            "one number for the whole batch",
        ),
        (
            """
def my_mean_pooling(hidden, real):
    hidden *= real[..., None]
    return F.normalize(hidden.sum(dim=1), dim=-1)
""",
            "your code changed its argument hidden",
        ),
        (
            """
def my_mean_pooling(hidden, real):
    return F.normalize((hidden * real).sum(dim=1), dim=-1)
""",
            "its axes are taken for tokens and features",
        ),
        (
            """
def my_mean_pooling(hidden, real):
    mean = (hidden * real[..., None]).sum(1) / real.sum(1, keepdim=True)
    return mean / mean.norm(dim=-1)
""",
            "The norms are (B,)",
        ),
        (
            """
def my_mean_pooling(hidden, real):
    return (hidden * real[..., None]).sum(1) / real.sum()
""",
            "each row must have length 1",
        ),
        (
            """
def my_mean_pooling(hidden, real):
    means = [hidden[b, : real[b].sum()].mean(dim=0) for b in range(len(hidden))]
    return F.normalize(torch.stack(means), dim=-1)
""",
            "real says which they are",
        ),
    ],
    "my_previous_token_score": [
        (
            """
def my_previous_token_score(weights):
    return torch.stack([head.diagonal(1).mean() for head in weights])
""",
            "looks at the *next* one",
        ),
        (
            """
def my_previous_token_score(weights):
    T = weights.size(-1)
    return sum(weights[:, i, i - 1] for i in range(T)) / T
""",
            "in Python weights[:, 0, -1] is the *last* key",
        ),
        (
            """
def my_previous_token_score(weights):
    return weights.diagonal(-1).mean(-1)
""",
            "dim1=-2, dim2=-1",
        ),
        (
            """
def my_previous_token_score(weights):
    return weights.diagonal(-1, 1, 2).mean(0)
""",
            "You took the mean over the heads",
        ),
        (
            """
def my_previous_token_score(weights):
    return weights.tril(-1).sum(-1).mean(-1)
""",
            "Values: the list of scores differs",
        ),
    ],
    "my_without_head": [
        (
            """
def my_without_head(joined, num_heads, head, w_out, b_out):
    output = joined @ w_out.T + b_out
    d = joined.size(-1) // num_heads
    output[..., head * d : (head + 1) * d] = 0
    return output
""",
            "set features to 0 after the projection",
        ),
        (
            """
def my_without_head(joined, num_heads, head, w_out, b_out):
    heads = joined.unflatten(-1, (-1, num_heads)).clone()
    heads[..., head] = 0
    return heads.flatten(-2) @ w_out.T + b_out
""",
            "every num_heads-th feature",
        ),
        (
            """
def my_without_head(joined, num_heads, head, w_out, b_out):
    d = joined.size(-1) // num_heads
    joined[..., head * d : (head + 1) * d] = 0
    return joined @ w_out.T + b_out
""",
            "your code changed its argument joined",
        ),
        (
            """
def my_without_head(joined, num_heads, head, w_out, b_out):
    kept = joined.clone()
    kept[:, head] = 0
    return kept @ w_out.T + b_out
""",
            "You silenced a token",
        ),
        (
            """
def my_without_head(joined, num_heads, head, w_out, b_out):
    d = joined.size(-1) // num_heads
    w = w_out.clone()
    w[head * d : (head + 1) * d] = 0
    return joined @ w.T + b_out
""",
            "A head is read by *columns* of w_out",
        ),
        (
            """
def my_without_head(joined, num_heads, head, w_out, b_out):
    d = joined.size(-1) // num_heads
    kept = joined.clone()
    kept[..., head : head + d] = 0
    return kept @ w_out.T + b_out
""",
            "from place head on",
        ),
        (
            """
def my_without_head(joined, num_heads, head, w_out, b_out):
    heads = split_heads(joined, num_heads).clone()
    heads[:, head] = 0
    return heads.reshape(joined.shape) @ w_out.T + b_out
""",
            "without being brought back to their place",
        ),
        (
            """
def my_without_head(joined, num_heads, head, w_out, b_out):
    d = joined.size(-1) // num_heads
    kept = torch.cat([joined[..., : head * d], joined[..., (head + 1) * d :]], dim=-1)
    return kept @ w_out.T + b_out
""",
            "could not be run to its end",
        ),
    ],
    "mended_maps": [
        (
            """
def mended_maps(x, w_q, w_k, num_heads, real):
    q, k = split_heads(x @ w_q.T, num_heads), split_heads(x @ w_k.T, num_heads)
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    return scores.softmax(dim=-1)
""",
            "The bug is still there",
        ),
        (
            """
def mended_maps(x, w_q, w_k, num_heads, real):
    q, k = split_heads(x @ w_q.T, num_heads), split_heads(x @ w_k.T, num_heads)
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    return scores.softmax(dim=-1) * real[:, None, None]
""",
            "The mask came after the softmax",
        ),
        (
            """
def mended_maps(x, w_q, w_k, num_heads, real):
    q, k = split_heads(x @ w_q.T, num_heads), split_heads(x @ w_k.T, num_heads)
    return attend(q, k, k, real[:, None, :, None])[1]
""",
            "You blocked the rows of the padding",
        ),
        (
            """
def mended_maps(x, w_q, w_k, num_heads, real):
    q, k = split_heads(x @ w_q.T, num_heads), split_heads(x @ w_k.T, num_heads)
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    return scores.masked_fill(real == False, -torch.inf).softmax(-1)
""",
            "its axes are taken for queries and keys",
        ),
        (
            """
def mended_maps(x, w_q, w_k, num_heads, real):
    q, k = split_heads(x @ w_q.T, num_heads), split_heads(x @ w_k.T, num_heads)
    scores = q @ k.transpose(-2, -1) / math.sqrt(x.size(-1))
    return scores.masked_fill(~real[:, None, None], -torch.inf).softmax(dim=-1)
""",
            "divided by √D",
        ),
        (
            """
def mended_maps(x, w_q, w_k, num_heads, real):
    q, k = split_heads(x @ w_q.T, num_heads), split_heads(x @ w_k.T, num_heads)
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    return scores.masked_fill(~real[:, None], -torch.inf).softmax(dim=-1)
""",
            "the sentences are taken for heads",
        ),
        (
            """
def mended_maps(x, w_q, w_k, num_heads, real):
    q, k = split_heads(x @ w_q.T, num_heads), split_heads(x @ w_k.T, num_heads)
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    allowed = real[:, None, None] & real[:, None, :, None]
    return scores.masked_fill(~allowed, -1e9).softmax(dim=-1)
""",
            "You blocked the padding's rows as well",
        ),
        (
            """
def mended_maps(x, w_q, w_k, num_heads, real):
    q, k = split_heads(x @ w_q.T, num_heads), split_heads(x @ w_k.T, num_heads)
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    scores.masked_fill(~real[:, None, None], -torch.inf)
    return scores.softmax(dim=-1)
""",
            "the map of a short sentence changes",
        ),
    ],
}
