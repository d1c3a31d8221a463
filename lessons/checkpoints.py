"""Files that hold a state of tensors and numbers, with a checksum: read back as they were written, or refused.

The first line of a file is the SHA-256 of all that follows, which is what torch.save writes.
"""

import io
import os
import re
from hashlib import sha256
from pathlib import Path
from typing import Any

import torch

HEADING = b"lessons checkpoint, SHA-256 "
FIRST_LINE = re.compile(HEADING + rb"([0-9a-f]{64})\n")


def save(path: str | Path, state: dict[str, object]) -> None:
    """Replaces the file as a whole or not at all; a symbolic link stays, and the file that it names is replaced.

    What a killed process leaves behind is one file more, which the next call overwrites.
    """
    path = Path(path).resolve()
    buffer = io.BytesIO()
    torch.save(state, buffer)
    temporary = path.with_name(f".{path.name}.saving")
    try:
        with temporary.open("wb") as file:
            file.write(HEADING + sha256(buffer.getbuffer()).hexdigest().encode() + b"\n")
            file.write(buffer.getbuffer())
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def load(path: str | Path, device: torch.device | str = "cpu") -> dict[str, Any]:
    """What `save` wrote, with its tensors on `device`. A file that is not wholly so is a ValueError."""
    path = Path(path)
    if not path.is_file():
        raise ValueError(f"path is {str(path)!r}, where no file is; expected one that save() wrote")
    try:
        with path.open("rb") as file:
            found = FIRST_LINE.fullmatch(file.readline(200))
            content = file.read() if found else b""
    except OSError as error:
        raise ValueError(f"path is {str(path)!r}, which cannot be read: {error.strerror}") from None
    if found is None:
        raise refused(path, "is no checkpoint")
    if sha256(content).hexdigest().encode() != found[1]:
        raise refused(path, "is damaged: its checksum does not fit")
    try:
        state = torch.load(io.BytesIO(content), map_location=device, weights_only=True)
    except Exception:  # the checksum fits: somebody made this file, and torch raises whatever it meets
        raise refused(path, "holds what torch cannot read") from None
    if not isinstance(state, dict):
        raise refused(path, "holds no state")
    return state


def refused(path: str | Path, why: str) -> ValueError:
    return ValueError(f"path is {str(path)!r}, which {why}; expected a file that save() wrote")
