RIGHT = {
    "my_beam_step": [
        """
def my_beam_step(log_probs, next_log_probs, finished, pad_id):
    width, vocab_size = next_log_probs.shape
    rows = next_log_probs.clone()
    rows[finished] = -torch.inf
    rows[finished, pad_id] = 0.0
    best, places = (log_probs[:, None] + rows).flatten().topk(width)
    return places // vocab_size, places % vocab_size, best
""",
        """
def my_beam_step(log_probs, next_log_probs, finished, pad_id):
    found = []
    for parent, (total, row) in enumerate(zip(log_probs.tolist(), next_log_probs.tolist())):
        if finished[parent]:
            found.append((total, parent, pad_id))
        else:
            found += [(total + more, parent, word) for word, more in enumerate(row)]
    found = sorted(found, reverse=True)[: len(log_probs)]
    totals, parents, words = zip(*found)
    return torch.tensor(parents), torch.tensor(words), torch.tensor(totals)
""",
        """
def my_beam_step(log_probs, next_log_probs, finished, pad_id):
    only_pad = torch.zeros(next_log_probs.size(1)).index_fill(0, torch.tensor([pad_id]), 1.0).log()
    totals = torch.where(finished[:, None], only_pad, next_log_probs) + log_probs.unsqueeze(1)
    order = totals.view(-1).argsort(descending=True)[: len(totals)]
    parents, words = torch.unravel_index(order, totals.shape)
    return parents, words, totals[parents, words]
""",
    ],
    "my_distribution": [
        """
def my_distribution(logits, temperature, top_k, top_p):
    ordered, words = (logits / temperature).sort(descending=True)
    ordered[top_k:] = -torch.inf
    likely = ordered.softmax(dim=0)
    ordered[likely.cumsum(dim=0) - likely >= top_p] = -torch.inf
    result = torch.zeros(len(logits))
    result[words] = ordered.softmax(dim=0)
    return result
""",
        """
def my_distribution(logits, temperature, top_k, top_p):
    from lessons.decoding import distribution

    return distribution(logits, temperature=temperature, top_k=top_k, top_p=top_p)
""",
        """
def my_distribution(logits, temperature, top_k, top_p):
    p = (logits / temperature).exp()
    likely = p.argsort(descending=True).tolist()[:top_k]
    whole, total, kept = sum(p[i] for i in likely), 0.0, []
    for i in likely:
        if total >= top_p:
            break
        kept.append(i)
        total += p[i] / whole
    result = torch.zeros_like(p)
    for i in kept:
        result[i] = p[i] / p[kept].sum()
    return result
""",
        """
def my_distribution(logits, temperature, top_k, top_p):
    values, words = torch.topk(logits.double() / temperature, top_k)
    p = values.softmax(dim=-1)
    p = p * (p.cumsum(dim=-1).roll(1).index_fill(0, torch.tensor([0]), 0.0) < top_p)
    return torch.zeros(len(logits), dtype=torch.double).index_add(0, words, p / p.sum())
""",
    ],
    "my_cached_step": [
        """
def my_cached_step(x, keys, values, w_q, w_k, w_v, turn):
    n, length = len(x), len(keys)
    q, k, v = turn(x @ w_q, length), turn(x @ w_k, length), x @ w_v
    keys, values = torch.cat([keys, k]), torch.cat([values, v])
    allowed = torch.ones(n, length + n, dtype=torch.bool).tril(length)
    scores = (q @ keys.T / math.sqrt(q.size(1))).masked_fill(~allowed, -torch.inf)
    return scores.softmax(dim=-1) @ values, keys, values
""",
        """
def my_cached_step(x, keys, values, w_q, w_k, w_v, turn):
    rows = []
    for row in x:
        row = row[None]
        keys = torch.cat([keys, turn(row @ w_k, len(keys))])
        values = torch.cat([values, row @ w_v])
        q = turn(row @ w_q, len(keys) - 1)
        rows.append((q @ keys.T / q.size(1) ** 0.5).softmax(dim=-1) @ values)
    return torch.cat(rows), keys, values
""",
        """
def my_cached_step(x, keys, values, w_q, w_k, w_v, turn):
    start = keys.size(0)
    k = torch.vstack([keys, turn(x @ w_k, start)])
    v = torch.vstack([values, x @ w_v])
    allowed = masks.causal(len(x), offset=start)
    output = F.scaled_dot_product_attention(turn(x @ w_q, start)[None], k[None], v[None], attn_mask=allowed)
    return output[0], k, v
""",
    ],
    "my_accept": [
        """
def my_accept(true, guessed, word):
    more = (true - guessed).clamp(min=0)
    return (true[word] / guessed[word]).clamp(max=1), more / more.sum()
""",
        """
def my_accept(true, guessed, word):
    stays = torch.minimum(true, guessed)[word] / guessed[word]
    return stays, torch.relu(true - guessed) / (1 - torch.minimum(true, guessed).sum())
""",
        """
def my_accept(true, guessed, word):
    stays = torch.tensor(min(1.0, float(true[word]) / float(guessed[word])))
    more = torch.tensor([max(0.0, float(t) - float(g)) for t, g in zip(true, guessed)])
    return stays, F.normalize(more, p=1, dim=0)
""",
    ],
    "mended_scores": [
        """
def mended_scores(log_probs, ids, pad_id, alpha):
    lengths = (ids != pad_id).sum(dim=1) - 1
    return log_probs / ((5 + lengths) / 6) ** alpha
""",
        """
def mended_scores(log_probs, ids, pad_id, alpha):
    scores = []
    for log_prob, row in zip(log_probs, ids.tolist()):
        length = len([i for i in row[1:] if i != pad_id])
        scores.append(log_prob / ((5 + length) / 6) ** alpha)
    return torch.stack(scores)
""",
    ],
}
WRONG = {
    "my_beam_step": [
        (
            """
def my_beam_step(log_probs, next_log_probs, finished, pad_id):
    width, vocab_size = next_log_probs.shape
    best, places = (log_probs[:, None] + next_log_probs).flatten().topk(width)
    return places // vocab_size, places % vocab_size, best
""",
            "goes on growing",
        ),
        (
            """
def my_beam_step(log_probs, next_log_probs, finished, pad_id):
    width, vocab_size = next_log_probs.shape
    rows = next_log_probs.masked_fill(finished[:, None], -torch.inf)
    best, places = (log_probs[:, None] + rows).flatten().topk(width)
    return places // vocab_size, places % vocab_size, best
""",
            "The finished hypothesis is gone",
        ),
        (
            """
def my_beam_step(log_probs, next_log_probs, finished, pad_id):
    rows = next_log_probs.masked_fill(finished[:, None], -torch.inf)
    rows[finished, pad_id] = 0.0
    best, words = (log_probs[:, None] + rows).max(dim=1)
    order = best.argsort(descending=True)
    return order, words[order], best[order]
""",
            "two of them may have the same parent",
        ),
    ],
    "my_distribution": [
        (
            """
def my_distribution(logits, temperature, top_k, top_p):
    ordered, words = (logits / temperature).sort(descending=True)
    ordered[top_k:] = -torch.inf
    likely = ordered.softmax(dim=0)
    ordered[(likely.cumsum(dim=0) > top_p) & (top_p < 1)] = -torch.inf
    return torch.zeros(len(logits)).scatter(0, words, ordered.softmax(dim=0))
""",
            "The word whose probability crosses p is dropped",
        ),
        (
            """
def my_distribution(logits, temperature, top_k, top_p):
    p = logits.softmax(dim=0) / temperature
    p = p / p.sum()
    ordered, words = p.sort(descending=True)
    ordered[top_k:] = 0
    ordered = ordered / ordered.sum()
    ordered[ordered.cumsum(dim=0) - ordered >= top_p] = 0
    return torch.zeros(len(p)).scatter(0, words, ordered / ordered.sum())
""",
            "The temperature changes nothing",
        ),
        (
            """
def my_distribution(logits, temperature, top_k, top_p):
    x = logits / temperature
    x = x.masked_fill(x < x.topk(top_k).values[-1], -torch.inf)
    ordered, words = x.sort(descending=True)
    likely = ordered.softmax(dim=0)
    ordered[likely.cumsum(dim=0) - likely >= top_p] = -torch.inf
    return torch.zeros(len(logits)).scatter(0, words, ordered.softmax(dim=0))
""",
            "Exactly k stay",
        ),
    ],
    "my_cached_step": [
        (
            """
def my_cached_step(x, keys, values, w_q, w_k, w_v, turn):
    q, k, v = turn(x @ w_q, 0), turn(x @ w_k, 0), x @ w_v
    keys, values = torch.cat([keys, k]), torch.cat([values, v])
    allowed = torch.ones(len(x), len(keys), dtype=torch.bool).tril(len(keys) - len(x))
    scores = (q @ keys.T / math.sqrt(q.size(1))).masked_fill(~allowed, -torch.inf)
    return scores.softmax(dim=-1) @ values, keys, values
""",
            "Position 0 at every step",
        ),
        (
            """
def my_cached_step(x, keys, values, w_q, w_k, w_v, turn):
    q, k, v = turn(x @ w_q, len(keys)), turn(x @ w_k, len(keys)), x @ w_v
    keys, values = torch.cat([keys, k]), torch.cat([values, v])
    allowed = torch.ones(len(x), len(keys), dtype=torch.bool).tril()
    scores = (q @ keys.T / math.sqrt(q.size(1))).masked_fill(~allowed, -torch.inf)
    return scores.softmax(dim=-1) @ values, keys, values
""",
            "aligned with the top left",
        ),
        (
            """
def my_cached_step(x, keys, values, w_q, w_k, w_v, turn):
    q, k, v = turn(x @ w_q, len(keys)), turn(x @ w_k, len(keys)), x @ w_v
    keys, values = torch.cat([keys, k]), torch.cat([values, v])
    return (q @ keys.T / math.sqrt(q.size(1))).softmax(dim=-1) @ values, keys, values
""",
            "among themselves they need the causal mask",
        ),
    ],
    "my_accept": [
        (
            """
def my_accept(true, guessed, word):
    return (true[word] / guessed[word]).clamp(max=1), true
""",
            "they had their chance already",
        ),
        (
            """
def my_accept(true, guessed, word):
    rest = true - guessed
    return (true[word] / guessed[word]).clamp(max=1), rest / rest.sum()
""",
            "negative numbers",
        ),
    ],
    "mended_scores": [
        (
            """
def mended_scores(log_probs, ids, pad_id, alpha):
    length = ids.size(1) - 1
    return log_probs / ((5 + length) / 6) ** alpha
""",
            "The bug is still there",
        ),
        (
            """
def mended_scores(log_probs, ids, pad_id, alpha):
    lengths = (ids != pad_id).sum(dim=1)
    return log_probs / ((5 + lengths) / 6) ** alpha
""",
            "the begin mark is counted",
        ),
    ],
}
