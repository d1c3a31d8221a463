"""Puts the exercises of a lesson back to their start, in the learner's copy: python -m tools.reset 03.

Everything else in the notebook stays: notes, cells of your own, the answers of other lessons. The copy as it was before
stays next to it, under its date.
"""

import os
import sys
from pathlib import Path

from lessons import progress
from lessons.wording import SENTENCES, counted, listed, worded
from tools.copies import HOME, CopyError, copies_of, read
from tools.merge import reset
from tools.update import rename


def main(number: str, root: Path = HOME) -> int:
    copies = copies_of(root)
    names = {name[:2]: name for name in copies.names() if name[:2].isdigit()}
    if number not in names:
        expected = worded(
            "LESSON is {number!r}; expected one of {numbers}: make reset LESSON=03",
            number=number,
            numbers=listed(names),
        )
        print(expected, file=sys.stderr)
        return 1
    name = names[number]
    try:
        for sentence in rename(copies):
            print(sentence)
        copies.make_missing()
        own = read(copies.own / name)
        merged, changed = reset(copies.made_from(name) or copies.edition(name), own)
        before = copies.replace(name, merged) if merged != own else None
    except CopyError as error:
        print(error, file=sys.stderr)
        return 1
    progress.forget(number)
    told = counted(
        "{name}: {count} exercise is back at the start.",
        "{name}: {count} exercises are back at the start.",
        changed,
        name=name,
    )
    kept = worded("As it was before: {name}", name=before.name) if before else ""
    print(listed([told, kept], SENTENCES))
    if before:
        print(worded("If it is open in JupyterLab, reload it: File, Reload Notebook from Disk."))
    return 0


if __name__ == "__main__":
    sys.exit(main(" ".join(sys.argv[1:]) or os.environ.get("LESSON", "")))
