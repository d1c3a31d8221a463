"""Checkpoint files with tensors and numbers and a checksum. A damaged file is refused.

`save` and `load` store the whole state of a training: the first line of the file contains the SHA-256 of the rest,
which torch.save wrote. `save_weights` and `load_weights` are for a model to share: a safetensors file with the SHA-256
in its metadata. `only_sizes` makes the model that takes tensors from a file as they are.
"""

import io
import json
import os
import re
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

HEADING = b"lessons checkpoint, SHA-256 "
FIRST_LINE = re.compile(HEADING + rb"([0-9a-f]{64})\n")
ABOUT = "about"  # the one entry of a safetensors file's metadata: several would stand in any order
CHECKSUM = re.compile(rb'(?<=\\"sha256\\": \\")[0-9a-f]{64}')
BLANK = "0" * 64  # stands for the checksum in what it is computed from


@contextmanager
def only_sizes() -> Generator[None]:
    """Inside `with`, a new module has parameters without numbers, which `load_state_dict(…, assign=True)` brings."""
    with torch.device("meta"), _NothingDrawn():
        yield


class _NothingDrawn(TorchFunctionMode):
    """While active, `nn.init.normal_` does nothing: for a tensor without numbers, torch imports its compiler there."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return kwargs["tensor"] if func is nn.init.normal_ else func(*args, **(kwargs or {}))


def save(path: str | Path, state: dict[str, object]) -> None:
    """Save a state. An existing file is replaced completely or not at all; behind a symbolic link, its target is.

    A killed process can leave a file `.<name>.saving` behind; the next call overwrites it.
    """
    buffer = io.BytesIO()
    torch.save(state, buffer)
    _replace(path, HEADING + sha256(buffer.getbuffer()).hexdigest().encode() + b"\n", buffer.getbuffer())


def load(path: str | Path, device: torch.device | str = "cpu") -> dict[str, Any]:
    """The state that `save` wrote, with its tensors on `device`. Any other or damaged file is a ValueError."""
    path = Path(path)
    if not path.is_file():
        raise ValueError(f"path is {str(path)!r}, but there is no such file; expected one that save() wrote")
    try:
        with path.open("rb") as file:
            found = FIRST_LINE.fullmatch(file.readline(200))
            content = file.read() if found else b""
    except OSError as error:
        raise ValueError(f"path is {str(path)!r}, which cannot be read: {error.strerror}") from None
    if found is None:
        raise refused(path, "is not a checkpoint")
    if sha256(content).hexdigest().encode() != found[1]:
        raise refused(path, "is damaged: its checksum doesn't match")
    try:
        state = torch.load(io.BytesIO(content), map_location=device, weights_only=True)
    except Exception:  # somebody else wrote this file, and torch can raise any exception
        raise refused(path, "torch can't read") from None
    if not isinstance(state, dict):
        raise refused(path, "contains no state")
    return state


def save_weights(path: str | Path, tensors: Mapping[str, Tensor], about: Mapping[str, object]) -> None:
    """Replaces the file, as `save` does. about: what else belongs to the weights, in the types of JSON.

    The same tensors and the same `about` give the same bytes. An entry "sha256" in `about` is a ValueError.
    """
    import safetensors.torch

    if "sha256" in about:
        raise ValueError("about has 'sha256'; expected another name: this one is for the file's checksum")
    in_order = json.loads(json.dumps({**about}, sort_keys=True))
    text = json.dumps({"sha256": BLANK, **in_order}, ensure_ascii=False)  # before any other sha256
    content = safetensors.torch.save(dict(tensors), {ABOUT: text})
    _replace(path, CHECKSUM.sub(sha256(content).hexdigest().encode(), content, count=1))


def load_weights(path: str | Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """The tensors and the `about` that `save_weights` wrote. A file of which one bit differs is a ValueError."""
    import safetensors.torch

    path = Path(path)
    if not path.is_file():
        raise ValueError(f"path is {str(path)!r}, where no file is; expected one that save_weights() wrote")
    content = path.read_bytes()
    found = CHECKSUM.search(content)
    blank = CHECKSUM.sub(BLANK.encode(), content, count=1)
    if found is None or sha256(blank).hexdigest().encode() != found[0]:
        raise refused(path, "is damaged: its checksum does not fit", "save_weights()")
    header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
    about = json.loads(header["__metadata__"][ABOUT])
    del about["sha256"]
    return safetensors.torch.load(content), about


def refused(path: str | Path, why: str, writer: str = "save()") -> ValueError:
    return ValueError(f"path is {str(path)!r}, which {why}; expected a file that {writer} wrote")


def _replace(path: str | Path, *parts: bytes | memoryview) -> None:
    path = Path(path).resolve()
    temporary = path.with_name(f".{path.name}.saving")
    try:
        with temporary.open("wb") as file:
            for part in parts:
                file.write(part)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
