"""Lesson 12, my_cached_step: attention of new tokens over a cache of keys and values."""

import torch
from torch import Tensor

from lessons.checking.edits import Edited, edited
from lessons.checking.engine import Case, Exercise, Mistake, numbers
from lessons.masks import causal
from lessons.positions import rotate


def angles(start: int, count: int, size: int) -> Tensor:
    """(count, size / 2): the angle of each pair of features at the positions from `start` on."""
    return torch.arange(start, start + count)[:, None] * 0.7 ** torch.arange(size // 2)


def cached_step(x: Tensor, keys: Tensor, values: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor, turn) -> tuple:
    """n new words x (n, D) after L that were read -> output (n, d), keys (L + n, d), values (L + n, d).

    keys (L, d), already rotated, and values (L, d) are those of the words that were read.
    turn(y, start): y (n, d), rotated for the positions start, start + 1, …
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
        case(2, 0, 3, 4, "the first words: nothing was read yet"),
    ]


def turned_at(q: str = "length", k: str = "length") -> Edited:
    """cached_step with queries and keys rotated for other positions."""
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
            "The new words attend only to themselves: you did not use the cache. Keys and values are the old ones and "
            "the new ones together.",
        ),
        Mistake(
            edited(
                cached_step,
                ("    keys, values = torch.cat([keys, k]), torch.cat([values, v])\n", ""),
                (".masked_fill(~causal(len(x), offset=length), -torch.inf)", ""),
                ("@ values, keys, values", "@ values, torch.cat([keys, k]), torch.cat([values, v])"),
            ),
            "The new words attend only to the old ones. Each also attends to itself: append its key and value to the "
            "cache first.",
        ),
        Mistake(
            edited(cached_step, "@ values, keys, values", "@ values, keys[:length], values[:length]"),
            "The output is right, but you return the old cache: at the next step these words are forgotten.",
        ),
        Mistake(
            edited(cached_step, "@ values, keys, values", "@ values, k, v"),
            "The output is right, but you return only the new keys and values: the words before them are forgotten.",
        ),
        Mistake(
            edited(cached_step, ("[keys, k]", "[k, keys]"), ("[values, v]", "[v, values]")),
            "The new keys and values are before the old ones. New words come after: cat([old, new]).",
        ),
        Mistake(
            turned_at(q="0", k="0"),
            "Position 0 at every step: you rotate q and k as if nothing had been read. They come after the L words "
            "that were read: start = L.",
        ),
        Mistake(
            edited(cached_step, ("turn(x @ w_q, length)", "x @ w_q"), ("turn(x @ w_k, length)", "x @ w_k")),
            "You did not use turn: q and k of the new words lack their position; the cached keys have it.",
        ),
        Mistake(
            edited(cached_step, "turn(x @ w_k, length)", "x @ w_k"),
            "The new keys are not rotated. They need their positions, L, L + 1, …, as the queries do.",
        ),
        Mistake(
            edited(cached_step, "turn(x @ w_q, length)", "x @ w_q"),
            "The queries are not rotated. They need their positions, L, L + 1, …, as the keys do.",
        ),
        Mistake(
            turned_at(q="0"),
            "You rotate the keys by their position, the queries as if they started at 0. Both start at L.",
        ),
        Mistake(
            turned_at(k="0"),
            "You rotate the queries by their position, the new keys as if they started at 0. Both start at L.",
        ),
        Mistake(
            turned_at(q="length + 1", k="length + 1"),
            "One position too far: L words were read, at 0 … L − 1, so the first new one is at L.",
        ),
        Mistake(
            turned_at(q="length - 1", k="length - 1"),
            "One position too early: the last word that was read is at L − 1, so the first new one is at L.",
        ),
        Mistake(
            turned_at(q="length + len(x)"),
            "You rotate the keys by their position, the queries as if they came after the new words. Both start at L.",
        ),
        Mistake(
            turned_at(q="len(x)", k="len(x)"),
            "You rotate q and k by the number of new words. What counts is how many come before them: L = len(keys).",
        ),
        Mistake(
            edited(
                cached_step,
                ("turn(x @ w_q, length)", "torch.cat([turn(row, length) for row in (x @ w_q).split(1)])"),
                ("turn(x @ w_k, length)", "torch.cat([turn(row, length) for row in (x @ w_k).split(1)])"),
            ),
            "With one new word everything is right. With several, you rotate each for position L: they are at L, L + "
            "1, …",
            seen_in="two new words at once, three that were read",
        ),
        Mistake(
            edited(cached_step, "@ values, keys, values", "@ values, torch.cat([keys[:length], x @ w_k]), values"),
            "The output is right, but you return the new keys as they were before turn. The cache contains rotated "
            "keys: nobody rotates them later.",
        ),
        Mistake(
            edited(cached_step, ("turn(x @ w_k, length)", "x @ w_k"), ("q @ keys.T", "q @ turn(keys, 0).T")),
            "You rotated all keys, the cached ones for the second time. They were rotated when they were new.",
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
            "You also rotated the values. Positions are for the scores: rotate only q and k.",
        ),
        Mistake(
            edited(cached_step, "causal(len(x), offset=length)", "causal(len(keys))[: len(x)]"),
            "The causal mask is aligned at the top left: new word 0 sees only key 0, as if nothing had been read. "
            "(torch's is_causal=True does the same.) Row i may attend to the keys 0 … L + i: causal(n, offset=L).",
            also=[
                edited(cached_step, "causal(len(x), offset=length)", "(causal(len(keys))[: len(x)] | (len(x) == 1))")
            ],
            seen_in="two new words at once, three that were read",
        ),
        Mistake(
            edited(cached_step, ".masked_fill(~causal(len(x), offset=length), -torch.inf)", ""),
            "With one new word everything is right; with several, the first sees the ones after it. They need the "
            "causal mask among themselves.",
            seen_in="two new words at once, three that were read",
        ),
        Mistake(
            edited(cached_step, "causal(len(x), offset=length)", "causal(len(x), offset=length).tril(length - 1)"),
            "The diagonal is one place too low: a new word may attend to itself.",
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
            "The mask comes after the softmax: the weights of every row but the last no longer sum to 1. Put −∞ into "
            "the scores before the softmax.",
            seen_in="two new words at once, three that were read",
        ),
        Mistake(
            edited(cached_step, "dim=-1", "dim=0"),
            "Your softmax runs over the new words. It must run over the keys, the last axis: each row sums to 1.",
        ),
        Mistake(edited(cached_step, " / q.size(-1) ** 0.5", ""), "The scores are not divided by √d."),
        Mistake(
            edited(cached_step, "q.size(-1) ** 0.5", "q.size(-1)"),
            "You divide the scores by d. Divide by √d.",
        ),
        Mistake(
            edited(cached_step, "q.size(-1)", "x.size(-1)"),
            "You divide the scores by √D, the size of x. Divide by √d, the size of q and k.",
        ),
        Mistake(
            edited(cached_step, "x @ w_v", "x @ w_k"),
            "You computed the values with w_k. They have their own matrix, w_v.",
        ),
        Mistake(
            edited(cached_step, "x @ w_k", "x @ w_q"),
            "You computed the keys with w_q. They have their own matrix, w_k.",
        ),
        Mistake(
            edited(cached_step, "@ values, keys, values", "@ values, values, keys"),
            "You swapped keys and values. Return output, keys, values.",
        ),
        Mistake(
            edited(cached_step, ("[keys, k])", "[keys, k], dim=1)"), ("[values, v])", "[values, v], dim=1)")),
            "You joined along the features. A word is a row, so the new ones go below the old ones: axis 0, as "
            "torch.cat does by default.",
        ),
        Mistake(
            edited(cached_step, "causal(len(x), offset=length)", "causal(len(x))"),
            "Your mask is (n, n): it has no columns for the cached words. It must be (n, L + n), with the first L + i "
            "+ 1 keys open in row i: causal(n, offset=L).",
            seen_in="two new words at once, three that were read",
        ),
        Mistake(
            edited(cached_step, "~causal", "causal"),
            "The mask is inverted: everything that a new word may attend to is −∞, and the last row is NaN. "
            "masked_fill fills where its mask is True: give it ~allowed.",
        ),
    ],
    hints=[
        "L = len(keys). Compute q, k and v of the new words only; q and k go through turn(…, L).",
        "torch.cat([keys, k]): old before new. Then attention as usual, with n rows and L + n columns.",
        "Row i may attend to the keys 0 … L + i: torch.ones(n, L + n, dtype=torch.bool).tril(L).",
    ],
    solution="""
        def my_cached_step(x, keys, values, w_q, w_k, w_v, turn):
            n, length = len(x), len(keys)
            q = turn(x @ w_q, length)
            keys = torch.cat([keys, turn(x @ w_k, length)])
            values = torch.cat([values, x @ w_v])
            allowed = torch.ones(n, length + n, dtype=torch.bool).tril(length)
            scores = q @ keys.T / math.sqrt(q.size(-1))  # (n, L + n)
            weights = scores.masked_fill(~allowed, -torch.inf).softmax(dim=-1)
            return weights @ values, keys, values
    """,
    in_package="lessons.decoding.Cached",
)
