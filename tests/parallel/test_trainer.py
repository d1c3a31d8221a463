"""lessons.parallel in one process: the bits of Trainer, parts of a batch, and bad arguments."""

import io
import os
import sys
from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch
import torch.distributed as dist

from lessons.parallel import ALONE, ParallelTrainer, Processes, ProcessLost, choose_device, joined
from lessons.parallel.processes import ElsewhereError, leave
from lessons.tasks import Batch, Reversal
from lessons.training import Trainer, TrainingStopped
from tests.parallel.work import NUMBERS, RECIPE, make, run

SHORT = replace(RECIPE, steps=4)


def test_alone_it_is_the_trainer_to_the_bit():
    trainer = make(NUMBERS, SHORT)
    plain = Trainer(make(NUMBERS, SHORT).model, NUMBERS, SHORT)
    assert [p[1:5] for p in plain.fit()] == [p[1:5] for p in trainer.fit()]
    assert all(torch.equal(a, b) for a, b in zip(plain.model.parameters(), trainer.model.parameters()))


@pytest.mark.parametrize("accumulate", [2, 3, 7])
def test_parts_of_a_batch_give_the_weights_of_the_whole(accumulate):
    whole, parts = (run(make(NUMBERS, SHORT, torch.float64, accumulate=n)) for n in (1, accumulate))
    assert whole[0] == [pytest.approx(numbers, rel=1e-6) for numbers in parts[0]]
    assert (whole[1] - parts[1]).abs().max() < 1e-7


def test_the_mean_of_the_parts_losses_would_be_another():
    """What a loss averaged by batches gets wrong: parts of different length count by their tokens."""

    class Uneven(Reversal):
        def batch(self, size, generator, split="train"):
            src, tgt = super().batch(size, generator, split)
            tgt[0, 2:] = 0
            return Batch(src, tgt)

    task = Uneven(6, 6)
    recipe = replace(SHORT, steps=1, batch_size=2, smoothing=0.0)
    ((parts, _, _),), _ = run(make(task, recipe, torch.float64, accumulate=2))
    ((whole, _, _),), _ = run(make(task, recipe, torch.float64))
    alone = [run(make(OneOf(task, i), replace(recipe, batch_size=1), torch.float64))[0][0][0] for i in range(2)]
    assert parts == pytest.approx(whole, rel=1e-6)
    assert parts != pytest.approx(sum(alone) / 2, rel=1e-3)
    assert parts == pytest.approx((alone[0] * 1 + alone[1] * 7) / 8, rel=1e-6)


class OneOf(Reversal):
    """One pair of a task's batch."""

    def __init__(self, task, which):
        super().__init__(6, 6)
        self._task, self._which = task, which

    def step_batch(self, size, *, step, seed, share=(0, 1)):
        return self._task.step_batch(2, step=step, seed=seed, share=(self._which, 2))


def test_dropout_differs_from_part_to_part(monkeypatch):
    import lessons.parallel.trainer as module

    seeds, real = [], module.seeded
    monkeypatch.setattr(module, "seeded", lambda seed, device: seeds.append(seed) or real(seed, device))
    run(make(NUMBERS, SHORT, accumulate=3))
    assert len(set(seeds)) == len(seeds) == 3 * SHORT.steps


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"accumulate": 0}, "accumulate is 0; expected a whole number, 1 or more"),
        ({"accumulate": 8}, "batch_size is 7; expected 8 or more, one pair for each of 8 parts in 1 processes"),
        ({"compiled": 1}, "compiled is 1; expected True or False"),
    ],
)
def test_errors_of_the_trainer(options, message):
    with pytest.raises(ValueError, match=message):
        ParallelTrainer(make(NUMBERS, RECIPE).model, NUMBERS, RECIPE, **options)


def test_a_loss_that_is_not_finite_stops():
    trainer = make(NUMBERS, SHORT)
    with torch.no_grad():
        trainer.model.out_proj.bias[0] = torch.nan
    with pytest.raises(TrainingStopped, match="the loss is nan at step 1"):
        run(trainer)


def test_without_torchrun_a_process_is_alone(monkeypatch):
    monkeypatch.delenv("WORLD_SIZE", raising=False)
    with joined() as processes:
        assert processes == ALONE and processes.is_first
    assert processes.sums(1, 2.5) == [1, 2.5]
    assert processes.together(lambda: "done") == "done"
    with pytest.raises(ValueError, match="patience is 0; expected a number above 0"), joined(patience=0):
        pass


def test_a_lost_connection_is_named_and_other_errors_are_not():
    two, message = Processes(1, 2, 5.0), r"process 1 of 2 stops: another process has ended, .* for 5 seconds\."
    with pytest.raises(ProcessLost, match=message), two.noticing():
        raise RuntimeError("[../gloo/transport/tcp/pair.cc:525] Connection closed by peer")
    for processes, sentence in ((two, "mat1 and mat2"), (ALONE, "gloo")):
        with pytest.raises(RuntimeError, match=sentence) as caught, processes.noticing():
            raise RuntimeError(sentence)
        assert not isinstance(caught.value, ProcessLost)


def test_what_is_exchanged_goes_through_the_group_that_has_their_patience(monkeypatch):
    """With another process that has 1 to add to each number, and an error of its own."""
    import lessons.parallel.trainer as module

    said, two = [], Processes(1, 2, group="theirs")

    def add_one(x, group):
        assert group == "theirs"
        x += 1

    def gather(found, own, group):
        assert group == "theirs"
        said.append(own)
        found[:] = ["no tab", own]

    monkeypatch.setattr(dist, "all_reduce", add_one)
    monkeypatch.setattr(dist, "all_gather_object", gather)
    assert two.sums(2**24, 0.25) == [2**24 + 1, 1.25]
    with pytest.raises(ElsewhereError, match=r"^process 0 of 2: no tab$"):
        two.together(lambda: "done")
    with pytest.raises(ZeroDivisionError):
        two.together(lambda: 1 / 0)
    assert said == [None, "division by zero"]

    def ddp(model, process_group):
        return SimpleNamespace(model=model, process_group=process_group, no_sync="no_sync")

    monkeypatch.setattr(module, "DistributedDataParallel", ddp)
    trainer = ParallelTrainer(make(NUMBERS, RECIPE).model, NUMBERS, RECIPE, processes=two)
    assert trainer._forward == ddp(trainer.model, "theirs")
    assert (trainer.accumulate, trainer._without_exchange) == (1, "no_sync")


def test_the_whole_forward_pass_is_compiled(monkeypatch):
    monkeypatch.setattr(torch, "compile", lambda forward: [forward])
    trainer = ParallelTrainer(make(NUMBERS, RECIPE).model, NUMBERS, RECIPE, compiled=True)
    assert trainer._forward == [trainer.model]


def test_devices(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert choose_device() == choose_device("cpu") == torch.device("cpu")
    with pytest.raises(ValueError, match=r"^device is 'cuda', but torch sees no GPU; expected 'auto' or 'cpu'"):
        choose_device("cuda")
    with pytest.raises(ValueError, match="device is 'tpu'; expected one of 'auto', 'cpu', 'cuda'"):
        choose_device("tpu")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setenv("LOCAL_RANK", "3")
    assert choose_device() == torch.device("cuda", 3)
    assert choose_device("cpu") == torch.device("cpu")
    monkeypatch.delenv("LOCAL_RANK")
    assert choose_device("cuda") == torch.device("cuda", 0)


def test_a_process_leaves_with_its_status_and_what_it_has_printed(monkeypatch):
    printed, statuses = io.BytesIO(), []
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(printed, write_through=False))
    monkeypatch.setattr(os, "_exit", statuses.append)
    print("the end")
    assert printed.getvalue() == b""
    leave(3)
    leave()
    assert statuses == [3, 0] and printed.getvalue() == b"the end\n"
