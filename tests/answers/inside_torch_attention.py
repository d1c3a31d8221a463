RIGHT = {
    "my_in_projection": [
        """
def my_in_projection(query, key, value, weight, bias):
    w_q, w_k, w_v = weight.chunk(3)
    b_q, b_k, b_v = (None, None, None) if bias is None else bias.chunk(3)
    return F.linear(query, w_q, b_q), F.linear(key, w_k, b_k), F.linear(value, w_v, b_v)
""",
        """
def my_in_projection(query, key, value, weight, bias):
    size = query.size(-1)
    if bias is None:
        bias = torch.zeros(3 * size)
    return [x @ weight[i * size : (i + 1) * size].T + bias[i * size : (i + 1) * size]
            for i, x in enumerate((query, key, value))]
""",
        """
def my_in_projection(query, key, value, weight, bias):
    # each by all three, and only its own third kept
    return tuple(F.linear(x, weight, bias).chunk(3, dim=-1)[i] for i, x in enumerate((query, key, value)))
""",
        """
def my_in_projection(query, key, value, weight, bias):
    matrices = weight.unflatten(0, (3, -1))
    out = [torch.einsum("lbe,fe->lbf", x, m) for x, m in zip((query, key, value), matrices)]
    return out if bias is None else [x + b for x, b in zip(out, bias.view(3, -1))]
""",
    ],
    "my_merge_masks": [
        """
def my_merge_masks(attn_mask, key_padding_mask, num_heads):
    if attn_mask is not None and attn_mask.dtype == torch.bool:
        attn_mask = torch.zeros(attn_mask.shape).masked_fill(attn_mask, -torch.inf)
    if key_padding_mask is None:
        return attn_mask
    if key_padding_mask.dtype == torch.bool:
        key_padding_mask = torch.zeros(key_padding_mask.shape).masked_fill(key_padding_mask, -torch.inf)
    B, S = key_padding_mask.shape
    padding = key_padding_mask.view(B, 1, 1, S).expand(-1, num_heads, -1, -1).reshape(B * num_heads, 1, S)
    return padding if attn_mask is None else attn_mask + padding
""",
        """
def my_merge_masks(attn_mask, key_padding_mask, num_heads):
    # as torch did it before: bool masks are joined by |, and become float at the end
    if key_padding_mask is not None and key_padding_mask.dtype == torch.bool:
        padding = key_padding_mask.repeat_interleave(num_heads, dim=0).unsqueeze(1)
        if attn_mask is None:
            attn_mask = padding
        elif attn_mask.dtype == torch.bool:
            attn_mask = attn_mask.logical_or(padding)
        else:
            attn_mask = attn_mask.masked_fill(padding, float("-inf"))
    elif key_padding_mask is not None:
        padding = key_padding_mask.repeat_interleave(num_heads, dim=0).unsqueeze(1)
        attn_mask = padding if attn_mask is None else attn_mask + padding
    if attn_mask is not None and attn_mask.dtype == torch.bool:
        attn_mask = torch.zeros_like(attn_mask, dtype=torch.float32).masked_fill_(attn_mask, float("-inf"))
    return attn_mask
""",
        """
def my_merge_masks(attn_mask, key_padding_mask, num_heads):
    if attn_mask is None and key_padding_mask is None:
        return None

    def additive(mask):
        return torch.where(mask, -torch.inf, 0.0) if mask.dtype == torch.bool else mask

    total = 0.0
    if attn_mask is not None:
        total = total + additive(attn_mask)
    if key_padding_mask is not None:
        total = total + torch.stack([row for row in additive(key_padding_mask) for _ in range(num_heads)])[:, None]
    return total
""",
        """
def my_merge_masks(attn_mask, key_padding_mask, num_heads):
    from lessons.torch_attention import merge_masks
    return merge_masks(attn_mask, key_padding_mask, num_heads)
""",
    ],
    "my_weights": [
        """
def my_weights(q, k, mask):
    q = q / math.sqrt(q.size(-1))
    scores = torch.bmm(q, k.transpose(1, 2)) if mask is None else torch.baddbmm(mask, q, k.transpose(1, 2))
    return scores.softmax(dim=-1)
""",
        """
def my_weights(q, k, mask):
    scores = q @ k.mT * q.size(-1) ** -0.5
    return torch.softmax(scores if mask is None else scores + mask, dim=2)
""",
        """
def my_weights(q, k, mask):
    scores = torch.einsum("nld,nsd->nls", q, k) / q.size(-1) ** 0.5
    if mask is not None:
        scores = scores + mask
    e = (scores - scores.amax(dim=-1, keepdim=True)).exp()
    return e / e.sum(dim=-1, keepdim=True)
""",
        """
def my_weights(q, k, mask):
    if mask is None:
        mask = torch.zeros(1, 1, 1)
    return F.softmax(torch.baddbmm(mask, q, k.mT, alpha=1 / math.sqrt(q.size(-1))), -1)
""",
    ],
    "MyMultiheadAttention": [
        """
class MyMultiheadAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, dropout=0.0, bias=True, add_bias_kv=False, add_zero_attn=False,
                 kdim=None, vdim=None, batch_first=False):
        super().__init__()
        self.num_heads, self.dropout = num_heads, dropout
        self.add_zero_attn, self.batch_first = add_zero_attn, batch_first
        kdim, vdim = kdim or embed_dim, vdim or embed_dim
        self.packed = kdim == vdim == embed_dim
        if self.packed:
            self.in_proj_weight = nn.Parameter(torch.randn(3 * embed_dim, embed_dim))
        else:
            self.q_proj_weight = nn.Parameter(torch.randn(embed_dim, embed_dim))
            self.k_proj_weight = nn.Parameter(torch.randn(embed_dim, kdim))
            self.v_proj_weight = nn.Parameter(torch.randn(embed_dim, vdim))
        if bias:
            self.in_proj_bias = nn.Parameter(torch.zeros(3 * embed_dim))
        else:
            self.in_proj_bias = None
        self.out_proj = nn.Linear(embed_dim, embed_dim, bias=bias)
        self.bias_k = self.bias_v = None
        if add_bias_kv:
            self.bias_k = nn.Parameter(torch.randn(1, 1, embed_dim))
            self.bias_v = nn.Parameter(torch.randn(1, 1, embed_dim))

    def forward(self, query, key, value, key_padding_mask=None, need_weights=True, attn_mask=None,
                average_attn_weights=True, is_causal=False):
        batched = query.dim() == 3
        if not batched:  # work with a batch of one, batch first
            query, key, value = query[None], key[None], value[None]
            key_padding_mask = None if key_padding_mask is None else key_padding_mask[None]
        elif not self.batch_first:
            query, key, value = query.transpose(0, 1), key.transpose(0, 1), value.transpose(0, 1)
        B, L, E = query.shape
        H = self.num_heads

        weights = self.in_proj_weight.chunk(3) if self.packed else (
            self.q_proj_weight, self.k_proj_weight, self.v_proj_weight)
        biases = [None] * 3 if self.in_proj_bias is None else self.in_proj_bias.chunk(3)
        q, k, v = (F.linear(x, w, b) for x, w, b in zip((query, key, value), weights, biases))

        mask = torch.zeros(B, H, L, key.size(1), dtype=query.dtype)
        for given in (attn_mask, None if key_padding_mask is None else key_padding_mask[:, None, None, :]):
            if given is None:
                continue
            if given.dtype == torch.bool:
                given = mask.new_zeros(given.shape).masked_fill(given, -torch.inf)
            mask = mask + (given.view(B, H, L, -1) if given.dim() == 3 else given)
        if self.bias_k is not None:
            k = torch.cat([k, self.bias_k.expand(B, 1, E)], dim=1)
            v = torch.cat([v, self.bias_v.expand(B, 1, E)], dim=1)
        if self.add_zero_attn:
            k, v = F.pad(k, (0, 0, 0, 1)), F.pad(v, (0, 0, 0, 1))
        mask = F.pad(mask, (0, k.size(1) - key.size(1)))

        q, k, v = (x.unflatten(-1, (H, -1)).transpose(1, 2) for x in (q, k, v))  # (B, H, L, d)
        weights = (q @ k.mT / math.sqrt(E // H) + mask).softmax(dim=-1)
        weights = F.dropout(weights, self.dropout, self.training)
        output = self.out_proj((weights @ v).transpose(1, 2).flatten(2))
        weights = weights.mean(dim=1) if average_attn_weights else weights
        if not batched:
            output, weights = output[0], weights[0]
        elif not self.batch_first:
            output = output.transpose(0, 1)
        return output, weights if need_weights else None
""",
        """
from lessons.torch_attention import merge_masks

class MyMultiheadAttention(nn.MultiheadAttention):  # its parameters, and steps of our own
    def forward(self, query, key, value, key_padding_mask=None, need_weights=True, attn_mask=None,
                average_attn_weights=True, is_causal=False):
        alone = query.dim() == 2
        if alone:
            query, key, value = query.unsqueeze(1), key.unsqueeze(1), value.unsqueeze(1)
            key_padding_mask = None if key_padding_mask is None else key_padding_mask.unsqueeze(0)
        elif self.batch_first:
            query, key, value = query.transpose(0, 1), key.transpose(0, 1), value.transpose(0, 1)
        L, B, E = query.shape
        H = self.num_heads
        weights = (self.q_proj_weight, self.k_proj_weight, self.v_proj_weight)
        if self.in_proj_weight is not None:
            weights = self.in_proj_weight.chunk(3)
        biases = [None] * 3 if self.in_proj_bias is None else self.in_proj_bias.chunk(3)
        q, k, v = [F.linear(*three) for three in zip((query, key, value), weights, biases)]
        if self.bias_k is not None:
            k = torch.cat([k, self.bias_k.repeat(1, B, 1)])
            v = torch.cat([v, self.bias_v.repeat(1, B, 1)])
        q, k, v = (x.reshape(x.size(0), B * H, -1).transpose(0, 1).unflatten(0, (B, H)) for x in (q, k, v))
        if self.add_zero_attn:
            k, v = F.pad(k, (0, 0, 0, 1)), F.pad(v, (0, 0, 0, 1))
        mask = merge_masks(attn_mask, key_padding_mask, H)
        if mask is not None:
            mask = F.pad(mask, (0, k.size(2) - key.size(0))).to(q.dtype).expand(B * H, -1, -1).unflatten(0, (B, H))
        dropout = self.dropout if self.training else 0.0
        if need_weights:
            scores = torch.einsum("bhld,bhsd->bhls", q, k) / math.sqrt(q.size(-1))
            weights = F.dropout((scores if mask is None else scores + mask).softmax(-1), dropout)
            output = weights @ v
            weights = weights.sum(1) / H if average_attn_weights else weights
        else:
            output, weights = F.scaled_dot_product_attention(q, k, v, mask, dropout), None
        output = F.linear(output.permute(2, 0, 1, 3).flatten(2), self.out_proj.weight, self.out_proj.bias)
        if alone:
            return output[:, 0], None if weights is None else weights[0]
        return output.transpose(0, 1) if self.batch_first else output, weights
""",
        """
from lessons.torch_attention import MultiheadAttentionByHand

class MyMultiheadAttention(MultiheadAttentionByHand):
    pass
""",
    ],
    "mended_mask": [
        """
def mended_mask(blocked, num_heads):
    return blocked.repeat_interleave(num_heads, dim=0)
""",
        """
def mended_mask(blocked, num_heads):
    B, L, S = blocked.shape
    return blocked.view(B, 1, L, S).expand(-1, num_heads, -1, -1).reshape(B * num_heads, L, S)
""",
        """
def mended_mask(blocked, num_heads):
    return torch.stack([sentence for sentence in blocked for head in range(num_heads)])
""",
        """
def mended_mask(blocked, num_heads):
    return blocked[:, None].repeat(1, num_heads, 1, 1).flatten(0, 1)
""",
    ],
}
WRONG = {
    "my_in_projection": [
        (
            """
def my_in_projection(query, key, value, weight, bias):
    return F.linear(query, weight, bias).chunk(3, dim=-1)
""",
            "right in self-attention alone",
        ),
        (
            """
def my_in_projection(query, key, value, weight, bias):
    size = query.size(-1)
    q = F.linear(query, weight[:size], None if bias is None else bias[:size])
    k, v = F.linear(key, weight[size:], None if bias is None else bias[size:]).chunk(2, dim=-1)
    return q, k, v
""",
            "The value is made from key",
        ),
        (
            """
def my_in_projection(query, key, value, weight, bias):
    w_q, w_k, w_v = weight.chunk(3)
    q, k, v = query @ w_q.T, key @ w_k.T, value @ w_v.T
    return q, k, v
""",
            "The bias is missing",
        ),
        (
            """
def my_in_projection(query, key, value, weight, bias):
    b_q, b_k, b_v = bias.chunk(3)
    w_q, w_k, w_v = weight.chunk(3)
    return F.linear(query, w_q, b_q), F.linear(key, w_k, b_k), F.linear(value, w_v, b_v)
""",
            "It goes wrong here: no bias",
        ),
        (
            """
def my_in_projection(query, key, value, weight, bias):
    w_q, w_k, w_v = weight.chunk(3)
    return query @ w_q, key @ w_k, value @ w_v
""",
            "Values: q differs",
        ),
    ],
    "my_merge_masks": [
        (
            """
def my_merge_masks(attn_mask, key_padding_mask, num_heads):
    def additive(mask):
        return torch.zeros(mask.shape).masked_fill(mask, -torch.inf) if mask.dtype == torch.bool else mask
    if attn_mask is not None:
        attn_mask = additive(attn_mask)
    if key_padding_mask is None:
        return attn_mask
    padding = additive(key_padding_mask)[:, None].repeat(num_heads, 1, 1)
    return padding if attn_mask is None else attn_mask + padding
""",
            "in the order H·B",
        ),
        (
            """
def my_merge_masks(attn_mask, key_padding_mask, num_heads):
    def additive(mask):
        return torch.zeros(mask.shape).masked_fill(~mask, -torch.inf) if mask.dtype == torch.bool else mask
    if attn_mask is not None:
        attn_mask = additive(attn_mask)
    if key_padding_mask is None:
        return attn_mask
    padding = additive(key_padding_mask).repeat_interleave(num_heads, dim=0)[:, None]
    return padding if attn_mask is None else attn_mask + padding
""",
            "Both masks are turned around",
        ),
        (
            """
def my_merge_masks(attn_mask, key_padding_mask, num_heads):
    padding = key_padding_mask.repeat_interleave(num_heads, dim=0)[:, None]
    both = padding if attn_mask is None else padding | attn_mask
    return torch.zeros(both.shape).masked_fill(both, -torch.inf)
""",
            "It raised AttributeError",
        ),
        (
            """
def my_merge_masks(attn_mask, key_padding_mask, num_heads):
    if key_padding_mask is not None:
        key_padding_mask = key_padding_mask.repeat_interleave(num_heads, dim=0)[:, None]
    both = [mask.bool() for mask in (attn_mask, key_padding_mask) if mask is not None]
    if not both:
        return None
    both = both[0] if len(both) == 1 else both[0] | both[1]
    return torch.zeros(both.shape).masked_fill(both, -torch.inf)
""",
            "so that whatever is not 0 blocks",
        ),
        (
            """
def my_merge_masks(attn_mask, key_padding_mask, num_heads):
    if key_padding_mask is not None:
        key_padding_mask = key_padding_mask.repeat_interleave(num_heads, dim=0)[:, None]
    if attn_mask is None or key_padding_mask is None:
        return attn_mask if key_padding_mask is None else key_padding_mask
    return attn_mask | key_padding_mask
""",
            "Kind of number",
        ),
        (
            """
def my_merge_masks(attn_mask, key_padding_mask, num_heads):
    def additive(mask):
        return mask.float() * -torch.inf if mask.dtype == torch.bool else mask
    merged = None if attn_mask is None else additive(attn_mask)
    if key_padding_mask is None:
        return merged
    padding = additive(key_padding_mask).repeat_interleave(num_heads, dim=0)[:, None]
    return padding if merged is None else merged + padding
""",
            "0 times -inf is NaN. Begin with zeros",
        ),
        (
            """
def my_merge_masks(attn_mask, key_padding_mask, num_heads):
    from lessons.torch_attention import merge_masks
    if attn_mask is None and key_padding_mask is None:
        return torch.zeros(1, 1, 1)
    return merge_masks(attn_mask, key_padding_mask, num_heads)
""",
            "None: the additive mask is a Tensor; expected None.\nIt goes wrong here: no mask at all.",
        ),
    ],
    "my_weights": [
        (
            """
def my_weights(q, k, mask):
    scores = q @ k.mT / math.sqrt(q.size(-1))
    if mask is not None:
        scores = scores * mask
    return scores.softmax(dim=-1)
""",
            "You multiplied the mask in",
        ),
        (
            """
def my_weights(q, k, mask):
    scores = torch.bmm(q, k.mT) if mask is None else torch.baddbmm(mask, q, k.mT)
    return (scores / math.sqrt(q.size(-1))).softmax(dim=-1)
""",
            "You divided after the mask was added",
        ),
        (
            """
def my_weights(q, k, mask):
    return torch.baddbmm(mask, q / math.sqrt(q.size(-1)), k.mT).softmax(dim=-1)
""",
            "It goes wrong here: no mask",
        ),
        (
            """
def my_weights(q, k, mask):
    return torch.softmax(q @ k.mT / math.sqrt(q.size(-1)) + (0 if mask is None else mask), dim=0)
""",
            "NaN: weights has it",
        ),
        (
            """
def my_weights(q, k, mask):
    weights = (q @ k.mT / math.sqrt(q.size(-1))).softmax(dim=-1)
    if mask is None:
        return weights
    weights = weights.masked_fill(mask == -torch.inf, 0.0)
    return weights / weights.sum(dim=-1, keepdim=True)
""",
            "its other numbers are lost",
        ),
        (
            """
def my_weights(q, k, mask):
    scores = q @ k.mT / math.sqrt(q.size(-1))
    if mask is not None:
        scores = scores.masked_fill(mask.bool(), -torch.inf)
    return F.softmax(scores, dim=-1)
""",
            "read as if it were bool",
        ),
        (
            """
def my_weights(q, k, mask):
    e = torch.exp(q @ k.mT / math.sqrt(q.size(-1)) + (0 if mask is None else mask))
    return e / e.sum(dim=-1, keepdim=True)
""",
            "The exponential of a large score is inf",
        ),
        (
            """
def my_weights(q, k, mask):
    scores = q @ k.mT / math.sqrt(q.size(-1))
    if mask is not None:
        scores = scores + mask.view(scores.shape)
    return scores.softmax(dim=-1)
""",
            "It goes wrong here: one mask for all heads",
        ),
    ],
    "MyMultiheadAttention": [
        (
            """
from lessons.torch_attention import MultiheadAttentionByHand

class MyMultiheadAttention(MultiheadAttentionByHand):
    def forward(self, query, key, value, key_padding_mask=None, need_weights=True, attn_mask=None,
                average_attn_weights=True, is_causal=False):
        return super().forward(query, key, value, key_padding_mask, need_weights, attn_mask)
""",
            "exactly where need_weights=True and average_attn_weights=False",
        ),
        (
            """
class MyMultiheadAttention(nn.MultiheadAttention):
    def forward(self, query, key, value, key_padding_mask=None, **others):
        return super().forward(query, key, value, **others)
""",
            "exactly where key_padding_mask is given",
        ),
        (
            """
class MyMultiheadAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, **others):
        super().__init__()
        self.q_proj = nn.Linear(embed_dim, embed_dim)

    def forward(self, query, key, value, **others):
        return self.q_proj(query), None
""",
            "state dict: torch's has in_proj_weight (36, 12), in_proj_bias (36,)",
        ),
        (
            """
class MyMultiheadAttention(nn.MultiheadAttention):
    def __init__(self, *sizes, add_zero_attn=False, **others):
        super().__init__(*sizes, **others)
""",
            "exactly where add_zero_attn=True",
        ),
        (
            """
class MyMultiheadAttention(nn.MultiheadAttention):
    def forward(self, query, key, value, average_attn_weights=True, **others):
        output, weights = super().forward(query, key, value, average_attn_weights=False, **others)
        return output, weights.mean(dim=-3) if weights is not None and average_attn_weights else weights.sum(1)
""",
            "exactly where need_weights=False, or average_attn_weights=False.",
        ),
        (
            """
class MyMultiheadAttention(nn.MultiheadAttention):
    def forward(self, query, key, value, key_padding_mask=None, attn_mask=None, **others):
        if attn_mask is not None and attn_mask.dim() == 3:
            attn_mask = attn_mask[0]
        return super().forward(query, key, value, key_padding_mask, attn_mask=attn_mask, **others)
""",
            "exactly where attn_mask is bool (B·H, L, S) or float (B·H, L, S)",
        ),
        (
            """
class MyMultiheadAttention(nn.MultiheadAttention):
    def forward(self, query, key, value, key_padding_mask=None, need_weights=True, attn_mask=None, *others, **named):
        if attn_mask is not None and attn_mask.dim() == 3 and attn_mask.is_floating_point():
            attn_mask = attn_mask / 2
        return super().forward(query, key, value, key_padding_mask, need_weights, attn_mask, *others, **named)
""",
            "exactly where attn_mask is float (B·H, L, S).\nValues: output differs",
        ),
        ("MyMultiheadAttention = nn.MultiheadAttention(12, 3)", "expected the class MyMultiheadAttention itself"),
        (
            """
class MyMultiheadAttention(nn.MultiheadAttention):
    pass
""",
            "Your class hands its inputs on to torch's own multi-head attention",
        ),
        (
            """
class MyMultiheadAttention(nn.MultiheadAttention):
    def forward(self, query, key, value, key_padding_mask=None, need_weights=True, attn_mask=None,
                average_attn_weights=True, is_causal=False):
        if self.batch_first and query.dim() == 3:
            query, key, value = query.transpose(0, 1), key.transpose(0, 1), value.transpose(0, 1)
        output, weights = F.multi_head_attention_forward(
            query, key, value, self.embed_dim, self.num_heads, self.in_proj_weight, self.in_proj_bias,
            self.bias_k, self.bias_v, self.add_zero_attn, self.dropout, self.out_proj.weight, self.out_proj.bias,
            self.training, key_padding_mask, need_weights, attn_mask, self.in_proj_weight is None,
            self.q_proj_weight, self.k_proj_weight, self.v_proj_weight, average_attn_weights=average_attn_weights,
        )
        return output.transpose(0, 1) if self.batch_first and query.dim() == 3 else output, weights
""",
            "Your class hands its inputs on to torch's own multi-head attention",
        ),
        (
            """
from lessons.torch_attention import MultiheadAttentionByHand

class MyMultiheadAttention(MultiheadAttentionByHand):
    def heads_first(self, x):
        S, B, E = x.shape
        return x.transpose(0, 1).reshape(B, self.num_heads, S, -1).flatten(0, 1)
""",
            "Tokens are scrambled among the heads: (B, S, E) was read",
        ),
        (
            """
from lessons.torch_attention import MultiheadAttentionByHand

class MyMultiheadAttention(MultiheadAttentionByHand):
    def join(self, heads):
        BH, L, d = heads.shape
        return heads.view(BH // self.num_heads, L, -1).transpose(0, 1)
""",
            "The heads are joined without exchanging the axes back",
        ),
        (
            """
from lessons.torch_attention import MultiheadAttentionByHand

class MyMultiheadAttention(MultiheadAttentionByHand):
    def forward(self, query, key, value, key_padding_mask=None, *others, **named):
        if key_padding_mask is not None and key_padding_mask.dtype == torch.bool:
            key_padding_mask = torch.where(key_padding_mask, 0.0, -torch.inf).to(query.dtype)
        return super().forward(query, key, value, key_padding_mask, *others, **named)
""",
            "key_padding_mask is turned around",
        ),
        (
            """
from lessons.torch_attention import MultiheadAttentionByHand

class MyMultiheadAttention(MultiheadAttentionByHand):
    def forward(self, query, key, value, attn_mask=None, need_weights=True, key_padding_mask=None,
                average_attn_weights=True, is_causal=False):
        return super().forward(query, key, value, key_padding_mask, need_weights, attn_mask, average_attn_weights)
""",
            "It goes wrong here: all arguments by position, in torch's order.",
        ),
        (
            """
from lessons.torch_attention import MultiheadAttentionByHand

class MyMultiheadAttention(MultiheadAttentionByHand):
    def forward(self, *inputs, need_weights=True, **named):
        if self.training or need_weights:
            return super().forward(*inputs, need_weights=need_weights, **named)
        output, _ = super().forward(*inputs, **named)
        return output if self.dropout == 0 else self.out_proj(torch.zeros_like(output)), None
""",
            "It goes wrong here: dropout=1.0 in evaluation, and need_weights=False.",
        ),
        (
            """
from lessons.torch_attention import MultiheadAttentionByHand

class MyMultiheadAttention(MultiheadAttentionByHand):
    def append(self, k, v, mask):
        if self.add_zero_attn or self.bias_k is not None:
            self.longer = getattr(self, "longer", mask)
            return super().append(k, v, self.longer)
        return k, v, mask
""",
            "It goes wrong here: a second call of the same module.",
        ),
        (
            """
from lessons.torch_attention import MultiheadAttentionByHand

class MyMultiheadAttention(MultiheadAttentionByHand):
    def forward(self, query, *others, **named):
        output, weights = super().forward(query, *others, **named)
        return output.float(), weights
""",
            "output is torch.float32, and the query is torch.float64",
        ),
        (
            """
from lessons.torch_attention import MultiheadAttentionByHand

class MyMultiheadAttention(MultiheadAttentionByHand):
    def project(self, query, key, value):
        with torch.no_grad():
            return super().project(query, key, value)
""",
            "The numbers are right, but their gradients are not",
        ),
    ],
    "mended_mask": [
        (
            """
def mended_mask(blocked, num_heads):
    return blocked.repeat(num_heads, 1, 1)
""",
            "The bug is still there",
        ),
        (
            """
def mended_mask(blocked, num_heads):
    return ~blocked.repeat_interleave(num_heads, dim=0)
""",
            "you turned it around",
        ),
        (
            """
def mended_mask(blocked, num_heads):
    return blocked.unsqueeze(1).expand(-1, num_heads, -1, -1)
""",
            "knows no four axes",
        ),
        (
            """
def mended_mask(blocked, num_heads):
    return blocked.repeat_interleave(num_heads, dim=1)
""",
            "Shape",
        ),
    ],
}
