"""Brings the learner's copies into another language: make lab LESSONS_LANG=zh_CN."""

import os
from copy import deepcopy

from nbformat import NotebookNode

from lessons.wording import VARIABLE, worded
from tools.copies import Copies, read, write
from tools.merge import merge


def switch(copies: Copies) -> list[str]:
    """Bring all copies into the language of `copies`. Returns what was done, a sentence each.

    What the learner has changed or written stays as it is, and the copy as it was before stays next to the new one.
    The language is remembered if it is another one, or was chosen.
    """
    done: list[str] = []
    is_another = copies.made_in() != copies.language
    if is_another:
        for name in copies.names():
            if (copies.own / name).exists():
                done += _switched(copies, name)
    if is_another or os.environ.get(VARIABLE):
        copies.remember_language()
    return done


def _switched(copies: Copies, name: str) -> list[str]:
    own, new, origin = read(copies.own / name), copies.edition(name), copies.made_from(name)
    merged = merge(origin, own, _kept(origin, own, new))
    done: list[str] = []
    if own == origin:
        write(new, copies.own / name)
    elif merged != own:
        before = copies.replace(name, merged).name
        done.append(
            worded(
                "{name} is in {language} now; as it was before: {before}",
                name=name,
                language=copies.language,
                before=before,
            )
        )
    copies.set_made_from(name, new)
    return done


def _kept(origin: NotebookNode | None, own: NotebookNode, new: NotebookNode) -> NotebookNode:
    """The new edition, with the old text of the cells that the learner has changed: only their language is new."""
    old = {cell.id: cell.source for cell in (origin.cells if origin else [])}
    changed = {cell.id for cell in own.cells if cell.id in old and cell.source != old[cell.id]}
    kept = deepcopy(new)
    for cell in kept.cells:
        if cell.id in changed:
            cell.source = old[cell.id]
    return kept
