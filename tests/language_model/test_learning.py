"""lessons.language_model.learning: the loss on every token, and a loop that learns from one long text."""

from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch

from lessons.language_model import LanguageModel, generate, learning, next_token_loss, text_loss, train, windows
from lessons.training import Recipe, TrainingStopped

from . import SMALL, draw, scrambled

TEXT = torch.arange(11).repeat(20)  # the next token follows from the last one
RECIPE = Recipe(steps=30, batch_size=8, learning_rate=2e-2, warmup=5)


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


def test_the_loss_counts_each_token_but_the_first():
    model, ids = scrambled(SMALL), draw(2, 5)
    expected = []
    for row in ids:
        for t in range(1, 5):
            probabilities = model(row[None, :t])[0, -1].softmax(dim=-1)
            expected.append(-probabilities[row[t]].log())
    torch.testing.assert_close(next_token_loss(model, ids).double(), torch.stack(expected).mean(), rtol=1e-5, atol=1e-5)
    assert next_token_loss(model, ids, smoothing=0.5) != next_token_loss(model, ids)


def test_windows_come_from_the_whole_text():
    found = windows(torch.arange(9), 4, 500, torch.Generator().manual_seed(0))
    assert found.shape == (500, 5)
    assert set(found[:, 0].tolist()) == {0, 1, 2, 3, 4}
    assert torch.equal(found, found[:, :1] + torch.arange(5))


def test_the_loss_of_a_text_is_that_of_its_pieces():
    model, text = scrambled(SMALL), torch.randint(11, (24,))
    pieces = torch.stack([text[i : i + 5] for i in range(0, 20, 4)])  # 5 pieces, the last 3 tokens remain
    expected = next_token_loss(model, pieces).item()
    assert text_loss(model, text, 4) == pytest.approx(expected, rel=1e-5)
    assert text_loss(model, text, 4, batch_size=2) == pytest.approx(expected, rel=1e-5)


def test_a_model_learns_a_text_and_continues_it():
    model = LanguageModel(SMALL)
    progress = list(train(model, TEXT, RECIPE, length=12))
    assert [p.step for p in progress] == list(range(1, 31))
    assert progress[0].loss > 2.0 > 0.2 > progress[-1].loss
    assert progress[-1].tokens == 30 * 8 * 12
    assert not model.training
    assert all(p.learning_rate == RECIPE.rate(p.step, 12) for p in progress)
    assert generate(model, torch.tensor([[3, 4]]), 12, temperature=0)[0].tolist() == [i % 11 for i in range(3, 17)]
    assert text_loss(model, TEXT, 12) < 0.2


def losses(**changes):
    """Of three steps from the same start."""
    torch.manual_seed(0)
    text, model = torch.randint(11, (100,)), LanguageModel(SMALL)
    return [p.loss for p in train(model, text, replace(RECIPE, steps=3, **changes), length=12)]


def test_the_seed_decides_everything():
    assert losses(seed=1) == losses(seed=1) != losses(seed=2)


@pytest.mark.parametrize("changes", [{"betas": (0.5, 0.6)}, {"eps": 0.1}, {"precision": "bfloat16"}], ids=str)
def test_a_setting_of_the_recipe_counts(changes):
    assert losses() != losses(**changes)


def test_the_rate_of_the_paper_follows_the_width_of_the_model():
    recipe = replace(RECIPE, steps=2, schedule="paper")
    found = [p.learning_rate for p in train(LanguageModel(SMALL), TEXT, recipe, length=12)]
    assert found == [recipe.rate(step, 12) for step in (1, 2)]


def test_the_seconds_are_those_of_the_steps_without_pauses(monkeypatch):
    """By a clock that shows these times: three steps of 2, 4 and 8 seconds, with pauses between them."""
    clock = iter([100, 102, 150, 154, 200, 208])
    monkeypatch.setattr(learning, "time", SimpleNamespace(perf_counter=lambda: next(clock)))
    found = [p.seconds for p in train(LanguageModel(SMALL), TEXT, replace(RECIPE, steps=3), length=12)]
    assert found == [2, 6, 14]


def test_matrices_decay_and_vectors_do_not():
    model = LanguageModel(replace(SMALL, bias=True, norm="layer"))
    for x in model.parameters():
        torch.nn.init.constant_(x, 0.0 if x.dim() > 1 else 1.0)
    model.embedding.weight.data.fill_(1.0)
    recipe = Recipe(steps=1, warmup=1, schedule="constant", learning_rate=0.5, weight_decay=1.0, clip=1e-12, eps=1.0)
    list(train(model, TEXT, recipe, length=4))
    torch.testing.assert_close(model.embedding.weight, torch.full((11, 12), 0.5))
    torch.testing.assert_close(model.norm.weight, torch.ones(12))


def test_the_loss_is_smoothed_as_the_recipe_says():
    model, generator = scrambled(SMALL).float(), torch.Generator().manual_seed(1)
    ids = windows(TEXT, 12, 8, generator)
    expected, plain = (next_token_loss(model, ids, smoothing=smoothing) for smoothing in (0.5, 0.0))
    gradients = torch.autograd.grad(expected, list(model.parameters()))
    norm = torch.cat([x.flatten() for x in gradients]).norm().item()
    found = next(train(model, TEXT, replace(RECIPE, smoothing=0.5), length=12))
    assert found.loss == pytest.approx(expected.item(), rel=1e-5) != pytest.approx(plain.item(), rel=1e-3)
    assert found.grad_norm == pytest.approx(norm, rel=1e-5)


def test_bfloat16_and_no_clipping():
    recipe = replace(RECIPE, steps=2, precision="bfloat16", clip=None)
    assert all(p.loss < 4 for p in train(LanguageModel(SMALL), TEXT, recipe, length=12))


def test_a_loss_that_is_not_finite_stops_before_the_weights_change():
    model = LanguageModel(SMALL)
    training = train(model, TEXT, RECIPE, length=12)
    next(training)
    model.norm.weight.data[0] = torch.nan
    before = [x.clone() for x in model.parameters()]
    with pytest.raises(TrainingStopped, match=r"the loss is nan .* at step 2"):
        next(training)
    assert all(
        torch.equal(
            x,
            y,
        )
        or x.isnan().any()
        for x, y in zip(before, model.parameters())
    )
    assert not model.training


def test_a_gradient_that_is_not_finite_stops_it_as_well():
    model = LanguageModel(SMALL)
    model.norm.weight.register_hook(lambda gradient: gradient * torch.inf)
    with pytest.raises(TrainingStopped, match=r"the loss is \d.* and the gradient's norm (inf|nan) at step 1"):
        next(train(model, TEXT, RECIPE, length=12))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: windows(TEXT, 0, 2, torch.Generator()), "length is 0; expected a whole number"),
        (lambda: windows(TEXT, 4, 0, torch.Generator()), "batch_size is 0; expected a whole number"),
        (lambda: windows(TEXT[:4], 4, 2, torch.Generator()), r"text has shape \(4,\); expected \(N,\), with N above"),
        (lambda: windows(TEXT[None], 4, 2, torch.Generator()), r"text has shape \(1, 220\); expected \(N,\)"),
        (lambda: text_loss(LanguageModel(SMALL), "abc", 4), "text is a str; expected a tensor of integers"),
        (lambda: text_loss(LanguageModel(SMALL), TEXT.float(), 4), "text is a tensor of torch.float32; expected"),
        (lambda: next(train(LanguageModel(SMALL), TEXT[:9], RECIPE, length=9)), r"text has shape \(9,\)"),
        (lambda: next_token_loss(LanguageModel(SMALL), TEXT[None, :1]), "expected .* T of 2 or more"),
    ],
)
def test_bad_input_is_named(wrong, message):
    with pytest.raises(ValueError, match=message):
        wrong()
