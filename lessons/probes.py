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


def true_lets_look(attention: Callable[[Tensor, Tensor], Tensor], x: Tensor) -> bool:
    """What a library means by True in its mask, found out by trying: True = may look, False = may not.

    attention: (x (T, D), mask (T, T) of bools) -> (T, anything), without randomness; rows of the mask are queries.
    x (T, D), two tokens or more. An attention that moves in the same way with and without True is a ValueError.
    """
    if x.dim() != 2 or x.size(0) < 2:
        raise ValueError(f"x has shape {tuple(x.shape)}; expected (T, D) with two tokens or more")
    pair = torch.zeros(x.size(0), x.size(0), dtype=torch.bool)
    pair[0, -1] = True  # one query and one key

    def moves(mask: Tensor) -> bool:
        def masked(tokens: Tensor) -> Tensor:
            return attention(tokens, mask)

        return bool(influence(masked, x)[0, -1])

    if_true, if_false = moves(pair), moves(~pair)
    if if_true == if_false:
        story = "moves" if if_true else "does not move"
        raise ValueError(f"output 0 {story} with the last token, mask or no mask; expected that the mask decides")
    return if_true
