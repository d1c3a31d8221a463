"""Lesson 12: my_cached_step."""

import torch
from torch import Tensor

from lessons.checking.engine import Case, Exercise, Mistake, numbers
from lessons.masks import causal
from lessons.positions import rotate


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
    lesson="12",
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
