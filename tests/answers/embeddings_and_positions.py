RIGHT = {
    "my_embed": [
        """
def my_embed(ids, table):
    return table[ids] * table.size(-1) ** 0.5
""",
        """
def my_embed(ids, table):
    one_hot = F.one_hot(ids, table.size(0)).to(table.dtype)
    return torch.einsum("btv,vd->btd", one_hot, table) * math.sqrt(table.shape[1])
""",
        """
def my_embed(ids, table):
    return F.embedding(ids, table).mul(table.size(1) ** 0.5)
""",
    ],
    "my_sinusoids": [
        """
def my_sinusoids(num_positions, d_model):
    angles = torch.arange(num_positions)[:, None] / 10000 ** (torch.arange(0, d_model, 2) / d_model)
    table = torch.zeros(num_positions, d_model)
    table[:, 0::2] = angles.sin()
    table[:, 1::2] = angles.cos()[:, : d_model // 2]
    return table
""",
        """
def my_sinusoids(num_positions, d_model):
    rows = []
    for position in range(num_positions):
        row = []
        for feature in range(d_model):
            angle = position / 10000 ** (feature // 2 * 2 / d_model)
            row.append(math.cos(angle) if feature % 2 else math.sin(angle))
        rows.append(row)
    return torch.tensor(rows)
""",
        """
def my_sinusoids(num_positions, d_model):
    rate = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
    angles = torch.outer(torch.arange(num_positions).float(), rate)
    return torch.stack([angles.sin(), angles.cos()], dim=2).reshape(num_positions, -1)[:, :d_model]
""",
    ],
    "my_rotate": [
        """
def my_rotate(x, angles):
    result = torch.empty_like(x)
    a, b = x[..., 0::2], x[..., 1::2]
    result[..., 0::2] = a * angles.cos() - b * angles.sin()
    result[..., 1::2] = a * angles.sin() + b * angles.cos()
    return result
""",
        """
def my_rotate(x, angles):
    pairs = torch.view_as_complex(x.unflatten(-1, (-1, 2)).contiguous())
    return torch.view_as_real(pairs * torch.polar(torch.ones_like(angles), angles)).flatten(-2)
""",
        """
def my_rotate(x, angles):
    cos, sin = (y.repeat_interleave(2, dim=-1) for y in (angles.cos(), angles.sin()))
    beside = torch.stack([-x[:, 1::2], x[:, ::2]], dim=-1).reshape(x.shape)
    return x * cos + beside * sin
""",
        """
def my_rotate(x, angles):
    cos, sin = angles.cos(), angles.sin()
    turn = torch.stack([torch.stack([cos, -sin], -1), torch.stack([sin, cos], -1)], -2)
    return torch.einsum("tpij,tpj->tpi", turn, x.unflatten(-1, (-1, 2))).flatten(-2)
""",
    ],
    "my_rotary_scores": [
        """
def my_rotary_scores(q, k, angles):
    return rotate(q, angles) @ rotate(k, angles).T / q.size(-1) ** 0.5
""",
        """
def my_rotary_scores(q, k, angles):
    q, k = rotate(q, angles), rotate(k, angles)
    return torch.einsum("id,jd->ij", q, k).div(math.sqrt(k.shape[1]))
""",
    ],
    "mended_positions": [
        """
def mended_positions(x, table):
    return x + table[: x.size(1)]
""",
        """
def mended_positions(x, table):
    places = torch.arange(x.shape[1])
    return x + table[places].expand_as(x)
""",
        """
def mended_positions(x, table):
    x = x.transpose(0, 1)
    return (x + table[: x.size(0)].unsqueeze(1)).transpose(0, 1)
""",
    ],
}
WRONG = {
    "my_embed": [
        ("def my_embed(ids, table):\n    return F.embedding(ids, table)\n", "the factor √D is missing"),
        ("def my_embed(ids, table):\n    return table[ids] * len(table) ** 0.5\n", "the number of words"),
        ("D = 512\ndef my_embed(ids, table):\n    return table[ids] * math.sqrt(D)\n", "left over from a cell above"),
        (
            "def my_embed(ids, table):\n    table *= table.size(1) ** 0.5\n    return table[ids]\n",
            "changed its argument",
        ),
    ],
    "my_sinusoids": [
        (
            """
def my_sinusoids(num_positions, d_model):
    angles = torch.arange(num_positions)[:, None] / 10000 ** (2 * torch.arange(0, d_model, 2) / d_model)
    table = torch.zeros(num_positions, d_model)
    table[:, 0::2] = angles.sin()
    table[:, 1::2] = angles.cos()[:, : d_model // 2]
    return table
""",
            "the 2 of 2i came in twice",
        ),
        (
            """
def my_sinusoids(num_positions, d_model):
    angles = torch.arange(num_positions)[:, None] / 10000 ** (torch.arange(0, d_model, 2) / d_model)
    return torch.cat([angles.sin(), angles.cos()[:, : d_model // 2]], dim=-1)
""",
            "All the sines come first",
        ),
        (
            """
def my_sinusoids(num_positions, d_model):
    angles = torch.arange(num_positions)[:, None] / 10000 ** torch.arange(0, d_model, 2) / d_model
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)[:, :d_model]
""",
            "binds more tightly",
        ),
        (
            """
def my_sinusoids(num_positions, d_model):
    table = torch.zeros(num_positions, d_model)
    for t in range(num_positions):
        for feature in range(d_model):
            angle = t / 10000 ** (2 * feature / d_model)
            table[t, feature] = math.cos(angle) if feature % 2 else math.sin(angle)
    return table
""",
            "an exponent of its own",
        ),
        (
            """
def my_sinusoids(num_positions, d_model):
    even = d_model + d_model % 2
    angles = torch.arange(num_positions)[:, None] / 10000 ** (torch.arange(0, even, 2) / even)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)[:, :d_model]
""",
            "a table for D + 1 features",
        ),
        (
            """
def my_sinusoids(num_positions, d_model):
    angles = torch.arange(num_positions)[:, None] / 10000 ** (torch.arange(0, d_model, 2) / d_model)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)
""",
            "one sine more",
        ),
        (
            """
def my_sinusoids(num_positions, d_model):
    table = torch.zeros(num_positions, d_model)
    for t in range(num_positions):
        for i in range(d_model // 2):
            angle = t / 10000 ** (2 * i / d_model)
            table[t, 2 * i], table[t, 2 * i + 1] = math.sin(angle), math.cos(angle)
    return table
""",
            "the last feature was left at 0",
        ),
    ],
    "my_rotate": [
        (
            """
def my_rotate(x, angles):
    a, b = x.chunk(2, dim=-1)
    return torch.cat([a * angles.cos() - b * angles.sin(), a * angles.sin() + b * angles.cos()], dim=-1)
""",
            "Here neighbours are a pair",
        ),
        (
            """
def my_rotate(x, angles):
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack([a * angles.cos() + b * angles.sin(), b * angles.cos() - a * angles.sin()], -1).flatten(-2)
""",
            "the other way round",
        ),
        (
            """
def my_rotate(x, angles):
    y = x.clone()
    a, b = y[..., 0::2], y[..., 1::2]
    y[..., 0::2] = a * angles.cos() - b * angles.sin()
    y[..., 1::2] = a * angles.sin() + b * angles.cos()
    return y
""",
            "had been overwritten",
        ),
        (
            """
def my_rotate(x, angles):
    cos, sin = torch.cat([angles.cos()] * 2, dim=-1), torch.cat([angles.sin()] * 2, dim=-1)
    beside = torch.stack([-x[:, 1::2], x[:, 0::2]], dim=-1).reshape(x.shape)
    return x * cos + beside * sin
""",
            "not beside their pairs",
        ),
    ],
    "my_rotary_scores": [
        (
            "def my_rotary_scores(q, k, angles):\n    return rotate(q, angles) @ k.T / k.size(1) ** 0.5\n",
            "keys are not turned",
        ),
        (
            "def my_rotary_scores(q, k, angles):\n    return rotate(q, angles) @ rotate(k, angles).T\n",
            "not divided by √d",
        ),
        (
            "def my_rotary_scores(q, k, angles):\n    return rotate(q @ k.T, angles) / q.size(1) ** 0.5\n",
            "You turned the scores",
        ),
        (
            "def my_rotary_scores(q, k, angles):\n    return rotate(q, angles) @ rotate(k, angles).T / q.size(1)\n",
            "It is the root of d",
        ),
    ],
    "mended_positions": [
        ("def mended_positions(x, table):\n    return x + table[: x.size(0), None]\n", "The bug is still there"),
        ("def mended_positions(x, table):\n    return x + table[1 : x.size(1) + 1]\n", "The first position is 0"),
        (
            "def mended_positions(x, table):\n    return x + table[: x.size(1)].unsqueeze(1)\n",
            "on the axis of the batch",
        ),
    ],
}
