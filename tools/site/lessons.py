"""A stored notebook as a page of the site: its figures as files, its predictions folded, its widgets alive."""

import base64
import html
import re
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from lessons.exercises import exercises_of
from lessons.wording import ENGLISH, VARIABLE, language, worded
from tools.site import alive

SOURCE = re.compile(r'href="\.\./lessons/(\w+)[^"]*"')  # of the package, from a hint
HELP = re.compile(r"exercises\.(\w+)\.help\(\)")
DRAWING = re.compile(r"\]\(attachment:(\w+)\.png\)")
WIDGET = re.compile(r"^\w+(?=: )")


def page(notebook: NotebookNode, name: str, folder: Path) -> NotebookNode:
    """The notebook as Sphinx gets it; its figures are written to `folder`/figures."""
    for cell in notebook.cells:
        cell.source = re.sub(r"^#### ", "### ", cell.source, flags=re.MULTILINE)  # a level of headings is left out
        cell.source = re.sub(r"(?<=\]\()[^)]*#[^)]+", lambda link: link.group().replace("*", ""), cell.source)
        cell.source = DRAWING.sub(r"](../images/\1.svg)", cell.source)
        cell.pop("attachments", None)
        tags = cell.metadata.get("tags", [])
        if "answers-prediction" in tags:
            cell.metadata.tags = [*tags, "hide-output"]
        for number, output in enumerate(cell.get("outputs", [])):
            data = output.get("data", {})
            if "image/png" in data:
                _write_figure(output, folder / "figures" / f"{name}-{cell.id}-{number}.png")
            elif _shows_a_widget(data):
                data["text/html"] = _widget(cell.source, data["text/html"])
            elif "text/html" in data:
                if (hints := HELP.fullmatch(cell.source)) and language() != ENGLISH:
                    data["text/html"] = exercises_of(name)[hints[1]].help()._repr_html_()
                data["text/html"] = SOURCE.sub(r'href="../api/\1.html"', data["text/html"])
    return _with_ways_to_work(notebook, name)


def _write_figure(output: NotebookNode, path: Path) -> None:
    """A file that the browser gets when it is scrolled to."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(base64.b64decode(output.data["image/png"]))
    told = output.metadata["image/png"]
    source = f"../_static/figures/{path.name}"
    tag = f'<img loading="lazy" width="{told["width"]}" alt="{html.escape(told["alt"])}" src="{source}">'
    output.data = nbformat.from_dict({"text/html": tag})


def _shows_a_widget(data: NotebookNode) -> bool:
    name = WIDGET.match(data.get("text/plain", ""))
    return bool(name) and hasattr(alive.widgets, name.group()) and "text/html" in data


def _widget(source: str, picture: str) -> str:
    widget = alive.made_by(source)
    if widget is None:
        said = worded("A picture. This widget needs Python: open the lesson in JupyterLab.")
        return f"<p class='course-still'>{said}</p>{picture}"
    return alive.embedded(widget, picture if language() == ENGLISH else widget._repr_mimebundle_()[0]["text/html"])


def _with_ways_to_work(notebook: NotebookNode, name: str) -> NotebookNode:
    """Below the title, and from each exercise: what to type to work on it."""
    work = worded("Work on this in JupyterLab")
    for place in reversed([i for i, cell in enumerate(notebook.cells) if "stub" in cell.metadata]):
        above = notebook.cells[place - 1] if place else None
        if above is not None and above.cell_type == "markdown":
            above.source += f'\n\n<a class="course-button" href="#work-on-this">{work}</a>'
    if name[:2].isdigit():
        title, _, rest = notebook.cells[0].source.partition("\n")
        notebook.cells[0].source = f"{title}\n\n{_way(name, work)}\n{rest}"
    return notebook


def _way(name: str, work: str) -> str:
    chosen = "" if language() == ENGLISH else f" {VARIABLE}={language()}"
    before = worded('In the folder of the course, which you <a href="../start.html">get and set up once</a>, type:')
    after = worded(
        "JupyterLab opens with this lesson, in your own copy: <code>work/{name}.ipynb</code>. There you can run and "
        "change every cell, and each exercise has its check. Without <code>make</code>, type "
        "<code>.venv\\Scripts\\python -m tools.lab</code> and choose the file on the left.",
        name=name,
    )
    return (
        f'<details class="course-work"><summary class="course-button">{work}</summary>\n<p>{before}</p>\n'
        f'<pre id="work-on-this">make lab LESSON={name[:2]}{chosen}</pre>\n<p>{after}</p></details>'
    )
