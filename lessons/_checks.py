"""Checks of arguments for the whole package. A bad value raises a ValueError: "<name> is <value>; expected …".

Each check takes its values by name, so that the message can name them: `positive(d_model=d_model, d_ff=d_ff)`. True
and False don't count as numbers, and 8.0 doesn't count as a whole number.
"""

from collections.abc import Callable, Collection
from typing import TypeGuard

import numpy as np
import torch
from torch import Tensor


def whole(least: int, most: int | None = None, /, **numbers: object) -> None:
    """Whole numbers, at least `least` and, if `most` is given, at most `most`."""
    expected = f"a whole number, {least} or more" if most is None else f"a whole number from {least} to {most}"
    for name, value in numbers.items():
        fits = isinstance(value, int) and least <= value and (most is None or value <= most)
        if not fits or isinstance(value, bool):
            raise refusal(name, value, expected)


def positive(**sizes: object) -> None:
    """Whole numbers, 1 or more: sizes, counts and lengths that can't be 0."""
    whole(1, **sizes)


def above_zero(**numbers: object) -> None:
    """Finite numbers above 0."""
    for name, value in numbers.items():
        if not is_number(value) or not 0 < value < float("inf"):
            raise refusal(name, value, "a number above 0")


def zero_or_more(**numbers: object) -> None:
    """Finite numbers, 0 or more."""
    for name, value in numbers.items():
        if not is_number(value) or not 0 <= value < float("inf"):
            raise refusal(name, value, "a number, 0 or more")


def fraction(**numbers: object) -> None:
    """Numbers from 0 up to, but not including, 1: dropout, label smoothing."""
    for name, value in numbers.items():
        if not is_number(value) or not 0 <= value < 1:
            raise refusal(name, value, "a fraction from 0 up to, but not including, 1")


def between(low: float, high: float, /, **numbers: object) -> None:
    """Numbers from `low` to `high`, both included."""
    for name, value in numbers.items():
        if not is_number(value) or not low <= value <= high:
            raise refusal(name, value, f"a number from {low:g} to {high:g}")


def switch(**values: object) -> None:
    """True or False, not 1 or 0."""
    for name, value in values.items():
        if not isinstance(value, bool):
            raise refusal(name, value, "True or False")


def one_of(choices: Collection[object], **values: object) -> None:
    for name, value in values.items():
        if value not in list(choices):  # a list, because a dict can't be asked for an unhashable value
            raise refusal(name, value, f"one of {', '.join(map(repr, choices))}")


def optional(check: Callable[..., None], **values: object) -> None:
    """Values that pass `check`, or None."""
    for name, value in values.items():
        if value is not None:
            try:
                check(**{name: value})
            except ValueError as error:
                raise ValueError(f"{error}, or None") from None


def bool_mask(meaning: str, /, **masks: object) -> None:
    """Bool tensors; meaning: what True says in them."""
    for name, mask in masks.items():
        if not isinstance(mask, Tensor) or mask.dtype != torch.bool:
            raise ValueError(f"{name} is {kind(mask)}; expected a bool tensor, {meaning}")


def mask_axes(**masks: Tensor) -> None:
    """Masks for attention in several heads: (Q, K), or four axes."""
    for name, mask in masks.items():
        if mask.dim() not in (2, 4):
            raise ValueError(
                f"{name} has shape {tuple(mask.shape)}; expected (Q, K) or four axes (B, H, Q, K): with three axes the "
                f"first could be the batch or the heads; for one mask per sentence pass {name}[:, None]"
            )


def mask_fits(mask: Tensor, shape: tuple[int, ...]) -> bool:
    """Whether a mask broadcasts to this shape."""
    return mask.dim() <= len(shape) and all(a in (1, s) for a, s in zip(reversed(mask.shape), reversed(shape)))


def attention_axes(q: Tensor, k: Tensor, v: Tensor, allowed: Tensor | None) -> tuple[int, ...]:
    """Sizes that fit: q (..., Q, d), k (..., K, d), v (..., K, d_v), and a mask that broadcasts to (..., Q, K).

    Returns the shape that the leading axes broadcast to.
    """
    for name, x in (("q", q), ("k", k), ("v", v)):
        if x.dim() < 2:
            raise ValueError(f"{name} has shape {tuple(x.shape)}; expected at least two axes, (length, features)")
    if q.size(-1) != k.size(-1):
        raise ValueError(f"q has {q.size(-1)} features and k has {k.size(-1)}; expected the same number")
    if k.size(-2) != v.size(-2):
        raise ValueError(f"there are {k.size(-2)} keys and {v.size(-2)} values; expected one value for each key")
    try:
        same = q.shape[:-2] == k.shape[:-2] == v.shape[:-2]
        leading = q.shape[:-2] if same else np.broadcast_shapes(q.shape[:-2], k.shape[:-2], v.shape[:-2])
    except ValueError:
        shapes = f"q {tuple(q.shape)}, k {tuple(k.shape)}, v {tuple(v.shape)}"
        raise ValueError(f"{shapes}: expected leading axes (all but the last two) that broadcast together") from None
    if allowed is None:
        return leading
    bool_mask("True = may attend", allowed=allowed)
    scores_shape = (*leading, q.size(-2), k.size(-2))
    if not mask_fits(allowed, scores_shape):
        raise ValueError(
            f"allowed has shape {tuple(allowed.shape)}; expected one that broadcasts to {scores_shape}, "
            "whose last two axes are queries and keys"
        )
    return leading


def kind(value: object) -> str:
    """What a value is, for an error message: "a tensor of torch.float32", "a list"."""
    return f"a tensor of {value.dtype}" if isinstance(value, Tensor) else f"a {type(value).__name__}"


def refusal(name: str, value: object, expected: str) -> ValueError:
    return ValueError(f"{name} is {value!r}; expected {expected}")


def is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)
