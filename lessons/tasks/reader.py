"""Reads a file of sentence pairs line by line: source, tab, target, and optionally a tab and an attribution."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

LONGEST_LINE = 100_000  # bytes
MOST_COLUMNS = 3  # source, target, attribution
SHOWN = 40  # characters of a bad line
UTF8_BOM, UTF16_BOMS = b"\xef\xbb\xbf", (b"\xff\xfe", b"\xfe\xff")
BZIP2 = [b"BZh%d1AY&SY" % level for level in range(1, 10)]  # its first bytes; BZh alone could be a word
PACKED = {b"\x1f\x8b": "gzip", b"PK\x03\x04": "zip", **dict.fromkeys(BZIP2, "bzip2"), b"\xfd7zXZ": "xz"}
NO_TEXT = (*UTF16_BOMS, *PACKED)


def read_pairs(
    path: str | Path, *, encoding: str = "utf-8", on_corrupt: Callable[[ValueError], object] | None = None
) -> Iterator[tuple[str, str]]:
    """The pairs (source, target) of a file, one after the other, with only one line in memory.

    Windows line ends, a byte order mark and blank lines are fine. Any other line is a ValueError that names the file
    and the line; on_corrupt, if given, gets this error, and reading goes on. A file that isn't text is always an error.
    """
    path = Path(path)
    if not path.is_file():
        raise ValueError(f"path is {path}; expected a text file of sentence pairs")
    check_encoding(encoding)
    number, found = 0, False
    with path.open("rb") as file:
        while line := file.readline(LONGEST_LINE + 1):
            number += 1
            try:
                pair = _pair(line if number > 1 else _first(line), encoding)
            except ValueError as error:
                named = ValueError(f"{path.name}, line {number}: {error}")
                if on_corrupt is None or (number == 1 and line.startswith(NO_TEXT)):
                    raise named from None
                on_corrupt(named)
                _skip_rest(line, file)
                continue
            if pair:
                found = True
                yield pair
    if not found:
        raise ValueError(f"{path.name} contains no sentence pair; expected lines of source, tab, target")


def _skip_rest(line: bytes, file: BinaryIO) -> None:
    while len(line) > LONGEST_LINE and not line.endswith(b"\n"):
        line = file.readline(LONGEST_LINE + 1)


def check_encoding(encoding: str) -> None:
    """Refuse encodings such as UTF-16: lines are split at the byte of "\\n", which other characters contain there."""
    try:
        usable = "a\t\n".encode(encoding) == b"a\t\n"
    except (LookupError, TypeError):
        usable = False
    if not usable:
        raise ValueError(f"encoding is {encoding!r}; expected one that keeps ASCII bytes, such as utf-8 or gb18030")


def _first(line: bytes) -> bytes:
    """The first line without its byte order mark; a ValueError if it shows that the file isn't text."""
    if line.startswith(UTF16_BOMS):
        raise ValueError("the file is in UTF-16; expected UTF-8: save it again as UTF-8")
    for start, name in PACKED.items():
        if line.startswith(start):
            raise ValueError(f"the file is compressed with {name}; expected text: unpack it first")
    return line.removeprefix(UTF8_BOM)


def _pair(line: bytes, encoding: str) -> tuple[str, str] | None:
    """The pair of a line, or None for a blank line."""
    if len(line) > LONGEST_LINE:
        raise ValueError(f"longer than {LONGEST_LINE:,} bytes; expected one sentence pair per line")
    if b"\0" in line:
        raise ValueError("a byte is 0, as in UTF-16 and in binary files; expected a text file in UTF-8")
    text = _decode(line, encoding).rstrip("\r\n")
    if not text.strip():
        return None
    columns = text.split("\t")
    if len(columns) < 2:
        raise ValueError(f"no tab in {_short(text)}; expected source, tab, target")
    if len(columns) > MOST_COLUMNS:
        raise ValueError(f"{len(columns)} columns in {_short(text)}; expected source, target, attribution")
    source, target = columns[0].strip(), columns[1].strip()
    if not source or not target:
        empty = "target" if source else "source"
        raise ValueError(f"the {empty} is empty in {_short(text)}; expected source, tab, target")
    return source, target


def _decode(line: bytes, encoding: str) -> str:
    try:
        return line.decode(encoding)
    except UnicodeDecodeError as error:
        found = f"byte {error.start + 1} is 0x{line[error.start]:02x}, which is not valid in {encoding}"
        raise ValueError(f"{found}; expected {encoding}, or encoding=… with the encoding of the file") from None


def _short(text: str) -> str:
    return repr(text if len(text) <= SHOWN else text[:SHOWN] + "…")
