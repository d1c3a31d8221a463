"""lessons.parallel.by_hand: by hand or by DDP, several processes end with the weights of one."""

from functools import partial
from itertools import cycle
from tempfile import TemporaryDirectory
from types import SimpleNamespace

import pytest
import torch
from torch.multiprocessing.spawn import ProcessRaisedException

from lessons.config import TransformerConfig
from lessons.parallel import by_hand
from lessons.parallel.by_hand import add_up, measure_step, slice_loss, together, train_by_hand, train_with_ddp
from lessons.tasks import Reversal
from lessons.training import shift, token_loss
from lessons.transformer import Transformer

TASK = Reversal(2, 12)
CONFIG = TransformerConfig(
    len(TASK.src_vocab), len(TASK.tgt_vocab), d_model=16, num_heads=2, num_layers=1, d_ff=24, dropout=0.0
)


@pytest.mark.thorough("starts processes")
@pytest.mark.parametrize(("train", "count"), [(train_by_hand, 3), (train_with_ddp, 2)])
def test_several_processes_end_with_the_weights_of_one(train, count):
    alone = train_by_hand(0, 1, TASK, CONFIG)
    for weights in together(train, count, TASK, CONFIG):
        torch.testing.assert_close(weights, alone, rtol=0, atol=1e-9)


def test_the_slices_together_are_the_batch():
    torch.manual_seed(0)
    model = Transformer(CONFIG).eval()
    src, tgt = TASK.step_batch(8, step=1, seed=0)
    inputs, targets = shift(tgt)
    whole, tokens = slice_loss(model, TASK, 1, 0, 1)
    assert tokens == (targets != TASK.tgt_vocab.pad_id).sum() < targets.numel()
    mean = token_loss(model(src, inputs)[0], targets, pad_id=TASK.tgt_vocab.pad_id)
    torch.testing.assert_close(whole / tokens, mean)
    parts, counts = zip(*(slice_loss(model, TASK, 1, rank, 3) for rank in range(3)))
    torch.testing.assert_close(sum(parts), whole)
    assert sum(counts) == tokens and len({int(count) for count in counts}) > 1


def test_alone_a_sum_is_what_it_was():
    assert add_up(torch.tensor([1.0, 2.0])).tolist() == [1, 2]


def test_a_batch_that_does_not_divide_is_refused():
    with pytest.raises(ValueError, match=r"^batch is 3; expected a multiple of count = 2$"):
        measure_step(0, 2, CONFIG, 5, 3, 1)


@pytest.mark.thorough("starts processes")
def test_what_one_process_raises_is_raised_here():
    with pytest.raises(ProcessRaisedException, match="batch is 3; expected a multiple of count = 2"):
        together(measure_step, 2, CONFIG, 5, 3, 1)


def test_the_parts_of_a_step_are_timed(monkeypatch):
    """By a clock that counts, from one time that is asked for to the next, 1, 10, 100 and 1000 seconds."""
    clock, summed = cycle([5, 6, 16, 116, 1116]), []
    monkeypatch.setattr(by_hand, "time", SimpleNamespace(perf_counter=lambda: next(clock)))
    monkeypatch.setattr(by_hand, "add_up", lambda x: summed.append(x.numel()))
    assert measure_step(0, 1, CONFIG, 5, 2, 1) == (1, 100, 1000)
    assert summed == [sum(x.numel() for x in Transformer(CONFIG).parameters()), 1] * 2


@pytest.mark.thorough("starts processes")
def test_several_processes_measure_a_step(tmp_path, monkeypatch):
    """Wherever the system's temporary folder is."""
    folder = tmp_path / "临时 files"
    folder.mkdir()
    monkeypatch.setattr(by_hand, "TemporaryDirectory", partial(TemporaryDirectory, dir=folder))
    assert all(seconds > 0 for found in together(measure_step, 2, CONFIG, 5, 2, 1) for seconds in found)


def test_together_needs_a_number_of_processes():
    with pytest.raises(ValueError, match="count is 0; expected a whole number, 1 or more"):
        together(train_by_hand, 0)
