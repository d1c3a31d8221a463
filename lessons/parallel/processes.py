"""The processes that train one model together. torchrun starts them, torch.distributed connects them.

PyTorch Distributed: Experiences on Accelerating Data Parallel Training, arXiv 2006.15704.
"""

import os
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import NoReturn, TypeVar, cast

import torch
import torch.distributed as dist

from lessons._checks import above_zero

T = TypeVar("T")
PATIENCE = 30.0  # seconds that a process waits for the others
UNTIL_ALL_HAVE_COME = timedelta(days=1)  # the first may have data to prepare


class ProcessLost(RuntimeError):
    """Another process has ended, or no longer answers."""


class ElsewhereError(RuntimeError):
    """What `together` raises in the processes where the action itself was fine."""


@dataclass(frozen=True)
class Processes:
    """rank: which process this is, from 0. count: how many there are. patience: seconds to wait for the others.

    group: how torch.distributed knows them; None for a process alone.
    """

    rank: int = 0
    count: int = 1
    patience: float = PATIENCE
    group: dist.ProcessGroup | None = None

    @property
    def is_first(self) -> bool:
        return self.rank == 0

    def sums(self, *numbers: float) -> list[float]:
        """Each number, added over all processes."""
        if self.count == 1:
            return list(numbers)
        summed = torch.tensor(numbers, dtype=torch.float64)
        with self.noticing():
            dist.all_reduce(summed, group=self.group)
        return summed.tolist()

    def together(self, action: Callable[[], T]) -> T:
        """Run the action in each process, and wait for all. If it raises an exception in one, it does in all."""
        if self.count == 1:
            return action()
        result, error = None, None
        try:
            result = action()
        except Exception as raised:
            error = raised
        (failed,) = self.sums(error is not None)
        if failed:
            sentences: list[str | None] = [None] * self.count
            with self.noticing():
                dist.all_gather_object(sentences, None if error is None else str(error), group=self.group)
            if error is not None:
                raise error
            rank, sentence = next((i, text) for i, text in enumerate(sentences) if text is not None)
            raise ElsewhereError(f"process {rank} of {self.count}: {sentence}")
        return result  # type: ignore[return-value]

    @contextmanager
    def noticing(self) -> Generator[None]:
        """Inside `with`, the loss of another process is a ProcessLost."""
        try:
            yield
        except RuntimeError as error:
            if self.count == 1 or not (isinstance(error, dist.DistError) or "gloo" in str(error).lower()):
                raise
            raise ProcessLost(
                f"process {self.rank} of {self.count} stops: another process has ended, or has not answered for "
                f"{self.patience:g} seconds."
            ) from error


ALONE = Processes()


@contextmanager
def joined(device: torch.device | str = "cpu", *, patience: float = PATIENCE) -> Generator[Processes]:
    """Inside `with`, the processes that torchrun started with this one; without torchrun, this process alone.

    It waits until all have come. device: where the model will be; GPUs are connected by NCCL in addition. patience:
    seconds to wait for the others from then on.
    """
    above_zero(patience=patience)
    if "WORLD_SIZE" not in os.environ:
        yield ALONE
        return
    backend = "gloo" if torch.device(device).type == "cpu" else "cpu:gloo,cuda:nccl"
    dist.init_process_group(backend, timeout=UNTIL_ALL_HAVE_COME)
    try:
        group = cast(dist.ProcessGroup, dist.new_group(timeout=timedelta(seconds=patience)))
        yield Processes(dist.get_rank(), dist.get_world_size(), patience, group)
    finally:
        dist.destroy_process_group()


def leave(status: int = 0) -> NoReturn:
    """End this process with what it has printed, and at once.

    DistributedDataParallel never lets go of its group, whose threads may still want Python when it ends: an abort.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)
