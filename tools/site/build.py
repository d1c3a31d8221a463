"""Prepares the sources of the site and calls Sphinx: build/site is the result."""

import shutil
from pathlib import Path

import nbformat
from PIL import Image
from sphinx.cmd.build import build_main

from lessons import widgets, wording
from lessons.widgets.base import LessonWidget
from tools.images import PICTURED
from tools.site import alive, lessons

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
MODULES = (
    *("attention", "masks", "positions", "config", "layers", "transformer", "tiled", "fast"),
    *(
        "vocabulary",
        "tasks",
        "training",
        "evaluation",
        "decoding",
        "interventions",
        "pretrained",
        "parity",
        "torch_attention",
        "language_model",
    ),
    *("probes", "plots", "display", "progress", "parallel", "widgets"),
)

WIDTH, QUALITY = 736, 30  # of the picture that the front page opens with
START = (
    '<img src="_static/model_studio.webp" width="1280" height="720" alt="A trained translator: a sentence, its '
    'translation, all layers with their attention, and one head from the inside.">'
    "<button><span>▶ Start the model (0.8 MB)</span></button>"
)


# From the files in class/ to the pages that they become.
LINKS = {
    "(../README.md#lessons-and-widgets)": "(index.md)",
    "(README.md#the-teachers-overview)": "(class.md#The-teacher's-overview)",
    "(README.md)": "(class.md)",
    "(TEACHING.md)": "(teachers.md)",
}
PAGES = {"TEACHING.md": "teachers.md", "README.md": "class.md"}


def prepare(source: Path) -> None:
    """Write all that Sphinx reads."""
    shutil.rmtree(source, ignore_errors=True)
    shutil.copytree(HERE / "pages", source)
    shutil.copytree(ROOT / "images", source / "images")
    shutil.copytree(HERE / "static", source / "_static")
    shutil.copy(HERE / "conf.py", source)
    for name, page in PAGES.items():
        (source / page).write_text(for_the_site((ROOT / "class" / name).read_text(encoding="utf-8")), encoding="utf-8")
    alive.write_scripts(source / "_static")
    (source / "notebooks").mkdir()
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        page = lessons.page(nbformat.read(path, as_version=4), path.stem, source / "_static")
        nbformat.write(page, source / "notebooks" / path.name)
    (source / "widgets.md").write_text(gallery(), encoding="utf-8")
    front = (source / "index.md").read_text(encoding="utf-8")
    _write_smaller(ROOT / "images" / "model_studio.png", source / "_static" / "model_studio.webp")
    front = front.replace("MODEL_STUDIO", alive.embedded(widgets.ModelStudio(changes=PICTURED), START, waits=True))
    (source / "index.md").write_text(front.replace("MASK_STUDIO", shown(widgets.MaskStudio())), encoding="utf-8")
    (source / "api").mkdir()
    for module in MODULES:
        text = f"# lessons.{module}\n\n```{{eval-rst}}\n.. automodule:: lessons.{module}\n   :members:\n```\n"
        (source / "api" / f"{module}.md").write_text(text, encoding="utf-8")


def for_the_site(text: str) -> str:
    for link, page in LINKS.items():
        text = text.replace(link, page)
    return text


def _write_smaller(picture: Path, target: Path) -> None:
    with Image.open(picture) as image:
        smaller = image.convert("RGB").resize((WIDTH, image.height * WIDTH // image.width))
        smaller.save(target, quality=QUALITY, method=6)


def gallery() -> str:
    """A page with each widget that lives without Python."""
    parts = ["# Widgets\n\nEach of them is alive on this page: click, drag, type, or use the keyboard.\n"]
    for name in alive.ALIVE:
        about, *_ = (getattr(widgets, name).__doc__ or "").partition("\n")
        said = f"{about}\n\n{alive.SAYS[name]}" if name in alive.SAYS else about
        parts.append(f"## {name}\n\n{said}\n\n{shown(alive.example(name))}\n")
    return "\n".join(parts)


def shown(widget: LessonWidget) -> str:
    """The widget as HTML that Markdown leaves alone: an empty line would end it."""
    picture = widget._repr_mimebundle_()[0]["text/html"]
    return alive.embedded(widget, picture).replace("\n", "&#10;")


def build(target: Path, *options: str) -> int:
    """Build the site; Sphinx's exit code. A warning of Sphinx's is an error."""
    wording.use(wording.ENGLISH)
    source = target.with_name(f"{target.name}-source")
    prepare(source)
    shutil.rmtree(target, ignore_errors=True)
    return build_main(["-b", "html", "-q", "-W", "--keep-going", "-j", "auto", *options, str(source), str(target)])
