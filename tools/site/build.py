"""Prepares the sources of the site and calls Sphinx: build/site is the result.

Each other language has the same pages in a folder of its own, build/site/zh_CN.
"""

import shutil
from pathlib import Path

import nbformat
from PIL import Image
from sphinx.cmd.build import build_main

from lessons import widgets, wording
from lessons.widgets.base import LessonWidget
from lessons.wording import ENGLISH, worded
from tools.images import PICTURED, folder_of
from tools.site import alive, lessons
from tools.translation.catalogs import heading_anchors, in_language, page_in_language

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

# From the files in class/ to the pages that they become.
LINKS = {
    "(README.md#the-teachers-overview)": "(class.md#The-teacher's-overview)",
    "(README.md)": "(class.md)",
    "(TEACHING.md)": "(teachers.md)",
}
PAGES = {"TEACHING.md": "teachers.md", "README.md": "class.md"}


def prepare(source: Path) -> None:
    """Write all that Sphinx reads, in the current language."""
    shutil.rmtree(source, ignore_errors=True)
    source.mkdir(parents=True)
    shutil.copy(HERE / "conf.py", source)
    for path in (HERE / "pages").glob("*.md"):
        (source / path.name).write_text(page_in_language(wording.language(), path), encoding="utf-8")
    shutil.copytree(ROOT / "images", source / "images", ignore=shutil.ignore_patterns(*wording.available()))
    if wording.language() != ENGLISH:
        shutil.copytree(folder_of(wording.language()), source / "images", dirs_exist_ok=True)
    shutil.copytree(HERE / "static", source / "_static")
    for name, page in PAGES.items():
        (source / page).write_text(for_the_site(ROOT / "class" / name), encoding="utf-8")
    alive.write_scripts(source / "_static")
    (source / "notebooks").mkdir()
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        notebook = nbformat.read(path, as_version=4)
        if wording.language() != ENGLISH:
            notebook = in_language(wording.language(), path.stem, notebook)
        nbformat.write(lessons.page(notebook, path.stem, source / "_static"), source / "notebooks" / path.name)
    (source / "widgets.md").write_text(gallery(), encoding="utf-8")
    front = (source / "index.md").read_text(encoding="utf-8")
    _write_smaller(ROOT / "images" / "model_studio.png", source / "_static" / "model_studio.webp")
    front = front.replace("MODEL_STUDIO", alive.embedded(widgets.ModelStudio(changes=PICTURED), _start(), waits=True))
    (source / "index.md").write_text(front.replace("MASK_STUDIO", shown(widgets.MaskStudio())), encoding="utf-8")
    (source / "api").mkdir()
    for module in MODULES:
        text = f"# lessons.{module}\n\n```{{eval-rst}}\n.. automodule:: lessons.{module}\n   :members:\n```\n"
        (source / "api" / f"{module}.md").write_text(text, encoding="utf-8")


def for_the_site(page: Path) -> str:
    """A page of class/, its links leading to the site's pages."""
    text = page_in_language(wording.language(), page)
    for link, target in LINKS.items():
        text = text.replace(link, target)
    for english, here in heading_anchors(wording.language(), ROOT / "class" / "README.md").items():
        text = text.replace(f"(class.md#{english})", f"(class.md#{here})")
    return text


def _start() -> str:
    """What the front page shows until the model is started."""
    said = worded(
        "A trained translator: a sentence, its translation, all layers with their attention, and one head from the "
        "inside."
    )
    start = worded("Start the model (0.8 MB)")
    return (
        f'<img src="_static/model_studio.webp" width="1280" height="720" alt="{said}">'
        f"<button><span>▶ {start}</span></button>"
    )


def _write_smaller(picture: Path, target: Path) -> None:
    with Image.open(picture) as image:
        smaller = image.convert("RGB").resize((WIDTH, image.height * WIDTH // image.width))
        smaller.save(target, quality=QUALITY, method=6)


def gallery() -> str:
    """A page with each widget that lives without Python."""
    title = worded("Widgets")
    head = worded("Each of them is alive on this page: click, drag, type, or use the keyboard.")
    parts = [f"# {title}\n\n{head}\n"]
    for name in alive.ALIVE:
        said = "\n\n".join(filter(None, [alive.about(name), alive.says(name)]))
        parts.append(f"## {name}\n\n{said}\n\n{shown(alive.example(name))}\n")
    return "\n".join(parts)


def shown(widget: LessonWidget) -> str:
    """The widget as HTML that Markdown leaves alone: an empty line would end it."""
    picture = widget._repr_mimebundle_()[0]["text/html"]
    return alive.embedded(widget, picture).replace("\n", "&#10;")


def build(target: Path, *options: str) -> int:
    """Build the site; Sphinx's exit code. A warning of Sphinx's is an error.

    What an earlier build left in `target`, and in the folder of its sources, is removed; a FileExistsError if something
    else is there.
    """
    target = target.resolve()  # also of "."
    sources = target.with_name(f"{target.name}-source")
    if not (sources / ENGLISH / "conf.py").is_file():
        for folder in (target, sources):
            if folder.exists() and any(folder.iterdir()):
                raise FileExistsError(
                    f"{folder} is not empty, and no earlier build of the site made it: name another folder"
                )
    shutil.rmtree(target, ignore_errors=True)
    before = wording.language()
    try:
        for language in wording.available():
            wording.use(language)
            place = target if language == ENGLISH else target / language
            source = sources / language
            prepare(source)
            settings = ["-b", "html", "-q", "-W", "--keep-going", "-j", "auto", *options]
            if failed := build_main([*settings, str(source), str(place)]):
                return failed
    finally:
        wording.use(before)
    return 0
