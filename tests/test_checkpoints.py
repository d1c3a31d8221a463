"""lessons.checkpoints: what was saved comes back, and any other file is refused with its path and the reason."""

import json
import re
from hashlib import sha256
from pathlib import Path

import pytest
import safetensors.torch
import torch

from lessons.checkpoints import load, load_weights, only_sizes, save, save_weights

STATE = {"step": 3, "weight": torch.arange(6.0).view(2, 3)}
ABOUT = {"steps": 3, "name": "Übersetzer", "trained on": {"sha256": "a" * 64}}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.pt"


def said(path, what):
    return f"^{re.escape(f'path is {str(path)!r}, {what}')}$"


def test_a_state_comes_back(path):
    save(path, STATE)
    found = load(path)
    assert found["step"] == 3 and torch.equal(found["weight"], STATE["weight"])
    assert load(str(path), "meta")["weight"].device.type == "meta"
    assert list(path.parent.iterdir()) == [path]


def test_weights_come_back(path):
    save_weights(path, {"weight": STATE["weight"]}, ABOUT)
    tensors, about = load_weights(str(path))
    assert about == ABOUT and torch.equal(tensors["weight"], STATE["weight"])
    assert "Übersetzer".encode() in path.read_bytes()
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("entry", ["data", "trained on"])
def test_a_checksum_of_something_else_is_kept(path, entry):
    about = {entry: {"file": "a.tsv", "sha256": "ab" * 32}}
    save_weights(path, {"weight": STATE["weight"]}, about)
    assert load_weights(path)[1] == about


def test_the_name_of_the_checksum_is_taken(path):
    with pytest.raises(
        ValueError, match=r"^about has 'sha256'; expected another name: this one is for the file's checksum$"
    ):
        save_weights(path, {"weight": STATE["weight"]}, {"sha256": "ab" * 32})
    assert not path.exists()


def test_weights_of_an_older_version_are_read(path):
    """There the checksum stood between the other entries."""
    text = json.dumps({"name": "a", "sha256": "0" * 64, "steps": 3})
    content = safetensors.torch.save({"weight": STATE["weight"]}, {"about": text})
    path.write_bytes(content.replace(b"0" * 64, sha256(content).hexdigest().encode()))
    assert load_weights(path)[1] == {"name": "a", "steps": 3}


def test_the_order_of_what_is_saved_does_not_count(path):
    files = [path, path.with_name("other")]
    tensors = {"weight": STATE["weight"], "bias": torch.zeros(2)}
    save_weights(files[0], tensors, ABOUT)
    save_weights(files[1], dict(reversed(tensors.items())), dict(reversed(ABOUT.items())))
    assert files[0].read_bytes() == files[1].read_bytes()


def saved(path):
    save(path, STATE)
    return path.read_bytes()


def checked(content):
    return b"lessons checkpoint, SHA-256 " + sha256(content).hexdigest().encode() + b"\n" + content


@pytest.mark.parametrize(
    "content, why",
    [
        (lambda path: b"", "is not a checkpoint"),
        (lambda path: b"hello\n", "is not a checkpoint"),
        (lambda path: b" " + saved(path), "is not a checkpoint"),
        (lambda path: saved(path) + b" ", "is damaged: its checksum doesn't match"),
        (lambda path: saved(path).replace(b"SHA-256 ", b"SHA-256 0", 1), "is not a checkpoint"),
        (lambda path: checked(b"junk"), "torch can't read"),
    ],
)
def test_what_save_did_not_write_is_refused(path, content, why):
    path.write_bytes(content(path))
    with pytest.raises(ValueError, match=said(path, f"which {why}; expected a file that save() wrote")):
        load(path)


def test_a_list_is_no_state(path):
    save(path, [3])
    with pytest.raises(ValueError, match=said(path, "which contains no state; expected a file that save() wrote")):
        load(path)


def test_weights_that_are_damaged_are_refused(path):
    save_weights(path, {"weight": STATE["weight"]}, ABOUT)
    whole = path.read_bytes()
    why = "which is damaged: its checksum does not fit; expected a file that save_weights() wrote"
    for content in (b"", saved(path), whole[:-1] + b"\1", whole.replace(b"sha256", b"sha512")):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=said(path, why)):
            load_weights(path)


def test_a_missing_file_is_named(path):
    with pytest.raises(ValueError, match=said(path, "but there is no such file; expected one that save() wrote")):
        load(path)
    with pytest.raises(ValueError, match=said(path, "where no file is; expected one that save_weights() wrote")):
        load_weights(path)


def test_a_file_that_cannot_be_read_is_named(path, monkeypatch):
    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    save(path, STATE)
    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(ValueError, match=said(path, "which cannot be read: Permission denied")):
        load(path)


def test_only_sizes():
    with only_sizes():
        layer = torch.nn.Embedding(3, 4)
    assert layer.weight.is_meta and layer.weight.shape == (3, 4)
    numbers = torch.arange(12.0).view(3, 4)
    layer.load_state_dict({"weight": numbers}, assign=True)
    assert torch.equal(layer(torch.tensor([2])), numbers[2:])
    torch.manual_seed(0)
    assert torch.nn.Embedding(3, 4).weight.std() > 0.1  # afterwards numbers are drawn again
