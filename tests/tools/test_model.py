"""`make model` trains the translator, tests it, and writes it only if it is good."""

from dataclasses import asdict, replace

import pytest
import torch

from lessons import checkpoints
from lessons.pretrained import TRANSLATOR, load_translator
from tools import model

SHORT = replace(model.RECIPE, steps=2, batch_size=2, warmup=1)


@pytest.fixture(autouse=True)
def _threads():
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


def test_a_model_that_is_not_good_enough_does_not_replace_the_file(tmp_path, capsys):
    path = tmp_path / "model.safetensors"
    path.write_bytes(b"the one before")
    assert model.main(SHORT, path, sentences=2) == 1
    assert path.read_bytes() == b"the one before"
    assert [file.name for file in tmp_path.iterdir()] == ["model.safetensors"]
    assert "model.safetensors stays as it was: expected 99% or more" in capsys.readouterr().err


def test_the_same_recipe_writes_the_same_bytes(tmp_path):
    paths = [tmp_path / "one.safetensors", tmp_path / "two.safetensors"]
    for path in paths:
        assert model.main(SHORT, path, sentences=2, goal=0.0) == 0
    assert paths[0].read_bytes() == paths[1].read_bytes()
    assert load_translator(paths[0])[0].config.d_model == 64
    assert sorted(tmp_path.iterdir()) == paths


def test_the_file_that_ships_was_made_by_this_recipe():
    about = checkpoints.load_weights(TRANSLATOR)[1]
    assert about["recipe"] == {**asdict(model.RECIPE), "betas": list(model.RECIPE.betas)}
