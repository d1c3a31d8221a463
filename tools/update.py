"""Brings the learner's copies up to date with the lessons, after a new edition was pulled: python -m tools.update.

Nothing of a learner's is lost: see tools/merge.py. The copy as it was before stays next to the new one, under its date.
"""

import sys
from pathlib import Path

from lessons.wording import worded
from tools.copies import HOME, Copies, CopyError, copies_of, read, read_if_valid, sources_of
from tools.language import switch
from tools.merge import merge


def update(copies: Copies) -> tuple[list[str], list[str]]:
    """Bring every copy up to date, in the language of `copies`. Returns what was done and what failed, as sentences.

    Where a copy cannot be renamed or change its language, the others stay as they are, too.
    """
    try:
        done = rename(copies) + switch(copies)
    except CopyError as error:
        return [], [str(error)]
    failed: list[str] = []
    for step in (make, *(bring_up_to_date(name) for name in copies.names())):
        try:
            done += step(copies)
        except CopyError as error:
            failed.append(str(error))
    return done, failed


def rename(copies: Copies) -> list[str]:
    """Give the copy of a lesson its new name: the number is the same. To be called before `make_missing`.

    A copy that already has this name stays, unless nothing was written in it.
    """
    done: list[str] = []
    for origin in sorted(copies.origin.glob("[0-9][0-9]_*.ipynb")):
        same = [name for name in copies.names() if name.startswith(origin.name[:3])]
        old = copies.own / origin.name
        if origin.name in copies.names() or len(same) != 1 or not old.exists() or is_written_in(copies, same[0]):
            continue
        try:
            old.replace(copies.own / same[0])
            origin.replace(copies.origin / same[0])
        except OSError as error:
            sentence = worded(
                "{file} cannot be renamed ({reason}). It was left as it is.", file=old, reason=error.strerror
            )
            raise CopyError(sentence) from error
        done.append(worded("{old} is now {new}.", old=origin.name, new=same[0]))
    return done


def is_written_in(copies: Copies, name: str) -> bool:
    """Whether there is a copy of this name that differs from what it was made from."""
    own = read_if_valid(copies.own / name)
    if own is None:
        return (copies.own / name).exists()
    return sources_of(own) != sources_of(copies.made_from(name))


def make(copies: Copies) -> list[str]:
    return [worded("{name} is new.", name=name) for name in copies.make_missing()]


def bring_up_to_date(name: str):
    def step(copies: Copies) -> list[str]:
        if not (copies.own / name).exists():
            return []  # `make` has said why
        if not copies.is_outdated(name):
            read(copies.own / name)
            return []
        own, new = read(copies.own / name), copies.edition(name)
        merged = merge(copies.made_from(name), own, new)
        done: list[str] = []
        if merged != own:
            before = copies.replace(name, merged)
            done.append(worded("{name} is up to date; as it was before: {before}", name=name, before=before.name))
        copies.set_made_from(name, new)
        return done

    return step


def main(root: Path = HOME) -> int:
    done, failed = update(copies_of(root))
    for sentence in done or ([worded("Your copies are up to date.")] if not failed else []):
        print(sentence)
    if done:
        print(worded("If one of these notebooks is open in JupyterLab, reload it: File, Reload Notebook from Disk."))
        print(
            worded(
                "If it has changes that aren't saved, save it instead, choose Overwrite, and run `make update` again."
            )
        )
    for sentence in failed:
        print(sentence, file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
