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
        """
def my_distribution(logits, temperature, top_k, top_p):
    x = logits / temperature
    p = x.softmax(dim=-1)
    rank = p.argsort(descending=True).argsort()
    p = torch.where(rank < top_k, p, 0.0)
    likelier = (p / p.sum() * (rank[None] < rank[:, None])).sum(dim=1)
    p = torch.where(likelier < top_p, p, 0.0)
    return p / p.sum()
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
        """
def my_cached_step(x, keys, values, w_q, w_k, w_v, turn):
    start = len(keys)
    q, k, v = turn(x @ w_q, start), turn(x @ w_k, start), x @ w_v
    blocked = torch.ones(len(x), len(x), dtype=torch.bool).triu(1)
    scores = torch.cat([q @ keys.mT, (q @ k.mT).masked_fill(blocked, -torch.inf)], dim=1)
    weights = (scores / math.sqrt(k.size(1))).softmax(dim=-1)
    output = weights[:, :start] @ values + weights[:, start:] @ v
    return output, torch.cat([keys, k]), torch.cat([values, v])
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
        """
def my_accept(true, guessed, word):
    more = (true - guessed).clamp(min=0)
    return [min(1.0, true[word].item() / guessed[word].item()), more / more.sum()]
""",
    ],
    "mended_search": [
        """
def mended_search(next_log_probs, width, bos_id, eos_id, pad_id, max_len):
    ids, log_probs = torch.tensor([[bos_id]]), torch.zeros(1)
    for _ in range(max_len):
        rows = next_log_probs(ids)
        finished = (ids == eos_id).any(dim=1)
        rows[finished] = -torch.inf
        rows[finished, pad_id] = 0.0
        totals = log_probs[:, None] + rows
        log_probs, places = totals.flatten().topk(width)
        parents, words = places // totals.size(1), places % totals.size(1)
        ids = torch.cat([ids[parents], words[:, None]], dim=1)
        ended = (ids == eos_id).cumsum(dim=1) > 0
        if ended[:, -1].all():
            break
    ids[:, 1:] = ids[:, 1:].masked_fill(ended[:, :-1], pad_id)
    return ids, log_probs
""",
        """
def mended_search(next_log_probs, width, bos_id, eos_id, pad_id, max_len):
    ids, log_probs, finished = torch.tensor([[bos_id]]), torch.zeros(1), torch.tensor([False])
    for _ in range(max_len):
        rows = next_log_probs(ids)
        stays = F.one_hot(torch.tensor(pad_id), rows.size(1)).float().log()
        totals = log_probs[:, None] + torch.where(finished[:, None], stays, rows)
        log_probs, places = totals.flatten().topk(width)
        parents, words = places // totals.size(1), places % totals.size(1)
        ids = torch.cat([ids[parents], words[:, None]], dim=1)
        finished = finished[parents] | (words == eos_id)
        if finished.all():
            break
    return ids, log_probs
""",
        """
def mended_search(next_log_probs, width, bos_id, eos_id, pad_id, max_len):
    kept = [(0.0, [bos_id])]
    for _ in range(max_len):
        found = [(total, words) for total, words in kept if eos_id in words]
        for total, words in kept:
            if eos_id not in words:
                row = next_log_probs(torch.tensor([words]))[0].tolist()
                found += [(total + more, [*words, word]) for word, more in enumerate(row)]
        kept = sorted(found, reverse=True)[:width]
    longest = max(len(words) for _, words in kept)
    ids = [words + [pad_id] * (longest - len(words)) for _, words in kept]
    return torch.tensor(ids), torch.tensor([total for total, _ in kept])
""",
        """
def mended_search(next_log_probs, width, bos_id, eos_id, pad_id, max_len):
    ids, log_probs = torch.tensor([[bos_id]]), torch.zeros(1)
    for _ in range(max_len):
        rows = next_log_probs(ids)
        again = F.one_hot(torch.tensor(eos_id), rows.size(1)).float().log()
        totals = log_probs[:, None] + torch.where(ids[:, -1:] == eos_id, again, rows)
        log_probs, places = totals.flatten().topk(width)
        parents, words = places // totals.size(1), places % totals.size(1)
        ids = torch.cat([ids[parents], words[:, None]], dim=1)
        ended = (ids == eos_id).cumsum(dim=1) > 0
        if ended[:, -1].all():
            break
    ids[:, 1:] = ids[:, 1:].masked_fill(ended[:, :-1], pad_id)
    return ids, log_probs
""",
        """
def mended_search(next_log_probs, width, bos_id, eos_id, pad_id, max_len):
    ids = torch.full((width, 1), bos_id)
    log_probs = torch.tensor([0.0] + [-torch.inf] * (width - 1))
    for _ in range(max_len):
        rows, finished = next_log_probs(ids), (ids == eos_id).any(dim=1)
        rows = rows.masked_fill(finished[:, None], -torch.inf)
        rows[:, pad_id] = torch.where(finished, 0.0, rows[:, pad_id])
        log_probs, places = (log_probs[:, None] + rows).flatten().topk(width)
        ids = torch.cat([ids[places // rows.size(1)], (places % rows.size(1))[:, None]], dim=1)
    return ids, log_probs
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
        (
            """
def my_beam_step(log_probs, next_log_probs, finished, pad_id):
    rows = next_log_probs.clone()
    rows[finished, pad_id] = 0.0
    best, places = (log_probs[:, None] + rows).flatten().topk(len(rows))
    return places // rows.size(1), places % rows.size(1), best
""",
            "may go on with other words",
        ),
        (
            """
def my_beam_step(log_probs, next_log_probs, finished, pad_id):
    totals = log_probs[:, None] + next_log_probs
    totals[finished] = -torch.inf
    totals[finished, pad_id] = 0.0
    best, places = totals.flatten().topk(len(totals))
    return places // totals.size(1), places % totals.size(1), best
""",
            "lost its own log_prob",
        ),
        (
            """
def my_beam_step(log_probs, next_log_probs, finished, pad_id):
    rows = next_log_probs.masked_fill(finished[:, None], -torch.inf)
    rows[:, pad_id] = 0.0
    best, places = (log_probs[:, None] + rows).flatten().topk(len(rows))
    return places // rows.size(1), places % rows.size(1), best
""",
            "in any row",
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
        (
            """
def my_distribution(logits, temperature, top_k, top_p):
    ordered, words = (logits / temperature).sort(descending=True)
    ordered[top_k:] = -torch.inf
    likely = ordered.softmax(dim=0)
    ordered[likely.cumsum(dim=0) - likely >= top_p] = -torch.inf
    return ordered.softmax(dim=0)[words]
""",
            "shuffles them once more",
        ),
        (
            """
def my_distribution(logits, temperature, top_k, top_p):
    ordered, words = (logits / temperature).sort(descending=True)
    ordered[top_k:] = -torch.inf
    crossed = ordered.softmax(dim=0).cumsum(dim=0) > top_p
    ordered[torch.cat([crossed[:1], crossed[:-1]])] = -torch.inf
    return torch.zeros(len(logits)).scatter(0, words, ordered.softmax(dim=0))
""",
            "The likeliest word always stays",
        ),
        (
            """
def my_distribution(logits, temperature, top_k, top_p):
    ordered, words = (logits / temperature).sort(descending=True)
    ordered[top_k:] = -torch.inf
    likely = ordered.softmax(dim=0)
    likely[likely.cumsum(dim=0) - likely >= top_p] = 0
    return torch.zeros(len(logits)).scatter(0, words, likely)
""",
            "not brought back to a sum of 1",
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
        (
            """
def my_cached_step(x, keys, values, w_q, w_k, w_v, turn):
    start = len(keys)
    keys, values = torch.cat([keys, turn(x @ w_k, start)]), torch.cat([values, x @ w_v])
    q = turn(x @ w_q, start)
    output = F.scaled_dot_product_attention(q[None], keys[None], values[None], is_causal=len(x) > 1)
    return output[0], keys, values
""",
            "aligned with the top left",
        ),
        (
            """
def my_cached_step(x, keys, values, w_q, w_k, w_v, turn):
    start, outputs = len(keys), []
    for row in x.split(1):
        keys, values = torch.cat([keys, turn(row @ w_k, start)]), torch.cat([values, row @ w_v])
        outputs.append((turn(row @ w_q, start) @ keys.T / math.sqrt(keys.size(1))).softmax(dim=-1) @ values)
    return torch.cat(outputs), keys, values
""",
            "each is turned as at position L",
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
        (
            """
def my_accept(true, guessed, word):
    more = (true - guessed).clamp(min=0)
    return (true[word] / guessed[word]).clamp(min=1), more / more.sum()
""",
            "stays is never less than 1",
        ),
        (
            """
def my_accept(true, guessed, word):
    return torch.minimum(true, guessed)[word], F.normalize(torch.relu(true - guessed), p=1, dim=0)
""",
            "drawn *and* stays",
        ),
    ],
    "mended_search": [
        (
            """
def mended_search(next_log_probs, width, bos_id, eos_id, pad_id, max_len):
    ids, log_probs = torch.tensor([[bos_id]]), torch.zeros(1)
    for _ in range(max_len):
        totals = log_probs[:, None] + next_log_probs(ids)
        log_probs, places = totals.flatten().topk(width)
        parents, words = places // totals.size(1), places % totals.size(1)
        ids = torch.cat([ids[parents], words[:, None]], dim=1)
        ended = (ids == eos_id).cumsum(dim=1) > 0
        if ended[:, -1].all():
            break
    ids[:, 1:] = ids[:, 1:].masked_fill(ended[:, :-1], pad_id)
    return ids, log_probs
""",
            "The bug is still there",
        ),
        (
            """
def mended_search(next_log_probs, width, bos_id, eos_id, pad_id, max_len):
    ids, log_probs = torch.tensor([[bos_id]]), torch.zeros(1)
    for _ in range(max_len):
        rows = next_log_probs(ids)
        finished = ids[:, -1] == eos_id
        rows[finished] = -torch.inf
        rows[finished, pad_id] = 0.0
        totals = log_probs[:, None] + rows
        log_probs, places = totals.flatten().topk(width)
        parents, words = places // totals.size(1), places % totals.size(1)
        ids = torch.cat([ids[parents], words[:, None]], dim=1)
        ended = (ids == eos_id).cumsum(dim=1) > 0
        if ended[:, -1].all():
            break
    ids[:, 1:] = ids[:, 1:].masked_fill(ended[:, :-1], pad_id)
    return ids, log_probs
""",
            "For one step a finished hypothesis stays",
        ),
        (
            """
def mended_search(next_log_probs, width, bos_id, eos_id, pad_id, max_len):
    ids, log_probs = torch.tensor([[bos_id]]), torch.zeros(1)
    finished = torch.tensor([False])
    for _ in range(max_len):
        rows = next_log_probs(ids)
        rows[finished] = -torch.inf
        rows[finished, pad_id] = 0.0
        totals = log_probs[:, None] + rows
        log_probs, places = totals.flatten().topk(width)
        parents, words = places // totals.size(1), places % totals.size(1)
        ids = torch.cat([ids[parents], words[:, None]], dim=1)
        finished = finished | (words == eos_id)
        ended = (ids == eos_id).cumsum(dim=1) > 0
        if ended[:, -1].all():
            break
    ids[:, 1:] = ids[:, 1:].masked_fill(ended[:, :-1], pad_id)
    return ids, log_probs
""",
            "finished[parents]",
        ),
        (
            """
def mended_search(next_log_probs, width, bos_id, eos_id, pad_id, max_len):
    ids, log_probs = torch.tensor([[bos_id]]), torch.zeros(1)
    for _ in range(max_len):
        totals = log_probs[:, None] + next_log_probs(ids)
        log_probs, places = totals.flatten().topk(width)
        parents, words = places // totals.size(1), places % totals.size(1)
        words = words.masked_fill((ids[parents] == eos_id).any(dim=1), pad_id)
        ids = torch.cat([ids[parents], words[:, None]], dim=1)
        ended = (ids == eos_id).cumsum(dim=1) > 0
        if ended[:, -1].all():
            break
    ids[:, 1:] = ids[:, 1:].masked_fill(ended[:, :-1], pad_id)
    return ids, log_probs
""",
            "before topk",
        ),
        (
            """
def mended_search(next_log_probs, width, bos_id, eos_id, pad_id, max_len):
    ids, log_probs = torch.tensor([[bos_id]]), torch.zeros(1)
    for _ in range(max_len):
        totals = log_probs[:, None] + next_log_probs(ids)
        log_probs, places = totals.flatten().topk(width)
        parents, words = places // totals.size(1), places % totals.size(1)
        ids = torch.cat([ids[parents], words[:, None]], dim=1)
        ended = (ids == eos_id).cumsum(dim=1) > 0
        if ended[:, -1].all():
            break
    ids[:, 1:] = ids[:, 1:].masked_fill(ended[:, :-1], pad_id)
    log_probs = torch.zeros(width)
    for i, row in enumerate(ids.tolist()):
        for t in range(1, len(row)):
            if row[t] != pad_id:
                log_probs[i] += next_log_probs(ids[i : i + 1, :t])[0, row[t]]
    return ids, log_probs
""",
            "Mend what happens within the loop",
        ),
        (
            """
def mended_search(next_log_probs, width, bos_id, eos_id, pad_id, max_len):
    ids, log_probs, ended = torch.tensor([[bos_id]]), torch.zeros(1), []
    for _ in range(max_len):
        totals = log_probs[:, None] + next_log_probs(ids)
        log_probs, places = totals.flatten().topk(width)
        ids = torch.cat([ids[places // totals.size(1)], (places % totals.size(1))[:, None]], dim=1)
        done = ids[:, -1] == eos_id
        ended += zip(log_probs[done].tolist(), ids[done].tolist())
        ids, log_probs = ids[~done], log_probs[~done]
        if len(ended) >= width:
            break
    found = sorted(ended + list(zip(log_probs.tolist(), ids.tolist())), reverse=True)[:width]
    longest = max(len(words) for _, words in found)
    rows = [words + [pad_id] * (longest - len(words)) for _, words in found]
    return torch.tensor(rows), torch.tensor([total for total, _ in found])
""",
            "keeps its place",
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
