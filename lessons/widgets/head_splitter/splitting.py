"""The computation of HeadSplitter: how each number gets into the heads and back, correctly and wrongly."""

from typing import NamedTuple

import torch
from torch import Tensor

from lessons.widgets.head_splitter.constants import DEALT, NOT_BACK, STRAIGHT, WAY, WRONG

CODE = {step["name"]: step["code"] for step in WAY}
WRONG_CODE = {name: way["code"] for name, way in WRONG.items()}
INSTEAD_OF = {name: way["step"] for name, way in WRONG.items()}


class Step(NamedTuple):
    """One step on the way: `code` makes `tensor` of what came before, and of B, T, H, d and D."""

    name: str
    code: str
    tensor: Tensor


class Home(NamedTuple):
    """Where a number belongs."""

    batch: Tensor
    token: Tensor
    head: Tensor
    feature: Tensor


def telling_numbers(batch: int, length: int, width: int) -> Tensor:
    """(B, T, D): the last digit, or the last two where D > 10, is the column; before it the token, then the batch."""
    base = 10 if width <= 10 else 100
    tokens = base * torch.arange(length)[:, None] + torch.arange(width)  # (T, D)
    return (10 * base * torch.arange(batch)[:, None, None] + tokens).float()


def follow(x: Tensor, num_heads: int) -> list[Step]:
    """The right way of x (B, T, H·d) into the heads and back; `contiguous` stands for attention."""
    B, T, D = x.shape
    H, d = num_heads, D // num_heads
    cut = x.view(B, T, H, d)
    heads = cut.transpose(1, 2)  # (B, H, T, d)
    computed = heads.contiguous()
    back = computed.transpose(1, 2)  # (B, T, H, d)
    joined = back.reshape(B, T, D)
    tensors = (x, cut, heads, computed, back, joined)
    return [Step(name, code, tensor) for (name, code), tensor in zip(CODE.items(), tensors)]


def go_wrong(name: str, x: Tensor, num_heads: int) -> Tensor | RuntimeError:
    """The result of a wrong way for x (B, T, H·d), in the shape of the right one; or torch's error."""
    B, T, D = x.shape
    H, d = num_heads, D // num_heads
    if name == STRAIGHT:
        return x.view(B, H, T, d)
    if name == DEALT:
        return x.view(B, T, d, H).permute(0, 3, 1, 2)
    computed = x.view(B, T, H, d).transpose(1, 2).contiguous()
    if name == NOT_BACK:
        return computed.reshape(B, T, D)
    try:
        return computed.transpose(1, 2).view(B, T, D)
    except RuntimeError as error:
        return error


def find_homes(places: Tensor, length: int, num_heads: int, head_dim: int) -> Home:
    """The homes of the numbers at these places in the memory of x."""
    width = num_heads * head_dim
    column = places % width
    return Home(places // (length * width), places // width % length, column // head_dim, column % head_dim)


def compare(name: str, shape: torch.Size, num_heads: int) -> tuple[Tensor, Tensor] | None:
    """The places in the memory of x (B, T, D) that the right and the wrong way read; None where torch raises."""
    places = torch.arange(shape.numel()).view(shape)
    found = go_wrong(name, places, num_heads)
    return None if isinstance(found, RuntimeError) else (follow(places, num_heads)[INSTEAD_OF[name]].tensor, found)
