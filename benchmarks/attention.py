"""attend(), forward and backward, as a multiple of the time of other people's attention.

Both sides of a pair run in turn, in one process and on one thread, so that whatever slows the machine slows both.
"""

import math
import statistics
import time
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

from benchmarks import report
from lessons.attention import attend
from lessons.masks import causal, combine, padding_from_lengths

SIZES, TINY = ((32, 4, 12, 16), (8, 8, 128, 64), (1, 4, 512, 32)), ((2, 2, 8, 4),)  # B, H, T, D
WARM_UP, ROUNDS = 5, 60
GOAL_FUSED = 1.05  # within 5 %
GOAL_READABLE = 1.0  # no slower

Attention = Callable[[Tensor, Tensor, Tensor, Tensor | None], Tensor]


def fused(q: Tensor, k: Tensor, v: Tensor, allowed: Tensor | None) -> Tensor:
    return attend(q, k, v, allowed, need_weights=False)[0]


def readable(q: Tensor, k: Tensor, v: Tensor, allowed: Tensor | None) -> Tensor:
    return attend(q, k, v, allowed)[0]


def of_torch(q: Tensor, k: Tensor, v: Tensor, allowed: Tensor | None) -> Tensor:
    return F.scaled_dot_product_attention(q, k, v, attn_mask=allowed)


def of_the_annotated_transformer(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None) -> Tensor:
    """The formula of The Annotated Transformer, as it is usually written."""
    scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(q.size(-1))
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -1e9)
    return torch.matmul(scores.softmax(dim=-1), v)


def seconds(attention: Attention, inputs: list[Tensor], allowed: Tensor | None, gradient: Tensor) -> float:
    for x in inputs:
        x.grad = None
    start = time.perf_counter()
    attention(*inputs, allowed).backward(gradient)
    return time.perf_counter() - start


def median_ratio(
    ours: Attention, theirs: Attention, sizes: tuple[int, ...], allowed: Tensor | None, rounds: int
) -> float:
    inputs = [torch.randn(sizes, requires_grad=True) for _ in range(3)]
    gradient = torch.randn(sizes)
    torch.testing.assert_close(ours(*inputs, allowed), theirs(*inputs, allowed))
    ratios = []
    for i in range(WARM_UP + rounds):
        pair = (ours, theirs) if i % 2 else (theirs, ours)
        took = {attention: seconds(attention, inputs, allowed, gradient) for attention in pair}
        ratios.append(took[ours] / took[theirs])
    return statistics.median(ratios[WARM_UP:])


def compare(sizes: tuple[int, ...], rounds: int) -> None:
    batch_size, _, length, _ = sizes
    lengths = torch.linspace(length, length // 2, batch_size).long()
    masks = {"no mask": None, "causal & padding": combine(causal(length), padding_from_lengths(lengths))}
    for name, allowed in masks.items():
        ratio = median_ratio(fused, of_torch, sizes, allowed, rounds)
        report(f"{length} tokens, without weights / torch, {name}", ratio, "×", GOAL_FUSED)
    for name, allowed in masks.items():
        ratio = median_ratio(readable, of_the_annotated_transformer, sizes, allowed, rounds)
        report(
            f"attention, {length} tokens, with weights, {name}",
            ratio,
            "×",
            GOAL_READABLE,
            peer="plain formulation's time",
        )


def main(*, smoke: bool = False) -> None:
    all_sizes, rounds = (TINY, 1) if smoke else (SIZES, ROUNDS)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    try:
        for sizes in all_sizes:
            compare(sizes, rounds)
    finally:
        torch.set_num_threads(threads)
