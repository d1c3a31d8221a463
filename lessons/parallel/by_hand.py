"""Data parallel training by hand, as lesson 18 shows it: new processes, a sum over them, and the steps of one process.

PyTorch Distributed: Experiences on Accelerating Data Parallel Training, arXiv 2006.15704.
"""

import multiprocessing
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import Tensor, nn
from torch.multiprocessing.spawn import start_processes
from torch.nn.parallel import DistributedDataParallel

from lessons._checks import positive
from lessons.config import TransformerConfig
from lessons.tasks import Task
from lessons.training import shift
from lessons.transformer import Transformer

BATCH_SIZE, RATE = 8, 0.5  # of all processes together
START = "forkserver" if sys.platform == "linux" else "spawn"  # to import torch again takes longer than the work
multiprocessing.set_forkserver_preload([torch.__name__])


def together(function: Callable[..., Any], count: int, *arguments: Any) -> list[Any]:
    """Run function(rank, count, *arguments) in `count` new processes that can talk to each other; what each returned.

    function: from a module, because the new processes import it. They meet in a file, so no port is needed, and each
    has one thread. If one raises an exception, the others are ended, and a ProcessRaisedException repeats it here.
    """
    positive(count=count)
    with TemporaryDirectory() as folder:
        start_processes(_join, (function, count, folder, arguments), nprocs=count, start_method=START)
        return [torch.load(Path(folder, f"{rank}.pt"), weights_only=False) for rank in range(count)]


def _join(rank: int, function: Callable[..., Any], count: int, folder: str, arguments: tuple[Any, ...]) -> None:
    torch.set_num_threads(1)
    meeting = dist.FileStore(str(Path(folder, "meeting")), count)  # pyright: ignore[reportPrivateImportUsage]
    dist.init_process_group("gloo", store=meeting, rank=rank, world_size=count)
    try:
        torch.save(function(rank, count, *arguments), Path(folder, f"{rank}.pt"))
    finally:
        dist.destroy_process_group()


def add_up(x: Tensor) -> Tensor:
    """Replace x, in every process, by the sum over all processes: an all-reduce. A process alone keeps what it has."""
    if dist.is_initialized():
        dist.all_reduce(x)
    return x


def train_by_hand(rank: int, count: int, task: Task, config: TransformerConfig, steps: int = 20) -> Tensor:
    """All weights, in one row, after some steps in which each process has a slice of every batch."""
    model = _start(config)
    for step in range(1, steps + 1):
        summed, tokens = slice_loss(model, task, step, rank, count)
        (summed / add_up(tokens)).backward()
        _descend(model, add_up(gradients_of(model)))
    return nn.utils.parameters_to_vector(model.parameters()).detach()


def train_with_ddp(rank: int, count: int, task: Task, config: TransformerConfig, steps: int = 20) -> Tensor:
    """The same, by DistributedDataParallel: it adds the gradients up while they are computed, and divides by count."""
    model = _start(config)
    parallel = DistributedDataParallel(model)
    for step in range(1, steps + 1):
        summed, tokens = slice_loss(parallel, task, step, rank, count)
        (summed / add_up(tokens) * count).backward()
        _descend(model, gradients_of(model))
    return nn.utils.parameters_to_vector(model.parameters()).detach()


def slice_loss(model: nn.Module, task: Task, step: int, rank: int, count: int) -> tuple[Tensor, Tensor]:
    """For every count-th pair of a batch, from place `rank` on: the sum of the tokens' losses, and their number."""
    src, tgt = task.step_batch(BATCH_SIZE, step=step, seed=0, share=(rank, count))
    inputs, targets = shift(tgt)
    pad_id = task.tgt_vocab.pad_id
    logits, _ = model(src, inputs)
    summed = F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=pad_id, reduction="sum")
    return summed, (targets != pad_id).sum()


def gradients_of(model: nn.Module) -> Tensor:
    """The gradients of all weights, in one row: one sum over the processes instead of one for each tensor."""
    return torch.cat([x.grad.flatten() for x in model.parameters() if x.grad is not None])


def _start(config: TransformerConfig) -> Transformer:
    """The same start in every process, in float64: what is left of a difference is not rounding."""
    torch.manual_seed(0)
    return Transformer(config).double()


def _descend(model: nn.Module, gradients: Tensor) -> None:
    """One step of plain gradient descent. (To import torch.optim takes longer than all steps together.)"""
    weights = nn.utils.parameters_to_vector(model.parameters()).detach()
    nn.utils.vector_to_parameters(weights - RATE * gradients, model.parameters())
    model.zero_grad()


class Seconds(NamedTuple):
    """Of one step, the medians: forward and backward; adding up the gradients; adding up a single number."""

    computing: float
    gradients: float
    number: float


def measure_step(rank: int, count: int, config: TransformerConfig, length: int, batch: int, rounds: int) -> Seconds:
    """How long the parts of a step take when `count` processes divide a batch of pairs of this length.

    A barrier comes before the sums, so that waiting for a slower process counts as computing. count has to divide
    batch, which is a ValueError otherwise.
    """
    if batch % count:
        raise ValueError(f"batch is {batch}; expected a multiple of count = {count}")
    torch.manual_seed(0)
    model = Transformer(config)
    ids = torch.randint(4, config.src_vocab_size, (batch // count, length))
    found = []
    for _ in range(rounds + 1):  # the first is slower: it allocates
        model.zero_grad()
        times = [time.perf_counter()]
        model(ids, ids)[0].sum().backward()
        if dist.is_initialized():
            dist.barrier()
        times.append(time.perf_counter())
        gradients = gradients_of(model)
        times.append(time.perf_counter())
        add_up(gradients)
        times.append(time.perf_counter())
        add_up(torch.ones(1))
        times.append(time.perf_counter())
        found.append([times[1] - times[0], times[3] - times[2], times[4] - times[3]])
    return Seconds(*torch.tensor(found[1:]).median(dim=0).values.tolist())
