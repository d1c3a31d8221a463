"""What a layer costs: multiply-adds, products that wait for one another, hops from token to token, seconds.

Attention Is All You Need (arXiv 1706.03762), section 4 and table 1.
"""

import time
from collections.abc import Callable, Sequence
from statistics import median
from typing import Any

import torch
from torch import Tensor
from torch.utils.flop_counter import FlopCounterMode

from lessons._checks import positive
from lessons.probes import influence

PRODUCTS = ("Addmm", "Baddbmm", "Bmm", "Mm", "Convolution")  # how torch names them in its record for the gradients


def multiply_adds(run: Callable[[], object]) -> int:
    """How many multiplications with an addition `run()` performs; torch counts each as two FLOPs."""
    with FlopCounterMode(display=False) as counter:
        run()
    return counter.get_total_flops() // 2


def longest_chain(result: Tensor) -> int:
    """How many matrix products had to wait for one another until `result` was there.

    Read from torch's record for the gradients, so `result` must have one: it needs parameters and gradients.
    """
    if result.grad_fn is None:
        raise ValueError("result has no grad_fn; expected what a layer computed with gradients switched on")
    chains: dict[Any, int] = {}  # the longest chain that ends in each operation
    waiting: list[Any] = [result.grad_fn]
    while waiting:
        operation = waiting[-1]
        earlier = [before for before, _ in operation.next_functions if before is not None]
        unknown = [before for before in earlier if before not in chains]
        waiting.extend(unknown)
        if not unknown:
            longest = max((chains[before] for before in earlier), default=0)
            chains[operation] = longest + operation.name().startswith(PRODUCTS)
            waiting.pop()
    return chains[result.grad_fn]


def hops(layers: Sequence[Callable[[Tensor], Tensor]], x: Tensor) -> int:
    """After how many of these layers the last token depends on the first one.

    layers: what each hop does, (T, D) -> (T, D); the last one is repeated. x (T, D): tokens to try it on.
    If the last token is not reached within T - 1 hops, that is a ValueError.
    """
    if not layers or x.dim() != 2 or len(x) < 2:
        given = f"layers has {len(layers)}, x has shape {tuple(x.shape)}"
        raise ValueError(f"{given}; expected one layer or more, and two tokens or more, (T, D)")
    moves = [influence(layer, x, draws=1) for layer in layers]
    reached = torch.eye(len(x), dtype=torch.bool)
    for number in range(len(x) - 1):
        move = moves[min(number, len(moves) - 1)]
        reached = (move.float() @ reached.float()) > 0
        if reached[-1, 0]:
            return number + 1
    raise ValueError(f"layers does not lead from the first token to the last within {len(x) - 1} hops")


def cpu_seconds(run: Callable[[], object], *, repeats: int = 9) -> float:
    """The median of the processor's time for `run()`, after a first run that does not count."""
    positive(repeats=repeats)
    run()
    taken: list[float] = []
    for _ in range(repeats):
        start = time.process_time()
        run()
        taken.append(time.process_time() - start)
    return median(taken)
