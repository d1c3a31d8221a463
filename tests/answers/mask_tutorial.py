RIGHT = {
    "my_rows": [
        "my_rows = [[True, True, False, False, False], [True, True, True, False, False]]",
        "my_rows = ((1, 1, 0, 0, 0), (1, 1, 1, 0, 0))",
        "my_rows = torch.tensor([[True, True, False, False, False], [True, True, True, False, False]])",
        "my_rows = [torch.arange(5) < 2, torch.arange(5) < 3]",
    ],
    "my_target_mask": [
        """
def my_target_mask(ids, pad_id):
    length = ids.size(1)
    return torch.ones(length, length, dtype=torch.bool).tril() & (ids != pad_id)[:, None, None, :]
""",
        """
def my_target_mask(ids, pad_id):
    return masks.combine(masks.causal(ids.size(1)), masks.padding(ids, pad_id=pad_id))
""",
        """
def my_target_mask(ids, pad_id):
    blocked = torch.triu(torch.ones(ids.size(1), ids.size(1)), diagonal=1).bool()
    return ~torch.logical_or(blocked, ids.eq(pad_id).unsqueeze(1).unsqueeze(2))
""",
        """
def my_target_mask(ids, pad_id):
    rows = ids.tolist()
    return torch.tensor(
        [[[[j <= i and row[j] != pad_id for j in range(len(row))] for i in range(len(row))]] for row in rows]
    )
""",
    ],
    "my_one_mask": [
        """
def my_one_mask(key_padding_mask, attn_mask):
    return ~(key_padding_mask[:, None, None, :] | attn_mask)
""",
        """
def my_one_mask(key_padding_mask, attn_mask):
    return ~key_padding_mask[:, None, None, :] & ~attn_mask[None, None]
""",
        """
def my_one_mask(key_padding_mask, attn_mask):
    padding = masks.blocked_to_allowed(key_padding_mask)[:, None, None, :]
    return masks.combine(padding, masks.blocked_to_allowed(attn_mask))
""",
        """
def my_one_mask(key_padding_mask, attn_mask):
    both = [[~(attn_mask[i] | sentence) for i in range(len(attn_mask))] for sentence in key_padding_mask]
    return torch.stack([torch.stack(rows) for rows in both]).unsqueeze(1)
""",
        """
def my_one_mask(key_padding_mask, attn_mask):
    additive = torch.zeros(attn_mask.shape).masked_fill(attn_mask, -torch.inf)
    return additive.masked_fill(key_padding_mask[:, None, None, :], -torch.inf) == 0
""",
    ],
    "my_additive": [
        """
def my_additive(allowed, dtype):
    return torch.zeros(allowed.shape, dtype=dtype).masked_fill(~allowed, float("-inf"))
""",
        """
def my_additive(allowed, dtype):
    return torch.where(allowed, 0.0, -torch.inf).to(dtype)
""",
        """
def my_additive(allowed, dtype):
    return allowed.to(dtype).log()
""",
        """
def my_additive(allowed, dtype):
    return masks.allowed_to_additive(allowed, dtype=dtype)
""",
        """
def my_additive(allowed, dtype):
    mask = torch.full(allowed.shape, -torch.inf, dtype=dtype)
    mask[allowed] = 0
    return mask
""",
    ],
    "my_true_means_look": [
        """
def my_true_means_look(attention, x):
    mask = torch.zeros(len(x), len(x), dtype=torch.bool)
    mask[0, -1] = True
    changed = x.clone()
    changed[-1] += 1
    return not torch.equal(attention(x, mask)[0], attention(changed, mask)[0])
""",
        """
def my_true_means_look(attention, x):
    mask = torch.ones(len(x), len(x), dtype=torch.bool)
    mask[0, 1] = False
    changed = torch.cat([x[:1], x[1:2] - 3, x[2:]])
    return torch.allclose(attention(x, mask)[0], attention(changed, mask)[0], equal_nan=True)
""",
        """
def my_true_means_look(attention, x):
    from lessons.probes import influence

    mask = torch.eye(len(x), dtype=torch.bool)
    return ~influence(lambda tokens: attention(tokens, mask), x)[1, 0]
""",
    ],
    "my_torch_masks": [
        """
def my_torch_masks(src, tgt, src_pad_id, tgt_pad_id):
    future = torch.ones(tgt.size(1), tgt.size(1), dtype=torch.bool).triu(diagonal=1)
    return src == src_pad_id, future, tgt == tgt_pad_id, src == src_pad_id
""",
        """
def my_torch_masks(src, tgt, src_pad_id, tgt_pad_id):
    source = ~masks.padding(src, pad_id=src_pad_id)[:, 0, 0]
    target = ~masks.padding(tgt, pad_id=tgt_pad_id)[:, 0, 0]
    return source, ~masks.causal(tgt.size(1)), target, source
""",
        """
def my_torch_masks(src, tgt, src_pad_id, tgt_pad_id):
    future = nn.Transformer.generate_square_subsequent_mask(tgt.size(1)) == -torch.inf
    source = torch.tensor([[i == src_pad_id for i in row] for row in src.tolist()])
    return [source, future, tgt.eq(tgt_pad_id), source.clone()]
""",
    ],
    "mended_padding": [
        """
def mended_padding(query_ids, key_ids, query_pad_id, key_pad_id):
    return (key_ids != key_pad_id)[:, None, None, :]
""",
        """
def mended_padding(query_ids, key_ids, query_pad_id, key_pad_id):
    anybody = torch.ones_like(query_ids, dtype=torch.bool)[:, None, :, None]
    return anybody & (key_ids != key_pad_id)[:, None, None, :]
""",
        """
def mended_padding(query_ids, key_ids, query_pad_id, key_pad_id):
    return (key_ids != key_pad_id).unsqueeze(1).unsqueeze(2).repeat(1, 1, query_ids.size(1), 1)
""",
    ],
    "mended_causal": [
        """
def mended_causal(num_queries, num_keys):
    return torch.ones(num_queries, num_keys, dtype=torch.bool).tril(diagonal=num_keys - num_queries)
""",
        """
def mended_causal(num_queries, num_keys):
    return masks.causal(num_queries, offset=num_keys - num_queries)
""",
        """
def mended_causal(num_queries, num_keys):
    return torch.ones(num_keys, num_keys, dtype=torch.bool).tril()[-num_queries:]
""",
        """
def mended_causal(num_queries, num_keys):
    old = num_keys - num_queries
    cache = torch.ones(num_queries, old).bool()
    new = torch.triu(torch.ones(num_queries, num_queries), diagonal=1) == 0
    return torch.cat([cache, new], dim=1)
""",
    ],
}
WRONG = {
    "my_rows": [
        (
            "my_rows = [[False, False, True, True, True], [False, False, False, True, True]]",
            "Each value is turned around",
        ),
        (
            "my_rows = [[1, 1, 0, 0, 0], [1, 1, 0, 0, 0]]",
            "cross-attention is not causal",
        ),
        (
            "my_rows = [[True, True, False, False, False]]",
            "That is not it",
        ),
    ],
    "my_target_mask": [
        (
            """
def my_target_mask(ids, pad_id):
    real = ids != pad_id
    return masks.causal(ids.size(1)) & real[:, None, None, :] & real[:, None, :, None]
""",
            "you also blocked padding as a query",
        ),
        (
            """
def my_target_mask(ids, pad_id):
    future = torch.ones(ids.size(1), ids.size(1), dtype=torch.bool).triu(1)
    return future | (ids == pad_id)[:, None, None, :]
""",
            "yours says what is blocked",
        ),
        (
            """
def my_target_mask(ids, pad_id):
    future = torch.ones(ids.size(1), ids.size(1), dtype=torch.bool).triu(1)
    return ~(future & (ids == pad_id)[:, None, None, :])
""",
            "You joined the rules by |",
        ),
        (
            """
def my_target_mask(ids, pad_id):
    return torch.ones(ids.size(1), ids.size(1)).tril() * (ids != pad_id)[:, None, None, :]
""",
            "Kind of number: allowed holds floats",
        ),
        (
            """
def my_target_mask(ids, pad_id):
    return masks.causal(ids.size(1)) & (ids != pad_id)
""",
            "with the sentences where the queries are",
        ),
        (
            """
def my_target_mask(ids, pad_id):
    length = ids.size(1)
    return torch.ones(length, length).tril() & (ids != pad_id)[:, None, None, :]
""",
            "torch.ones gives floats",
        ),
        (
            """
def my_target_mask(ids, pad_id):
    return masks.causal(ids.size(1)) & (ids == pad_id)[:, None, None, :]
""",
            "only the padding is open",
        ),
    ],
    "my_one_mask": [
        (
            """
def my_one_mask(key_padding_mask, attn_mask):
    return ~key_padding_mask[:, None, None, :] | ~attn_mask
""",
            "You block only what both masks block",
        ),
        (
            """
def my_one_mask(key_padding_mask, attn_mask):
    return ~key_padding_mask[:, None, None, :] & attn_mask
""",
            "attn_mask is not: both say by True",
        ),
        (
            """
def my_one_mask(key_padding_mask, attn_mask):
    return (~(key_padding_mask[:, None, None, :] | attn_mask)).float()
""",
            "Kind of number",
        ),
        (
            """
def my_one_mask(key_padding_mask, attn_mask):
    return ~attn_mask & ~key_padding_mask
""",
            "sentences meet queries",
        ),
    ],
    "my_additive": [
        (
            """
def my_additive(allowed, dtype):
    return torch.zeros(allowed.shape, dtype=dtype).masked_fill(~allowed, -1e9)
""",
            "-1e9 is large, but not infinite",
        ),
        (
            """
def my_additive(allowed, dtype):
    return torch.zeros(allowed.shape).masked_fill(~allowed, -torch.inf)
""",
            "Kind of float: the mask is torch.float32; expected torch.float16",
        ),
        (
            """
def my_additive(allowed, dtype):
    return (1 - allowed.to(dtype)) * -torch.inf
""",
            "0 times -inf is NaN",
        ),
        (
            """
def my_additive(allowed, dtype):
    return torch.zeros(allowed.shape, dtype=dtype).masked_fill(~allowed, -100.0)
""",
            "yours -100, expected -inf",
        ),
        (
            """
def my_additive(allowed, dtype):
    mask = torch.zeros(allowed.shape, dtype=dtype)
    mask.masked_fill(~allowed, -torch.inf)
    return mask
""",
            "it returns a new tensor",
        ),
    ],
    "my_true_means_look": [
        (
            """
def my_true_means_look(attention, x):
    everything = torch.ones(len(x), len(x), dtype=torch.bool)
    return not attention(x, everything).isnan().any().item()
""",
            "You took NaN as the sign",
        ),
        (
            """
def my_true_means_look(attention, x):
    mask = torch.zeros(len(x), len(x), dtype=torch.bool)
    mask[0, 0] = True
    changed = x.clone()
    changed[0] += 1
    return not torch.equal(attention(x, mask)[0], attention(changed, mask)[0])
""",
            "You answer True whatever the library",
        ),
        (
            """
def my_true_means_look(attention, x):
    mask = torch.zeros(len(x), len(x), dtype=torch.bool)
    mask[0, -1] = True
    changed = x.clone()
    changed[-1] += 1
    return torch.allclose(attention(x, mask), attention(changed, mask))
""",
            "Compare output 0 alone",
        ),
        (
            """
def my_true_means_look(attention, x):
    x[-1] += 1
    return True
""",
            "changed its argument x",
        ),
        (
            """
def my_true_means_look(attention, x):
    everything = torch.ones(len(x), len(x), dtype=torch.bool)
    changed = x.clone()
    changed[-1] += 1
    return not torch.equal(attention(x, everything)[0], attention(changed, everything)[0])
""",
            "right only where a row that is blocked throughout gives 0",
        ),
    ],
    "my_torch_masks": [
        (
            """
def my_torch_masks(src, tgt, src_pad_id, tgt_pad_id):
    future = torch.ones(tgt.size(1), tgt.size(1), dtype=torch.bool).triu(diagonal=1)
    return src == src_pad_id, future, tgt == tgt_pad_id, tgt == tgt_pad_id
""",
            "They are the memory, which has the source's length",
        ),
        (
            """
def my_torch_masks(src, tgt, src_pad_id, tgt_pad_id):
    return src != src_pad_id, masks.causal(tgt.size(1)), tgt != tgt_pad_id, src != src_pad_id
""",
            "All four are turned around",
        ),
        (
            """
def my_torch_masks(src, tgt, src_pad_id, tgt_pad_id):
    future = torch.ones(tgt.size(1), tgt.size(1), dtype=torch.bool).triu(diagonal=1)
    return src == src_pad_id, future, tgt == tgt_pad_id
""",
            "returned 3 things; expected 4",
        ),
        (
            """
def my_torch_masks(src, tgt, src_pad_id, tgt_pad_id):
    future = torch.ones(tgt.size(1), tgt.size(1), dtype=torch.bool).triu()
    return src == src_pad_id, future, tgt == tgt_pad_id, src == src_pad_id
""",
            "triu needs diagonal=1",
        ),
        (
            """
def my_torch_masks(src, tgt, src_pad_id, tgt_pad_id):
    future = torch.ones(tgt.size(1), tgt.size(1), dtype=torch.bool).triu(diagonal=1)
    return src == src_pad_id, future, tgt != tgt_pad_id, src == src_pad_id
""",
            "One of the padding masks is turned around",
        ),
    ],
    "mended_padding": [
        (
            """
def mended_padding(query_ids, key_ids, query_pad_id, key_pad_id):
    query_real = (query_ids != query_pad_id)[:, None, :, None]
    key_real = (key_ids != key_pad_id)[:, None, None, :]
    return query_real | key_real
""",
            "but words look at padding",
        ),
        (
            """
def mended_padding(query_ids, key_ids, query_pad_id, key_pad_id):
    query_real = (query_ids != query_pad_id)[:, None, :, None]
    key_real = (key_ids != key_pad_id)[:, None, None, :]
    allowed = query_real & key_real
    return allowed | ~allowed.any(dim=-1, keepdim=True)
""",
            "That mends the symptom",
        ),
        (
            """
def mended_padding(query_ids, key_ids, query_pad_id, key_pad_id):
    return key_ids != key_pad_id
""",
            "Shape: allowed is (3, 5); expected (3, 1, 6, 5)",
        ),
    ],
    "mended_causal": [
        (
            """
def mended_causal(num_queries, num_keys):
    return masks.causal(num_keys)[:num_queries]
""",
            "sees only 4 of them",
        ),
        (
            """
def mended_causal(num_queries, num_keys):
    return torch.ones(num_queries, num_keys, dtype=torch.bool)
""",
            "of several, the first sees those that come after",
        ),
        (
            """
def mended_causal(num_queries, num_keys):
    return torch.ones(num_keys, num_keys, dtype=torch.bool).tril()
""",
            "which rows are theirs?",
        ),
        (
            """
def mended_causal(num_queries, num_keys):
    return torch.ones(num_queries, num_keys).tril(num_keys - num_queries)
""",
            "Kind of number",
        ),
    ],
}
