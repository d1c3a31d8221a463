"""Write the pictures of the course into images/: ``python -m tools.images``.

Each is an SVG, for pages, and a PNG, which travels inside a notebook: JupyterLab shows no SVG that is attached to one.
"""

import hashlib
import io
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from PIL import Image
from PIL.PngImagePlugin import PngInfo

from lessons import wording
from lessons.interventions import Change
from lessons.widgets import ModelStudio
from tools.diagrams import DIAGRAMS

IMAGES = Path(__file__).resolve().parents[1] / "images"
SHARPNESS = 1.5  # points of the PNG to one of the drawing
COLORS = 64
PICTURED = [Change("hide", side="src", token=3)]
CHINESE = "老师不会"  # characters of this picture
DRAWN_FROM = "drawn from"  # the entry of a PNG that names its SVG


def folder_of(language: str) -> Path:
    """Where the diagrams of this language are."""
    return IMAGES if language == wording.ENGLISH else IMAGES / language


def digest(svg: str) -> str:
    return hashlib.sha256(svg.encode()).hexdigest()


def is_drawn_from(png: Path, svg: str) -> bool:
    """Whether the PNG was made from this SVG."""
    if not png.exists():
        return False
    with Image.open(png) as picture:
        return picture.info.get(DRAWN_FROM) == digest(svg)


@contextmanager
def open_chromium(what: str, **options: Any) -> Generator[Any]:
    """A page of Chromium to draw `what` with."""
    from playwright.sync_api import sync_playwright

    from tests.browser.lab import find_browser, open_browser

    if (chromium := find_browser()) is None:
        sys.exit(f"There is no Chromium to draw {what} with; the SVGs are written.")
    with sync_playwright() as playwright:
        yield open_browser(playwright, chromium).new_page(**options)


def write_pngs(drawings: dict[Path, str]) -> None:
    """Let Chromium draw each SVG."""
    with open_chromium("the PNGs", device_scale_factor=SHARPNESS) as page:
        if any(IMAGES not in path.parents[:1] for path in drawings):
            require_chinese(page, "the diagrams")
        for path, svg in drawings.items():
            page.set_content(f'<body style="margin: 0">{svg}</body>')
            _save(page.locator("svg").screenshot(), path, svg)


LOOKS = """text => [...text].map(character => {
    const canvas = document.createElement("canvas");
    Object.assign(canvas, { width: 40, height: 40 });
    const context = canvas.getContext("2d");
    context.font = "30px sans-serif";
    context.fillText(character, 0, 32);
    return canvas.toDataURL();
})"""


def can_draw(page: Any, text: str) -> bool:
    """Whether there is a font for these characters: without one, all look the same, a box."""
    return len(set(page.evaluate(LOOKS, text))) == len(set(text))


def require_chinese(page: Any, what: str) -> None:
    if not can_draw(page, CHINESE):
        sys.exit(
            f"There is no Chinese font for {what}. "
            "Install one (on Debian: `sudo apt install fonts-noto-cjk`), and run this again."
        )


def take_picture(page: Any, path: Path, page_of_studio: str) -> None:
    """ModelStudio as it runs in a browser; a picture that would lack its Chinese characters is not taken."""
    require_chinese(page, f"the picture of ModelStudio: {path.name} stays as it was")
    page.set_content(page_of_studio)
    page.locator(".ms-switch").wait_for()
    page.evaluate("new Promise(done => setTimeout(done, 300))")
    _save(page.screenshot(), path, page_of_studio)


def _save(screenshot: bytes, path: Path, origin: str) -> None:
    named = PngInfo()
    named.add_text(DRAWN_FROM, digest(origin))
    drawn = Image.open(io.BytesIO(screenshot)).convert("RGB")
    drawn.quantize(COLORS, dither=Image.Dither.NONE).save(path, optimize=True, pnginfo=named)


def main() -> None:
    drawings: dict[Path, str] = {}
    for language in wording.available():
        wording.use(language)
        folder_of(language).mkdir(exist_ok=True)
        for name, draw in DIAGRAMS.items():
            path, svg = folder_of(language) / f"{name}.svg", draw()
            path.write_bytes(svg.encode())
            if not is_drawn_from(path.with_suffix(".png"), svg):
                drawings[path.with_suffix(".png")] = svg
            print(path.relative_to(IMAGES.parent))
    if drawings:
        write_pngs(drawings)
    wording.use(wording.ENGLISH)
    studio = ModelStudio(changes=PICTURED).to_html()
    if not is_drawn_from(IMAGES / "model_studio.png", studio):
        with open_chromium("ModelStudio", viewport={"width": 1280, "height": 720}) as page:
            take_picture(page, IMAGES / "model_studio.png", studio)


if __name__ == "__main__":
    main()
