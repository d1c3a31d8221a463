"""A widget as one file that lives without Python: its JavaScript, its style and its state, hosted by alone.js."""

import html
import json
import re
from collections.abc import Callable
from typing import Any

from lessons import wording
from lessons.widgets.front_end import FOLDER, source

UNSEEN = "\ue000"  # a word of no vocabulary
OF_IPYWIDGETS = re.compile("_.*|layout|tabbable|tooltip|comm|keys|log")
START = """
const told = JSON.parse(document.getElementById("state").textContent);
standing.render({ model: new Alone(told), el: document.getElementById("here") });
"""
PAGE_STYLE = """:root { color-scheme: light dark; --jp-content-font-size1: 14px }
body { margin: 0; font: 14px/1.45 system-ui, sans-serif; background: #fff; color: #111 }
h1 { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%) }
.lw { border: 0 !important }
@media (prefers-color-scheme: dark) { body { background: #111; color: #fff }
  :root { --jp-layout-color0: #111; --jp-layout-color1: #212121; --jp-layout-color2: #424242; --jp-ui-font-color0: #fff;
    --jp-border-color0: #8a8a8a; --jp-border-color2: #424242; --jp-brand-color1: #4aa3f5 } }"""


def state_of(widget: Any) -> dict[str, Any]:
    """What the browser has of a widget where there is no Python."""
    traits = {name: value for name, value in widget.get_state().items() if not OF_IPYWIDGETS.fullmatch(name)}
    return traits | widget.alone()


def separator(join: Callable[[list[str]], str]) -> str:
    """What stands between two words that are joined to a text."""
    return join([UNSEEN, UNSEEN])[1:-1]


def as_script(value: Any) -> str:
    """JSON that can stand in a script element."""
    return json.dumps(value, ensure_ascii=False).replace("<", r"\u003c")


def page(widget: Any, title: str) -> str:
    """One HTML file; nothing is loaded from elsewhere."""
    script = str(widget._esm).replace("export default ", "const standing = ") + source(FOLDER / "shared" / "alone.js")
    script = script.replace("</script", r"<\/script") + START
    name = html.escape(type(widget).__name__)
    told = as_script({"widget": type(widget).__module__.split(".")[-2], "state": state_of(widget)})
    return (
        f'<!doctype html>\n<html lang="{wording.tag()}">\n'
        f'<head><meta charset="utf-8"><title>{html.escape(title)}</title>\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,">\n'
        f"<style>\n{PAGE_STYLE}\n{widget._css}\n</style></head>\n"
        f'<body>\n<main><h1>{name}</h1><div id="here"></div></main>\n'
        f'<script type="application/json" id="state">{told}</script>\n'
        f'<script type="module">\n{script}</script>\n</body>\n</html>\n'
    )
