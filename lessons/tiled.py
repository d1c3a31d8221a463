"""Attention in tiles: a block of queries meets a block of keys at a time, so that no (Q, K) weights are kept.

FlashAttention, arXiv 2205.14135, algorithms 1 and 2; the backward pass as in FlashAttention-2, arXiv 2307.08691,
section 3.1.2. The softmax over blocks: Online normalizer calculation for softmax, arXiv 1805.02867, algorithm 3.
"""

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import torch
from torch import Tensor

from lessons._checks import attention_axes, bool_mask, positive

Rule = Callable[[Tensor, Tensor], Tensor]
HALF = (torch.float16, torch.bfloat16)


class Read(NamedTuple):
    """What a softmax has to remember of the keys that were read so far.

    highest (..., Q, 1): the highest score, -inf before the first allowed key.
    total (..., Q, 1): the sum of exp(score - highest).
    summed (..., Q, d_v): the sum of exp(score - highest) times the value.
    """

    highest: Tensor
    total: Tensor
    summed: Tensor

    @property
    def output(self) -> Tensor:
        """The average of the values, (..., Q, d_v); 0 where no key was allowed."""
        return self.summed / self.total.masked_fill(self.total == 0, 1.0)


def read_block(scores: Tensor, v: Tensor) -> Read:
    """One block of keys: scores (..., Q, K), -inf where a key is blocked, and values v (..., K, d_v)."""
    highest = scores.amax(dim=-1, keepdim=True)
    powers = (scores - _finite(highest)).exp()
    return Read(highest, powers.sum(dim=-1, keepdim=True), powers @ v)


def join(first: Read, second: Read) -> Read:
    """Two blocks as one: both are brought to the higher of their two highest scores, then added."""
    highest = torch.maximum(first.highest, second.highest)
    before = (first.highest - _finite(highest)).exp()
    after = (second.highest - _finite(highest)).exp()
    return Read(highest, before * first.total + after * second.total, before * first.summed + after * second.summed)


def tiled_attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    allowed: Tensor | Rule | None = None,
    *,
    query_block: int = 128,
    key_block: int = 128,
) -> Tensor:
    """The output of `attend`, with one tile of the weights at a time: the memory is linear in Q and K.

    q (..., Q, d), k (..., K, d), v (..., K, d_v); the leading axes must broadcast.
    allowed: bool, broadcastable to (..., Q, K); True = this query may attend to this key. Or a rule that returns it for
        the indices of some queries (n, 1) and keys (m,), such as `lambda query, key: key <= query`: a mask for all
        pairs has Q · K entries itself. A query with no allowed key gets an output of 0.
    query_block, key_block: the sizes of a tile.

    Returns (..., Q, d_v). The backward pass computes each tile again; for second derivatives, autograd keeps them all.
    Half precision is too coarse to add up many tiles: inside, it is float32.
    Shapes that don't fit, or a mask that isn't bool, raise a ValueError.
    """
    leading = attention_axes(q, k, v, None if callable(allowed) else allowed)
    positive(query_block=query_block, key_block=key_block)
    exact = (x.float() if x.dtype in HALF else x for x in (q, k, v))
    output, _ = _Tiled.apply(*(x.expand(*leading, -1, -1) for x in exact), allowed, (query_block, key_block))
    return output.to(q.dtype)  # type: ignore[no-any-return]


class _Tiled(torch.autograd.Function):
    """Returns log_total, too, so that a second derivative goes through it."""

    @staticmethod
    def forward(  # type: ignore[override]
        ctx: Any, q: Tensor, k: Tensor, v: Tensor, allowed: Tensor | Rule | None, sizes: tuple[int, int]
    ) -> tuple[Tensor, Tensor]:
        output = q.new_zeros(*q.shape[:-1], v.size(-1))
        log_total = q.new_full((*q.shape[:-1], 1), torch.inf)  # of exp(score); inf makes the weights of an empty row 0
        for rows in _blocks(q.size(-2), sizes[0]):
            read = _nothing_read(q[..., rows, :], v)
            for columns in _blocks(k.size(-2), sizes[1]):
                scores = _scores(q, k, allowed, rows, columns)
                read = join(read, read_block(scores, v[..., columns, :]))
            output[..., rows, :] = read.output
            log_total[..., rows, :] = (read.highest + read.total.log()).masked_fill(read.total == 0, torch.inf)
        is_tensor = isinstance(allowed, Tensor)
        ctx.save_for_backward(q, k, v, output, log_total, allowed if is_tensor else None)
        ctx.rule, ctx.sizes = None if is_tensor else allowed, sizes
        return output, log_total

    @staticmethod
    def backward(  # type: ignore[override]
        ctx: Any, grad: Tensor, grad_log_total: Tensor
    ) -> tuple[Tensor | None, ...]:
        q, k, v, output, log_total, mask = ctx.saved_tensors
        allowed = ctx.rule if mask is None else mask
        grad_q, grad_k, grad_v = (torch.zeros_like(x, memory_format=torch.contiguous_format) for x in (q, k, v))
        average = (grad * output).sum(dim=-1, keepdim=True)  # of the weights' gradients, as the softmax weighs them
        common = average - grad_log_total  # the derivatives of log_total by the scores are the weights
        scale = 1 / math.sqrt(q.size(-1))
        for rows in _blocks(q.size(-2), ctx.sizes[0]):
            for columns in _blocks(k.size(-2), ctx.sizes[1]):
                scores = _scores(q, k, allowed, rows, columns)
                weights = (scores - log_total[..., rows, :]).exp()
                grad_weights = grad[..., rows, :] @ v[..., columns, :].mT
                grad_scores = weights * (grad_weights - common[..., rows, :]) * scale
                grad_v[..., columns, :] += weights.mT @ grad[..., rows, :]
                grad_q[..., rows, :] += grad_scores @ k[..., columns, :]
                grad_k[..., columns, :] += grad_scores.mT @ q[..., rows, :]
        return grad_q, grad_k, grad_v, None, None


def _scores(q: Tensor, k: Tensor, allowed: Tensor | Rule | None, rows: slice, columns: slice) -> Tensor:
    """The scores of one tile, -inf where a pair is blocked."""
    scores = (q[..., rows, :] / math.sqrt(q.size(-1))) @ k[..., columns, :].mT
    if allowed is None:
        return scores
    if isinstance(allowed, Tensor):
        tile = allowed.expand(*allowed.shape[:-2], q.size(-2), k.size(-2))[..., rows, columns]
    else:
        query = torch.arange(rows.start, rows.start + scores.size(-2), device=q.device)
        key = torch.arange(columns.start, columns.start + scores.size(-1), device=q.device)
        tile = allowed(query.unsqueeze(-1), key)
        bool_mask("True = may attend", **{"the result of allowed": tile})
    return scores.masked_fill(~tile, -torch.inf)


def _nothing_read(q: Tensor, v: Tensor) -> Read:
    zeros = q.new_zeros(*q.shape[:-1], 1)
    return Read(zeros - torch.inf, zeros, zeros.expand(*q.shape[:-1], v.size(-1)))


def _finite(highest: Tensor) -> Tensor:
    """What to subtract: -inf - -inf would be NaN where no key is allowed yet."""
    return highest.masked_fill(highest == -torch.inf, 0.0)


def _blocks(length: int, size: int) -> Iterator[slice]:
    return (slice(start, min(start + size, length)) for start in range(0, length, size))
