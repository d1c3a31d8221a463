"""Run notebooks from top to bottom in fresh kernels, store their outputs, and write them in one normal form.

python tools/notebooks.py                 all of them
python tools/notebooks.py 01 03           those whose names begin so
python tools/notebooks.py 01 --redraw     and renew also the pictures in which nothing has changed
python tools/notebooks.py --cards         put the cards in, and run nothing
"""

import base64
import os
import re
import sys
import time
from copy import deepcopy
from pathlib import Path

import nbformat
from nbclient import NotebookClient

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "notebooks"
CARDS = ROOT / "cards"
IMAGES = ROOT / "images"
LESSONS = "[0-9][0-9]_*"
REFERENCE = "reference_card"
LIVE_VIEW = "application/vnd.jupyter.widget-view+json"  # of a widget that has gone with its kernel; its picture stays
DRAWING = re.compile(r"\]\(attachment:(\w+\.png)\)")  # of images/; it travels inside the notebook
PICTURES = {"image/png"}  # their metadata are their alternative text and their width
MEASURED = "measured here"  # how the words of a picture end whose numbers differ between machines
KERNELSPEC = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}


def in_a_hurry(name: str) -> str:
    """The lesson's card, folded. The blank lines let Markdown in."""
    card = (CARDS / f"{name}.md").read_text(encoding="utf-8").strip()
    return f"<details><summary><b>In a hurry</b></summary>\n\n{card}\n\n</details>"


def reference_card() -> nbformat.NotebookNode:
    """All cards, one below the other, their links leading into the lessons; then the masks of other libraries."""
    parts = {"title": (CARDS / f"{REFERENCE}.md").read_text(encoding="utf-8")}
    for card in sorted(CARDS.glob(f"{LESSONS}.md")):
        title = nbformat.read(FOLDER / f"{card.stem}.ipynb", as_version=4).cells[0].source.splitlines()[0]
        text = card.read_text(encoding="utf-8").replace("](#", f"]({card.stem}.ipynb#")
        parts[f"card-{card.name[:2]}"] = f"#{title}\n\n{text}"
    parts["masks"] = (CARDS / "masks.md").read_text(encoding="utf-8")
    cells = [nbformat.v4.new_markdown_cell(text.strip(), id=name) for name, text in parts.items()]
    return normalize(nbformat.v4.new_notebook(cells=cells), REFERENCE)


def normalize(notebook: nbformat.NotebookNode, name: str) -> nbformat.NotebookNode:
    """Only what belongs to the lesson stays: sources, ids, tags and outputs. Its card comes from the card's file."""
    notebook.metadata = nbformat.from_dict({"kernelspec": KERNELSPEC, "language_info": {"name": "python"}})
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    for cell in notebook.cells:
        if cell.id == "in-a-hurry":
            cell.source = in_a_hurry(name)
        if cell.cell_type == "markdown":
            attach_drawings(cell)
        tags = cell.metadata.get("tags")
        kept = {"tags": tags} if tags else {}
        if "exercise" in kept.get("tags", []):
            kept["stub"] = cell.source  # what `make reset` puts back
        if "answers-prediction" in kept.get("tags", []):
            kept["jupyter"] = {"outputs_hidden": True}  # until the reader runs the cell, or unfolds the output
        cell.metadata = nbformat.from_dict(kept)
        for output in cell.get("outputs", []):
            if "metadata" in output:
                output.metadata = nbformat.from_dict(
                    {kind: output.metadata[kind] for kind in PICTURES & output.metadata.keys()}
                )
            output.get("data", {}).pop(LIVE_VIEW, None)
    return notebook


def attach_drawings(cell: nbformat.NotebookNode) -> None:
    """What the text shows, and nothing else."""
    cell.pop("attachments", None)
    if names := DRAWING.findall(cell.source):
        pictures = {name: base64.b64encode((IMAGES / name).read_bytes()).decode() for name in names}
        cell.attachments = nbformat.from_dict({name: {"image/png": png} for name, png in pictures.items()})


def keep_pictures(notebook: nbformat.NotebookNode, before: nbformat.NotebookNode) -> None:
    """Where the code and the words of a picture are what they were, so is the picture: fonts may differ by a pixel.

    The words of what was measured have no numbers: such a picture is always the new one, as the tables next to it are.
    """
    old = {cell.id: cell for cell in before.cells}
    for cell in notebook.cells:
        same = cell.id in old and old[cell.id].source == cell.source
        pairs = zip(cell.get("outputs", []), old[cell.id].get("outputs", [])) if same else []
        for output, stored in pairs:
            new, known = output.get("data", {}), stored.get("data", {})
            if PICTURES & new.keys() & known.keys() and new["text/plain"] == known["text/plain"] and not measured(new):
                new.update({kind: known[kind] for kind in PICTURES})


def measured(data: dict[str, str]) -> bool:
    return data["text/plain"].endswith(MEASURED)


def run(notebook: nbformat.NotebookNode, folder: Path = FOLDER, *, allow_errors: bool = False) -> nbformat.NotebookNode:
    """Execute in a fresh kernel whose working folder is `folder`, with outputs as they come in one sitting."""
    resources = {"metadata": {"path": str(folder)}}
    client = NotebookClient(
        notebook,
        timeout=1800,
        startup_timeout=600,
        kernel_name="python3",
        resources=resources,
        record_timing=False,
        coalesce_streams=True,
        allow_errors=allow_errors,
    )
    return client.execute()


def main(arguments: list[str]) -> None:
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ["LESSONS_PROGRESS"] = ""
    os.environ["LESSONS_STORED_EDITION"] = "1"
    os.environ["LESSONS_LANG"] = "en"
    options = {"--cards", "--redraw"} & set(arguments)
    prefixes = tuple(argument for argument in arguments if argument not in options) or ("",)
    for path in sorted(FOLDER.glob(f"{LESSONS}.ipynb")):
        if not path.name.startswith(prefixes):
            continue
        start = time.perf_counter()
        notebook = nbformat.read(path, as_version=4)
        if "--cards" not in options:
            before, notebook = notebook, run(deepcopy(notebook))
            if "--redraw" not in options:
                keep_pictures(notebook, before)
        nbformat.write(normalize(notebook, path.stem), path)
        print(f"{path.name}: {time.perf_counter() - start:.1f} s")
    nbformat.write(reference_card(), FOLDER / f"{REFERENCE}.ipynb")


if __name__ == "__main__":
    main(sys.argv[1:])
