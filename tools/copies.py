"""The learner's own copies of the lessons, in `work/`, which git ignores; no learner writes to `notebooks/`.

work/03_masked_attention.ipynb           what is opened: without outputs, so that a prediction is one
work/.course/03_masked_attention.ipynb   the edition it was made from: what differs from it is the learner's
work/.course/before/                     the editions before, for copies that JupyterLab saved over an update
work/.course/language                    the language of the copies
work/.course/up_to_date.json             which copies the last start found up to date, and in which state
"""

import json
import os
import sys
import tempfile
import warnings
from contextlib import suppress
from datetime import datetime
from hashlib import sha256
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbformat.v4.nbjson import JSONReader
from nbformat.validator import normalize

from lessons import wording
from lessons.wording import SENTENCES, listed, worded

ROOT = Path(__file__).resolve().parent.parent
STATES = "up_to_date.json"
HOME = Path(os.environ.get("COURSE_FOLDER", ROOT))  # where `work/` is; elsewhere if one course serves a class


class CopyError(Exception):
    """One sentence: what is wrong with which file, and what to do."""


class Copies:
    """All copies of one course. notebooks: its edition; own: the learner's copies; origin: what they were made from.

    language: that of new copies, "zh_CN"; without it, the current one.
    """

    def __init__(self, root: Path = HOME, language: str | None = None):
        self.notebooks, self.own = root / "notebooks", root / "work"
        self.origin = self.own / ".course"
        self.language = language or wording.language()

    def names(self) -> list[str]:
        """The files of the present edition."""
        return sorted(path.name for path in self.notebooks.glob("*.ipynb"))

    def edition(self, name: str) -> NotebookNode:
        """A lesson as a learner gets it."""
        advice = worded(
            "It is the course's own file: `git checkout HEAD -- notebooks/{name}` brings it back. What you have "
            "written in it would be gone: copy that first.",
            name=name,
        )
        notebook = without_outputs(read(self.notebooks / name, advice))
        if self.language == wording.ENGLISH:
            return notebook
        from tools.translation.catalogs import in_language  # a quarter of a second, of which English needs nothing

        return in_language(self.language, Path(name).stem, notebook)

    def made_in(self) -> str:
        """The language of the copies that there are."""
        return wording.read_choice(self.origin / "language") or wording.ENGLISH

    def remember_language(self) -> None:
        write_bytes(f"{self.language}\n".encode(), self.origin / "language")

    def make_missing(self) -> list[str]:
        """Copy each lesson that the learner has no copy of. Returns their names."""
        made = [name for name in self.names() if not (self.own / name).exists()]
        for name in made:
            fresh = self.edition(name)
            write(fresh, self.origin / name)
            write(fresh, self.own / name)
        return made

    def outdated(self) -> list[str]:
        """The copies that were made from an edition other than the present one.

        What was up to date is asked again only when one of its files has changed: to read them all takes half a second.
        """
        states = {name: self._state(name) for name in self.names() if (self.own / name).exists()}
        known = _read_states(self.origin / STATES)
        found = [name for name, state in states.items() if known.get(name) != state and self.is_outdated(name)]
        if (fresh := {name: state for name, state in states.items() if name not in found}) != known:
            with suppress(CopyError):  # then the next start takes longer
                write_bytes(json.dumps(fresh, indent=1).encode(), self.origin / STATES)
        return found

    def _state(self, name: str) -> str:
        """A hash of all the files that `is_outdated` reads."""
        folders = self.notebooks, self.own, self.origin, self.origin / "before"
        catalog = wording.CATALOGS / self.language / "LC_MESSAGES" / f"{Path(name).stem}.po"
        paths = *(folder / name for folder in folders), catalog
        parts = [path.read_bytes() if path.is_file() and os.access(path, os.R_OK) else b"" for path in paths]
        return sha256(self.language.encode() + b"".join(sha256(part).digest() for part in parts)).hexdigest()

    def is_outdated(self, name: str) -> bool:
        origin = self.made_from(name)
        return origin is None or origin != self.edition(name)

    def made_from(self, name: str) -> NotebookNode | None:
        """The edition that a copy was made from, if that is still known: the last one or the one before.

        A notebook that was open in JupyterLab during an update may have been saved over it since.
        """
        known = [read_if_valid(folder / name) for folder in (self.origin, self.origin / "before")]
        own = sources_of(read_if_valid(self.own / name))
        return min(filter(None, known), key=lambda edition: len(sources_of(edition) ^ own), default=None)

    def set_made_from(self, name: str, edition: NotebookNode) -> None:
        """Remember the edition that a copy is made from now, and the one before."""
        if before := read_if_valid(self.origin / name):
            write(before, self.origin / "before" / name)
        write(edition, self.origin / name)

    def replace(self, name: str, notebook: NotebookNode) -> Path:
        """Write another version of a copy. The one before stays next to it, under its date: its path is returned."""
        path = self.own / name
        kept = dated(path)
        write_bytes(path.read_bytes(), kept)
        write(notebook, path)
        return kept


def copies_of(root: Path = HOME) -> Copies:
    """The copies in the current language. If LESSONS_LANG names one that the course lacks, the command ends."""
    try:
        return Copies(root)
    except ValueError as error:
        sys.exit(str(error))


def without_outputs(notebook: NotebookNode) -> NotebookNode:
    """The notebook without outputs, and with nothing folded, for the learner to run."""
    for cell in notebook.cells:
        cell.metadata.pop("jupyter", None)
        if cell.cell_type == "code":
            clear(cell)
    return notebook


def clear(cell: NotebookNode) -> None:
    cell.outputs, cell.execution_count = [], None


def read(path: Path, advice: str = "") -> NotebookNode:
    """A notebook, or a CopyError that says what is wrong with the file. The file stays as it is.

    advice: what to do then, a sentence; without it, the one for a learner's copy.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        sentence = worded("{file} cannot be read ({reason}). It was left as it is.", file=path.name, reason=error)
        raise CopyError(listed([sentence, advice], SENTENCES)) from error
    advice = advice or worded(
        "It was left as it is. Repair it, or move it away and run `make update`: you get a new copy."
    )
    if "\n<<<<<<<" in text or text.startswith("<<<<<<<"):
        found = worded("{file} contains conflict markers (<<<<<<<) of git.", file=path.name)
        raise CopyError(listed([found, advice], SENTENCES))
    try:
        content = json.loads(text)
        if (version := content.get("nbformat", 4)) != 4:
            found = worded("{file} has notebook format {version}; expected 4.", file=path.name, version=version)
            raise CopyError(listed([found, advice], SENTENCES))
        with warnings.catch_warnings(action="ignore"):  # of ids that are missing or taken: they are made here
            _, notebook = normalize(nbformat.v4.upgrade(JSONReader().to_notebook(content)))
        nbformat.validate(notebook)
    except CopyError:
        raise
    except Exception as error:  # nbformat raises whatever its parts raise
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        found = worded("{file} is not a valid notebook ({reason}).", file=path.name, reason=reason[:120])
        raise CopyError(listed([found, advice], SENTENCES)) from error
    return notebook


def _read_states(path: Path) -> dict[str, str]:
    try:
        known = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return known if isinstance(known, dict) else {}


def sources_of(notebook: NotebookNode | None) -> set[tuple[str, str]]:
    return {(cell.id, cell.source) for cell in notebook.cells} if notebook else set()


def read_if_valid(path: Path) -> NotebookNode | None:
    try:
        return read(path)
    except CopyError:
        return None


def write(notebook: NotebookNode, path: Path) -> None:
    """The whole file, or nothing."""
    write_bytes((nbformat.writes(notebook) + "\n").encode(), path)


def write_bytes(content: bytes, path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists() and not os.access(path, os.W_OK):
            raise PermissionError(13, "Permission denied")
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".tmp")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
            os.chmod(temporary, path.stat().st_mode if path.exists() else 0o644)
            os.replace(temporary, path)
        finally:
            Path(temporary).unlink(missing_ok=True)
    except OSError as error:
        sentence = worded(
            "{file} cannot be written ({reason}). Nothing was changed in it.", file=path, reason=error.strerror
        )
        raise CopyError(sentence) from error


def dated(path: Path) -> Path:
    """A free name next to it, with the time."""
    now = datetime.now()
    for more in range(1000):
        stamp = now.strftime("%Y-%m-%d %H.%M.%S") + (f" {more}" if more else "")
        if not (other := path.with_name(f"{path.stem} {stamp}{path.suffix}")).exists():
            return other
    raise CopyError(worded("{file} has a thousand copies of this second. Nothing was changed in it.", file=path.name))
