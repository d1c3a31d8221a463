RIGHT = {
    "my_shift": [
        """
def my_shift(tgt):
    return tgt[:, :-1], tgt[:, 1:]
""",
        """
def my_shift(tgt):
    last = tgt.shape[1] - 1
    return tgt.narrow(1, 0, last), tgt.narrow(1, 1, last)
""",
        """
def my_shift(tgt):
    inputs = torch.stack([row[:-1] for row in tgt])
    targets = torch.stack([row[1:] for row in tgt])
    return [inputs, targets]
""",
        """
def my_shift(tgt):
    return tgt.unfold(1, 2, 1).unbind(-1)
""",
    ],
    "my_loss": [
        """
def my_loss(logits, targets, pad_id):
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=pad_id)
""",
        """
def my_loss(logits, targets, pad_id):
    return F.cross_entropy(logits.transpose(1, 2), targets, ignore_index=pad_id)
""",
        """
def my_loss(logits, targets, pad_id):
    total, count = 0.0, 0
    for row, words in zip(logits, targets):
        for x, word in zip(row, words):
            if word != pad_id:
                total = total + torch.logsumexp(x, dim=0) - x[word]
                count += 1
    return total / count
""",
        """
def my_loss(logits, targets, pad_id):
    p = torch.softmax(logits, dim=-1)
    right = torch.gather(p, 2, targets.unsqueeze(2)).squeeze(2)
    real = (targets != pad_id).float()
    return (-torch.log(right) * real).sum() / real.sum()
""",
        """
def my_loss(logits, targets, pad_id):
    weight = torch.ones(logits.size(-1))
    weight[pad_id] = 0
    return F.cross_entropy(logits.mT, targets, weight=weight)
""",
        """
def my_loss(logits, targets, pad_id):
    real = targets != pad_id
    return torch.distributions.Categorical(logits=logits[real]).log_prob(targets[real]).neg().mean()
""",
    ],
    "my_smooth": [
        """
def my_smooth(targets, vocab_size, smoothing):
    return (1 - smoothing) * F.one_hot(targets, vocab_size) + smoothing / vocab_size
""",
        """
def my_smooth(targets, vocab_size, smoothing):
    wished = torch.zeros(len(targets), vocab_size) + smoothing / vocab_size
    for row, word in zip(wished, targets):
        row[word] = 1 - smoothing + smoothing / vocab_size
    return wished
""",
        """
def my_smooth(targets, vocab_size, smoothing):
    return torch.eye(vocab_size)[targets] * (1 - smoothing) + smoothing * torch.ones(vocab_size) / vocab_size
""",
        """
def my_smooth(targets, vocab_size, smoothing):
    share = smoothing / vocab_size
    return torch.where(torch.arange(vocab_size) == targets[:, None], 1 - smoothing + share, share)
""",
    ],
    "my_rate": [
        """
def my_rate(step, d_model, warmup):
    return d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)
""",
        """
def my_rate(step, d_model, warmup):
    if step < warmup:
        return step / (math.sqrt(d_model) * warmup * math.sqrt(warmup))
    return 1 / math.sqrt(d_model * step)
""",
        """
def my_rate(step, d_model, warmup):
    step = torch.tensor(float(step))
    return torch.minimum(step.rsqrt(), step / warmup**1.5) / d_model**0.5
""",
        """
def my_rate(step, d_model, warmup):
    return (d_model * warmup) ** -0.5 * min(step / warmup, (warmup / step) ** 0.5)
""",
    ],
    "my_accuracies": [
        """
def my_accuracies(predicted, targets, pad_id):
    real = targets != pad_id
    right = (predicted == targets) & real
    words = right.sum() / real.sum()
    sentences = (right.sum(dim=1) == real.sum(dim=1)).float().mean()
    return words, sentences
""",
        """
def my_accuracies(predicted, targets, pad_id):
    hits = total = whole = 0
    for p, t in zip(predicted.tolist(), targets.tolist()):
        pairs = [(a, b) for a, b in zip(p, t) if b != pad_id]
        hits += sum(a == b for a, b in pairs)
        total += len(pairs)
        whole += all(a == b for a, b in pairs)
    return torch.tensor(hits / total), torch.tensor(whole / len(targets))
""",
        """
def my_accuracies(predicted, targets, pad_id):
    predicted = predicted.masked_fill(targets == pad_id, pad_id)
    same = predicted.eq(targets)
    return same[targets.ne(pad_id)].double().mean(), same.all(1).double().mean()
""",
        """
def my_accuracies(predicted, targets, pad_id):
    real = targets != pad_id
    wrong = (predicted != targets) & real
    return 1 - wrong.sum().item() / real.sum().item(), 1 - wrong.any(dim=1).float().mean().item()
""",
    ],
    "mended_write": [
        """
def mended_write(next_logits, bos_id, eos_id, pad_id, max_len):
    ids = torch.tensor([bos_id])
    while len(ids) < max_len and ids[-1] != eos_id:
        ids = torch.cat([ids, next_logits(ids).argmax(dim=-1, keepdim=True)])
    return ids
""",
        """
def mended_write(next_logits, bos_id, eos_id, pad_id, max_len):
    ids = [bos_id]
    for _ in range(max_len - 1):
        ids.append(int(next_logits(torch.tensor(ids)).argmax()))
        if ids[-1] == eos_id:
            break
    return torch.tensor(ids)
""",
        """
def mended_write(next_logits, bos_id, eos_id, pad_id, max_len):
    ids = torch.full((max_len,), pad_id)
    ids[0] = bos_id
    for i in range(1, max_len):
        ids[i] = next_logits(ids[:i]).argmax()
        if ids[i] == eos_id:
            return ids[: i + 1]
    return ids
""",
    ],
    "mended_loss": [
        """
def mended_loss(logits, targets, pad_id):
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=pad_id)
""",
        """
def mended_loss(logits, targets, pad_id):
    log_p = logits.log_softmax(dim=-1)
    return F.nll_loss(log_p.flatten(0, 1), targets.flatten(), ignore_index=pad_id)
""",
        """
def mended_loss(logits, targets, pad_id):
    probabilities = logits.softmax(dim=-1)
    return F.nll_loss(probabilities.log().transpose(1, 2), targets, ignore_index=pad_id)
""",
    ],
}

WRONG = {
    "my_shift": [
        ("def my_shift(tgt):\n    return tgt, tgt\n", "Nothing is shifted"),
        ("def my_shift(tgt):\n    return tgt[:, 1:], tgt[:, :-1]\n", "Shifted the wrong way"),
        ("def my_shift(tgt):\n    return tgt[:, :-1], tgt.roll(-1, dims=1)\n", "Shape: targets"),
        ("def my_shift(tgt):\n    return tgt[:, 1:]\n", "my_shift returned"),
        ("def my_shift(tgt):\n    return tgt[:, :-1], tgt.roll(1, dims=1)[:, 1:]\n", "Nothing is shifted"),
    ],
    "my_loss": [
        (
            """
def my_loss(logits, targets, pad_id):
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten())
""",
            "The padding is counted",
        ),
        (
            """
def my_loss(logits, targets, pad_id):
    each = F.cross_entropy(logits.flatten(0, 1), targets.flatten(), reduction="none")
    return (each * (targets.flatten() != pad_id)).mean()
""",
            "still to the number that you divide by",
        ),
        (
            """
def my_loss(logits, targets, pad_id):
    return F.cross_entropy(logits.softmax(-1).flatten(0, 1), targets.flatten(), ignore_index=pad_id)
""",
            "A softmax too much",
        ),
        (
            """
def my_loss(logits, targets, pad_id):
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=pad_id).detach()
""",
            "their gradients are not",
        ),
        (
            """
def my_loss(logits, targets, pad_id):
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=pad_id) / math.log(2)
""",
            "Values: the loss differs",
        ),
        (
            "def my_loss(logits, targets, pad_id):\n    return F.cross_entropy(logits, targets)\n",
            "looks for the V logits on axis 1",
        ),
        (
            """
def my_loss(logits, targets, pad_id):
    B, T, V = logits.shape
    return F.cross_entropy(logits.view(B, V, T), targets, ignore_index=pad_id)
""",
            "transpose",
        ),
        (
            """
def my_loss(logits, targets, pad_id):
    logits, targets = logits[:, :-1], targets[:, 1:]
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=pad_id)
""",
            "Shifted once more",
        ),
        (
            """
def my_loss(logits, targets, pad_id):
    p = logits.softmax(dim=-1).gather(-1, targets[..., None]).squeeze(-1)
    return -p[targets != pad_id].mean().log()
""",
            "the log of the mean probability",
        ),
    ],
    "my_smooth": [
        (
            """
def my_smooth(targets, vocab_size, smoothing):
    wished = torch.full((len(targets), vocab_size), smoothing / (vocab_size - 1))
    return wished.scatter(1, targets[:, None], 1 - smoothing)
""",
            "You shared it among the other words alone",
        ),
        (
            """
def my_smooth(targets, vocab_size, smoothing):
    wished = torch.full((len(targets), vocab_size), smoothing / vocab_size)
    return wished.scatter(1, targets[:, None], 1 - smoothing)
""",
            "The rows do not sum to 1",
        ),
        (
            "def my_smooth(targets, vocab_size, smoothing):\n    return F.one_hot(targets, vocab_size)\n",
            "Kind of number",
        ),
        (
            "def my_smooth(targets, vocab_size, smoothing):\n    return F.one_hot(targets, vocab_size).float()\n",
            "Nothing is smoothed",
        ),
        (
            """
def my_smooth(targets, vocab_size, smoothing):
    return (1 - smoothing) * F.one_hot(targets) + smoothing / vocab_size
""",
            "guesses the number of words",
        ),
        (
            """
def my_smooth(targets, vocab_size, smoothing):
    wished = torch.zeros(len(targets), vocab_size)
    wished[torch.arange(len(targets)), targets] = 1 - smoothing
    return wished
""",
            "given to nobody",
        ),
        (
            """
def my_smooth(targets, vocab_size, smoothing):
    wished = torch.full((len(targets), vocab_size), smoothing / vocab_size)
    wished[:, targets] += 1 - smoothing
    return wished
""",
            "pair row 0 with targets[0]",
        ),
        (
            """
def my_smooth(targets, vocab_size, smoothing):
    wished = torch.full((len(targets), vocab_size), smoothing / vocab_size)
    wished[torch.arange(len(targets)), targets] = 1
    return wished
""",
            "Values: wished differs",
        ),
    ],
    "my_rate": [
        ("def my_rate(step, d_model, warmup):\n    return d_model**-0.5 * step**-0.5\n", "There is no warm-up"),
        (
            "def my_rate(step, d_model, warmup):\n    return d_model**-0.5 * max(step**-0.5, step * warmup**-1.5)\n",
            "The greater of the two",
        ),
        (
            "def my_rate(step, d_model, warmup):\n    return 512**-0.5 * min(step**-0.5, step * warmup**-1.5)\n",
            "d_model is not used",
        ),
        (
            """
def my_rate(step, d_model, warmup):
    return d_model**-0.5 * min((step + 1) ** -0.5, (step + 1) * warmup**-1.5)
""",
            "the step after",
        ),
        (
            "def my_rate(step, d_model, warmup):\n    return d_model**-1/2 * min(step**-1/2, step * warmup**-3/2)\n",
            "powers first",
        ),
        (
            "def my_rate(step, warmup, d_model):\n    return d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)\n",
            "changed places",
        ),
        (
            "def my_rate(step, d_model, warmup):\n    print(d_model**-0.5 * min(step**-0.5, step * warmup**-1.5))\n",
            "does your function end with `return`",
        ),
        (
            "def my_rate(step, d_model, warmup):\n    return min(step**-0.5, step * warmup**-1.5) / d_model\n",
            "Values: the rates differs",
        ),
    ],
    "my_accuracies": [
        (
            """
def my_accuracies(predicted, targets, pad_id):
    right = (predicted == targets).float()
    return right.mean(), right.prod(dim=1).mean()
""",
            "Padding is counted",
        ),
        (
            """
def my_accuracies(predicted, targets, pad_id):
    right = ((predicted == targets) | (targets == pad_id)).float()
    return right.mean(), right.prod(dim=1).mean()
""",
            "with enough of it any model looks good",
        ),
        (
            """
def my_accuracies(predicted, targets, pad_id):
    right = (predicted == targets).float()
    real = (targets != pad_id).float()
    each = (right * real).sum(1) / real.sum(1)
    return each.mean(), (each == 1).float().mean()
""",
            "a mean of the sentences' shares",
        ),
        (
            """
def my_accuracies(predicted, targets, pad_id):
    real, right = targets != 0, predicted == targets
    return right[real].float().mean(), (right | ~real).all(dim=1).float().mean()
""",
            "pad_id is not used",
        ),
        (
            """
def my_accuracies(predicted, targets, pad_id):
    real, right = targets != pad_id, predicted == targets
    return right[real].float().mean(), (right.sum(dim=1) == real.sum(dim=1)).float().mean()
""",
            "It goes wrong here: the model, too, says padding at the padding",
        ),
        (
            """
def my_accuracies(predicted, targets, pad_id):
    real, right = targets != pad_id, predicted == targets
    return right[real].float().mean(), (right | ~real).all(dim=0).float().mean()
""",
            "a sentence is a row",
        ),
        (
            """
def my_accuracies(predicted, targets, pad_id):
    real, right = targets != pad_id, predicted == targets
    return (right & real).sum() / targets.numel(), (right | ~real).all(dim=1).float().mean()
""",
            "but it is counted in the number that you divide by",
        ),
        (
            """
def my_accuracies(predicted, targets, pad_id):
    words = (predicted == targets)[targets != pad_id].float().mean()
    return words, words ** targets.size(1)
""",
            "Values: sentences differs",
        ),
    ],
    "mended_write": [
        (
            """
def mended_write(next_logits, bos_id, eos_id, pad_id, max_len):
    ids = torch.tensor([pad_id])
    while ids[-1] != eos_id and len(ids) < max_len:
        ids = torch.cat([ids, next_logits(ids).argmax()[None]])
    return ids
""",
            "where do they part?",
        ),
        (
            """
def mended_write(next_logits, bos_id, eos_id, pad_id, max_len):
    ids = torch.tensor([pad_id])
    while ids[-1] != eos_id and len(ids) < max_len:
        ids = torch.cat([ids, next_logits(ids).argmax()[None]])
    ids[0] = bos_id
    return ids
""",
            "is it also the first id that the model reads?",
        ),
        (
            """
def mended_write(next_logits, bos_id, eos_id, pad_id, max_len):
    ids = torch.tensor([eos_id])
    while ids[-1] != eos_id and len(ids) < max_len:
        ids = torch.cat([ids, next_logits(ids).argmax()[None]])
    return ids
""",
            "It begins with the end mark",
        ),
        (
            """
def mended_write(next_logits, bos_id, eos_id, pad_id, max_len):
    ids = torch.tensor([pad_id, bos_id])
    while ids[-1] != eos_id and len(ids) < max_len:
        ids = torch.cat([ids, next_logits(ids).argmax()[None]])
    return ids
""",
            "There is an id too many",
        ),
        (
            """
def mended_write(next_logits, bos_id, eos_id, pad_id, max_len):
    ids = torch.tensor([bos_id])
    while ids[-1] != pad_id and len(ids) < max_len:
        ids = torch.cat([ids, next_logits(ids).argmax()[None]])
    return ids
""",
            "goes on after the end mark",
        ),
        (
            """
def mended_write(next_logits, bos_id, eos_id, pad_id, max_len):
    ids = torch.tensor([1])
    while ids[-1] != 2 and len(ids) < max_len:
        ids = torch.cat([ids, next_logits(ids).argmax()[None]])
    return ids
""",
            "It goes wrong here: other ids for the marks",
        ),
    ],
    "mended_loss": [
        (
            """
def mended_loss(logits, targets, pad_id):
    probabilities = logits.softmax(dim=-1)
    return F.cross_entropy(probabilities.flatten(0, 1), targets.flatten(), ignore_index=pad_id)
""",
            "by this loss it never comes near 0",
        ),
        (
            "def mended_loss(logits, targets, pad_id):\n    return F.cross_entropy(logits.mT, targets)\n",
            "now there is another",
        ),
        (
            """
def mended_loss(logits, targets, pad_id):
    return F.cross_entropy(logits, targets, ignore_index=pad_id)
""",
            "looks for the V logits on axis 1",
        ),
        (
            """
def mended_loss(logits, targets, pad_id):
    return F.nll_loss(logits.softmax(dim=-1).flatten(0, 1), targets.flatten(), ignore_index=pad_id)
""",
            "nll_loss wants logs",
        ),
    ],
}
