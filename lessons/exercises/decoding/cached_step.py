"""Lesson 12, my_cached_step: attention of new tokens over a cache of keys and values."""

import torch
from torch import Tensor

from lessons.checking.edits import Edited, edited
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


def turned_at(q: str = "length", k: str = "length") -> Edited:
    """cached_step with queries and keys turned as at other positions."""
    return edited(cached_step, ("x @ w_q, length", f"x @ w_q, {q}"), ("x @ w_k, length", f"x @ w_k, {k}"))


remembering = Exercise(
    lesson="12",
    name="my_cached_step",
    reference=cached_step,
    cases=_cache_cases,
    call=_cached_called,
    outputs=("output", "keys", "values"),
    mistakes=[
        Mistake(
            edited(
                cached_step,
                ("q @ keys.T", "q @ k.T"),
                (", offset=length", ""),
                (".softmax(dim=-1) @ values", ".softmax(dim=-1) @ v"),
            ),
            "The new words look at themselves alone: the cache was not used. Keys and values are the old ones and the "
            "new ones together.",
        ),
        Mistake(
            edited(
                cached_step,
                ("    keys, values = torch.cat([keys, k]), torch.cat([values, v])\n", ""),
                (".masked_fill(~causal(len(x), offset=length), -torch.inf)", ""),
                ("@ values, keys, values", "@ values, torch.cat([keys, k]), torch.cat([values, v])"),
            ),
            "The new words look at the old ones alone. Each may look at itself, too: put its key and value into the "
            "cache first, then look.",
        ),
        Mistake(
            edited(cached_step, "@ values, keys, values", "@ values, keys[:length], values[:length]"),
            "The output is right, but the cache is returned as it came: at the next step these words are forgotten.",
        ),
        Mistake(
            edited(cached_step, "@ values, keys, values", "@ values, k, v"),
            "The output is right, but only the new keys and values are returned: the words before them are forgotten.",
        ),
        Mistake(
            edited(cached_step, ("[keys, k]", "[k, keys]"), ("[values, v]", "[v, values]")),
            "The new keys and values stand in front of the old ones. New words come after: cat([old, new]).",
        ),
        Mistake(
            turned_at(q="0", k="0"),
            "Position 0 at every step: q and k are turned as if each new word were the first. They stand after the L "
            "words that were read: start = L.",
        ),
        Mistake(
            edited(cached_step, ("turn(x @ w_q, length)", "x @ w_q"), ("turn(x @ w_k, length)", "x @ w_k")),
            "turn was not used: q and k of the new words know nothing of their position, the cached keys do.",
        ),
        Mistake(
            turned_at(q="0"),
            "The keys are turned by their position, the queries as if they stood at 0. Both start at L.",
        ),
        Mistake(
            turned_at(k="0"),
            "The queries are turned by their position, the new keys as if they stood at 0. Both start at L.",
        ),
        Mistake(
            turned_at(q="length + 1", k="length + 1"),
            "One position too far: L words were read, at 0 … L − 1, so the first new one stands at L.",
        ),
        Mistake(
            turned_at(q="length - 1", k="length - 1"),
            "One position too early: the last word that was read stands at L − 1, so the first new one stands at L.",
        ),
        Mistake(
            turned_at(q="length + len(x)"),
            "The keys are turned by their position, the queries as if they came after the new words. Both start at L.",
        ),
        Mistake(
            turned_at(q="len(x)", k="len(x)"),
            "q and k are turned by the number of new words. What counts is how many stand before them: L = len(keys).",
        ),
        Mistake(
            edited(
                cached_step,
                ("turn(x @ w_q, length)", "torch.cat([turn(row, length) for row in (x @ w_q).split(1)])"),
                ("turn(x @ w_k, length)", "torch.cat([turn(row, length) for row in (x @ w_k).split(1)])"),
            ),
            "With one new word all is right. Of several, each is turned as at position L: they stand at L, L + 1, …",
            seen_in="two new words at once, three that were read",
        ),
        Mistake(
            edited(cached_step, "@ values, keys, values", "@ values, torch.cat([keys[:length], x @ w_k]), values"),
            "The output is right, but the new keys are returned as they were before turn. At the next step nobody "
            "turns them any more: the cache holds turned keys.",
        ),
        Mistake(
            edited(cached_step, ("turn(x @ w_k, length)", "x @ w_k"), ("q @ keys.T", "q @ turn(keys, 0).T")),
            "All keys were turned, the cached ones for a second time. They were turned when they were new.",
            also=[
                edited(
                    cached_step,
                    ("turn(x @ w_k, length)", "x @ w_k"),
                    ("torch.cat([keys, k])", "turn(torch.cat([keys, k]), 0)"),
                )
            ],
        ),
        Mistake(
            edited(cached_step, "x @ w_v", "turn(x @ w_v, length)"),
            "The values were turned, too. Positions are for the scores: q and k alone are turned.",
        ),
        Mistake(
            edited(cached_step, "causal(len(x), offset=length)", "causal(len(keys))[: len(x)]"),
            "The causal mask is aligned with the top left: new word 0 sees key 0 alone, as if nothing had been read. "
            "(torch's is_causal=True does the same.) Row i may see the keys 0 … L + i: causal(n, offset=L).",
            also=[
                edited(cached_step, "causal(len(x), offset=length)", "(causal(len(keys))[: len(x)] | (len(x) == 1))")
            ],
            seen_in="two new words at once, three that were read",
        ),
        Mistake(
            edited(cached_step, ".masked_fill(~causal(len(x), offset=length), -torch.inf)", ""),
            "With one new word all is right, with several the first sees the ones after it: among themselves they "
            "need the causal mask.",
            seen_in="two new words at once, three that were read",
        ),
        Mistake(
            edited(cached_step, "causal(len(x), offset=length)", "causal(len(x), offset=length).tril(length - 1)"),
            "The diagonal is one place too low: a new word may look at itself.",
        ),
        Mistake(
            edited(cached_step, "causal(len(x), offset=length)", "causal(len(x), offset=length + 1)[:, :-1]"),
            "The diagonal is one place too high: a new word sees the one after it.",
            seen_in="two new words at once, three that were read",
        ),
        Mistake(
            edited(
                cached_step,
                (".masked_fill(~causal(len(x), offset=length), -torch.inf)", ""),
                (".softmax(dim=-1)", ".softmax(dim=-1) * causal(len(x), offset=length)"),
            ),
            "The mask comes after the softmax: the weights of a row no longer sum to 1. Before it, −∞ goes into the "
            "scores.",
            seen_in="two new words at once, three that were read",
        ),
        Mistake(
            edited(cached_step, "dim=-1", "dim=0"),
            "The softmax runs over the new words. It runs over the keys, the last axis: each row sums to 1.",
        ),
        Mistake(edited(cached_step, " / q.size(-1) ** 0.5", ""), "The scores are not divided by √d."),
        Mistake(
            edited(cached_step, "q.size(-1) ** 0.5", "q.size(-1)"),
            "The scores are divided by d. It is √d.",
        ),
        Mistake(
            edited(cached_step, "q.size(-1)", "x.size(-1)"),
            "The scores are divided by √D, the size of x. It is √d, the size of q and k.",
        ),
        Mistake(
            edited(cached_step, "x @ w_v", "x @ w_k"),
            "The values were made by w_k. They have a matrix of their own, w_v.",
        ),
        Mistake(
            edited(cached_step, "x @ w_k", "x @ w_q"),
            "The keys were made by w_q. They have a matrix of their own, w_k.",
        ),
        Mistake(
            edited(cached_step, "@ values, keys, values", "@ values, values, keys"),
            "keys and values changed places in what is returned: output, keys, values.",
        ),
    ],
    hints=[
        "L = len(keys). q, k and v of the new words alone; q and k go through turn(…, L).",
        "torch.cat([keys, k]): old before new. Then attention as ever, with n rows and L + n columns.",
        "Row i may see the keys 0 … L + i: torch.ones(n, L + n, dtype=torch.bool).tril(L).",
    ],
)
