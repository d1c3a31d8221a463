"""What learners write, as code: a file for each exercise, in the same place as in lessons/exercises.

`with right:` holds a cell that the check must accept, `with wrong("…"):` one that must get an answer with this phrase.
`edit(old, new, phrase)` is a right cell with one change, and wrong; `of` says which right cell, counted from 0.
An answer with more than one change stands whole, though lines come again: it is what somebody types, read alone.
The files are read, not run: each cell becomes the text that a learner would have typed. What a file imports at its
head is what the lesson has imported by then. The first right and the first wrong cell of a file are also run in the
lesson itself, so they use nothing else.
"""

import ast
import linecache
import textwrap
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from types import CodeType
from typing import Any

FOLDER = Path(__file__).parent
right = nullcontext()


def wrong(phrase: str) -> nullcontext[None]:
    return nullcontext()


def edit(old: str, new: str, phrase: str, of: int = 0) -> None:
    """Only read."""


def earlier(lesson: str, name: str) -> Any:
    """What the first right cell of another exercise gives, where a later one builds on it."""
    return run_cell((lesson, name), RIGHT[lesson, name][0])[name]


@dataclass(frozen=True)
class Answers:
    """name: what the learner's function is called. head: the imports. right: cells; wrong: cells and their phrases."""

    name: str
    head: str
    right: list[str]
    wrong: list[tuple[str, str]]


def read(path: Path) -> Answers:
    source = path.read_text(encoding="utf-8")
    tree, lines = ast.parse(source), source.splitlines()
    head, found_right, found_wrong = [], [], []
    for node in tree.body:
        match node:
            case ast.With(items=[ast.withitem(ast.Name("right"))]):
                found_right.append(_cell(lines, node))
            case ast.With(items=[ast.withitem(ast.Call(ast.Name("wrong"), [ast.Constant(phrase)]))]):
                found_wrong.append((_cell(lines, node), phrase))
            case ast.Expr(ast.Call(ast.Name("edit"), arguments, keywords)):
                old, new, phrase = map(ast.literal_eval, arguments)
                of = ast.literal_eval(keywords[0].value) if keywords else 0
                found_wrong.append((_edited(found_right[of], old, new, path), phrase))
            case _:
                head.extend(lines[node.lineno - 1 : node.end_lineno])
    last = ast.parse(found_right[0]).body[-1]
    name = last.targets[0].id if isinstance(last, ast.Assign) else last.name
    return Answers(name, "\n".join(head), found_right, found_wrong)


def _cell(lines: list[str], node: ast.With) -> str:
    first = min([node.body[0].lineno, *(each.lineno for each in getattr(node.body[0], "decorator_list", []))])
    return textwrap.dedent("\n".join(lines[first - 1 : node.end_lineno])) + "\n"


def _edited(cell: str, old: str, new: str, path: Path) -> str:
    if cell.count(old) != 1:
        raise ValueError(f"{path}: {old!r} is {cell.count(old)} times in the right answer; expected once")
    return cell.replace(old, new)


def run_cell(key: tuple[str, str], text: str) -> dict[str, Any]:
    """The names that a lesson has after it ran this cell."""
    namespace: dict[str, Any] = {}
    exec(ANSWERS[key].head, namespace)
    exec(compile_cell(text), namespace)
    return namespace


def compile_cell(text: str) -> CodeType:
    """Compile as a notebook does, so that a message can quote the line."""
    filename = f"<cell {hash(text)}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
    return compile(text, filename, "exec")


def _read_all() -> dict[tuple[str, str], Answers]:
    files = [read(path) for path in sorted(FOLDER.glob("*/*.py"))]
    folders = [path.parent.name for path in sorted(FOLDER.glob("*/*.py"))]
    return {(folder, answers.name): answers for folder, answers in zip(folders, files)}


ANSWERS = _read_all()
RIGHT = {key: answers.right for key, answers in ANSWERS.items()}
WRONG = {key: answers.wrong for key, answers in ANSWERS.items()}
