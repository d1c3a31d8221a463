"""What a layer costs: multiply-adds, products that wait for one another, hops from token to token, seconds, bytes.

Attention Is All You Need (arXiv 1706.03762), section 4 and table 1.
"""

import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from statistics import median
from typing import Any

import torch
from torch import Tensor, UntypedStorage
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_iter
from torch.utils.flop_counter import FlopCounterMode

from lessons._checks import positive
from lessons.probes import influence

# How the names of operations with matrix products begin in torch's record for the gradients, and how many of these
# wait for one another. Fused attention has two: the scores, and the weights times the values.
PRODUCTS = {
    **dict.fromkeys(("Addmm", "Baddbmm", "Bmm", "Mm", "Convolution", "MkldnnLinear"), 1),
    **dict.fromkeys(("ScaledDotProduct", "_Tiled"), 2),
}


def multiply_adds(run: Callable[[], object]) -> int:
    """How many multiplications with an addition `run()` performs; torch counts each as two FLOPs.

    Fused attention is replaced by its two matrix products, of which torch can count each. If `run` does a backward
    pass, let it do the forward pass, too: what was fused before can't be replaced.
    """
    with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:
        run()
    return counter.get_total_flops() // 2


def longest_chain(result: Tensor) -> int:
    """How many matrix products had to wait for one another until `result` was there.

    Read from torch's record for the gradients, so `result` must have one: it needs parameters and gradients. Fused
    attention counts as two products after its queries, keys and values.
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
            chains[operation] = longest + _products(operation.name())
            waiting.pop()
    return chains[result.grad_fn]


def _products(operation: str) -> int:
    return next((products for start, products in PRODUCTS.items() if operation.startswith(start)), 0)


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


def peak_bytes(run: Callable[[], object]) -> int:
    """The most bytes of tensors that `run()` has in memory at one time, its result included.

    What was there before doesn't count, nor does what a kernel keeps to itself. Tensors on the device "meta" have sizes
    and no numbers: with them, it tells what a run would need on a machine with enough memory. If `run` does a backward
    pass, let it do the forward pass, too: what oneDNN computed before can't be looked into.
    """
    with _Alive() as alive:
        result = run()
    del result
    return alive.most


class _Alive(TorchDispatchMode):
    """Adds up the bytes of the tensors that operations make, and subtracts them when they are freed."""

    def __init__(self) -> None:
        super().__init__()
        self.now = self.most = 0
        self.known: dict[int, weakref.ref[UntypedStorage]] = {}

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        for storage in _storages((args, kwargs)):
            self._remember(storage, 0)
        result = function(*args, **(kwargs or {}))
        for storage in _storages(result):
            self._remember(storage, storage.nbytes())
        return result

    def _remember(self, storage: UntypedStorage, size: int) -> None:
        key = id(storage)
        if key in self.known:
            return

        def freed(_: object) -> None:
            self.now -= size
            del self.known[key]

        self.known[key] = weakref.ref(storage, freed)
        self.now += size
        self.most = max(self.most, self.now)


def _storages(values: Any) -> Iterator[UntypedStorage]:
    return (x.untyped_storage() for x in tree_iter(values) if isinstance(x, Tensor))
