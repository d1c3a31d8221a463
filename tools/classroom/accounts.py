"""The accounts of a class: each learner is a user of the system, so the system keeps them apart.

Windows has neither pwd nor grp: they are imported where they are used, so that a teacher can read sent files there.
"""

import os
import re
import secrets
import subprocess
from collections.abc import Sequence
from pathlib import Path

LEARNERS, TEACHERS = "course-learners", "course-teachers"  # groups of the system
NAME = re.compile(r"[a-z][a-z0-9-]{0,30}")
LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"  # none is taken for another on paper


class ClassError(Exception):
    """One sentence: what is in the way, and what to do."""


def names_in(file: Path) -> list[str]:
    """The names in a list, one a line. Empty lines and those that begin with # don't count."""
    if not file.is_file():
        raise ClassError(f"{file} doesn't exist. Write a name for each learner into it, one a line.")
    names = [line.strip() for line in file.read_text(encoding="utf-8").splitlines()]
    names = [name for name in names if name and not name.startswith("#")]
    if not names:
        raise ClassError(f"{file} contains no name. Write one a line for each learner.")
    for name in names:
        if not NAME.fullmatch(name):
            raise ClassError(
                f"{file} contains {name!r}. A name begins with a lowercase letter and has at most 31 lowercase "
                "letters, digits and hyphens: anna, or learner-07."
            )
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ClassError(f"{file} contains {twice[0]!r} twice. Give each learner a name of their own.")
    return names


def members(group: str) -> list[str]:
    """Who is in a group of the system; nobody where there is none of this name, or are no groups, as on Windows."""
    try:
        import grp

        return sorted(grp.getgrnam(group).gr_mem)
    except (ImportError, KeyError):
        return []


def make(names: Sequence[str], group: str, sheet: Path) -> list[str]:
    """Make the accounts that are missing. Their passwords go to the sheet, which only its owner can read.

    An account that was removed since leaves the sheet.
    Returns the names of the new accounts. An account of the same name that isn't of this group is never touched.
    """
    for name in names:
        if exists(name) and name not in members(group):
            raise ClassError(f"{name!r} is already an account of this machine. Choose another name for the learner.")
    _system("groupadd", "--force", group)
    listed = passwords(sheet)
    known = {name: password for name, password in listed.items() if exists(name)}
    new = [name for name in names if not exists(name)]
    for name in new:
        _system("useradd", "--create-home", "--key", "HOME_MODE=0700", "--groups", group, "--shell", "/bin/bash", name)
    fresh = {name: "".join(secrets.choice(LETTERS) for _ in range(10)) for name in names if name not in known}
    if fresh:  # first: what is on the sheet is not set again
        _system("chpasswd", said="".join(f"{name}:{password}\n" for name, password in fresh.items()))
    if {**known, **fresh} != listed:
        _keep(sheet, {**known, **fresh})
    return new


def exists(name: str) -> bool:
    import pwd

    try:
        pwd.getpwnam(name)
    except KeyError:
        return False
    return True


def passwords(sheet: Path) -> dict[str, str]:
    """What the sheet says: the password of each account."""
    lines = sheet.read_text(encoding="utf-8").splitlines() if sheet.is_file() else []
    return {name: password for name, password in (line.split() for line in lines)}


def _keep(sheet: Path, known: dict[str, str]) -> None:
    lines = "".join(f"{name:<32}{password}\n" for name, password in known.items())
    with open(sheet, "w", encoding="utf-8", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
        file.write(lines)


def _system(*command: str, said: str = "") -> None:
    try:
        result = subprocess.run(command, input=said, capture_output=True, text=True)
    except OSError as error:
        raise ClassError(f"{command[0]} cannot be run ({error.strerror}).") from error
    if result.returncode:
        raise ClassError(f"{command[0]} failed: {result.stderr.strip() or result.returncode}")
