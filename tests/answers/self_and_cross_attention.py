RIGHT = {
    "my_attention_layer": [
        """
def my_attention_layer(queries_from, keys_from, w_q, w_k, w_v, allowed=None):
    return attend(queries_from @ w_q, keys_from @ w_k, keys_from @ w_v, allowed)
""",
        """
def my_attention_layer(queries_from, keys_from, w_q, w_k, w_v, allowed=None):
    q, k, v = queries_from @ w_q, keys_from @ w_k, keys_from @ w_v
    scores = torch.einsum("...qd,...kd->...qk", q, k) / q.shape[-1] ** 0.5
    if allowed is not None:
        scores = scores.masked_fill(~allowed, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    return [weights @ v, weights]
""",
        """
def my_attention_layer(queries_from, keys_from, w_q, w_k, w_v, allowed=None):
    q, k, v = queries_from @ w_q, keys_from @ w_k, keys_from @ w_v
    output = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=allowed)
    places = torch.eye(k.size(-2)).expand(*k.shape[:-1], -1)
    return output, torch.nn.functional.scaled_dot_product_attention(q, k, places, attn_mask=allowed)
""",
    ],
    "my_shape": [
        "my_shape = (2, 5, 7)",
        "my_shape = [2, 5, 7]",
        "my_shape = torch.zeros(2, 5, 7).shape",
        "my_shape = 2, 5, 7",
    ],
    "my_cross_mask": [
        """
def my_cross_mask(src_ids, tgt_ids, src_pad_id):
    return (src_ids != src_pad_id)[:, None, None, :]
""",
        """
def my_cross_mask(src_ids, tgt_ids, src_pad_id):
    real = (src_ids != src_pad_id)[:, None, None, :]
    return real.expand(-1, 1, tgt_ids.size(1), -1)
""",
        """
def my_cross_mask(src_ids, tgt_ids, src_pad_id):
    return torch.stack([torch.stack([row != src_pad_id] * tgt_ids.shape[1])[None] for row in src_ids])
""",
    ],
    "mended_masks": [
        """
def mended_masks(src, tgt, src_pad_id, tgt_pad_id):
    encoder_self = (src != src_pad_id)[:, None, None, :]
    decoder_self = masks.causal(tgt.size(1)) & (tgt != tgt_pad_id)[:, None, None, :]
    cross = (src != src_pad_id)[:, None, None, :]
    return encoder_self, decoder_self, cross
""",
        """
def mended_masks(src, tgt, src_pad_id, tgt_pad_id):
    source, target = masks.padding(src, pad_id=src_pad_id), masks.padding(tgt, pad_id=tgt_pad_id)
    return source, masks.combine(masks.causal(tgt.size(1)), target), source
""",
    ],
}
WRONG = {
    "my_attention_layer": [
        (
            """
def my_attention_layer(queries_from, keys_from, w_q, w_k, w_v, allowed=None):
    return attend(keys_from @ w_q, queries_from @ w_k, queries_from @ w_v, allowed)
""",
            "The parts are exchanged",
        ),
        (
            """
def my_attention_layer(queries_from, keys_from, w_q, w_k, w_v, allowed=None):
    return attend(queries_from @ w_q, keys_from @ w_k, keys_from @ w_v, allowed)[0]
""",
            "expected 2: output, weights",
        ),
        (
            """
def my_attention_layer(queries_from, keys_from, w_q, w_k, w_v, allowed=None):
    q, k, v = queries_from @ w_q, keys_from @ w_k, keys_from @ w_v
    weights = torch.softmax(q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5, dim=-1)
    if allowed is not None:
        weights = weights * allowed
    return weights @ v, weights
""",
            "each row must sum to 1",
        ),
        (
            """
def my_attention_layer(queries_from, keys_from, w_q, w_k, w_v, allowed=None):
    q, k, v = queries_from @ w_q, keys_from @ w_k, keys_from @ w_v
    scores = (q @ k.mT / q.shape[-1] ** 0.5).masked_fill(~allowed, -torch.inf)
    weights = scores.softmax(dim=-1)
    return weights @ v, weights
""",
            "allowed may be None",
        ),
        (
            """
def my_attention_layer(queries_from, keys_from, w_q, w_k, w_v, allowed=None):
    return attend(keys_from @ w_q, keys_from @ w_k, keys_from @ w_v, allowed)
""",
            "never looked at queries_from",
        ),
    ],
    "my_shape": [
        ("my_shape = (2, 7, 7)", "That is the table of the source"),
        ("my_shape = (7, 2, 5)", "That is not it."),
    ],
    "my_cross_mask": [
        (
            """
def my_cross_mask(src_ids, tgt_ids, src_pad_id):
    return (tgt_ids != src_pad_id)[:, None, :, None] & (src_ids != src_pad_id)[:, None, None, :]
""",
            "you also blocked the padding of the target",
        ),
        (
            """
def my_cross_mask(src_ids, tgt_ids, src_pad_id):
    return masks.padding(src_ids, pad_id=src_pad_id) & masks.causal(tgt_ids.size(1))
""",
            "You made it causal",
        ),
        (
            """
def my_cross_mask(src_ids, tgt_ids, src_pad_id):
    return (src_ids[0] != src_pad_id)[None, None, None, :]
""",
            "the mask of the first one",
        ),
        (
            """
def my_cross_mask(src_ids, tgt_ids, src_pad_id):
    return (src_ids > src_pad_id + 2)[:, None, None, :] & (src_ids != 12)[:, None, None, :]
""",
            "Values: allowed differs",
        ),
    ],
    "mended_masks": [
        (
            """
def mended_masks(src, tgt, src_pad_id, tgt_pad_id):
    encoder_self = (src != src_pad_id)[:, None, None, :]
    decoder_self = masks.causal(tgt.size(1)) & (tgt != tgt_pad_id)[:, None, None, :]
    cross = (src != tgt_pad_id)[:, None, None, :]
    return encoder_self, decoder_self, cross
""",
            "Now the cross-attention has the wrong one",
        ),
        (
            """
def mended_masks(src, tgt, src_pad_id, tgt_pad_id):
    real = tgt != tgt_pad_id
    source = masks.padding(src, pad_id=src_pad_id)
    return source, masks.causal(tgt.size(1)) & real[:, None, None, :], source & real[:, None, :, None]
""",
            "on the side of the queries",
        ),
    ],
}
