"""What there is to translate in the source of a cell, and the source with the translation in its place.

Of Markdown, each block between blank lines is a message. Of code, each comment and each string with words is one; an
f-string's message has its {placeholders} as they are in the code.
"""

import ast
import io
import re
import tokenize
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from unicodedata import east_asian_width

WIDTH = 88
FENCE = re.compile(r"^ *(```+|~~~+)(\w*)", re.M)
NOT_WORDS = re.compile(r"`[^`]*`|\$[^$]*\$|<[^>]*>|\]\([^)]*\)|https?:\S+|^ *\|[-:| ]+\|$", re.M)
LINE_OF_CODE = re.compile(r"`([^`\n]+)`")
WORD = re.compile(r"[A-Za-z]{2,}")
LABELS = {"title", "xlabel", "ylabel", "row_axis", "column_axis", "label"}  # options of which one word is a text
# Words that lessons show as they are: in the rows of a table, the names of curves, the keys of what is printed.
SHOWN = frozenset(Path(__file__).with_name("shown_words.txt").read_text(encoding="utf-8").split())
PROSE = re.compile(r"[ :]")  # in a string of one word: "greedy:", "of 100", but not "reduction"
PLACEHOLDER = re.compile(r"\{\{|\}\}|\{(?:[^{}]|\{[^{}]*\})*\}")
PIECE = re.compile(rf"{PLACEHOLDER.pattern}|[\x21-\x7a|~]+ ?|.", re.S)
OPENING = re.compile(r"([A-Za-z]*)(\"\"\"|'''|\"|')")
PRAGMA = re.compile(r"(noqa|fmt|type|pyright)\b:?")

Lookup = Callable[[str], str]


@dataclass(frozen=True)
class Part:
    """A message in a source: source[start:end] says it in English, and `write` says a translation in the same form."""

    start: int
    end: int
    message: str
    write: Callable[[str], str]


def messages(kind: str, source: str) -> list[str]:
    """What there is to translate in a cell; kind: "markdown" or "code"."""
    return list(dict.fromkeys(part.message for part in parts(kind, source)))


def translated(kind: str, source: str, lookup: Lookup) -> str:
    """The source in another language; lookup: a message -> its translation, or the message itself."""
    for part in reversed(parts(kind, source)):
        text = lookup(part.message)
        if text != part.message:
            source = source[: part.start] + part.write(text) + source[part.end :]
    return source


@cache
def parts(kind: str, source: str) -> tuple[Part, ...]:
    return tuple(sorted(of_markdown(source) if kind == "markdown" else of_code(source), key=lambda part: part.start))


def of_markdown(source: str) -> Iterator[Part]:
    """Blocks between blank lines; a fenced block of Python counts as code."""
    start = 0
    while start < len(source):
        fence = FENCE.match(source, start)
        if fence:
            closing = re.compile(rf"^ *{fence[1]} *$", re.M).search(source, fence.end())
            end = closing.end() if closing else len(source)
            inside = source.find("\n", fence.end()) + 1
            code = source[inside : closing.start() if closing else end]
            if fence[2] == "python" and is_python(code):
                yield from (moved(part, inside) for part in of_code(code))
            elif len(WORD.findall(code)) > 1:
                yield Part(start, end, source[start:end], str)
        else:
            blank = re.compile(r"\n[ \t]*(?=\n)|\n(?= *(```|~~~))|\Z").search(source, start)
            end = blank.start() if blank else len(source)
            text = source[start:end]
            if WORD.search(NOT_WORDS.sub(" ", text)) or is_code_in_words(text):
                yield Part(start, end, text, str)
        start = end + 1
        while start < len(source) and source[start] == "\n":
            start += 1


def is_code_in_words(text: str) -> bool:
    """A line such as `ids → logits → choose one`: it looks like code, and is there to be read."""
    line = LINE_OF_CODE.fullmatch(text)
    return line is not None and len(WORD.findall(text)) > 1 and not is_python(line[1])


def is_python(code: str) -> bool:
    try:
        ast.parse(code)
    except SyntaxError:
        return False
    return True


def moved(part: Part, by: int) -> Part:
    return Part(part.start + by, part.end + by, part.message, part.write)


def of_code(source: str) -> Iterator[Part]:
    magic = {number for number, line in enumerate(source.splitlines(), start=1) if line.lstrip()[:1] in ("%", "!")}
    python = re.sub(r"^(\s*)[%!]", r"\1#", source, flags=re.M)
    yield from strings(python)
    yield from comments(python, magic)


def strings(source: str) -> Iterator[Part]:
    """Each string, its adjacent parts together."""
    lines = source.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))

    def place(line: int, byte: int) -> int:
        return starts[line - 1] + len(lines[line - 1].encode()[:byte].decode())

    nodes = list(ast.walk(ast.parse(source)))
    inside = {id(part) for node in nodes if isinstance(node, ast.JoinedStr) for part in ast.walk(node)}
    labels = {
        id(keyword.value)
        for node in nodes
        if isinstance(node, ast.Call)
        for keyword in node.keywords
        if keyword.arg in LABELS
    } | {
        id(value)
        for node in nodes
        if isinstance(node, ast.Dict)
        for key, value in zip(node.keys, node.values)
        if isinstance(key, ast.Constant) and key.value in LABELS
    }
    for node in nodes:
        if isinstance(node, ast.JoinedStr):
            message = template(node)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in inside:
            message = node.value
        else:
            continue
        words = len(WORD.findall(PLACEHOLDER.sub(" ", message) if isinstance(node, ast.JoinedStr) else message))
        said = isinstance(node, ast.JoinedStr) or id(node) in labels or PROSE.search(message) or message in SHOWN
        if words > 1 or (words and said):
            start = place(node.lineno, node.col_offset)
            end = place(node.end_lineno or node.lineno, node.end_col_offset or 0)
            column = len(lines[node.lineno - 1].encode()[: node.col_offset].decode())
            yield Part(start, end, message, literal(source[start:end], isinstance(node, ast.JoinedStr), column))


def template(node: ast.JoinedStr) -> str:
    """The text of an f-string, with its placeholders."""
    text = ""
    for part in node.values:
        if isinstance(part, ast.Constant):
            text += str(part.value).replace("{", "{{").replace("}", "}}")
        elif isinstance(part, ast.FormattedValue):
            conversion = f"!{chr(part.conversion)}" if part.conversion > 0 else ""
            form = f":{template(part.format_spec)}" if isinstance(part.format_spec, ast.JoinedStr) else ""
            text += f"{{{ast.unparse(part.value)}{conversion}{form}}}"
    return text


def literal(old: str, filled_in: bool, column: int) -> Callable[[str], str]:
    """Writes a text as a string of the same kind as the old one; over several lines if the old one had several."""
    opening = OPENING.match(old)
    prefix, quote = opening.groups() if opening else ("", '"')
    raw = "r" in prefix.lower()
    mark = ("f" if filled_in else "") + ("r" if raw else "")

    def escaped(piece: str) -> str:
        if raw or (filled_in and piece.startswith("{") and not piece.startswith("{{")):
            return piece
        piece = piece.replace("\\", "\\\\")
        return piece if len(quote) == 3 else piece.replace('"', '\\"').replace("\n", "\\n")

    def write(text: str) -> str:
        found = PIECE.findall(text) if filled_in else re.findall(r"[\x21-\x7e]+ ?|.", text, re.S)
        pieces = [escaped(piece) for piece in (match if isinstance(match, str) else match[0] for match in found)]
        if len(quote) == 3 or "\n" not in old:
            kind = quote if len(quote) == 3 else '"'
            return f"{mark}{kind}{''.join(pieces)}{kind}"
        room = WIDTH - column - len(mark) - 3
        return f"\n{' ' * column}".join(f'{mark}"{line}"' for line in broken(pieces, room))

    return write


def comments(source: str, skipped: set[int]) -> Iterator[Part]:
    """Each comment; lines of comments that follow each other are one."""
    lines = source.splitlines(keepends=True)
    start = 0
    found: list[tuple[int, int, str, int | None]] = []  # start, end, text, column of a line of its own
    positions: list[int] = []
    for line in lines:
        positions.append(start)
        start += len(line)
    previous = None
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type != tokenize.COMMENT:
            continue
        line, column = token.start
        text = token.string.removeprefix("#").strip()
        if line in skipped or PRAGMA.match(text):
            continue
        at = positions[line - 1] + column
        alone = column if not lines[line - 1][:column].strip() else None
        if alone is not None and found and previous == (line - 1, alone):
            first, _, said, _ = found.pop()
            found.append((first, at + len(token.string), f"{said} {text}", alone))
        else:
            found.append((at, at + len(token.string), text, alone))
        previous = (line, alone)
    for first, end, text, alone in found:
        if WORD.search(text):
            yield Part(first, end, text, comment(alone))


def comment(column: int | None) -> Callable[[str], str]:
    def write(text: str) -> str:
        if column is None:
            return f"# {text}"
        pieces = re.findall(r"[\x21-\x7e]+ ?|.", text)
        return f"\n{' ' * column}".join(f"# {line.rstrip()}" for line in broken(pieces, WIDTH - column - 2))

    return write


def broken(pieces: list[str], room: int) -> list[str]:
    """Lines of at most `room` columns; a Chinese character takes two."""
    lines = [""]
    for piece in pieces:
        if lines[-1] and columns(lines[-1]) + columns(piece.rstrip()) > room and piece not in "，。：；？！）”、":
            lines.append("")
        lines[-1] += piece
    return lines


def columns(text: str) -> int:
    return sum(2 if east_asian_width(letter) in "WF" else 1 for letter in text)
