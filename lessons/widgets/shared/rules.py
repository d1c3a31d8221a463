"""The computation of MaskStudio: tokens -> rules -> allowed -> scores as filled -> weights."""

import reprlib
from collections.abc import Iterable, Sequence
from typing import Any

import torch
from torch import Tensor

from lessons import masks
from lessons.attention import masked_softmax
from lessons.vocabulary import PAD
from lessons.widgets.shared.constants import (
    AFTER,
    ALLOWED,
    BEFORE,
    BILLION,
    BLOCKED,
    DECODER,
    ENCODER,
    INFINITE,
    MAX_TOKENS,
)


def read_tokens(given: Any, name: str, most: int = MAX_TOKENS) -> list[str]:
    """The tokens of a sentence: from a text, split at white space; a list of tokens; or a number of tokens."""
    if isinstance(given, int) and not isinstance(given, bool):
        tokens = range(min(given, most + 1))
    elif isinstance(given, str):
        tokens = given.split(maxsplit=most)  # stop splitting a text that is too long
    elif isinstance(given, Sequence) and all(isinstance(token, str) for token in given[: most + 1]):
        tokens = given
    else:
        wanted = "a text, a list of tokens or a number of tokens"
        raise ValueError(f"{name} is {reprlib.repr(given)}; expected {wanted}")
    if not 1 <= len(tokens) <= most:
        count = f"over {most}" if len(tokens) > most else "0"
        raise ValueError(f"{name} is {reprlib.repr(given)}, {count} tokens; expected 1 to {most}")
    return [str(token) for token in tokens]


def queries_and_keys(source: list[str], target: list[str], kind: str) -> tuple[list[str], list[str]]:
    """The queries and the keys."""
    queries = source if kind == ENCODER else target
    keys = target if kind == DECODER else source
    return queries, keys


def padding(queries: list[str], keys: list[str]) -> Tensor:
    """`allowed` (Q, K): True = the key is no padding."""
    is_token = torch.tensor([[int(token != PAD) for token in keys]])
    return masks.padding(is_token, pad_id=0)[0, 0].expand(len(queries), -1)


def toggle(allowed: Tensor, edits: Iterable[Sequence[int]]) -> Tensor:
    """A copy of `allowed` (Q, K) in which the pairs [query, key] are inverted."""
    allowed = allowed.clone()
    for q, k in edits:
        allowed[q, k] = ~allowed[q, k]
    return allowed


def difference(one: Iterable[Sequence[int]], other: Iterable[Sequence[int]]) -> list[list[int]]:
    """The pairs that are in one list and not in the other, in order."""
    return [list(pair) for pair in sorted(set(map(tuple, one)) ^ set(map(tuple, other)))]


def fill_scores(scores: Tensor, allowed: Tensor, fill: str) -> Tensor:
    """The scores (Q, K) as they go into the softmax."""
    if fill == AFTER:
        return scores
    number = {INFINITE: -torch.inf, BILLION: -1e9, BEFORE: 0.0}[fill]
    return scores.masked_fill(~allowed, number)


def fill_weights(scores: Tensor, allowed: Tensor, fill: str) -> Tensor:
    """The weights (Q, K); with −∞ they are those of the course."""
    if fill == INFINITE:
        return masked_softmax(scores, allowed)
    weights = fill_scores(scores, allowed, fill).softmax(dim=-1)
    return weights.masked_fill(~allowed, 0.0) if fill == AFTER else weights


def in_convention(allowed: Tensor, convention: str) -> Tensor:
    """The same mask in the numbers of a convention."""
    if convention == ALLOWED:
        return allowed
    return masks.allowed_to_blocked(allowed) if convention == BLOCKED else masks.allowed_to_additive(allowed)


def seeded(rows: int, columns: int, seed: int) -> Tensor:
    """Random numbers with two decimals; a larger table begins with the numbers of a smaller one."""
    table = torch.randn(MAX_TOKENS, MAX_TOKENS, generator=torch.Generator().manual_seed(seed))
    return (1.5 * table).round(decimals=2)[:rows, :columns]
