"""Attention masks: one bool tensor `allowed`, where True means "this query may attend to this key".

Every mask here broadcasts to (B, H, Q, K), and masks are combined with `&`. Other libraries use two other
conventions; the converters at the end of this file translate between the three:

    allowed    bool, True = may attend         this course, F.scaled_dot_product_attention
    blocked    bool, True = may not attend     nn.MultiheadAttention, nn.Transformer
    additive   float, 0 or -inf, added to the scores before the softmax
"""

from collections.abc import Sequence
from itertools import accumulate

import numpy as np
import torch
from torch import Tensor

from lessons._checks import bool_mask, kind, positive, whole


def causal(num_queries: int, *, offset: int = 0, device: torch.device | str | None = None) -> Tensor:
    """The causal mask of the decoder: a position may attend to itself and to earlier positions.

    Returns `allowed` of shape (Q, K) with K = offset + num_queries; True = may attend. `offset` is the
    number of keys before the first query, as with a cache: query i may attend to keys 0 … offset + i.

    Attention Is All You Need, section 3.2.3.
    """
    whole(0, num_queries=num_queries, offset=offset)
    query = torch.arange(num_queries, device=device).unsqueeze(-1)  # (Q, 1)
    key = torch.arange(offset + num_queries, device=device)  # (K,)
    return key <= query + offset  # (Q, K)


def padding(ids: Tensor, *, pad_id: int) -> Tensor:
    """The padding mask: no query may attend to a padding token. It depends on the key only.

    ids (B, K), integers. Returns `allowed` of shape (B, 1, 1, K); True = a real token.
    """
    if not isinstance(ids, Tensor) or not _holds_integers(ids):
        raise ValueError(f"ids is {kind(ids)}; expected a tensor of integers")
    if ids.dim() != 2:
        raise ValueError(f"ids has shape {tuple(ids.shape)}; expected (B, K)")
    return (ids != pad_id)[:, None, None, :]


def padding_from_lengths(
    lengths: Tensor | Sequence[int], *, max_len: int | None = None, device: torch.device | str | None = None
) -> Tensor:
    """The mask of `padding`, from the lengths of the sentences instead of their ids; padding is on the right.

    lengths: B integers. Returns `allowed` of shape (B, 1, 1, K), True for the first `lengths[b]` keys of
    sentence b. K is max_len, which defaults to the longest length.
    """
    if max_len is not None:
        whole(0, max_len=max_len)
    try:
        numbers = torch.as_tensor(lengths, device=device)
    except (TypeError, ValueError):
        numbers = torch.empty(0)
    if numbers.dim() != 1 or not _holds_integers(numbers) or not len(numbers):
        raise ValueError(f"lengths is {lengths}; expected a list of one or more integers")
    lengths = numbers
    longest = int(lengths.max())
    num_keys = longest if max_len is None else max_len
    if int(lengths.min()) < 0 or longest > num_keys:
        raise ValueError(f"lengths is {lengths.tolist()}; expected each from 0 to max_len = {num_keys}")
    return (torch.arange(num_keys, device=lengths.device) < lengths[:, None])[:, None, None, :]


def combine(*rules: Tensor | None) -> Tensor | None:
    """Several masks as one: a query may attend to a key if every mask allows it.

    Each rule is a bool tensor, True = may attend, and they broadcast against each other; None allows
    everything. Returns the broadcast mask, or None if all rules are None.
    """
    given = [rule for rule in rules if rule is not None]
    for rule in given:
        bool_mask("True = may attend", **{"a rule": rule})
    if not given:
        return None
    try:
        shape = np.broadcast_shapes(*(rule.shape for rule in given))
    except ValueError:
        shapes = ", ".join(str(tuple(rule.shape)) for rule in given)
        raise ValueError(f"the rules have shapes {shapes}; expected shapes that broadcast together") from None
    allowed = torch.ones(shape, dtype=torch.bool, device=given[0].device)
    for rule in given:
        allowed = allowed & rule
    return allowed


# The rules of today's models. Each is one tensor (Q, K) with K = offset + Q, and joins with `causal` by `&`.


def sliding_window(
    num_queries: int, window: int, *, offset: int = 0, device: torch.device | str | None = None
) -> Tensor:
    """The last `window` keys of each query, its own included. It joins with causal(num_queries, offset=offset) by `&`.

    Returns `allowed` (Q, K) with K = offset + num_queries; True = may attend. `offset` is the number of keys before the
    first query.

    Longformer, arXiv 2004.05150, section 3.1.
    """
    positive(window=window)
    query, key = _positions(num_queries, offset, device)
    return key > query - window


def window_with_sinks(
    num_queries: int, window: int, sinks: int, *, offset: int = 0, device: torch.device | str | None = None
) -> Tensor:
    """A sliding window, and the first `sinks` keys of the text for every query. Arguments and result: `sliding_window`.

    Efficient Streaming Language Models with Attention Sinks, arXiv 2309.17453, section 3.2.
    """
    whole(0, sinks=sinks)
    near = sliding_window(num_queries, window, offset=offset, device=device)
    return near | (torch.arange(offset + num_queries, device=device) < sinks)


def prefix_causal(
    num_queries: int, prefix: int, *, offset: int = 0, device: torch.device | str | None = None
) -> Tensor:
    """Causal, except that every query sees the whole prefix: the first `prefix` keys, the ones after it included.

    This rule stands in the place of `causal`. Returns `allowed` (Q, K) with K = offset + num_queries.

    T5, arXiv 1910.10683, section 3.2.1: "prefix LM".
    """
    whole(0, prefix=prefix)
    query, key = _positions(num_queries, offset, device)
    return (key <= query) | (key < prefix)


def packed(lengths: Sequence[int], *, offset: int = 0, device: torch.device | str | None = None) -> Tensor:
    """Several documents one after the other in one row: a query sees the keys of its own document.

    lengths: of the documents, whole numbers; they sum to K. Q = K - offset: the first `offset` tokens are keys only.
    Returns `allowed` (Q, K). The tokens of each document also need positions that start anew.

    T5, arXiv 1910.10683, section 3.1.2. Mask: Llama 3, arXiv 2407.21783, section 3.2.
    """
    if isinstance(lengths, Tensor | str) or not isinstance(lengths, Sequence):
        raise ValueError(f"lengths is {kind(lengths)}; expected a list of whole numbers")
    for document, length in enumerate(lengths):
        whole(0, **{f"lengths[{document}]": length})
    num_keys = sum(lengths)
    whole(0, num_keys, offset=offset)
    query, key = _positions(num_keys - offset, offset, device)
    ends = torch.tensor(list(accumulate(lengths)), dtype=torch.long, device=device)
    return (query.unsqueeze(-1) >= ends).sum(-1) == (key.unsqueeze(-1) >= ends).sum(-1)  # documents that ended before


def local_and_global(
    num_queries: int, window: int, global_tokens: int, *, offset: int = 0, device: torch.device | str | None = None
) -> Tensor:
    """Keys nearer than `window` on both sides; the first `global_tokens` tokens see all keys, and all queries see them.

    Returns `allowed` (Q, K) with K = offset + num_queries. Longformer, arXiv 2004.05150, section 3.1.
    """
    positive(window=window)
    whole(0, global_tokens=global_tokens)
    query, key = _positions(num_queries, offset, device)
    return ((query - key).abs() < window) | (query < global_tokens) | (key < global_tokens)


def strided(num_queries: int, stride: int, *, offset: int = 0, device: torch.device | str | None = None) -> Tensor:
    """Each `stride`-th key, counted from the query. With sliding_window(Q, n * stride): a dilated window of n keys.

    Returns `allowed` (Q, K) with K = offset + num_queries. Sparse Transformers, arXiv 1904.10509, section 4.3.
    """
    positive(stride=stride)
    query, key = _positions(num_queries, offset, device)
    return (query - key) % stride == 0


def chunked(num_queries: int, chunk: int, *, offset: int = 0, device: torch.device | str | None = None) -> Tensor:
    """The text in chunks of `chunk` tokens: a query sees the keys of its own chunk, as in most layers of Llama 4.

    Returns `allowed` (Q, K) with K = offset + num_queries.
    """
    positive(chunk=chunk)
    query, key = _positions(num_queries, offset, device)
    return query // chunk == key // chunk


def tree(parents: Sequence[int], *, offset: int = 0, device: torch.device | str | None = None) -> Tensor:
    """Guesses that branch, read in one pass: a query sees the `offset` keys before the tree, its ancestors and itself.

    parents: for each query the index of its parent, an earlier query, or -1 if it has none. Returns `allowed` (Q, K)
    with K = offset + Q. It needs no `causal`.

    SpecInfer, arXiv 2305.09781, section 4.2.
    """
    if isinstance(parents, Tensor | str) or not isinstance(parents, Sequence):
        raise ValueError(f"parents is {kind(parents)}; expected a list of whole numbers")
    whole(0, offset=offset)
    ancestors = torch.eye(len(parents), dtype=torch.bool, device=device)
    for query, parent in enumerate(parents):
        whole(-1, query - 1, **{f"parents[{query}]": parent})
        if parent >= 0:
            ancestors[query] |= ancestors[parent]
    return torch.cat([ancestors.new_ones(len(parents), offset), ancestors], dim=-1)


# Converters between the three conventions.


def allowed_to_blocked(allowed: Tensor) -> Tensor:
    """True = may attend -> True = may not attend. Same shape."""
    bool_mask("True = may attend", allowed=allowed)
    return ~allowed


def blocked_to_allowed(blocked: Tensor) -> Tensor:
    """True = may not attend -> True = may attend. Same shape."""
    bool_mask("True = may not attend", blocked=blocked)
    return ~blocked


def allowed_to_additive(allowed: Tensor, *, dtype: torch.dtype = torch.float32) -> Tensor:
    """True = may attend -> 0 for allowed pairs, -inf for blocked ones. Same shape, dtype `dtype`."""
    bool_mask("True = may attend", allowed=allowed)
    if not isinstance(dtype, torch.dtype) or not dtype.is_floating_point:
        raise ValueError(f"dtype is {dtype}; expected a floating-point type: others have no -inf")
    return torch.zeros(allowed.shape, dtype=dtype, device=allowed.device).masked_fill(~allowed, -torch.inf)


def additive_to_allowed(additive: Tensor) -> Tensor:
    """0 = may attend, -inf = may not -> True = may attend. Same shape.

    Any other number is a ValueError: -1e9 gives an empty row even weights instead of NaN, and a finite bias is
    not a mask.
    """
    if not isinstance(additive, Tensor) or not additive.is_floating_point():
        raise ValueError(f"additive is {kind(additive)}; expected a float tensor of 0 and -inf")
    allowed = additive == 0
    strange = additive[~allowed & (additive != -torch.inf)]
    if len(strange):
        raise ValueError(f"additive contains {strange[0].item():g}; expected only 0 and -inf")
    return allowed


def blocked_to_additive(blocked: Tensor, *, dtype: torch.dtype = torch.float32) -> Tensor:
    """True = may not attend -> -inf for blocked pairs, 0 for allowed ones. Same shape, dtype `dtype`."""
    return allowed_to_additive(blocked_to_allowed(blocked), dtype=dtype)


def additive_to_blocked(additive: Tensor) -> Tensor:
    """0 = may attend, -inf = may not -> True = may not attend. Same shape."""
    return ~additive_to_allowed(additive)


def _positions(num_queries: int, offset: int, device: torch.device | str | None) -> tuple[Tensor, Tensor]:
    """Where the queries and the keys stand in the text: (Q, 1) and (K,)."""
    whole(0, num_queries=num_queries, offset=offset)
    query = torch.arange(offset, offset + num_queries, device=device).unsqueeze(-1)
    return query, torch.arange(offset + num_queries, device=device)


def _holds_integers(tensor: Tensor) -> bool:
    return not tensor.is_floating_point() and not tensor.is_complex() and tensor.dtype != torch.bool
