RIGHT = {
    "my_operations": [
        """
def my_operations(n, d, k):
    return 4 * n * d * d + 2 * n * n * d, 2 * n * d * d, k * n * d * d
""",
        """
def my_operations(n, d, k):
    def product(rows, inner, columns):
        return rows * inner * columns

    attention = 4 * product(n, d, d) + product(n, d, n) + product(n, n, d)
    recurrent = sum(product(1, d, d) + product(1, d, d) for _ in range(n))
    return [attention, recurrent, product(n, k * d, d)]
""",
        """
def my_operations(n, d, k):
    n, d = torch.tensor(n), torch.tensor(d)
    return 2 * n * d * (2 * d + n), 2 * n * d**2, n * d**2 * k
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
    ],
}

WRONG = {
    "my_operations": [
        (
            "def my_operations(n, d, k):\n    return n * n * d, n * d * d, k * n * d * d\n",
            "That is the table of the paper",
        ),
        (
            "def my_operations(n, d, k):\n    return 2 * n * n * d, 2 * n * d * d, k * n * d * d\n",
            "The four projections of the attention layer are missing",
        ),
        (
            "def my_operations(n, d, k):\n    return 4 * n * d * d + 2 * n * n * d, 2 * n * d * d, k * n * d\n",
            "as if each feature were on its own",
        ),
        (
            "def my_operations(n, d, k):\n    return 8 * n * d * d + 4 * n * n * d, 4 * n * d * d, 2 * k * n * d * d\n",
            "you counted multiplications and additions apart",
        ),
        (
            """
def my_operations(n, d, k):
    return 4 * n * d * d + 2 * n * n * d, 2 * n * d * d, (n - k + 1) * k * d * d
""",
            "Values: convolutional differs",
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
            "Values: ",
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
            """
def my_mean_and_error(scores):
    return scores.mean().item(), scores.std().item() / len(scores) ** 0.5
""",
            "Type: mean is a float; expected a tensor",
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
            "Still the model reads the right translation",
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
