"""lessons.training and lessons.evaluation: the loss by hand, schedules, a loop that can be left and gone on with."""

import itertools
import math
import os
import re
import sys
from dataclasses import asdict, replace
from functools import partial
from itertools import pairwise
from types import SimpleNamespace

import pytest
import torch

from lessons import checkpoints
from lessons.config import TransformerConfig
from lessons.decoding import Cached, greedy, last
from lessons.evaluation import evaluating, exact_match, generate_all, teacher_forced, translate
from lessons.tasks import Batch, Reversal
from lessons.training import (
    Counts,
    Recipe,
    Trainer,
    TrainingStopped,
    autocast,
    cosine_rate,
    paper_rate,
    shift,
    token_loss,
    trained,
)
from lessons.transformer import Transformer

TASK = Reversal(3, 5)
RECIPE = Recipe(steps=6, batch_size=4, warmup=2, learning_rate=1e-2)
PAD = 0
STRIDE = 83  # of all places for an interrupt, every so many is tried


def make(recipe=RECIPE, task=TASK, **options):
    torch.manual_seed(0)
    sizes = {"d_model": 16, "num_heads": 2, "num_layers": 1, "d_ff": 24, "positions": "learned", "dropout": 0.2}
    model = Transformer(TransformerConfig(len(task.src_vocab), len(task.tgt_vocab), **{**sizes, **options}))
    return Trainer(model, task, recipe)


def weights(trainer):
    return torch.cat([x.detach().flatten() for x in trainer.model.parameters()])


def run(trainer):
    return list(trainer.fit())


def held_out(size=50):
    return TASK.batch(size, torch.Generator().manual_seed(7), "held_out")


# --- input, target, loss ---------------------------------------------------------------------------------------


def test_input_and_target_are_shifted_by_one():
    inputs, targets = shift(torch.tensor([[1, 5, 6, 2], [1, 7, 2, 0]]))
    assert inputs.tolist() == [[1, 5, 6], [1, 7, 2]]
    assert targets.tolist() == [[5, 6, 2], [7, 2, 0]]
    assert [x.tolist() for x in shift(torch.tensor([[1, 2]]))] == [[[1]], [[2]]]
    with pytest.raises(ValueError, match=r"tgt has shape \(3, 1\); expected \(B, T\) with T of 2 or more"):
        shift(torch.ones(3, 1))


def by_hand(logits, targets, smoothing):
    """The loss with no help of torch's: -sum of what is wished times the log of what is said, over the real words."""
    total, count = 0.0, 0
    for row, target in zip(logits.flatten(0, 1).tolist(), targets.flatten().tolist()):
        if target == PAD:
            continue
        log_sum = math.log(sum(math.exp(x) for x in row))
        wished = [smoothing / len(row) + (1 - smoothing) * (i == target) for i in range(len(row))]
        total -= sum(w * (x - log_sum) for w, x in zip(wished, row))
        count += 1
    return total / count


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.5])
def test_loss_by_hand(smoothing):
    logits = torch.randn(2, 3, 5, generator=torch.Generator().manual_seed(0))
    targets = torch.tensor([[4, 2, 1], [3, 0, 0]])
    loss = token_loss(logits, targets, pad_id=PAD, smoothing=smoothing)
    assert loss.item() == pytest.approx(by_hand(logits, targets, smoothing), abs=1e-5)


def test_padding_has_no_part_in_the_loss_nor_in_the_gradient():
    logits = torch.randn(2, 3, 5, requires_grad=True)
    targets = torch.tensor([[4, 2, 1], [3, 0, 0]])
    token_loss(logits, targets, pad_id=PAD, smoothing=0.1).backward()
    assert (logits.grad[targets == PAD] == 0).all() and (logits.grad[targets != PAD] != 0).all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((torch.zeros(2, 3, 5), torch.ones(2, 4)), r"logits has shape \(2, 3, 5\); expected \(2, 4, 'V'\)"),
        ((torch.zeros(6, 5), torch.ones(6)), r"logits has shape \(6, 5\); expected \(6, 'V'\)"),
        ((torch.zeros(1, 2, 5), torch.zeros(1, 2)), "targets contains only pad_id = 0; expected one token or more"),
    ],
)
def test_errors_of_the_loss(arguments, message):
    with pytest.raises(ValueError, match=message):
        token_loss(*arguments, pad_id=PAD)
    with pytest.raises(ValueError, match=r"smoothing is 1\.0; expected a fraction from 0 up to, but not including, 1"):
        token_loss(torch.zeros(1, 1, 5), torch.ones(1, 1), pad_id=PAD, smoothing=1.0)


# --- schedules -------------------------------------------------------------------------------------------------


def test_the_papers_schedule():
    rates = [paper_rate(step, d_model=512, warmup=4000) for step in range(1, 20_001)]
    assert rates.index(max(rates)) == 3999
    assert rates[0] == pytest.approx(512**-0.5 * 4000**-1.5)
    assert rates[1999] == pytest.approx(max(rates) / 2)  # a line up
    assert rates[15_999] == pytest.approx(max(rates) / 2)  # four times as many steps, half the rate


def test_the_cosine_schedule():
    rates = [cosine_rate(step, steps=110, peak=0.5, warmup=10) for step in range(1, 111)]
    assert rates[9] == max(rates) == 0.5
    assert rates[4] == pytest.approx(0.25)
    assert rates[59] == pytest.approx(0.25)
    assert rates[-1] == pytest.approx(0.0) and all(a > b for a, b in pairwise(rates[9:]))
    for steps in (110, 11):
        assert cosine_rate(steps, steps=steps, peak=0.5, warmup=10) == pytest.approx(0.0)
        assert cosine_rate(200, steps=steps, peak=0.5, warmup=10) == pytest.approx(0.0)


def test_recipes_use_their_schedule():
    assert Recipe(schedule="constant", learning_rate=0.1, warmup=4).rate(2, 64) == pytest.approx(0.05)
    assert Recipe(schedule="constant", learning_rate=0.1, warmup=4).rate(900, 64) == pytest.approx(0.1)
    assert Recipe(schedule="paper", warmup=7).rate(3, 64) == paper_rate(3, d_model=64, warmup=7)
    assert Recipe(steps=50, warmup=7).rate(30, 64) == cosine_rate(30, steps=50, peak=3e-3, warmup=7)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"steps": 0}, "steps is 0; expected a whole number, 1 or more"),
        ({"batch_size": 2.5}, "batch_size is 2.5"),
        ({"warmup": 0}, "warmup is 0"),
        ({"seed": -1}, "seed is -1; expected a whole number from 0 to 18446744073709551615"),
        ({"seed": 2**64}, "seed is 18446744073709551616; expected a whole number from 0 to"),
        ({"schedule": "linear"}, "schedule is 'linear'; expected one of 'cosine', 'paper', 'constant'"),
        ({"precision": "half"}, "precision is 'half'; expected one of 'float32', 'bfloat16'"),
        ({"learning_rate": 0.0}, "learning_rate is 0.0; expected a number above 0"),
        ({"smoothing": 1.0}, "smoothing is 1.0"),
        ({"clip": 0.0}, "clip is 0.0; expected a number above 0, or None"),
        *(
            ({"betas": betas}, re.escape(f"betas is {betas!r}; expected two fractions"))
            for betas in (0.9, (0.9,), (0.9, 0.98, 0.99), "no", None)
        ),
        ({"betas": (1.0, 0.98)}, r"^betas\[0\] is 1.0; expected a fraction"),
        ({"betas": (0.9, math.nan)}, r"^betas\[1\] is nan; expected a fraction"),
        *(({"eps": eps}, f"eps is {eps!r}; expected a number above 0") for eps in (0.0, -1e-9, math.inf, "x")),
        *(
            ({"weight_decay": decay}, f"weight_decay is {decay!r}; expected a number, 0 or more")
            for decay in (-1.0, math.nan, math.inf, "x", None)
        ),
    ],
)
def test_errors_of_a_recipe(options, message):
    with pytest.raises(ValueError, match=message):
        Recipe(**options)


def test_errors_of_a_step():
    with pytest.raises(ValueError, match="step is 0; expected a whole number, 1 or more"):
        paper_rate(0, d_model=8, warmup=3)
    with pytest.raises(ValueError, match="warmup is 0; expected a whole number, 1 or more"):
        cosine_rate(1, steps=9, peak=1.0, warmup=0)


# --- the loop --------------------------------------------------------------------------------------------------


def test_progress_of_each_step():
    found = run(make())
    assert [p.step for p in found] == [1, 2, 3, 4, 5, 6]
    assert [p.learning_rate for p in found] == [RECIPE.rate(step, 16) for step in range(1, 7)]
    assert found[0].loss == pytest.approx(math.log(len(TASK.tgt_vocab)), abs=1.0)  # knows nothing yet
    assert all(a.tokens < b.tokens and a.seconds < b.seconds for a, b in pairwise(found))
    first = TASK.batch(4, torch.Generator().manual_seed(1)).tgt
    assert found[0].tokens == (first[:, 1:] != PAD).sum()


def test_seconds_are_those_of_the_steps_without_pauses(monkeypatch):
    clock = itertools.count(100.0, 2.0)
    monkeypatch.setattr("lessons.training.time", SimpleNamespace(perf_counter=partial(next, clock)))
    seconds = []
    for progress in make().fit():
        seconds.append(progress.seconds)
        next(clock)
    assert seconds == [2.0, 4.0, 6.0, 8.0, 10.0, 12.0]


def test_the_papers_rate_is_that_of_the_models_width():
    assert next(make(replace(RECIPE, schedule="paper")).fit()).learning_rate == paper_rate(1, d_model=16, warmup=2)


@pytest.fixture(scope="module")
def learned():
    """A model that has learned to reverse, and its losses on the way."""
    trainer = make(replace(RECIPE, steps=150, batch_size=64), dropout=0.0, d_model=32, norm_first=True)
    return trainer.model, [progress.loss for progress in trainer.fit()]


@pytest.mark.thorough("trains until it has learned")
def test_it_learns(learned):
    model, losses = learned
    assert losses[-1] < losses[0] / 5
    assert exact_match(model, held_out(), TASK) > 0.9


def test_one_step_is_what_adamw_does():
    """Without dropout: gradient by hand, clipped by hand, AdamW on matrices with decay and on vectors without."""
    trainer, twin = make(dropout=0.0), make(dropout=0.0)
    src, tgt = TASK.batch(4, torch.Generator().manual_seed(1))
    loss = token_loss(twin.model(src, tgt[:, :-1])[0], tgt[:, 1:], pad_id=PAD)
    loss.backward()
    norm = torch.cat([x.grad.flatten() for x in twin.model.parameters()]).norm()
    progress = next(trainer.fit())
    assert progress.loss == pytest.approx(loss.item(), abs=1e-6)
    assert progress.grad_norm == pytest.approx(norm.item(), rel=1e-4)
    rate = RECIPE.rate(1, 16)
    for before, after in zip(twin.model.parameters(), trainer.model.parameters()):
        gradient = before.grad / max(1.0, norm.item())
        decayed = before * (1 - rate * 0.01) if before.dim() > 1 else before
        expected = decayed - rate * gradient / (gradient.abs() + 1e-9)
        torch.testing.assert_close(after, expected, atol=1e-5, rtol=1e-4)


def test_weights_of_one_axis_do_not_decay():
    matrices, others = make(replace(RECIPE, weight_decay=0.3)).optimizer.param_groups
    assert (matrices["weight_decay"], others["weight_decay"]) == (0.3, 0.0)
    assert {x.dim() for x in matrices["params"]} == {2} and {x.dim() for x in others["params"]} == {1}


def test_betas_and_eps_are_those_of_the_recipe():
    for group in make(replace(RECIPE, betas=(0.5, 0.6), eps=0.1)).optimizer.param_groups:
        assert group["betas"] == (0.5, 0.6) and group["eps"] == 0.1


def test_clip_limits_the_step():
    free, clipped = make(replace(RECIPE, clip=None)), make(replace(RECIPE, clip=1e-12))
    start = weights(free)
    assert next(free.fit()).grad_norm == pytest.approx(next(clipped.fit()).grad_norm)
    assert (weights(clipped) - start).norm() < 0.1 * (weights(free) - start).norm()


def test_label_smoothing_reaches_the_loss():
    plain, smooth = (next(make(replace(RECIPE, smoothing=s)).fit()).loss for s in (0.0, 0.3))
    assert plain != smooth


def test_seeds_decide_and_torchs_own_random_numbers_do_not():
    first = make()
    torch.manual_seed(99)
    second = make()
    before = torch.get_rng_state()
    run(first)
    assert torch.equal(before, torch.get_rng_state())
    torch.rand(5)
    run(second)
    other = make(replace(RECIPE, seed=1))
    run(other)
    assert torch.equal(weights(first), weights(second)) and not torch.equal(weights(first), weights(other))


def test_trained_is_a_trainer_run_to_its_end():
    ours = make()
    run(ours)
    torch.manual_seed(99)
    before = torch.get_rng_state()
    model = trained(ours.model.config, TASK, RECIPE)
    assert torch.equal(before, torch.get_rng_state())
    assert not model.training
    assert all(torch.equal(a, b) for a, b in zip(model.parameters(), ours.model.parameters()))


def test_trained_prepares_the_model_before_its_first_step():
    def without_biases(model):
        model.out_proj.bias.requires_grad_(False).fill_(7.0)

    model = trained(make().model.config, TASK, RECIPE, prepare=without_biases)
    assert torch.equal(model.out_proj.bias, torch.full_like(model.out_proj.bias, 7.0))


def test_dropout_differs_from_step_to_step():
    """The same batch each time, a rate of almost 0: what changes the loss is dropout alone."""

    class Same(Reversal):
        def batch(self, size, generator, split="train"):
            return super().batch(size, torch.Generator().manual_seed(3), split)

    losses = {p.loss for p in run(make(replace(RECIPE, learning_rate=1e-12), Same(3, 5)))}
    assert len(losses) == RECIPE.steps


def test_left_and_gone_on_with_it_is_the_same_training():
    whole, left = make(), make()
    run(whole)
    for progress in left.fit():
        if progress.step == 3:
            break
    assert not left.model.training and left.step == 3
    assert all(x.grad is None for x in left.model.parameters())
    assert [p.step for p in left.fit()] == [4, 5, 6]
    assert torch.equal(weights(whole), weights(left))


@pytest.mark.parametrize("place", ["forward", "loss.backward", "batch", "optimizer.step"])
def test_interrupted_within_a_step_it_is_as_before_the_step(place, monkeypatch):
    whole, interrupted = make(), make()
    run(whole)
    loop = interrupted.fit()
    next(loop)
    next(loop)
    before = weights(interrupted)

    def interrupt(*arguments, **options):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        if place == "forward":
            patch.setattr(interrupted.model.decoder, "forward", interrupt)
        elif place == "batch":
            patch.setattr(TASK, "batch", interrupt)
        elif place == "optimizer.step":
            step = interrupted.optimizer.step
            patch.setattr(interrupted.optimizer, "step", lambda: (step(), interrupt()))
        else:
            patch.setattr(torch.Tensor, "backward", interrupt)
        with pytest.raises(KeyboardInterrupt):
            next(loop)
    assert torch.equal(weights(interrupted), before) and interrupted.step == 2
    assert not interrupted.model.training
    assert 0.0 <= exact_match(interrupted.model, held_out(), TASK) <= 1.0
    run(interrupted)
    assert torch.equal(weights(whole), weights(interrupted))


def test_an_interrupt_while_it_tidies_up_is_raised_when_all_is_tidy(monkeypatch):
    trainer = make()
    loop, tidy, calls = trainer.fit(), trainer.model.eval, []
    next(loop)

    def interrupted():
        calls.append(len(calls))
        if len(calls) == 1:
            raise KeyboardInterrupt
        tidy()

    monkeypatch.setattr(trainer.model, "eval", interrupted)
    with pytest.raises(KeyboardInterrupt):
        loop.close()
    assert calls == [0, 1] and not trainer.model.training


def everything(trainer):
    """All that decides how the training goes on."""
    return trainer.step, trainer.tokens, {name: x.clone() for name, x in trainer._tensors().items()}


def same(a, b):
    return a[:2] == b[:2] and all(torch.equal(a[2][name], b[2][name]) for name in a[2])


def interrupt_at(place, function, after=None):
    """Run it with a KeyboardInterrupt at its `place`-th instruction in lessons.training or line in torch.optim.

    after: count from the call of this function on. Returns whether there was such a place.
    """
    left, begun = place, after is None

    def trace(frame, event, argument):
        nonlocal left, begun
        name = frame.f_code.co_filename
        ours = name.endswith(f"lessons{os.sep}training.py")
        if not ours and f"torch{os.sep}optim" not in name:
            return None
        frame.f_trace_opcodes = ours
        begun = begun or frame.f_code.co_name == after
        if begun and event in ("line", "opcode"):
            left -= 1
            if left < 0:
                raise KeyboardInterrupt
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        function()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(before)
    return False


@pytest.mark.thorough("interrupted at dozens of places")
def test_interrupted_anywhere_a_step_is_whole_or_not_taken():
    """From where the optimizer's work is prepared to the end of the loop; there are some thousand places."""
    before, after = make(), make()
    next(before.fit())
    next(fitting := after.fit())
    next(fitting)
    states, start = (everything(before), everything(after)), everything(before)

    def one_step(trainer):
        loop = trainer.fit()
        next(loop)
        loop.close()

    trainer, taken, there = make(), [], True
    while there:
        for name, x in trainer._tensors().items():
            x.copy_(start[2][name])
        trainer._counts = Counts(*start[:2])
        there = interrupt_at(STRIDE * len(taken), partial(one_step, trainer), after="_keep")
        now = everything(trainer)
        assert same(now, states[0]) or same(now, states[1]), f"torn at place {STRIDE * len(taken)}"
        taken.append(now[0])
    assert taken == sorted(taken) and set(taken) == {1, 2}, "first not taken, then taken"
    assert len(taken) > 20


@pytest.mark.one_of(3)
@pytest.mark.parametrize("place", range(0, 400, 37))
def test_interrupted_while_it_loads_it_is_as_before_or_loaded(place, saved):
    (whole, path), trainer = saved, make(replace(RECIPE, steps=7))
    next(trainer.fit())
    next(trainer.fit())
    before, mode = everything(trainer), torch.get_rng_state()
    interrupt_at(place, lambda: trainer.load(path))
    trainer._undo()
    assert same(everything(trainer), before) or same(everything(trainer), everything(whole))
    assert torch.equal(mode, torch.get_rng_state())


def test_a_loss_that_is_not_finite_stops():
    trainer = make()
    loop = trainer.fit()
    next(loop)
    with torch.no_grad():
        trainer.model.out_proj.bias[0] = torch.nan
    before = weights(trainer)
    message = r"the loss is nan at step 2, learning rate 0.01\. The model is as it was after step 1\. Try a smaller"
    with pytest.raises(TrainingStopped, match=message):
        next(loop)
    assert torch.equal(before.nan_to_num(), weights(trainer).nan_to_num()) and trainer.step == 1


def test_a_gradient_that_is_not_finite_stops(monkeypatch):
    trainer = make()
    before = weights(trainer)
    trainer.model.out_proj.weight.register_hook(lambda gradient: gradient * torch.inf)
    with pytest.raises(TrainingStopped, match=r"the gradient is (inf|nan) at step 1"):
        next(trainer.fit())
    assert torch.equal(before, weights(trainer))


def test_bfloat16_is_close_and_not_the_same():
    exact, coarse = (next(make(replace(RECIPE, precision=p), dropout=0.0).fit()) for p in ("float32", "bfloat16"))
    assert coarse.loss != exact.loss and coarse.loss == pytest.approx(exact.loss, rel=0.02)
    assert all(x.dtype == torch.float32 for x in make(replace(RECIPE, precision="bfloat16")).model.parameters())


def test_bfloat16_is_meant_on_every_device():
    assert autocast("bfloat16", torch.device("xpu")).fast_dtype == torch.bfloat16  # torch's choice there is float16


# --- checkpoints -----------------------------------------------------------------------------------------------


def test_a_training_saved_before_its_first_step_starts_anew(tmp_path):
    fresh, trainer = make(), make()
    fresh.save(tmp_path / "model.pt")
    next(trainer.fit())
    trainer.load(tmp_path / "model.pt")
    assert same(everything(trainer), everything(fresh)) and trainer.seconds == 0.0


def test_a_saved_training_goes_on_to_the_bit(tmp_path):
    whole, saved, fresh = make(), make(), make()
    run(whole)
    loop = saved.fit()
    for _ in range(3):
        next(loop)
    saved.save(tmp_path / "model.pt")
    torch.manual_seed(5)
    fresh.load(tmp_path / "model.pt")
    assert fresh.step == 3 and fresh.tokens == saved.tokens
    progress = run(fresh)
    assert [p.step for p in progress] == [4, 5, 6]
    assert torch.equal(weights(whole), weights(fresh))


def test_more_steps_may_be_asked_for(tmp_path):
    short = make(replace(RECIPE, schedule="constant"))
    run(short)
    short.save(tmp_path / "model.pt")
    longer = make(replace(RECIPE, schedule="constant", steps=8))
    longer.load(tmp_path / "model.pt")
    assert [p.step for p in longer.fit()] == [7, 8]


def test_a_failed_save_leaves_the_old_file(tmp_path, monkeypatch):
    trainer, path = make(), tmp_path / "model.pt"
    trainer.save(path)
    before = path.read_bytes()

    def half(state, file):
        file.write(b"half")
        raise OSError("no space left")

    monkeypatch.setattr(torch, "save", half)
    with pytest.raises(OSError, match="no space left"):
        trainer.save(path)
    assert path.read_bytes() == before and os.listdir(tmp_path) == ["model.pt"]


def test_errors_of_loading(tmp_path):
    trainer, path = make(), tmp_path / "model.pt"
    with pytest.raises(ValueError, match=r"path is '.*model.pt', but there is no such file"):
        trainer.load(path)
    trainer.save(path)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ValueError, match="is damaged: its checksum doesn't match; expected a file that save"):
        trainer.load(path)
    path.write_bytes(whole)
    with pytest.raises(ValueError, match=r"recipe has smoothing = 0\.1; expected 0\.0, as .*model.pt was trained"):
        make(replace(RECIPE, smoothing=0.1)).load(path)


@pytest.mark.parametrize(
    "text", [b"", b"no checkpoint", b"\n", b"lessons checkpoint, SHA-256 \n", b"[" * 10**6, b"0", b"cos\nsystem\n"]
)
def test_a_file_of_something_else_is_refused(tmp_path, text):
    path = tmp_path / "model.pt"
    path.write_bytes(text)
    with pytest.raises(ValueError, match=r"path is '.*model\.pt', which is not a checkpoint; expected a file"):
        make().load(path)


def test_a_flipped_bit_is_refused(tmp_path):
    trainer, path = make(), tmp_path / "model.pt"
    trainer.save(path)
    whole = path.read_bytes()
    for place in range(0, len(whole), len(whole) // 12):
        damaged = bytearray(whole)
        damaged[place] ^= 1
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match=r"which is (damaged|not a checkpoint)"):
            trainer.load(path)


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A trainer after one step, and the file of its checkpoint."""
    trainer, path = make(), tmp_path_factory.mktemp("saved") / "model.pt"
    next(trainer.fit())
    trainer.save(path)
    return trainer, path


@pytest.fixture(scope="module")
def unchanged():
    """A trainer that no test may change."""
    return make()


COUNTS = [(1, 2), (-1, 0, 0.0), (1, -1, 0.0), (1.5, 0, 0.0), (1, 0, "x"), (1, 0, math.inf), (1, 0, -1.0), 3]


@pytest.mark.one_of(3)
@pytest.mark.parametrize(
    "change",
    [
        lambda state: [],
        lambda state: {},
        lambda state: {name: part for name, part in state.items() if name != "config"},
        *(lambda state, name=name: state | {name: None} for name in ("recipe", "config", "counts", "tensors")),
        *(lambda state, name=name: state | {name: {}} for name in ("recipe", "config", "counts", "tensors")),
        *(lambda state, c=c: state | {"counts": c} for c in COUNTS),
        lambda state: state | {"recipe": state["recipe"] | {"betas": torch.ones(2)}},
        lambda state: state | {"recipe": state["recipe"] | {3: 4}},
        lambda state: state | {"tensors": dict(list(state["tensors"].items())[:-1])},
        lambda state: state | {"tensors": state["tensors"] | {"model.more": torch.ones(1)}},
        lambda state: state | {"tensors": {name: x.double() for name, x in state["tensors"].items()}},
        lambda state: state | {"tensors": {name: x.to("meta") for name, x in state["tensors"].items()}},
        lambda state: state | {"tensors": dict.fromkeys(state["tensors"], "x")},
    ],
)
def test_a_forged_checkpoint_is_refused_and_changes_nothing(tmp_path, saved, unchanged, change):
    """A checkpoint with a right checksum and other contents."""
    path = tmp_path / "model.pt"
    checkpoints.save(path, change(checkpoints.load(saved[1])))
    before, random = everything(unchanged), torch.get_rng_state()
    with pytest.raises(ValueError, match="expected") as error:
        unchanged.load(path)
    assert str(path) in str(error.value)
    assert same(everything(unchanged), before) and torch.equal(torch.get_rng_state(), random)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"config": None}, "path is {!r}, which contains something else; expected a file that save() wrote"),
        ({"counts": (1, 2)}, "path is {!r}, which counts (1, 2); expected a file that save() wrote"),
        ({"recipe": asdict(RECIPE) | {"new": None}}, "recipe has new = 'nothing'; expected None, as {} was trained"),
    ],
)
def test_what_is_forged_is_said(tmp_path, saved, unchanged, change, message):
    path = tmp_path / "model.pt"
    checkpoints.save(path, checkpoints.load(saved[1]) | change)
    with pytest.raises(ValueError, match=f"^{re.escape(message.format(str(path)))}$"):
        unchanged.load(path)


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (lambda: make(d_ff=25), r"config has d_ff = 25; expected 24, as .*model\.pt was trained"),
        (lambda: make(dropout=0.1), r"config has dropout = 0\.1; expected 0\.2, as .*model\.pt was trained"),
        (lambda: make(replace(RECIPE, seed=1)), r"recipe has seed = 1; expected 0"),
        (lambda: make(task=Reversal(3, 6)), r"task has pairs = .*; expected .*, as .*model\.pt was trained"),
    ],
)
def test_another_training_is_refused_by_name(tmp_path, other, message):
    make().save(tmp_path / "model.pt")
    with pytest.raises(ValueError, match=message):
        other().load(tmp_path / "model.pt")


def test_another_dtype_is_refused_by_name(tmp_path):
    make().save(tmp_path / "model.pt")
    trainer = make()
    other = Trainer(trainer.model.double(), TASK, RECIPE)
    with pytest.raises(ValueError, match=r"\w is a tensor of torch\.float64, .*; expected a tensor of torch\.float32"):
        other.load(tmp_path / "model.pt")


def test_a_tensor_that_is_not_there_is_named(tmp_path, saved, unchanged):
    state, path = checkpoints.load(saved[1]), tmp_path / "model.pt"
    del state["tensors"]["model.out_proj.bias"]
    checkpoints.save(path, state)
    with pytest.raises(ValueError, match=r"model\.out_proj\.bias is a tensor of .* here; expected no tensor, as in"):
        unchanged.load(path)


def test_a_pickle_that_runs_code_is_not_run(tmp_path):
    class Evil:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "evil"),)

    checkpoints.save(tmp_path / "model.pt", {"tensors": Evil()})
    with pytest.raises(ValueError, match="which torch can't read"):
        make().load(tmp_path / "model.pt")
    assert not (tmp_path / "evil").exists()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system forks no process")
def test_what_killed_saves_leave_does_not_pile_up(tmp_path, monkeypatch):
    trainer, path = make(), tmp_path / "model.pt"
    with monkeypatch.context() as killed:
        killed.setattr(type(path), "replace", lambda *names: os._exit(9))
        for _ in range(3):
            child = os.fork()
            if child == 0:
                trainer.save(path)
            os.waitpid(child, 0)
    assert len(os.listdir(tmp_path)) == 1
    trainer.save(path)
    assert os.listdir(tmp_path) == ["model.pt"]


@pytest.mark.skipif(os.name == "nt", reason="Windows has neither modes nor, for all, symbolic links")
def test_modes_and_links(tmp_path):
    trainer, path = make(), tmp_path / "model.pt"
    before = os.umask(0o027)
    try:
        trainer.save(path)
    finally:
        os.umask(before)
    assert path.stat().st_mode & 0o777 == 0o640
    link = tmp_path / "link.pt"
    link.symlink_to(path)
    next(trainer.fit())
    trainer.save(link)
    assert link.is_symlink()
    again = make()
    again.load(path)
    assert again.step == 1


# --- measuring -------------------------------------------------------------------------------------------------


def test_teacher_forced_and_exact_match_by_hand():
    """A model whose logits are set: it writes what we wish, and we count on our fingers."""
    trainer = make()
    model, batch = trainer.model.eval(), held_out(3)
    written = last(greedy(Cached(model, batch.src), TASK.tgt_vocab, max_len=6)).ids
    wrong = written.clone()
    wrong[0, 2] = 4 + (wrong[0, 2] == 4)
    words = (wrong[:, 1:] != PAD).sum().item()
    assert exact_match(model, Batch(batch.src, written), TASK) == 1.0
    assert exact_match(model, Batch(batch.src, wrong), TASK) == pytest.approx(2 / 3)
    forced = teacher_forced(model, Batch(batch.src, written), TASK)
    assert forced[:2] == (1.0, 1.0)
    forced = teacher_forced(model, Batch(batch.src, wrong), TASK)
    assert 1 - 6 / words <= forced.words < 1 and forced.sentences == pytest.approx(2 / 3)


def test_teacher_forced_loss_is_that_of_the_real_words_without_dropout():
    model, batch = make().model, held_out(3)
    with evaluating(model), torch.no_grad():
        logits, _ = model(batch.src, batch.tgt[:, :-1])
    targets = batch.tgt[:, 1:]
    expected = -logits.log_softmax(-1).gather(-1, targets[..., None]).squeeze(-1)[targets != PAD].mean()
    assert teacher_forced(model.train(), batch, TASK).loss == pytest.approx(expected.item(), rel=1e-5)
    assert model.training


def test_padding_makes_no_sentence_wrong():
    model, batch = make().model, held_out(2)
    with torch.no_grad():
        model.out_proj.bias[4] = 1e4  # always the first letter
    tgt = torch.tensor([[1, 4, 4, 4], [1, 4, 4, PAD]])
    assert teacher_forced(model, Batch(batch.src, tgt), TASK)[:2] == (1.0, 1.0)


def test_a_sentence_that_does_not_end_is_no_match():
    model, batch = make().model.eval(), held_out(4)
    with torch.no_grad():
        model.out_proj.bias[4] = 1e4  # always the first letter, never the end
    tgt = torch.full((4, 5), 4)
    tgt[:, 0], tgt[:, -1] = 1, 2
    assert exact_match(model, Batch(batch.src, tgt), TASK) == 0.0


def test_translations_end_at_max_len():
    model = make().model
    with torch.no_grad():
        model.out_proj.bias[4] = 1e4  # always the first letter, never the end
    assert translate(model, ["b c"], TASK, max_len=3) == ["a a a"]
    assert translate(model, ["b c"], TASK) == [" ".join(50 * "a")]
    assert generate_all(model, held_out(1).src, TASK).shape == (1, 1 + 50)


def test_a_short_text_beside_a_long_one_is_translated_as_alone():
    model, texts = make().model, ["b c", "k i n d e r"]
    together = translate(model, texts, TASK)
    assert together == [translate(model, [text], TASK)[0] for text in texts]


def test_too_much_written_is_no_match():
    model, batch = make().model.eval(), held_out(2)
    with torch.no_grad():
        model.out_proj.bias[2] = 1e4  # the end at once
    right = torch.tensor([[1, 2], [1, 2]])
    assert exact_match(model, Batch(batch.src, right), TASK) == 1.0
    longer = torch.tensor([[1, 4, 2], [1, 2, 0]])
    assert exact_match(model, Batch(batch.src, longer), TASK) == 0.5


@pytest.mark.parametrize("mode", [True, False])
def test_measuring_needs_no_dropout_and_leaves_the_mode(mode):
    model = make(dropout=0.5).model.train(mode)
    first, second = (teacher_forced(model, held_out(), TASK) for _ in range(2))
    assert first == second and model.training is mode
    exact_match(model, held_out(), TASK)
    assert model.training is mode
    with pytest.raises(KeyError), evaluating(model):
        raise KeyError
    assert model.training is mode


def test_measuring_leaves_the_mode_of_each_part():
    model = make().model.train()
    model.encoder.eval()
    modes = [part.training for part in model.modules()]
    with evaluating(model):
        assert not any(part.training for part in model.modules())
    assert [part.training for part in model.modules()] == modes


@pytest.mark.thorough("trains until it has learned")
def test_translate_gives_texts(learned):
    model, _ = learned
    assert translate(model, ["a b c", "k i n d"], TASK) == ["c b a", "d n i k"]


@pytest.mark.parametrize("texts", ["a b c", []])
def test_what_is_no_list_of_texts_is_refused(texts):
    with pytest.raises(ValueError, match=re.escape(f"texts is {texts!r}; expected a list of one text or more") + "$"):
        translate(make().model, texts, TASK)
