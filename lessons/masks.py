"""Attention masks: one bool tensor `allowed`, where True means "this query may attend to this key".

Every mask here broadcasts to (B, H, Q, K), and masks are combined with `&`. Other libraries use two other
conventions; the converters at the end of this file translate between the three:

    allowed    bool, True = may attend         this course, F.scaled_dot_product_attention
    blocked    bool, True = may not attend     nn.MultiheadAttention, nn.Transformer
    additive   float, 0 or -inf, added to the scores before the softmax
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from lessons._checks import kind, whole


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
        _require_bool(rule, "a rule", "True = may attend")
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


def allowed_to_blocked(allowed: Tensor) -> Tensor:
    """True = may attend -> True = may not attend. Same shape."""
    _require_bool(allowed, "allowed", "True = may attend")
    return ~allowed


def blocked_to_allowed(blocked: Tensor) -> Tensor:
    """True = may not attend -> True = may attend. Same shape."""
    _require_bool(blocked, "blocked", "True = may not attend")
    return ~blocked


def allowed_to_additive(allowed: Tensor, *, dtype: torch.dtype = torch.float32) -> Tensor:
    """True = may attend -> 0 for allowed pairs, -inf for blocked ones. Same shape, dtype `dtype`."""
    _require_bool(allowed, "allowed", "True = may attend")
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


def _holds_integers(tensor: Tensor) -> bool:
    return not tensor.is_floating_point() and not tensor.is_complex() and tensor.dtype != torch.bool


def _require_bool(mask: Tensor, name: str, meaning: str) -> None:
    if not isinstance(mask, Tensor) or mask.dtype != torch.bool:
        raise ValueError(f"{name} is {kind(mask)}; expected a bool tensor, {meaning}")
