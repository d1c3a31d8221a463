RIGHT = {
    "my_transformer": [
        """
def my_transformer(src, tgt, embed_src, embed_tgt, encode, decode, project):
    source = masks.padding(src, pad_id=0)
    target = masks.combine(masks.padding(tgt, pad_id=0), masks.causal(tgt.size(1)))
    memory = encode(embed_src(src), source)
    return project(decode(embed_tgt(tgt), memory, target, source))
""",
        """
def my_transformer(src, tgt, embed_src, embed_tgt, encode, decode, project):
    source = (src != 0)[:, None, None, :]
    length = tgt.shape[1]
    target = (tgt != 0)[:, None, None, :] & torch.ones(length, length, dtype=torch.bool).tril()
    return project(decode(embed_tgt(tgt), encode(embed_src(src), source), target, source))
""",
        """
def my_transformer(src, tgt, embed_src, embed_tgt, encode, decode, project):
    # padding at the end of the target is hidden by the causal rule already, from all that is read
    source = (src != 0)[:, None, None, :].expand(-1, 1, src.size(1), -1)
    target = (tgt != 0)[:, None, None, :] & masks.causal(tgt.size(1))
    memory = encode(embed_src(src), source)
    cross = (src != 0)[:, None, None, :].expand(-1, 1, tgt.size(1), -1)
    return project(decode(embed_tgt(tgt), memory, target, cross))
""",
        """
def my_transformer(src, tgt, embed_src, embed_tgt, encode, decode, project):
    logits = []
    for s, t in zip(src.split(1), tgt.split(1)):
        real = masks.padding(s, pad_id=0)
        memory = encode(embed_src(s), real)
        future = torch.ones(t.size(1), t.size(1)).triu(diagonal=1).bool()
        y = decode(embed_tgt(t), memory, tgt_allowed=masks.padding(t, pad_id=0) & ~future, cross_allowed=real)
        logits.append(project(y))
    return torch.cat(logits)
""",
    ],
    "my_shape": ["my_shape = (2, 4, 9)\n", "my_shape = torch.Size([2, 4, 9])\n", "my_shape = [2, 4, 9]\n"],
    "my_parameters": [
        """
def my_parameters(d_model, d_ff, num_layers, vocab_size):
    attention = 4 * d_model * (d_model + 1)
    feed = d_ff * (d_model + 1) + d_model * (d_ff + 1)
    return num_layers * (3 * attention + 2 * feed + 10 * d_model) + vocab_size * (d_model + 1)
""",
        """
def my_parameters(d_model, d_ff, num_layers, vocab_size):
    from lessons.layers import DecoderLayer, EncoderLayer
    layers = [EncoderLayer(d_model, 1, d_ff), DecoderLayer(d_model, 1, d_ff)]
    count = sum(p.numel() for layer in layers for p in layer.parameters())
    return num_layers * count + vocab_size * d_model + vocab_size
""",
    ],
    "mended_stack": [
        """
def mended_stack(make_layer, num_layers):
    return nn.ModuleList([make_layer() for _ in range(num_layers)])
""",
        """
def mended_stack(make_layer, num_layers):
    import copy

    layer = make_layer()
    return nn.ModuleList(copy.deepcopy(layer) for _ in range(num_layers))
""",
        """
def mended_stack(make_layer, num_layers):
    layers = nn.Sequential()
    for _ in range(num_layers):
        layers.append(make_layer())
    return layers
""",
    ],
}
WRONG = {
    "my_transformer": [
        (
            """
def my_transformer(src, tgt, embed_src, embed_tgt, encode, decode, project):
    source = masks.padding(src, pad_id=0)
    return project(decode(embed_tgt(tgt), encode(embed_src(src), source), masks.padding(tgt, pad_id=0), source))
""",
            "The causal rule is missing",
        ),
        (
            """
def my_transformer(src, tgt, embed_src, embed_tgt, encode, decode, project):
    source = masks.padding(src, pad_id=0)
    target = masks.padding(tgt, pad_id=0) & masks.causal(tgt.size(1))
    logits = project(decode(embed_tgt(tgt), encode(embed_src(src), source), target, source))
    return F.softmax(logits, dim=-1)
""",
            "The model ends before it",
        ),
        (
            """
def my_transformer(src, tgt, embed_src, embed_tgt, encode, decode, project):
    source = masks.padding(src, pad_id=0)
    target = masks.padding(tgt, pad_id=0) | masks.causal(tgt.size(1))
    return project(decode(embed_tgt(tgt), encode(embed_src(src), source), target, source))
""",
            "were joined by |",
        ),
        (
            """
def my_transformer(src, tgt, embed_src, embed_tgt, encode, decode, project):
    source = masks.padding(src, pad_id=0)
    return project(decode(embed_tgt(tgt), encode(embed_src(src), source), masks.causal(tgt.size(1)), source))
""",
            "The target's own padding is not hidden",
        ),
    ],
    "my_shape": [("my_shape = (2, 5, 9)\n", "of which there are 4"), ("my_shape = (2, 4, 7)\n", "vocabulary")],
    "my_parameters": [
        (
            """
def my_parameters(d_model, d_ff, num_layers, vocab_size):
    attention = 4 * d_model * (d_model + 1)
    feed = d_ff * (d_model + 1) + d_model * (d_ff + 1)
    return num_layers * (2 * attention + 2 * feed + 10 * d_model) + vocab_size * (d_model + 1)
""",
            "*two* attentions",
        ),
        (
            """
def my_parameters(d_model, d_ff, num_layers, vocab_size):
    attention = 4 * d_model * (d_model + 1)
    feed = d_ff * (d_model + 1) + d_model * (d_ff + 1)
    return num_layers * (3 * attention + 2 * feed + 10 * d_model) + 3 * vocab_size * d_model + vocab_size
""",
            "share one here",
        ),
        (
            """
def my_parameters(d_model, d_ff, num_layers, vocab_size):
    attention = 3 * d_model * (d_model + 1)
    feed = d_ff * (d_model + 1) + d_model * (d_ff + 1)
    return num_layers * (3 * attention + 2 * feed + 10 * d_model) + vocab_size * (d_model + 1)
""",
            "An attention has four matrices",
        ),
        (
            """
def my_parameters(d_model, d_ff, num_layers, vocab_size):
    return num_layers * (12 * d_model**2 + 4 * d_model * d_ff + 10 * d_model) + vocab_size * d_model
""",
            "The biases of the attentions and of the feed-forward networks are missing",
        ),
    ],
    "mended_stack": [
        (
            """
def mended_stack(make_layer, num_layers):
    layer = make_layer()
    return nn.ModuleList(layer for _ in range(num_layers))
""",
            "The bug is still there",
        ),
        (
            """
def mended_stack(make_layer, num_layers):
    import copy

    return copy.deepcopy(nn.ModuleList([make_layer()] * num_layers))
""",
            "The bug is still there",
        ),
        (
            """
def mended_stack(make_layer, num_layers):
    return [make_layer() for _ in range(num_layers)]
""",
            "in a plain list torch does not find them",
        ),
    ],
}
