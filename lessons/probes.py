"""What depends on what, found out by trying: change one token, and see which outputs move."""

from collections.abc import Callable

import torch
from torch import Tensor


def influence(function: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
    """Which outputs move when a token is changed: the mask that a function really has.

    function: (T, D) -> (T, anything), without randomness. x (T, D).
    Returns bool (T, T): [i, j] is True where output i moves when token j is changed.
    """
    if x.dim() != 2:
        raise ValueError(f"x has shape {tuple(x.shape)}; expected (T, D)")
    with torch.no_grad():
        before = function(x)
        if before.size(0) != x.size(0):
            raise ValueError(f"function gave {before.size(0)} outputs for {x.size(0)} tokens; expected one each")
        moved = []
        for j in range(x.size(0)):
            changed = x.clone()
            changed[j] += torch.linspace(1.0, 2.0, x.size(1))  # not the same for all: a layer norm would take it away
            same = torch.isclose(function(changed), before, rtol=1e-4, atol=1e-6, equal_nan=True)
            moved.append(~same.reshape(x.size(0), -1).all(dim=1))
    return torch.stack(moved, dim=1)  # column j: what moved when token j was changed


def leaks(function: Callable[[Tensor], Tensor], x: Tensor) -> list[tuple[int, int]]:
    """The pairs (i, j), j after i, in which output i moves when the future token j is changed."""
    return [(i, j) for i, j in influence(function, x).nonzero().tolist() if j > i]
