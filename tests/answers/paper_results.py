RIGHT = {
    "my_operations": [
        """
def my_operations(n, d, k):
    return 4 * n * d * d + 2 * n * n * d, 2 * n * d * d, 8 * n * d * d, k * n * d * d
""",
        """
def my_operations(n, d, k):
    def product(rows, inner, columns):
        return rows * inner * columns

    attention = 4 * product(n, d, d) + product(n, d, n) + product(n, n, d)
    recurrent = sum(product(1, d, d) + product(1, d, d) for _ in range(n))
    return [attention, recurrent, product(n, 2 * d, 4 * d), product(n, k * d, d)]
""",
        """
def my_operations(n, d, k):
    n, d = torch.tensor(n), torch.tensor(d)
    return 2 * n * d * (2 * d + n), 2 * n * d**2, 8 * n * d**2, n * d**2 * k
""",
        """
def my_operations(n, d, k):
    from torch.utils.flop_counter import FlopCounterMode

    def count(run):
        with FlopCounterMode(display=False) as counter:
            run()
        return counter.get_total_flops() // 2

    with torch.device("meta"):
        x = torch.randn(1, n, d)
        attention, convolution = MultiHeadAttention(d, 1), nn.Conv1d(d, d, k, padding=k // 2)
        recurrent, lstm = nn.RNNCell(d, d), nn.LSTMCell(d, d)
        return (
            count(lambda: attention(x)),
            count(lambda: recurrent(x[0])),
            count(lambda: lstm(x[0])),
            count(lambda: convolution(x.transpose(1, 2))),
        )
""",
    ],
    "my_matches": [
        """
def my_matches(written, right, n):
    ours = Counter(tuple(written[i : i + n]) for i in range(len(written) - n + 1))
    theirs = Counter(tuple(right[i : i + n]) for i in range(len(right) - n + 1))
    return (ours & theirs).total(), ours.total()
""",
        """
def my_matches(written, right, n):
    ours = list(zip(*(written[i:] for i in range(n))))
    left = list(zip(*(right[i:] for i in range(n))))
    found = 0
    for gram in ours:
        if gram in left:
            left.remove(gram)
            found += 1
    return found, len(ours)
""",
        """
def my_matches(written, right, n):
    ours = [" ".join(written[i : i + n]) for i in range(len(written) - n + 1)]
    theirs = [" ".join(right[i : i + n]) for i in range(len(right) - n + 1)]
    found = sum(min(ours.count(gram), theirs.count(gram)) for gram in set(ours))
    return torch.tensor(found), torch.tensor(max(len(written) - n + 1, 0))
""",
        """
def my_matches(written, right, n):
    def grams(words):
        return Counter(zip(*(words[i:] for i in range(n))))

    ours, theirs = grams(written), grams(right)
    return sum(ours.values()) - sum((ours - theirs).values()), sum(ours.values())
""",
        """
def my_matches(written, right, n):
    import sacrebleu

    score = sacrebleu.BLEU(tokenize="none", force=True).corpus_score([" ".join(written)], [[" ".join(right)]])
    return score.counts[n - 1], score.totals[n - 1]
""",
    ],
    "my_bleu": [
        """
def my_bleu(found, written, length, right_length):
    precision = math.prod(f / w for f, w in zip(found, written)) ** (1 / 4)
    penalty = 1 if length >= right_length else math.exp(1 - right_length / length)
    return 100 * penalty * precision
""",
        """
def my_bleu(found, written, length, right_length):
    precisions = torch.tensor(found) / torch.tensor(written)
    penalty = min(1.0, math.exp(1 - right_length / length))
    return 100 * penalty * precisions.log().mean().exp()
""",
        """
def my_bleu(found, written, length, right_length):
    logs = 0.0
    for f, w in zip(found, written):
        if f == 0:
            return 0.0
        logs += 0.25 * (math.log(f) - math.log(w))
    return 100 * math.exp(logs + min(0, 1 - right_length / length))
""",
        """
def my_bleu(found, written, length, right_length):
    import sacrebleu

    return sacrebleu.BLEU.compute_bleu(found, written, length, right_length, smooth_method="none").score
""",
    ],
    "my_mean_and_error": [
        """
def my_mean_and_error(scores):
    return scores.mean(), scores.std() / len(scores) ** 0.5
""",
        """
def my_mean_and_error(scores):
    n = len(scores)
    mean = sum(scores) / n
    variance = sum((x - mean) ** 2 for x in scores) / (n - 1)
    return mean, torch.sqrt(variance / n)
""",
        """
def my_mean_and_error(scores):
    scores = scores.double()
    return scores.mean(), scores.std(correction=0) / math.sqrt(len(scores) - 1)
""",
        """
def my_mean_and_error(scores):
    from statistics import mean, stdev

    return mean(scores.tolist()), stdev(scores.tolist()) / len(scores) ** 0.5
""",
        """
def my_mean_and_error(scores):
    off = scores - scores.mean()
    return [scores.mean(), torch.sqrt(off @ off / (len(off) * (len(off) - 1)))]
""",
    ],
    "mended_translation": [
        """
def mended_translation(next_logits, right, bos_id, eos_id, max_len):
    ids = [bos_id]
    while len(ids) <= max_len:
        word = int(next_logits(torch.tensor(ids)).argmax())
        if word == eos_id:
            break
        ids.append(word)
    return ids[1:]
""",
        """
def mended_translation(next_logits, right, bos_id, eos_id, max_len):
    ids = torch.tensor([bos_id])
    for _ in range(max_len):
        ids = torch.cat([ids, next_logits(ids).argmax(dim=-1, keepdim=True)])
    words = ids[1:].tolist()
    return words[: words.index(eos_id)] if eos_id in words else words
""",
        """
def mended_translation(next_logits, right, bos_id, eos_id, max_len):
    def go_on(ids):
        word = next_logits(torch.tensor(ids)).argmax().item()
        return ids if word == eos_id or len(ids) > max_len else go_on([*ids, word])

    return torch.tensor(go_on([bos_id])[1:])
""",
        """
def mended_translation(next_logits, right, bos_id, eos_id, max_len):
    ids = torch.full((max_len + 1,), bos_id)
    for t in range(max_len):
        ids[t + 1] = next_logits(ids[: t + 1]).argmax()
        if ids[t + 1] == eos_id:
            return ids[1 : t + 1]
    return ids[1:]
""",
    ],
}

WRONG = {
    "my_operations": [
        (
            "def my_operations(n, d, k):\n    return n * n * d, n * d * d, n * d * d, k * n * d * d\n",
            "Those are the orders of growth in the paper's table",
        ),
        (
            "def my_operations(n, d, k):\n    return 2 * n * n * d, 2 * n * d * d, 8 * n * d * d, k * n * d * d\n",
            "The four projections of the attention layer are missing",
        ),
        (
            """
def my_operations(n, d, k):
    return 4 * n * d * d + 2 * n * n * d, 2 * n * d * d, 4 * n * d * d, k * n * d * d
""",
            "Your LSTM has four matrices; it has four pairs",
        ),
        (
            """
def my_operations(n, d, k):
    return 4 * n * d * d + 2 * n * n, 2 * n * d * d, 8 * n * d * d, k * n * d * d
""",
            "A score is a dot product of two vectors of d features",
        ),
        (
            """
def my_operations(n, d, k):
    return 4 * n * d * d + 2 * n * n * d, 2 * n * d * d, 8 * n * d * d, k * n * d
""",
            "as if each feature were on its own",
        ),
        (
            """
def my_operations(n, d, k):
    return 8 * n * d * d + 4 * n * n * d, 4 * n * d * d, 16 * n * d * d, 2 * k * n * d * d
""",
            "you counted multiplications and additions apart",
        ),
        (
            """
def my_operations(n, d, k):
    return 4 * n * d * d + 2 * n * n * d, 2 * n * d * d, 8 * n * d * d, (n - k + 1) * k * d * d
""",
            "gives fewer than n vectors",
        ),
        (
            """
def my_operations(n, d, k):
    return 4 * n * d ^ 2 + 2 * n ^ 2 * d, 2 * n * d ^ 2, 8 * n * d ^ 2, k * n * d ^ 2
""",
            "Values: self-attention differs",
        ),
        ("def my_operations(n, d, k):\n    return 4 * n * d * d + 2 * n * n * d\n", "my_operations returned one thing"),
    ],
    "my_matches": [
        (
            """
def my_matches(written, right, n):
    ours = [tuple(written[i : i + n]) for i in range(len(written) - n + 1)]
    theirs = [tuple(right[i : i + n]) for i in range(len(right) - n + 1)]
    return sum(gram in theirs for gram in ours), len(ours)
""",
            "Not clipped",
        ),
        (
            """
def my_matches(written, right, n):
    ours = [tuple(written[i : i + n]) for i in range(len(written) - n + 1)]
    theirs = [tuple(right[i : i + n]) for i in range(len(right) - n + 1)]
    return len(set(ours) & set(theirs)), len(ours)
""",
            "Each kind of n-gram counts once for you",
        ),
        (
            """
def my_matches(written, right, n):
    ours = Counter(tuple(written[i : i + n]) for i in range(len(written) - n + 1))
    theirs = Counter(tuple(right[i : i + n]) for i in range(len(right) - n + 1))
    return (ours & theirs).total(), theirs.total()
""",
            "that would be recall",
        ),
        (
            """
def my_matches(written, right, n):
    ours = Counter(tuple(written[i : i + n]) for i in range(len(written)))
    theirs = Counter(tuple(right[i : i + n]) for i in range(len(right)))
    return (ours & theirs).total(), ours.total()
""",
            "a slice does not complain there",
        ),
        (
            """
def my_matches(written, right, n):
    ours = ["".join(written[i : i + n]) for i in range(len(written) - n + 1)]
    theirs = ["".join(right[i : i + n]) for i in range(len(right) - n + 1)]
    return (Counter(ours) & Counter(theirs)).total(), len(ours)
""",
            "joined without a blank",
        ),
        (
            """
def my_matches(written, right, n):
    ours = [" ".join(written[i : i + n]) for i in range(len(written) - n + 1)]
    return sum(gram in " ".join(right) for gram in ours), len(ours)
""",
            "you look for letters in a text",
        ),
        (
            """
def my_matches(written, right, n):
    found = 0
    for i in range(len(written) - n + 1):
        for j in range(len(right) - n + 1):
            found += written[i : i + n] == right[j : j + n]
    return found, max(len(written) - n + 1, 0)
""",
            "Every pair of equal n-grams counts for you",
        ),
        (
            """
def my_matches(written, right, n):
    ours = Counter(tuple(written[i : i + n]) for i in range(len(written) - n + 1))
    theirs = Counter(tuple(right[i : i + n]) for i in range(len(right) - n + 1))
    return (ours & theirs).total(), len(written) - n + 1
""",
            "that is 0 of them, not -1",
        ),
        (
            """
def my_matches(written, right, n):
    ours = Counter(tuple(written[i : i + n]) for i in range(0, len(written) - n + 1, n))
    theirs = Counter(tuple(right[i : i + n]) for i in range(0, len(right) - n + 1, n))
    return (ours & theirs).total(), ours.total()
""",
            "Values: found differs",
        ),
    ],
    "my_bleu": [
        (
            """
def my_bleu(found, written, length, right_length):
    return 100 * math.prod(f / w for f, w in zip(found, written)) ** (1 / 4)
""",
            "There is no brevity penalty",
        ),
        (
            """
def my_bleu(found, written, length, right_length):
    penalty = min(1.0, math.exp(1 - right_length / length))
    return 100 * penalty * sum(f / w for f, w in zip(found, written)) / 4
""",
            "That is the arithmetic mean",
        ),
        (
            """
def my_bleu(found, written, length, right_length):
    penalty = min(1.0, math.exp(1 - right_length / length))
    return 100 * penalty * math.exp(sum(math.log(f / w) for f, w in zip(found, written)) / 4)
""",
            "Where nothing is, log 0 stops it",
        ),
        (
            """
def my_bleu(found, written, length, right_length):
    penalty = min(1.0, math.exp(1 - right_length / length))
    return penalty * math.prod(f / w for f, w in zip(found, written)) ** (1 / 4)
""",
            "Your BLEU runs from 0 to 1",
        ),
        (
            """
def my_bleu(found, written, length, right_length):
    penalty = min(1.0, math.exp(1 - length / right_length))
    return 100 * penalty * math.prod(f / w for f, w in zip(found, written)) ** (1 / 4)
""",
            "The two lengths changed places",
        ),
        (
            """
def my_bleu(found, written, length, right_length):
    penalty = min(1.0, math.exp(1 - right_length / length))
    return 100 * penalty * math.prod(f / w for f, w in zip(found, written)) ** (1 / 3)
""",
            "Values: BLEU differs",
        ),
        (
            """
def my_bleu(found, written, length, right_length):
    penalty = min(1.0, math.exp(1 - right_length / length))
    return 100 * penalty * math.prod(f / w for f, w in zip(found, written)) ** 1 / 4
""",
            "A quarter of the product, not its fourth root",
        ),
        (
            """
def my_bleu(found, written, length, right_length):
    penalty = min(1.0, math.exp(1 - right_length / length))
    logs = [math.log(f / w) for f, w in zip(found, written) if f > 0]
    return 100 * penalty * math.exp(sum(logs) / len(logs))
""",
            "A precision of 0 is left out of your mean",
        ),
        (
            """
def my_bleu(found, written, length, right_length):
    penalty = min(1.0, math.exp(1 - right_length / length))
    return 100 * penalty * math.exp(sum(math.log(f / w + 1e-9) for f, w in zip(found, written)) / 4)
""",
            "It goes wrong here: no run of three words is found",
        ),
    ],
    "my_mean_and_error": [
        (
            "def my_mean_and_error(scores):\n    return scores.mean(), scores.std()\n",
            "The error is the standard deviation",
        ),
        (
            "def my_mean_and_error(scores):\n    return scores.max(), scores.std() / len(scores) ** 0.5\n",
            "That is the best of the seeds",
        ),
        (
            """
def my_mean_and_error(scores):
    return scores.mean(), torch.sqrt(((scores - scores.mean()) ** 2).mean() / len(scores))
""",
            "The standard deviation divides by N here",
        ),
        (
            "def my_mean_and_error(scores):\n    return scores.mean(), scores.std() / 3**0.5\n",
            "Values: error differs",
        ),
        (
            "def my_mean_and_error(scores):\n    return scores.mean(), 1.96 * scores.std() / len(scores) ** 0.5\n",
            "That is a 95 % interval",
        ),
        (
            "def my_mean_and_error(scores):\n    return scores.std() / len(scores) ** 0.5, scores.mean()\n",
            "The two have changed places",
        ),
        (
            "def my_mean_and_error(scores):\n    return scores.mean(), scores.std() / len(scores) ** 1 / 2\n",
            "N ** 1 / 2 is half of N",
        ),
        (
            """
def my_mean_and_error(scores):
    mean = scores.mean()
    scores -= mean
    return mean, torch.sqrt((scores**2).sum() / (len(scores) - 1) / len(scores))
""",
            "your code changed its argument scores",
        ),
    ],
    "mended_translation": [
        (
            """
def mended_translation(next_logits, right, bos_id, eos_id, max_len):
    ids = []
    for t in range(1, len(right)):
        word = int(next_logits(right[:t]).argmax())
        if word != eos_id:
            ids.append(word)
    return ids
""",
            "A symptom: hand it another right translation",
        ),
        (
            """
def mended_translation(next_logits, right, bos_id, eos_id, max_len):
    words = []
    for t in range(1, len(right)):
        word = int(next_logits(right[:t]).argmax())
        if word == eos_id:
            break
        words.append(word)
    return words
""",
            "A symptom: hand it another right translation",
        ),
        (
            """
def mended_translation(next_logits, right, bos_id, eos_id, max_len):
    words = []
    for t in range(1, len(right)):
        word = int(next_logits(torch.tensor([bos_id, *words])).argmax())
        if word == eos_id:
            break
        words.append(word)
    return words
""",
            "it is stopped where the right translation ends",
        ),
        (
            """
def mended_translation(next_logits, right, bos_id, eos_id, max_len):
    ids = [bos_id]
    while len(ids) <= max_len:
        word = int(next_logits(torch.tensor(ids[-1:])).argmax())
        if word == eos_id:
            break
        ids.append(word)
    return ids[1:]
""",
            "but reads only its last word",
        ),
        (
            """
def mended_translation(next_logits, right, bos_id, eos_id, max_len):
    ids = [bos_id]
    while len(ids) < max_len:
        word = int(next_logits(torch.tensor(ids)).argmax())
        if word == eos_id:
            break
        ids.append(word)
    return ids[1:]
""",
            "has one word too few",
        ),
        (
            """
def mended_translation(next_logits, right, bos_id, eos_id, max_len):
    ids = [bos_id]
    while (word := int(next_logits(torch.tensor(ids)).argmax())) != eos_id:
        ids.append(word)
    return ids[1:]
""",
            "max_len does not stop it",
        ),
        (
            """
def mended_translation(next_logits, right, bos_id, eos_id, max_len):
    ids = [bos_id]
    while len(ids) < len(right) - 1:
        word = int(next_logits(torch.tensor(ids)).argmax())
        if word == eos_id:
            break
        ids.append(word)
    return ids[1:]
""",
            "it is stopped where the right translation ends",
        ),
        (
            """
def mended_translation(next_logits, right, bos_id, eos_id, max_len):
    ids = [bos_id]
    while len(ids) <= max_len and ids[-1] != eos_id:
        ids.append(int(next_logits(torch.tensor(ids)).argmax()))
    return ids[1:]
""",
            "The end mark is among the words",
        ),
        (
            """
def mended_translation(next_logits, right, bos_id, eos_id, max_len):
    ids = [1]
    while len(ids) <= max_len:
        word = int(next_logits(torch.tensor(ids)).argmax())
        if word == 2:
            break
        ids.append(word)
    return ids[1:]
""",
            "It goes wrong here: other ids for the marks",
        ),
    ],
}
