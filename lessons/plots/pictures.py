"""A drawn figure as an image with alternative text, and a description of its data in words."""

import base64
import html
import io
import os
from dataclasses import dataclass
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image

from lessons.plots.describe import describe
from lessons.plots.fonts import say_if_missing
from lessons.wording import language, worded

DPI = 120
COLORS = 128  # of a picture: with a palette it takes less than half the room
RARE = 1 / 2000  # of the pixels: colors at the edges of letters and lines, not of an area
SHADES = 7  # of red, green and blue, in rare colors
STORED_EDITION = "LESSONS_STORED_EDITION"  # the variable that is set where a notebook is run to be stored


@dataclass(frozen=True)
class Picture:
    """A drawn figure: an image with alternative text, and a description of the drawn data in words."""

    png: bytes
    width: int
    alt: str
    text: str

    def __repr__(self) -> str:
        return worded("[Figure: {alt}]", alt=self.alt) + f"\n{self.text}"

    def to_html(self) -> str:
        data = base64.b64encode(self.png).decode()
        return f'<img width="{self.width}" alt="{html.escape(self.alt)}" src="data:image/png;base64,{data}">'

    def _repr_mimebundle_(self, **options: Any) -> tuple[dict[str, str], dict[str, Any]]:
        """A learner gets HTML, because JupyterLab shows a PNG without its alternative text.

        The stored edition gets a PNG, because many viewers let no HTML through.
        """
        if not os.environ.get(STORED_EDITION):
            return {"text/html": self.to_html(), "text/plain": repr(self)}, {}
        data = {"image/png": base64.b64encode(self.png).decode(), "text/plain": repr(self)}
        return data, {"image/png": {"alt": self.alt, "width": self.width}}


def take_picture(figure: Figure, alt: str, *, measured: bool = False) -> Picture:
    """The figure as a picture; the figure is closed. measured: the words leave the numbers out."""
    say_if_missing(language())
    image = draw(figure)
    text = worded("measured here") if measured else "\n".join(describe(ax) for ax in figure.axes).rstrip()
    plt.close(figure)
    png = with_palette(image, optimize=bool(os.environ.get(STORED_EDITION)))
    return Picture(png, round(figure.get_figwidth() * 96), alt, text)


def draw(figure: Figure) -> Image.Image:
    """The figure's pixels. It is drawn once; `savefig` draws it twice, the first time to lay it out."""
    figure.set(dpi=DPI, facecolor="white")
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    return Image.fromarray(np.asarray(canvas.buffer_rgba()))


def with_palette(image: Image.Image, colors: int = COLORS, *, optimize: bool = True) -> bytes:
    """The image as a small PNG. optimize: a tenth smaller, in six times the time."""
    smaller = io.BytesIO()
    in_few_colors(image, colors).save(smaller, format="png", optimize=optimize)
    return smaller.getvalue()


def in_few_colors(image: Image.Image, colors: int = COLORS) -> Image.Image:
    """The image with a palette. Areas keep their colors; those at edges become fewer, so a PNG takes less room."""
    picture = image.convert("RGB").quantize(colors)
    palette = np.array(picture.getpalette()).reshape(-1, 3)
    rare = np.array(picture.histogram()[: len(palette)]) < RARE * picture.width * picture.height
    step = 255 / (SHADES - 1)
    palette[rare] = np.round(np.round(palette[rare] / step) * step)
    different, which = np.unique(palette, axis=0, return_inverse=True)
    picture.putpalette(different.astype(int).flatten().tolist())
    return picture.point(np.resize(which, 256).tolist())
