"""The Trainer, with each batch divided among processes, and in time: gradient accumulation."""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn.parallel import DistributedDataParallel

from lessons._checks import one_of, positive, switch
from lessons.parallel.processes import ALONE, Processes
from lessons.tasks import Batch, Task
from lessons.tasks.task import SEEDS, step_seed
from lessons.training import Progress, Recipe, Trainer, autocast, seeded, shift, token_loss
from lessons.transformer import Transformer

PART_STRIDE = 15_485_863  # between the seeds of two parts of a batch: a prime, far from those of other steps
DEVICES = ("auto", "cpu", "cuda")


def choose_device(name: str = "auto") -> torch.device:
    """The device of this process: with "auto", its own GPU if there is one, otherwise the CPU."""
    one_of(DEVICES, device=name)
    if name == "cuda" and not torch.cuda.is_available():
        raise ValueError("device is 'cuda', but torch sees no GPU; expected 'auto' or 'cpu'")
    if name == "cpu" or not torch.cuda.is_available():
        return torch.device("cpu")
    return torch.device("cuda", int(os.environ.get("LOCAL_RANK", 0)))


def check_parts(batch_size: int, accumulate: int, count: int) -> None:
    """A ValueError for a batch with less than a pair for each of `accumulate` parts in `count` processes."""
    positive(accumulate=accumulate)
    parts = accumulate * count
    if batch_size < parts:
        raise ValueError(
            f"batch_size is {batch_size}; expected {parts} or more, one pair for each of {accumulate} parts in {count} "
            "processes"
        )


class ParallelTrainer(Trainer):
    """Trains a model as `Trainer` does, with the same steps, by several processes.

    Each process computes the gradients of a slice of the batch, every `processes.count`-th pair, in `accumulate` parts,
    one after the other. The loss of a part counts by its target tokens, so the gradients are those of the whole batch,
    however unequal the parts are; dropout alone draws other numbers. A checkpoint can be loaded by another number of
    processes.

    processes: what `joined` gave. accumulate: the number of parts; memory is needed for one. compiled: the model's
    forward pass goes through torch.compile. A batch with less than a pair for each part is a ValueError.
    """

    def __init__(
        self,
        model: Transformer,
        task: Task,
        recipe: Recipe | None = None,
        *,
        processes: Processes = ALONE,
        accumulate: int = 1,
        compiled: bool = False,
    ):
        switch(compiled=compiled)
        super().__init__(model, task, recipe)
        self.processes, self.accumulate = processes, accumulate
        check_parts(self.recipe.batch_size, accumulate, processes.count)
        forward: Callable[..., Any] = self.model
        if processes.count > 1:
            forward = DistributedDataParallel(self.model, process_group=processes.group)
            self._without_exchange: Callable[[], Any] = forward.no_sync
        else:
            self._without_exchange = nullcontext
        self._forward = torch.compile(forward) if compiled else forward

    def fit(self) -> Iterator[Progress]:
        """As `Trainer.fit`; loss, gradient and tokens are those of all processes. A lost process is a ProcessLost."""
        with self.processes.noticing():
            yield from super().fit()

    def save(self, path: str | Path) -> None:
        """The first process saves, as `Trainer.save` does, and the others wait. If it can't, all raise an error."""
        self.processes.together(lambda: super(ParallelTrainer, self).save(path) if self.processes.is_first else None)

    def _read_state(self, path: str | Path, ours: Mapping[str, dict[str, Any]]) -> Any:
        return self.processes.together(lambda: super(ParallelTrainer, self)._read_state(path, ours))

    def _compute_gradients(self, step: int, rate: float) -> tuple[float, int]:
        parts = self.processes.together(lambda: self._parts(step))
        pad_id, seed = self.task.tgt_vocab.pad_id, step_seed(self.recipe.seed, step)
        counts = [int((tgt[:, 1:] != pad_id).sum()) for _, tgt in parts]
        (total,) = self.processes.sums(sum(counts))
        losses = [torch.zeros((), device=self.device)]
        for i, (part, tokens) in enumerate(zip(parts, counts)):
            number = self.processes.rank * self.accumulate + i
            with nullcontext() if i == len(parts) - 1 else self._without_exchange():
                loss = self._loss(part, tokens / max(total, 1), (seed + number * PART_STRIDE) % SEEDS)
                (loss * self.processes.count if self.processes.count > 1 else loss).backward()
            losses.append(loss.detach())
        (loss,) = self.processes.sums(sum(losses[1:], losses[0]).item())
        self._check_finite("loss", torch.tensor(loss), step, rate)
        return loss, int(total)

    def _loss(self, part: Batch, weight: float, seed: int) -> Tensor:
        """The mean loss of a part, times weight: the fraction of the batch's tokens that it has."""
        src, tgt = (ids.to(self.device) for ids in part)
        inputs, targets = shift(tgt)
        with seeded(seed, self.device), autocast(self.recipe.precision, self.device):
            logits, _ = self._forward(src, inputs)
        if weight == 0:
            return logits.float().sum() * 0.0  # so that every process has gradients to exchange
        pad_id = self.task.tgt_vocab.pad_id
        return token_loss(logits.float(), targets, pad_id=pad_id, smoothing=self.recipe.smoothing) * weight

    def _parts(self, step: int) -> list[Batch]:
        """This process's slice of the batch, divided; only padding if there is nothing for it."""
        share = self.processes.rank, self.processes.count
        batch = self.task.step_batch(self.recipe.batch_size, step=step, seed=self.recipe.seed, share=share)
        parts = [Batch(*(ids[i :: self.accumulate] for ids in batch)) for i in range(self.accumulate)]
        padding = Batch(torch.tensor([[self.task.src_vocab.pad_id]]), torch.tensor([[self.task.tgt_vocab.pad_id] * 2]))
        return [part for part in parts if len(part.src)] or [padding]
