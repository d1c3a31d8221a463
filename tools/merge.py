"""A new edition of a lesson and a learner's copy become one notebook, cell by cell, by the ids of the cells.

The course's cells become those of the new edition, in its order. Answers to exercises, cells that the learner changed
and cells of their own stay. Where both sides changed a cell, both versions stay.
"""

import hashlib
from copy import deepcopy

from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell, new_notebook

from lessons.wording import marked, worded
from tools.copies import clear

GONE = marked("*What was above this cell is no longer in the lesson. Your own work stays.*")
ANSWER_OF_OLD = marked("*This exercise is no longer in the lesson. Your answer stays.*")
YOURS_OF_OLD = marked("*The cell above is new. Your own version of the old one stays here.*")
NEW_STUB = marked("*This exercise has a new start. Your answer above stays. The new start:*\n\n```python\n{}\n```")


def merge(origin: NotebookNode | None, own: NotebookNode, new: NotebookNode) -> NotebookNode:
    """The learner's copy with the new edition in it.

    origin: the edition that `own` was made from, to tell what the learner changed; without it, every difference
        counts as the learner's.
    Cells that the learner deleted stay deleted, unless the new edition changed them.
    """
    old = {cell.id: cell for cell in (origin or new_notebook()).cells}
    course = {cell.id for cell in new.cells}
    mine = {cell.id: cell for cell in own.cells}
    blocks: dict[str, list[NotebookNode]] = {"": []}  # by the course's cell that they follow, itself included
    for cell in new.cells:
        before = old.get(cell.id)
        if cell.id in mine:
            blocks[cell.id] = _both(before, mine[cell.id], cell, set(mine))
        elif before is None or before.source != cell.source:
            blocks[cell.id] = [deepcopy(cell)]
    place, gone = "", False
    for cell in own.cells:
        if cell.id in course:
            place, gone = cell.id, False
        elif _is_untouched(old.get(cell.id), cell):
            gone = True
        else:
            note = ANSWER_OF_OLD if cell.id in old and _is_exercise(cell) else GONE if gone else ""
            blocks[place] += [*_noted(note, cell, set(mine)), _learners(cell)]
            gone = False
    merged = deepcopy(own)
    merged.cells = [cell for block in blocks.values() for cell in block]
    return merged


def _both(old: NotebookNode | None, mine: NotebookNode, new: NotebookNode, ids: set[str]) -> list[NotebookNode]:
    """What happens to a cell that is in the learner's copy and in the new edition."""
    same_kind = mine.cell_type == new.cell_type
    if _is_untouched(old, mine) or (same_kind and mine.source == new.source):
        kept = deepcopy(new)
        if same_kind and new.cell_type == "code" and mine.source == new.source:
            kept.outputs, kept.execution_count = deepcopy(mine.outputs), mine.execution_count
        return [kept]
    kept = deepcopy(mine)
    kept.metadata = deepcopy(new.metadata)
    if old is not None and old.source == new.source:
        return [kept]
    if _is_exercise(new) and same_kind:
        return [kept, *_noted(NEW_STUB, mine, ids, new.source)]
    other = _learners(mine)
    other.id = _free(f"{mine.id[:40]}-yours", ids)
    return [deepcopy(new), *_noted(YOURS_OF_OLD, mine, ids), other]


def _is_untouched(old: NotebookNode | None, mine: NotebookNode) -> bool:
    return old is not None and (old.cell_type, old.source) == (mine.cell_type, mine.source)


def _is_exercise(cell: NotebookNode) -> bool:
    return "exercise" in cell.metadata.get("tags", [])


def _learners(cell: NotebookNode) -> NotebookNode:
    """The cell as one of the learner's own: JupyterLab copies an exercise's metadata when it splits the cell."""
    cell = deepcopy(cell)
    cell.metadata.pop("stub", None)
    if _is_exercise(cell):
        cell.metadata.tags = [tag for tag in cell.metadata.tags if tag != "exercise"]
    return cell


def _noted(note: str, cell: NotebookNode, ids: set[str], *stub: str) -> list[NotebookNode]:
    """A line about a cell, unless an earlier update has put it there already."""
    name = f"{cell.id[:40]}-{hashlib.sha256(note.format(*stub).encode()).hexdigest()[:8]}"
    if not note or name in ids:
        return []
    return [new_markdown_cell(worded(note).format(*stub), id=name)]


def _free(name: str, ids: set[str]) -> str:
    while name in ids:
        name += "-2"
    return name


def reset(origin: NotebookNode, own: NotebookNode) -> tuple[NotebookNode, int]:
    """The copy with all exercises at their start, also those that were deleted; how many were not.

    The parts of a split exercise go; outputs of exercises and of their checks, too. Everything else stays.
    """
    exercises = {cell.id: cell for cell in origin.cells if _is_exercise(cell)}
    checks = {cell.id for cell in origin.cells if cell.cell_type == "code" and ".check(" in cell.source}
    stubs = {cell.source for cell in exercises.values()}
    merged, changed = deepcopy(own), 0
    merged.cells = [c for c in merged.cells if c.id in exercises or c.metadata.get("stub") not in stubs]
    for cell in merged.cells:
        if cell.id in exercises:
            changed += cell.source != exercises[cell.id].source or cell.cell_type != "code"
        if cell.id in exercises.keys() | checks and cell.cell_type == "code":
            clear(cell)
    present = {cell.id for cell in merged.cells}
    merged.cells = [deepcopy(exercises.get(cell.id, cell)) for cell in merged.cells]
    place = 0
    for cell in origin.cells:
        if cell.id in present:
            place = 1 + [c.id for c in merged.cells].index(cell.id)
        elif cell.id in exercises:
            merged.cells.insert(place, deepcopy(cell))
            place += 1
            changed += 1
    return merged, changed
