"""The exercises of lesson 12: a step of a beam, a distribution to draw from, a cache, a draft judged, and two hunts."""

from numbers import Real

import torch
from torch import Tensor

from lessons.exercises.engine import Case, Exercise, Mistake, numbers
from lessons.masks import causal
from lessons.positions import rotate

INF = torch.inf


def beam_step(
    log_probs: Tensor, next_log_probs: Tensor, finished: Tensor, pad_id: int
) -> tuple[Tensor, Tensor, Tensor]:
    """The W best of all hypotheses with one word more: their parents, words and log-probabilities, (W,) each.

    log_probs (W,), next_log_probs (W, V), finished (W,) bool. A finished one goes on with pad_id at no cost.
    """
    width, vocab_size = next_log_probs.shape
    stays = torch.full((vocab_size,), -torch.inf).index_fill(0, torch.tensor([pad_id]), 0.0)
    totals = log_probs[:, None] + torch.where(finished[:, None], stays, next_log_probs)  # (W, V)
    best, places = totals.flatten().topk(width)
    return places // vocab_size, places % vocab_size, best


def _best(totals: Tensor, width: int) -> tuple[Tensor, Tensor, Tensor]:
    best, places = totals.flatten().topk(width)
    return places // totals.size(1), places % totals.size(1), best


def _beam(log_probs, rows, finished, pad_id, *, cost=0.0, rest=-INF, first=0.0, join=torch.add):
    """beam_step with something changed: what a finished one pays for padding and for other words."""
    stays = torch.full((rows.size(1),), rest).index_fill(0, torch.tensor([pad_id]), cost)
    rows = torch.where(finished[:, None], stays, rows)
    return _best(join(log_probs[:, None] + first, rows), len(rows))


def _one_for_each_parent(log_probs, rows, finished, pad_id):
    best, words = (log_probs[:, None] + _with_padding(rows, finished, pad_id)).max(dim=1)
    best, order = best.sort(descending=True)
    return order, words[order], best


def _one_for_each_parent_unsorted(log_probs, rows, finished, pad_id):
    best, words = (log_probs[:, None] + _with_padding(rows, finished, pad_id)).max(dim=1)
    return torch.arange(len(rows)), words, best


def _as_probabilities(log_probs, rows, finished, pad_id):
    parents, words, best = beam_step(log_probs, rows, finished, pad_id)
    return parents, words, best.exp()


def _increments(log_probs, rows, finished, pad_id):
    parents, words, best = beam_step(log_probs, rows, finished, pad_id)
    return parents, words, best - log_probs[parents]


def _ascending(log_probs, rows, finished, pad_id):
    return tuple(result.flip(0) for result in beam_step(log_probs, rows, finished, pad_id))


def _worst(log_probs, rows, finished, pad_id):
    stays = torch.full((rows.size(1),), INF).index_fill(0, torch.tensor([pad_id]), 0.0)
    totals = log_probs[:, None] + torch.where(finished[:, None], stays, rows)
    best, places = totals.flatten().topk(len(rows), largest=False)
    return places // rows.size(1), places % rows.size(1), best


def _by_width(log_probs, rows, finished, pad_id):
    best, places = (log_probs[:, None] + _with_padding(rows, finished, pad_id)).flatten().topk(len(rows))
    return places // len(rows), places % len(rows), best


def _swapped(log_probs, rows, finished, pad_id):
    parents, words, best = beam_step(log_probs, rows, finished, pad_id)
    return words, parents, best


def _with_padding(rows: Tensor, finished: Tensor, pad_id: int) -> Tensor:
    stays = torch.full((rows.size(1),), -torch.inf).index_fill(0, torch.tensor([pad_id]), 0.0)
    return torch.where(finished[:, None], stays, rows)


def _beam_cases(generator) -> list[Case]:
    def case(width, vocab_size, ended, pad_id, *, finished_at=-0.5, about=""):
        rows = (2 * numbers(generator, width, vocab_size)).log_softmax(dim=-1)
        log_probs = numbers(generator, width).abs().neg() - 1
        finished = torch.tensor([i in ended for i in range(width)])
        log_probs[finished] = torch.linspace(finished_at, finished_at - 0.25, width)[finished]
        return Case(
            {"log_probs": log_probs, "next_log_probs": rows, "finished": finished, "pad_id": pad_id}, about=about
        )

    return [
        case(2, 4, [], 0),
        case(3, 5, [], 4),
        case(3, 5, [1], 2, about="one hypothesis is finished"),
        case(4, 4, [0, 2], 0, about="two are finished, and as many hypotheses as words"),
        case(3, 6, [2], 1, finished_at=-9.0, about="a finished one is too unlikely to stay"),
    ]


going_on = Exercise(
    name="my_beam_step",
    reference=beam_step,
    cases=_beam_cases,
    outputs=("parents", "words", "log_probs"),
    mistakes=[
        Mistake(
            lambda log_probs, rows, finished, pad: _best(log_probs[:, None] + rows, len(rows)),
            "The finished hypothesis goes on growing: a word was put after its end mark. It stays as it is.",
            seen_in="one hypothesis is finished",
        ),
        Mistake(
            lambda log_probs, rows, finished, pad: _beam(log_probs, rows, finished, pad, cost=-INF),
            "The finished hypothesis is gone: all its continuations are −∞. One must stay, padding, and cost nothing.",
            seen_in="one hypothesis is finished",
        ),
        Mistake(
            lambda log_probs, rows, finished, pad: _best(
                log_probs[:, None]
                + torch.where(finished[:, None] & (torch.arange(rows.size(1)) != pad), -torch.inf, rows),
                len(rows),
            ),
            "The finished hypothesis pays for its padding: the model's log-probability of the padding was added. "
            "Padding after the end costs nothing: + 0.",
            seen_in="one hypothesis is finished",
        ),
        Mistake(
            lambda log_probs, rows, finished, pad: _best(
                log_probs[:, None]
                + rows.where(~(finished[:, None] & (torch.arange(rows.size(1)) == pad)), torch.tensor(0.0)),
                len(rows),
            ),
            "Padding costs nothing now, but the finished hypothesis may go on with other words, too. In its row all "
            "else is −∞.",
            seen_in="one hypothesis is finished",
        ),
        Mistake(
            lambda log_probs, rows, finished, pad: _beam(log_probs.masked_fill(finished, 0.0), rows, finished, pad),
            "The finished hypothesis has lost its own log_prob, and counts as certain. Padding adds 0 to it; it does "
            "not make it 0.",
            seen_in="one hypothesis is finished",
        ),
        Mistake(
            lambda log_probs, rows, finished, pad: _best(
                log_probs[:, None] + _with_padding(rows, finished, pad).index_fill(1, torch.tensor([pad]), 0.0),
                len(rows),
            ),
            "Padding costs nothing in any row, so that it is always likeliest. That is for the finished ones alone.",
        ),
        Mistake(
            lambda log_probs, rows, finished, pad: _beam(log_probs, rows, ~finished, pad),
            "It is the unfinished ones that you keep from growing. True in finished says: it has its end mark.",
        ),
        Mistake(
            lambda log_probs, rows, finished, pad: _beam(log_probs, rows, finished, pad, rest=0.0),
            "The finished hypothesis is in the beam several times: each word after it costs nothing. Padding alone "
            "may follow; all else is −∞.",
            seen_in="one hypothesis is finished",
        ),
        Mistake(
            _one_for_each_parent,
            "You took the best word of each hypothesis. The W best of all W · V candidates are looked for: two of "
            "them may have the same parent.",
            also=[_one_for_each_parent_unsorted],
        ),
        Mistake(
            lambda log_probs, rows, finished, pad: _beam(log_probs, rows, finished, pad, cost=1.0),
            "Padding after the end adds 1. It is certain, so its probability is 1, and its logarithm 0.",
            seen_in="one hypothesis is finished",
        ),
        Mistake(
            lambda log_probs, rows, finished, pad: _beam(log_probs, rows, finished, 0),
            "The finished hypothesis goes on with id 0. Padding has the id that the caller says: pad_id.",
            seen_in="one hypothesis is finished",
        ),
        Mistake(
            _as_probabilities,
            "parents and words are right; the third result holds probabilities. Asked for are their logarithms.",
        ),
        Mistake(
            lambda log_probs, rows, finished, pad: _beam(0 * log_probs, rows, finished, pad),
            "What was written so far does not count: add the hypothesis' own log_probs to those of the next word.",
        ),
        Mistake(
            lambda log_probs, rows, finished, pad: _beam(log_probs, rows, finished, pad, join=torch.mul),
            "Logarithms were multiplied. Probabilities multiply, so their logarithms add.",
            also=[
                lambda log_probs, rows, finished, pad: _best(
                    log_probs[:, None] * _with_padding(rows, finished, pad).clamp(min=-1e9), len(rows)
                )
            ],
        ),
        Mistake(
            lambda log_probs, rows, finished, pad: _beam(log_probs, rows.exp(), finished, pad),
            "A probability was added to a logarithm. next_log_probs holds logarithms already: add them as they are.",
        ),
        Mistake(
            _increments,
            "parents and words are right; the third result holds what the last word adds. Asked for is the sum of that "
            "and of what was there before.",
        ),
        Mistake(_worst, "Those are the W least likely candidates."),
        Mistake(
            _ascending,
            "Those are the W best candidates, but the best comes last. Best first: descending=True, or topk.",
        ),
        Mistake(
            _by_width,
            "parents and words are wrongly cut apart: in the flattened (W, V) place = parent · V + word; divide by V.",
        ),
        Mistake(_swapped, "parents and words changed places: place // V is the parent, place % V is the word."),
    ],
    hints=[
        "A finished hypothesis has one continuation, pad_id at a cost of 0; all others of its row are −∞.",
        "totals = log_probs[:, None] + rows, (W, V). Flatten it and take the W best: .flatten().topk(W).",
        "A place in the flattened totals is parent · V + word: place // V and place % V take it apart.",
    ],
)


def distribution_by_hand(logits: Tensor, temperature: float, top_k: int, top_p: float) -> Tensor:
    """logits (V,) -> probabilities (V,): the temperature, then the k likeliest words, then the smallest set of p."""
    ordered, words = (logits / temperature).sort(descending=True, stable=True)  # likeliest first
    ordered = ordered.masked_fill(torch.arange(len(ordered)) >= top_k, -torch.inf)
    likely = ordered.softmax(dim=-1)
    before = likely.cumsum(dim=-1) - likely  # the sum of all likelier words
    ordered = ordered.masked_fill(before >= top_p, -torch.inf)
    return torch.zeros_like(logits).scatter(0, words, ordered.softmax(dim=-1))


def _drawn(logits, t, k, p, *, shift=0, crossing=True, renormalise=True, fill=-INF, raw=False, ascending=False):
    """distribution_by_hand with something changed."""
    ordered, words = (logits / t).sort(descending=not ascending, stable=True)
    full = ordered.softmax(dim=-1)
    chosen = torch.arange(len(ordered)) < k + shift
    likely = full if raw else ordered.masked_fill(~chosen, -torch.inf).softmax(dim=-1)
    before = likely.cumsum(dim=-1) - likely
    if crossing == "one more":
        before = torch.cat([torch.zeros(1), before[:-1]])
    if crossing == "not the first":
        before[0] = likely[0]
    chosen &= before < p if crossing else (before + likely <= p) | (p >= 1)
    kept = ordered.masked_fill(~chosen, fill).softmax(dim=-1) if renormalise else full * chosen
    return torch.zeros_like(logits).scatter(0, words, kept)


def _temperature_last(logits, t, k, p):
    kept = _drawn(logits, 1.0, k, p).log()
    return (kept / t).softmax(dim=-1)


def _strictly(logits, t, k, p):
    """What reaches p is dropped, too: of p = 1 the last word."""
    ordered, words = (logits / t).sort(descending=True, stable=True)
    ordered = ordered.masked_fill(torch.arange(len(ordered)) >= k, -torch.inf)
    ordered = ordered.masked_fill(ordered.softmax(dim=-1).cumsum(dim=-1) >= p, -torch.inf)
    return torch.zeros_like(logits).scatter(0, words, ordered.softmax(dim=-1))


def _not_brought_back(logits, t, k, p):
    """The sum is 1 after top-k, and no longer after top-p."""
    chosen = distribution_by_hand(logits, t, k, p) > 0
    return distribution_by_hand(logits, t, k, 1.0) * chosen


def _zeros_all_along(logits, t, k, p):
    ordered, words = (logits / t).sort(descending=True, stable=True)
    ordered[k:] = 0.0
    likely = ordered.softmax(dim=-1)
    ordered[likely.cumsum(dim=-1) - likely >= p] = 0.0
    return torch.zeros_like(logits).scatter(0, words, ordered.softmax(dim=-1))


def _softmax_twice(logits, t, k, p):
    return distribution_by_hand((logits / t).softmax(dim=-1), 1.0, k, p)


def _zeros_in_softmax_twice(logits, t, k, p):
    found = distribution_by_hand(logits, t, k, p)
    return found.softmax(dim=-1)


def _sorted_twice(logits, t, k, p):
    words = logits.argsort(descending=True, stable=True)
    return distribution_by_hand(logits, t, k, p)[words][words]


def _sums_to_one(case: Case, results: tuple) -> str | None:
    total = results[0].double().sum().item()
    return None if abs(total - 1) < 1e-3 else f"Sum: your probabilities sum to {total:.4g}; they must sum to 1."


def _unsorted(logits, t, k, p):
    return distribution_by_hand(logits.sort(descending=True).values, t, k, p)


def _ties_stay(logits, t, k, p):
    x = logits / t
    return _drawn(x.masked_fill(x < x.topk(min(k, len(x))).values[-1], -torch.inf), 1.0, len(x), p)


def _first_stays(logits, t, k, p):
    """What crosses p is dropped, unless nothing would be left."""
    found = _drawn(logits, t, k, p, crossing=False)
    return _drawn(logits, t, 1, 1.0) if found.isnan().any() else found


def _distribution_called(candidate, logits, temperature, top_k, top_p):
    """Of equally likely words either may stay: where there are any, the result is compared in order."""
    result = candidate(logits, temperature, top_k, top_p)
    tied = len(logits.unique()) < len(logits)
    return result.sort(descending=True).values if tied and isinstance(result, Tensor) and result.dim() else result


def _distribution_cases(generator) -> list[Case]:
    def case(logits, temperature, top_k, top_p, about=""):
        logits = torch.tensor(logits)
        return Case({"logits": logits, "temperature": temperature, "top_k": top_k, "top_p": top_p}, about=about)

    return [
        case([1.0, 3.0, 0.0, 2.0], 2.0, 4, 1.0, "the temperature alone"),
        case([1.0, 3.0, 0.0, 2.0, -1.0], 1.0, 3, 1.0, "top-k alone"),
        case([1.0, 2.0, 0.0, 1.5, -1.0, 0.5], 1.0, 6, 0.6, "top-p alone"),
        case([0.5, 4.0, 0.0, 1.0, -1.0], 1.0, 5, 0.7, "the likeliest word alone crosses p"),
        case([1.0, 2.0, 0.0, 1.5, -1.0, 0.5], 2.0, 4, 0.7, "all three together"),
        case([1.0, 2.0, 1.0, 0.0, 1.0], 1.0, 2, 1.0, "three words are equally likely, at the edge of the top k"),
        case([0.7, 1.9, -0.4, 1.2, 0.1, 1.6, 0.9], 0.5, 5, 0.8, "a temperature below 1"),
    ]


choosing = Exercise(
    name="my_distribution",
    reference=distribution_by_hand,
    cases=_distribution_cases,
    call=_distribution_called,
    outputs=("probabilities",),
    laws=[_sums_to_one],
    mistakes=[
        Mistake(
            lambda logits, t, k, p: distribution_by_hand(logits * t, 1.0, k, p),
            "The logits are multiplied by the temperature. They are divided by it: 2 makes all words more alike.",
            seen_in="the temperature alone",
        ),
        Mistake(
            lambda logits, t, k, p: distribution_by_hand(logits, 1.0, k, p) / t,
            "The temperature comes after the softmax, where it is no more than a factor: the sum is not 1. Divide the "
            "logits by it, before the softmax.",
            seen_in="the temperature alone",
        ),
        Mistake(
            lambda logits, t, k, p: distribution_by_hand(logits, 1.0, k, p),
            "The temperature changes nothing: it is not used, or it divides the probabilities and is lost when they "
            "are brought to a sum of 1. Divide the logits by it.",
            seen_in="the temperature alone",
        ),
        Mistake(
            _temperature_last,
            "The temperature comes after top-p: which words stay was decided without it. It comes first.",
            seen_in="all three together",
        ),
        Mistake(
            lambda logits, t, k, p: _drawn(logits, t, k, p, crossing=False),
            "The word whose probability crosses p is dropped. It stays: the sum of those kept is p or more. If the "
            "first word crosses it, you have nothing left.",
            also=[_strictly],
            seen_in="top-p alone",
        ),
        Mistake(
            _first_stays,
            "The word whose probability crosses p is dropped, unless it is the first. It stays: the sum of those kept "
            "is p or more.",
            seen_in="top-p alone",
        ),
        Mistake(
            lambda logits, t, k, p: _drawn(logits, t, k, p, crossing="not the first"),
            "Right as long as the first word is below p. Where it alone crosses p, it is dropped, too, and nothing is "
            "left. The likeliest word always stays.",
            seen_in="the likeliest word alone crosses p",
        ),
        Mistake(
            lambda logits, t, k, p: _drawn(logits, t, k, p, crossing="one more"),
            "Top-p keeps one word too many: p is reached already, and one more comes after. A word stays if the sum "
            "of all likelier ones is below p.",
            seen_in="top-p alone",
        ),
        Mistake(
            lambda logits, t, k, p: _drawn(logits, t, k, p, renormalise=False),
            "The words that stay are right, but their probabilities are not brought back to a sum of 1.",
            also=[_not_brought_back],
            seen_in="top-p alone",
        ),
        Mistake(
            lambda logits, t, k, p: _drawn(logits, t, k, p, fill=0.0),
            "The logits of the dropped words became 0. Then they have e⁰ = 1 in the softmax, and can be drawn. −∞ "
            "makes their probability 0.",
            also=[_zeros_all_along],
            seen_in="top-k alone",
        ),
        Mistake(
            _softmax_twice,
            "Two softmaxes: the second one is taken of probabilities, and makes them all more alike. It wants logits; "
            "probabilities are divided by their sum.",
            also=[_zeros_in_softmax_twice],
            seen_in="the temperature alone",
        ),
        Mistake(
            lambda logits, t, k, p: _drawn(logits, t, k, p, shift=1),
            "Top-k keeps k + 1 words.",
            seen_in="top-k alone",
        ),
        Mistake(
            lambda logits, t, k, p: _drawn(logits, t, k, p, shift=-1),
            "Top-k keeps k − 1 words. Counted from 0, the first to go is the one at place k.",
            seen_in="top-k alone",
        ),
        Mistake(
            _ties_stay,
            "Right but for one thing: at the edge of the top k stand equally likely words, and all of them stay. A "
            "threshold does that. Exactly k stay; take the first k places of a sorted list.",
            seen_in="three words are equally likely, at the edge of the top k",
        ),
        Mistake(
            lambda logits, t, k, p: _drawn(logits, t, k, p, raw=True),
            "Top-p looked at the probabilities of all words. Top-k comes first, and p counts what is left of it, with "
            "a sum of 1.",
            seen_in="all three together",
        ),
        Mistake(
            lambda logits, t, k, p: (logits / t).softmax(dim=-1),
            "Only the temperature is used: neither top_k nor top_p drops a word.",
            seen_in="top-k alone",
        ),
        Mistake(
            lambda logits, t, k, p: distribution_by_hand(logits, t, k, 1.0),
            "top_p drops no word.",
            seen_in="top-p alone",
        ),
        Mistake(
            lambda logits, t, k, p: distribution_by_hand(logits, t, len(logits), p),
            "top_k drops no word.",
            seen_in="top-k alone",
        ),
        Mistake(
            lambda logits, t, k, p: _drawn(logits, t, k, p, ascending=True),
            "The least likely words stay. Sort with the likeliest first.",
            seen_in="top-k alone",
        ),
        Mistake(
            _unsorted,
            "The probabilities are still in the order of the sorted list, likeliest first. Where does each belong? "
            "result[words] = … or scatter puts it there.",
            seen_in="the temperature alone",
        ),
        Mistake(
            _sorted_twice,
            "The probabilities stand in the wrong places: indexing the sorted ones with words shuffles them once more. "
            "The way back is on the left side, result[words] = …, or by scatter, or by words.argsort().",
            seen_in="the temperature alone",
        ),
    ],
    hints=[
        "Divide the logits by the temperature, then sort: ordered, words = x.sort(descending=True).",
        "A word stays in top-p if the sum of all likelier words is below p: cumsum minus the word's own probability.",
        "What is dropped gets −∞, and a softmax brings the rest to a sum of 1. Put each back in its word's place.",
    ],
)


def angles(start: int, count: int, size: int) -> Tensor:
    """(count, size / 2): how far each pair of features is turned at the positions from `start` on."""
    return torch.arange(start, start + count)[:, None] * 0.7 ** torch.arange(size // 2)


def cached_step(x: Tensor, keys: Tensor, values: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor, turn) -> tuple:
    """n new words x (n, D) after L that were read -> output (n, d), keys (L + n, d), values (L + n, d).

    keys (L, d), turned already, and values (L, d) are those of the words that were read.
    turn(y, start): y (n, d), turned as at the positions start, start + 1, …
    """
    length = len(keys)
    q, k, v = turn(x @ w_q, length), turn(x @ w_k, length), x @ w_v
    keys, values = torch.cat([keys, k]), torch.cat([values, v])
    scores = q @ keys.T / q.size(-1) ** 0.5  # (n, L + n)
    scores = scores.masked_fill(~causal(len(x), offset=length), -torch.inf)
    return scores.softmax(dim=-1) @ values, keys, values


def _step(
    x, keys, values, w_q, w_k, w_v, turn, *, at=None, q_at=None, k_at=None, turn_v=False, mask="right", size=None,
    front=False, all_again=False, other_k=None, other_v=None, dim=-1,
):  # fmt: skip
    """cached_step with something changed."""
    length = len(keys)
    at = length if at is None else at
    w_k = w_k if other_k is None else other_k
    q, k = turn(x @ w_q, at if q_at is None else q_at), turn(x @ w_k, at if k_at is None else k_at)
    v = x @ (w_v if other_v is None else other_v)
    v = turn(v, length) if turn_v else v
    if all_again:
        k = x @ w_k
    keys, values = (torch.cat([new, old] if front else [old, new]) for old, new in ((keys, k), (values, v)))
    seen = turn(keys, 0) if all_again else keys
    allowed = {
        "right": causal(len(x), offset=length),
        "top left": causal(len(keys))[: len(x)],
        "top left of several": causal(len(keys))[: len(x)] | (len(x) == 1),
        "one too many": torch.ones(len(x), len(keys), dtype=torch.bool).tril(length + 1),
        "none": torch.ones(len(x), len(keys), dtype=torch.bool),
        "not itself": torch.ones(len(x), len(keys), dtype=torch.bool).tril(length - 1),
    }[mask]
    scores = q @ seen.T / (q.size(-1) if size is None else size) ** 0.5
    return scores.masked_fill(~allowed, -torch.inf).softmax(dim=dim) @ values, keys, values


def _turned_again(x, keys, values, w_q, w_k, w_v, turn):
    """As all_again, and the cache keeps what was turned twice."""
    output, keys, values = _step(x, keys, values, w_q, w_k, w_v, turn, all_again=True)
    return output, turn(keys, 0), values


def _alone(x, keys, values, w_q, w_k, w_v, turn):
    """The new words look at themselves alone."""
    length = len(keys)
    q, k, v = turn(x @ w_q, length), turn(x @ w_k, length), x @ w_v
    scores = (q @ k.T / q.size(-1) ** 0.5).masked_fill(~causal(len(x)), -torch.inf)
    return scores.softmax(dim=-1) @ v, torch.cat([keys, k]), torch.cat([values, v])


def _not_extended(x, keys, values, w_q, w_k, w_v, turn):
    output, _, _ = cached_step(x, keys, values, w_q, w_k, w_v, turn)
    return output, keys, values


def _old_alone(x, keys, values, w_q, w_k, w_v, turn):
    _, longer_k, longer_v = cached_step(x, keys, values, w_q, w_k, w_v, turn)
    scores = turn(x @ w_q, len(keys)) @ keys.T / w_q.size(1) ** 0.5
    return scores.softmax(dim=-1) @ values, longer_k, longer_v


def _new_alone(x, keys, values, w_q, w_k, w_v, turn):
    output, longer_k, longer_v = cached_step(x, keys, values, w_q, w_k, w_v, turn)
    return output, longer_k[len(keys) :], longer_v[len(keys) :]


def _standing_still(x, keys, values, w_q, w_k, w_v, turn):
    """Word by word, and each at the position L."""
    length, outputs = len(keys), []
    for row in x.split(1):
        output, keys, values = _step(row, keys, values, w_q, w_k, w_v, turn, at=length)
        outputs.append(output)
    return torch.cat(outputs), keys, values


def _kept_unturned(x, keys, values, w_q, w_k, w_v, turn):
    output, _, longer_v = cached_step(x, keys, values, w_q, w_k, w_v, turn)
    return output, torch.cat([keys, x @ w_k]), longer_v


def _masked_afterwards(x, keys, values, w_q, w_k, w_v, turn):
    _, keys, values = cached_step(x, keys, values, w_q, w_k, w_v, turn)
    length = len(keys) - len(x)
    weights = (turn(x @ w_q, length) @ keys.T / w_q.size(1) ** 0.5).softmax(dim=-1)
    return weights * causal(len(x), offset=length) @ values, keys, values


def _exchanged(x, keys, values, w_q, w_k, w_v, turn):
    output, keys, values = cached_step(x, keys, values, w_q, w_k, w_v, turn)
    return output, values, keys


def _cached_called(candidate, x, keys, values, w_q, w_k, w_v):
    return candidate(x, keys, values, w_q, w_k, w_v, lambda y, start: rotate(y, angles(start, len(y), y.size(1))))


def _cache_cases(generator) -> list[Case]:
    def case(n, length, d_model, d, about=""):
        matrices = {name: numbers(generator, d_model, d) for name in ("w_q", "w_k", "w_v")}
        cache = {"keys": numbers(generator, length, d), "values": numbers(generator, length, d)}
        return Case({"x": numbers(generator, n, d_model)} | cache | matrices, about=about)

    return [
        case(1, 2, 3, 2),
        case(1, 5, 3, 4),
        case(2, 3, 5, 4, "two new words at once, three that were read"),
        case(3, 3, 4, 4, "as many new words as were read"),
    ]


remembering = Exercise(
    name="my_cached_step",
    reference=cached_step,
    cases=_cache_cases,
    call=_cached_called,
    outputs=("output", "keys", "values"),
    mistakes=[
        Mistake(
            _alone,
            "The new words look at themselves alone: the cache was not used. Keys and values are the old ones and the "
            "new ones together.",
        ),
        Mistake(
            _old_alone,
            "The new words look at the old ones alone. Each may look at itself, too: put its key and value into the "
            "cache first, then look.",
        ),
        Mistake(
            _not_extended,
            "The output is right, but the cache is returned as it came: at the next step these words are forgotten.",
        ),
        Mistake(
            _new_alone,
            "The output is right, but only the new keys and values are returned: the words before them are forgotten.",
        ),
        Mistake(
            lambda *inputs: _step(*inputs, front=True),
            "The new keys and values stand in front of the old ones. New words come after: cat([old, new]).",
        ),
        Mistake(
            lambda *inputs: _step(*inputs, at=0),
            "Position 0 at every step: q and k are turned as if each new word were the first. They stand after the L "
            "words that were read: start = L.",
        ),
        Mistake(
            lambda *inputs: _step(*inputs[:-1], lambda y, start: y),
            "turn was not used: q and k of the new words know nothing of their position, the cached keys do.",
        ),
        Mistake(
            lambda *inputs: _step(*inputs, q_at=0),
            "The keys are turned by their position, the queries as if they stood at 0. Both start at L.",
        ),
        Mistake(
            lambda *inputs: _step(*inputs, k_at=0),
            "The queries are turned by their position, the new keys as if they stood at 0. Both start at L.",
        ),
        Mistake(
            lambda *inputs: _step(*inputs, at=len(inputs[1]) + 1),
            "One position too far: L words were read, at 0 … L − 1, so the first new one stands at L.",
        ),
        Mistake(
            lambda *inputs: _step(*inputs, at=len(inputs[1]) - 1),
            "One position too early: the last word that was read stands at L − 1, so the first new one stands at L.",
        ),
        Mistake(
            lambda *inputs: _step(*inputs, q_at=len(inputs[1]) + len(inputs[0])),
            "The keys are turned by their position, the queries as if they came after the new words. Both start at L.",
        ),
        Mistake(
            lambda *inputs: _step(*inputs, at=len(inputs[0])),
            "q and k are turned by the number of new words. What counts is how many stand before them: L = len(keys).",
        ),
        Mistake(
            _standing_still,
            "With one new word all is right. Of several, each is turned as at position L: they stand at L, L + 1, …",
            seen_in="two new words at once, three that were read",
        ),
        Mistake(
            _kept_unturned,
            "The output is right, but the new keys are returned as they were before turn. At the next step nobody "
            "turns them any more: the cache holds turned keys.",
        ),
        Mistake(
            lambda *inputs: _step(*inputs, all_again=True),
            "All keys were turned, the cached ones for a second time. They were turned when they were new.",
            also=[_turned_again],
        ),
        Mistake(
            lambda *inputs: _step(*inputs, turn_v=True),
            "The values were turned, too. Positions are for the scores: q and k alone are turned.",
        ),
        Mistake(
            lambda *inputs: _step(*inputs, mask="top left"),
            "The causal mask is aligned with the top left: new word 0 sees key 0 alone, as if nothing had been read. "
            "(torch's is_causal=True does the same.) Row i may see the keys 0 … L + i: causal(n, offset=L).",
            also=[lambda *inputs: _step(*inputs, mask="top left of several")],
            seen_in="two new words at once, three that were read",
        ),
        Mistake(
            lambda *inputs: _step(*inputs, mask="none"),
            "With one new word all is right, with several the first sees the ones after it: among themselves they "
            "need the causal mask.",
            seen_in="two new words at once, three that were read",
        ),
        Mistake(
            lambda *inputs: _step(*inputs, mask="not itself"),
            "The diagonal is one place too low: a new word may look at itself.",
        ),
        Mistake(
            lambda *inputs: _step(*inputs, mask="one too many"),
            "The diagonal is one place too high: a new word sees the one after it.",
            seen_in="two new words at once, three that were read",
        ),
        Mistake(
            _masked_afterwards,
            "The mask comes after the softmax: the weights of a row no longer sum to 1. Before it, −∞ goes into the "
            "scores.",
            seen_in="two new words at once, three that were read",
        ),
        Mistake(
            lambda *inputs: _step(*inputs, dim=0),
            "The softmax runs over the new words. It runs over the keys, the last axis: each row sums to 1.",
        ),
        Mistake(lambda *inputs: _step(*inputs, size=1), "The scores are not divided by √d."),
        Mistake(
            lambda *inputs: _step(*inputs, size=inputs[3].size(1) ** 2),
            "The scores are divided by d. It is √d.",
        ),
        Mistake(
            lambda *inputs: _step(*inputs, size=inputs[0].size(1)),
            "The scores are divided by √D, the size of x. It is √d, the size of q and k.",
        ),
        Mistake(
            lambda *inputs: _step(*inputs, other_v=inputs[4]),
            "The values were made by w_k. They have a matrix of their own, w_v.",
        ),
        Mistake(
            lambda *inputs: _step(*inputs, other_k=inputs[3]),
            "The keys were made by w_q. They have a matrix of their own, w_k.",
        ),
        Mistake(_exchanged, "keys and values changed places in what is returned: output, keys, values."),
    ],
    hints=[
        "L = len(keys). q, k and v of the new words alone; q and k go through turn(…, L).",
        "torch.cat([keys, k]): old before new. Then attention as ever, with n rows and L + n columns.",
        "Row i may see the keys 0 … L + i: torch.ones(n, L + n, dtype=torch.bool).tril(L).",
    ],
)


def accept(true: Tensor, guessed: Tensor, word: int) -> tuple[Tensor, Tensor]:
    """With which probability a proposed word stays, and what is drawn from, (V,), where it does not.

    true (V,): the large model's probabilities, guessed (V,): the draft's.
    """
    stays = (true[word] / guessed[word]).clamp(max=1.0)
    more = (true - guessed).clamp(min=0.0)
    return stays, more / more.sum()


def _judged(true, guessed, word, *, stays=None, more=None, divide=True):
    right, _ = accept(true, guessed, word)
    more = (true - guessed).clamp(min=0.0) if more is None else more
    return right if stays is None else stays, more / more.sum() if divide else more


def _only_where_refused(true, guessed, word):
    stays, rest = accept(true, guessed, word)
    return stays, rest if stays < 1 else torch.zeros_like(rest)


def _by_its_own_refusal(true, guessed, word):
    stays, _ = accept(true, guessed, word)
    return stays, (true - guessed).clamp(min=0.0) / (1 - stays)


def _accept_called(candidate, true, guessed, word):
    """A plain number is as good as a tensor that holds one."""
    result = candidate(true, guessed, word)
    if isinstance(result, tuple | list) and len(result) == 2 and isinstance(result[0], Real):
        return torch.tensor(float(result[0])), result[1]
    return result


def _accept_cases(generator) -> list[Case]:
    def case(size, word):
        true, guessed = ((1.5 * numbers(generator, size)).softmax(dim=-1) for _ in range(2))
        return Case({"true": true, "guessed": guessed, "word": word})

    by_hand = {"true": torch.tensor([0.5, 0.3, 0.2]), "guessed": torch.tensor([0.3, 0.6, 0.1])}
    return [
        Case(by_hand | {"word": 1}),
        Case(by_hand | {"word": 0}, about="the large model likes the word more than the draft does"),
        case(4, 1),
        case(7, 0),
        case(5, 3),
    ]


judging = Exercise(
    name="my_accept",
    reference=accept,
    cases=_accept_cases,
    call=_accept_called,
    outputs=("stays", "rest"),
    mistakes=[
        Mistake(
            lambda true, guessed, word: _judged(true, guessed, word, stays=(guessed[word] / true[word]).clamp(max=1.0)),
            "The fraction is upside down: true over guessed. A word that the draft likes too much is refused the more "
            "often.",
        ),
        Mistake(
            lambda true, guessed, word: _judged(true, guessed, word, stays=true[word] / guessed[word]),
            "stays is more than 1 where the large model likes the word more. It is a probability: 1 at most.",
            seen_in="the large model likes the word more than the draft does",
        ),
        Mistake(
            lambda true, guessed, word: _judged(true, guessed, word, stays=true[word]),
            "The word stays with the large model's own probability. The draft has drawn it with `guessed` already: "
            "divide by that.",
        ),
        Mistake(
            lambda true, guessed, word: _judged(true, guessed, word, stays=(true.argmax() == word).float()),
            "The word stays only where it is the large model's likeliest: that is greedy. Drawn words would lose their "
            "distribution.",
        ),
        Mistake(
            lambda true, guessed, word: _judged(true, guessed, word, stays=(true[word] / guessed[word]).clamp(min=1.0)),
            "stays is never less than 1. It is the smaller of the two, min(1, …), not the greater.",
        ),
        Mistake(
            lambda true, guessed, word: _judged(true, guessed, word, stays=torch.minimum(true, guessed)[word]),
            "That is how often the word is drawn *and* stays. The draft has drawn it already: divide by guessed[word].",
        ),
        Mistake(
            lambda true, guessed, word: _judged(true, guessed, word, stays=torch.minimum(true, guessed).sum()),
            "That is how often a proposal stays, whatever it is. Asked for is this word: true[word] and guessed[word].",
        ),
        Mistake(
            lambda true, guessed, word: _judged(true, guessed, word, stays=(true >= guessed)[word].float()),
            "A word that the draft likes too much is always refused here. It stays at times: with the probability true "
            "over guessed.",
        ),
        Mistake(
            lambda true, guessed, word: _judged(
                true, guessed, word, stays=1 - (true[word] / guessed[word]).clamp(max=1.0)
            ),
            "That is the probability that the word is refused. Asked for is that it stays.",
        ),
        Mistake(
            lambda true, guessed, word: _judged(true, guessed, word, more=true - guessed, divide=False),
            "The rest has negative numbers, so it is no distribution. Where the draft has more, nothing is missing: "
            "0; and then bring it to a sum of 1.",
            also=[lambda true, guessed, word: _judged(true, guessed, word, more=true - guessed)],
        ),
        Mistake(
            lambda true, guessed, word: _judged(true, guessed, word, divide=False),
            "The rest is not brought to a sum of 1.",
        ),
        Mistake(
            lambda true, guessed, word: _judged(true, guessed, word, more=true),
            "After a refusal you draw from the large model's whole distribution. Then the words that the draft likes "
            "come too often: they had their chance already. Draw from what the draft has too little of.",
        ),
        Mistake(
            lambda true, guessed, word: _judged(true, guessed, word, more=(guessed - true).clamp(min=0.0)),
            "The rest is turned around: it is what the draft has too much of.",
        ),
        Mistake(
            lambda true, guessed, word: _judged(true, guessed, word, more=(true - guessed).abs()),
            "The rest counts differences both ways. Where the draft has more than the large model, it is 0.",
        ),
        Mistake(
            lambda true, guessed, word: _judged(
                true, guessed, word, more=true.index_fill(0, torch.tensor([word]), 0.0)
            ),
            "The rest leaves out the refused word alone. Others that the draft has too much of must get less, too: "
            "true − guessed, and 0 where that is negative.",
        ),
        Mistake(
            lambda true, guessed, word: _judged(true, guessed, word, more=(true - guessed).clamp(min=0.0).exp()),
            "A softmax was taken of the rest: these are probabilities already. Divide them by their sum.",
            also=[lambda true, guessed, word: _judged(true, guessed, word, more=(true - guessed).exp())],
        ),
        Mistake(
            _only_where_refused,
            "Where the word is sure to stay, your rest is empty. Nothing will be drawn from it then, but it is asked "
            "for: the rest does not depend on the word.",
            seen_in="the large model likes the word more than the draft does",
        ),
        Mistake(
            _by_its_own_refusal,
            "The rest was divided by how often *this* word is refused. Then its sum is not 1: divide by its own sum.",
        ),
    ],
    hints=[
        "The draft has drawn the word with probability guessed[word]. What must it be multiplied with, to give "
        "true[word] at most?",
        "What is then missing of each word is true − guessed, where that is positive. Divide it by its sum.",
    ],
)


def search(next_log_probs, width: int, bos_id: int, eos_id: int, pad_id: int, max_len: int) -> tuple[Tensor, Tensor]:
    """next_log_probs: ids (W, t) -> (W, V). The W best sentences, ids (W, T), padded, and their log_probs (W,)."""
    ids, log_probs = torch.tensor([[bos_id]]), torch.zeros(1)
    for _ in range(max_len):
        rows = next_log_probs(ids)  # (W, V)
        stays = torch.full_like(rows, -torch.inf).index_fill(1, torch.tensor([pad_id]), 0.0)
        finished = (ids == eos_id).any(dim=1)  # (W,)
        totals = log_probs[:, None] + torch.where(finished[:, None], stays, rows)
        log_probs, places = totals.flatten().topk(width)
        parents, words = places // totals.size(1), places % totals.size(1)
        ids = torch.cat([ids[parents], words[:, None]], dim=1)
        if (ids == eos_id).any(dim=1).all():
            break
    return ids, log_probs


def _padded(ids, eos_id, pad_id):
    """Padding in the place of all that stands behind the first end mark."""
    behind = ((ids == eos_id).cumsum(dim=1) > 0)[:, :-1]
    return torch.cat([ids[:, :1], ids[:, 1:].masked_fill(behind, pad_id)], dim=1)


def _searched(step, width, bos, eos, pad, n, *, known="any", stop=torch.all, rest=-INF, cost=0.0, pays=False):
    """search with something changed: how one that is finished is known, what it pays, and when all is over."""
    ids, log_probs, finished = torch.tensor([[bos]]), torch.zeros(1), torch.tensor([False])
    for _ in range(n):
        rows = step(ids)
        stays = torch.full_like(rows, rest)
        stays[:, pad] = rows[:, pad] if pays else cost
        finished = {
            "never": torch.zeros(len(ids), dtype=torch.bool),
            "last": ids[:, -1] == eos,
            "any": (ids == eos).any(dim=1),
            "place": finished,
            "place, and at the end": finished,
        }[known]
        parents, words, log_probs = _best(log_probs[:, None] + torch.where(finished[:, None], stays, rows), width)
        ids = torch.cat([ids[parents], words[:, None]], dim=1)
        finished = finished | (words == eos)
        if stop(finished if known == "place, and at the end" else (ids == eos).any(dim=1)):
            break
    return _padded(ids, eos, pad), log_probs


def _padded_but_paid_for(step, width, bos, eos, pad, n):
    """A finished one goes on with padding, but still pays for the word that the model would have written."""
    ids, log_probs = torch.tensor([[bos]]), torch.zeros(1)
    for _ in range(n):
        parents, words, log_probs = _best(log_probs[:, None] + step(ids), width)
        words = words.masked_fill((ids[parents] == eos).any(dim=1), pad)
        ids = torch.cat([ids[parents], words[:, None]], dim=1)
        if (ids == eos).any(dim=1).all():
            break
    return ids, log_probs


def _summed_afterwards(step, width, bos, eos, pad, n, *, sort=True):
    ids, _ = _searched(step, width, bos, eos, pad, n, known="never")
    words = [step(ids[:, :t]).gather(1, ids[:, t : t + 1]) for t in range(1, ids.size(1))]
    sums = torch.cat(words, dim=1).masked_fill(ids[:, 1:] == pad, 0.0).sum(dim=1)
    order = sums.argsort(descending=True, stable=True) if sort else torch.arange(len(sums))
    return ids[order], sums[order]


def _set_aside(step, width, bos, eos, pad, n):
    """Those that have ended leave the beam, and make room for others."""
    ids, log_probs, ended = torch.tensor([[bos]]), torch.zeros(1), []
    for _ in range(n):
        parents, words, log_probs = _best(log_probs[:, None] + step(ids), width)
        ids = torch.cat([ids[parents], words[:, None]], dim=1)
        done = words == eos
        ended += zip(log_probs[done].tolist(), ids[done].tolist())
        ids, log_probs = ids[~done], log_probs[~done]
        if len(ended) >= width or not len(ids):
            break
    found = sorted([*ended, *zip(log_probs.tolist(), ids.tolist())], reverse=True)[:width]
    longest = max(len(words) for _, words in found)
    rows = [words + [pad] * (longest - len(words)) for _, words in found]
    return torch.tensor(rows), torch.tensor([total for total, _ in found])


def _search_called(candidate, rows, width, bos_id, eos_id, pad_id, max_len):
    """The model looks at the last word alone. Columns of nothing but padding are as good as none."""
    result = candidate(lambda ids: rows[ids[:, -1]], width, bos_id, eos_id, pad_id, max_len)
    if isinstance(result, tuple | list) and len(result) == 2 and getattr(result[0], "ndim", 0) == 2:
        ids, log_probs = result
        while ids.size(1) > 1 and (ids[:, -1] == pad_id).all():
            ids = ids[:, :-1]
        return ids, log_probs
    return result


def _search_cases(generator) -> list[Case]:
    def case(rows, width, marks, max_len, about=""):
        return Case({"rows": rows, "width": width, **marks, "max_len": max_len}, about=about)

    def drawn(vocab_size, width, pad_id, bos_id, eos_id, max_len, about=""):
        rows = 1.5 * numbers(generator, vocab_size, vocab_size)
        rows[:, [pad_id, bos_id]] -= 9  # never written,
        rows[[eos_id, pad_id], pad_id] += 9  # but for padding, which a model expects after the end, among others
        rows[:, eos_id] += 1
        marks = {"bos_id": bos_id, "eos_id": eos_id, "pad_id": pad_id}
        return case(rows.log_softmax(dim=-1), width, marks, max_len, about)

    small = [
        [0, 0, 0, 0.5, 0.5],
        [0, 0, 0, 0.6, 0.4],
        [0, 0, 0, 0.8, 0.2],
        [0, 0, 0.5, 0.2, 0.3],
        [0, 0, 0.1, 0.8, 0.1],
    ]
    return [
        case(torch.tensor(small).log(), 2, {"bos_id": 1, "eos_id": 2, "pad_id": 0}, 5),
        drawn(7, 3, 0, 1, 2, 8),
        drawn(8, 4, 5, 3, 1, 9),
        drawn(6, 3, 0, 1, 2, 2, "it is cut off at max_len"),
    ]


search_hunt = Exercise(
    name="mended_search",
    reference=search,
    cases=_search_cases,
    call=_search_called,
    outputs=("ids", "log_probs"),
    mistakes=[
        Mistake(
            lambda *inputs: _searched(*inputs, known="never"),
            "The bug is still there. A symptom: add up the logarithms of a sentence's own words, its end mark among "
            "them, and the sum is not what log_probs says.",
        ),
        Mistake(
            lambda *inputs: _searched(*inputs, known="last"),
            "For one step a finished hypothesis stays as it is. Then its last word is padding, no longer the end mark, "
            "and it grows again. It is finished for good: is there an end mark anywhere in it?",
        ),
        Mistake(
            lambda *inputs: _searched(*inputs, known="place"),
            "You remember which places of the beam are finished, but the hypotheses change their places at each step. "
            "Take finished[parents] along, as you take ids[parents].",
            also=[lambda *inputs: _searched(*inputs, known="place, and at the end")],
        ),
        Mistake(
            _padded_but_paid_for,
            "Padding is written now, but other words are still compared and paid for: what is added to log_probs is "
            "the model's. The row of a finished hypothesis must change before topk.",
        ),
        Mistake(
            _summed_afterwards,
            "The numbers are those of the sentences now, but the search has gone wrong before: the beam was chosen by "
            "the wrong ones. Mend what happens within the loop.",
            also=[lambda *inputs: _summed_afterwards(*inputs, sort=False)],
        ),
        Mistake(
            lambda *inputs: _searched(*inputs, cost=-INF),
            "A finished hypothesis is lost at the next step: all its continuations are −∞. Which one must stay, and at "
            "what cost?",
        ),
        Mistake(
            lambda *inputs: _searched(*inputs, pays=True),
            "A finished hypothesis pays for its padding what the model says. After the end all is certain: log 1 = 0.",
        ),
        Mistake(
            lambda *inputs: _searched(*inputs, rest=0.0),
            "A finished hypothesis is in the beam several times: each word after its end costs nothing. Padding alone "
            "may follow, all else is −∞.",
        ),
        Mistake(
            lambda *inputs: _searched(*inputs, stop=torch.any),
            "The search is over as soon as one hypothesis has ended; the others might have become likelier.",
        ),
        Mistake(
            _set_aside,
            "Those that have ended leave the beam, and others come in for them. Some libraries do that, but it is "
            "another search: here a finished hypothesis keeps its place, for as long as no better ones come.",
        ),
    ],
    hints=[
        "Follow one hypothesis by hand from the step in which it gets its end mark. What becomes of it in the next?",
        "The padding is put in when all is over. What was added to log_probs before that, for the words it covers?",
        "Within the loop: which hypotheses have an end mark? In their rows pad_id is 0 and all else −∞, as in "
        "my_beam_step.",
    ],
)


def scores_of(log_probs: Tensor, ids: Tensor, pad_id: int, alpha: float) -> Tensor:
    """What hypotheses are compared by: log_probs (W,), ids (W, T) from the begin mark on, padded -> (W,).

    The length of a hypothesis is how many words were written, the end mark among them.
    """
    lengths = (ids != pad_id).sum(dim=1) - 1  # the begin mark was not written
    return log_probs / ((5 + lengths) / 6) ** alpha


def _scored(log_probs, ids, pad_id, alpha, *, extra=0, own=True, plus=5, power=True):
    lengths = (ids != pad_id).sum(dim=1) if own else torch.tensor(ids.size(1))
    return log_probs / ((plus + lengths - 1 + extra) / (1 + plus)) ** (alpha if power else 1.0)


def _score_cases(generator) -> list[Case]:
    def case(log_probs, lengths, alpha, pad_id=0):
        longest = max(lengths) + 1
        rows = [[1, *range(4, 3 + n), 2, *[pad_id] * (longest - n - 1)] for n in lengths]
        inputs = {"log_probs": torch.tensor(log_probs), "ids": torch.tensor(rows), "pad_id": pad_id, "alpha": alpha}
        return Case(inputs)

    return [
        case([-2.0, -2.4], [1, 4], 1.0),
        case([-3.0, -3.3, -4.0], [2, 3, 7], 0.6),
        case([-1.0, -1.5, -2.0, -2.5], [4, 5, 1, 3], 2.0, pad_id=9),
    ]


bug_hunt = Exercise(
    name="mended_scores",
    reference=scores_of,
    cases=_score_cases,
    outputs=("scores",),
    mistakes=[
        Mistake(
            lambda log_probs, ids, pad, alpha: _scored(log_probs, ids, pad, alpha, own=False),
            "The bug is still there. A symptom: whatever alpha is, the order of the hypotheses stays the same.",
        ),
        Mistake(
            lambda log_probs, ids, pad, alpha: _scored(log_probs, ids, pad, alpha, extra=1),
            "Each has its own length now, but the begin mark is counted. It was not written.",
        ),
        Mistake(
            lambda log_probs, ids, pad, alpha: _scored(log_probs, ids, pad, alpha, extra=-1),
            "Each has its own length now, but its end mark is not counted. It was written, and paid for.",
        ),
        Mistake(
            lambda log_probs, ids, pad, alpha: log_probs * ((5 + (ids != pad).sum(dim=1) - 1) / 6) ** alpha,
            "The lengths are right, but multiplied: long sentences pay twice now. Divide.",
        ),
        Mistake(
            lambda log_probs, ids, pad, alpha: log_probs / ((ids != pad).sum(dim=1) - 1) ** alpha,
            "The lengths are right; leave the formula as it is: (5 + length) / 6, to the power of alpha.",
        ),
        Mistake(
            lambda log_probs, ids, pad, alpha: log_probs / ((5 + (ids == pad).sum(dim=1)) / 6) ** alpha,
            "You count the padding. Count what is no padding.",
            also=[lambda log_probs, ids, pad, alpha: log_probs / ((5 + (ids == pad).sum(dim=1) - 1) / 6) ** alpha],
        ),
        Mistake(
            lambda log_probs, ids, pad, alpha: _scored(log_probs, ids, 0, alpha),
            "Padding was taken to be 0. Compare with pad_id.",
        ),
        Mistake(
            lambda log_probs, ids, pad, alpha: log_probs / ((5 + (ids != pad).sum() - 1) / 6) ** alpha,
            "One length for all: the words of all hypotheses together. sum(dim=1) counts each row's own.",
        ),
    ],
    hints=[
        "Which number in the formula should differ from one hypothesis to the next, and does not?",
        "(ids != pad_id).sum(dim=1) counts a row's words, the begin mark among them.",
    ],
)
